// `ralph audit verify`: recomputes the hash chain from the stored bytes and names the first event that does not fit.
import { type Audited, audited } from '../../app/rewind.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { plural } from '../../text/format.ts';
import { type Context, type Flags, loopOf, printJson, type Words } from '../context.ts';

async function verifyAll(context: Context, name: string | undefined) {
  const ledger = await context.ledger();
  const rows: readonly LoopRow[] =
    name === undefined ? await ledger.store.loops() : [(await loopOf(context, name)).row];
  const results = [];
  for (const row of rows)
    results.push({ loop: row.loop, name: row.name, ...(await audited(ledger, context.home(), row, context.env)) });
  return results;
}

const anchorWords = (anchors: number): string =>
  anchors === 0 ? '' : `, ${plural(anchors, 'anchor')} in git agree${anchors === 1 ? 's' : ''}`;

/** Whoever rewrites a ledger can delete the notes too, but not without a trace. */
const lostWords = ({ anchors, anchorsExpected }: Audited): string =>
  `${plural(anchorsExpected, 'checkpoint')} ${anchorsExpected === 1 ? 'was' : 'were'} anchored, ${plural(anchors, 'anchor')} ${anchors === 1 ? 'is' : 'are'} left in git`;

function wordsOf(result: Awaited<ReturnType<typeof verifyAll>>[number]): readonly string[] {
  if (!result.ok) return [`BROKEN at event ${result.seq}: ${result.detail}`];
  const { events, anchors, differs, isCut, head } = result;
  const broken =
    isCut === true
      ? `BROKEN: event ${differs} was anchored in git, and the ledger ends with event ${events}`
      : `BROKEN: event ${differs} is not the one that was anchored in git`;
  return [
    differs === undefined ? `${events} events, chain holds${anchorWords(anchors)}, head ${head}` : broken,
    ...(anchors < result.anchorsExpected ? [lostWords(result)] : []),
  ];
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const results = name === undefined && !context.hasLedger() ? [] : await verifyAll(context, name);
  const isWhole = results.every(result => result.ok && result.differs === undefined);
  const exitCode = isWhole ? 0 : 1;
  if (flags['json'] === true) return printJson(context, { ok: isWhole, loops: results }, exitCode);
  for (const result of results) for (const words of wordsOf(result)) context.print(`${result.name}: ${words}`);
  context.say(
    results.length === 0
      ? 'There is no loop yet: nothing to verify.'
      : 'The chain shows changes against a head that you noted elsewhere; it cannot show a ledger rewritten as a whole.',
  );
  return exitCode;
}
