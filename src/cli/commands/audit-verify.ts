// `ralph audit verify`: recomputes the hash chain from the stored bytes and names the first event that does not fit.
import { type Anchored, comparedWithAnchors } from '../../app/anchors.ts';
import type { LoopRow } from '../../ledger/ledger.ts';
import { plural } from '../../text/format.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';

const none: Anchored = { anchors: 0, anchors_expected: 0 };

async function verifyAll(context: Context, name: string | undefined) {
  const ledger = await context.ledger();
  const { store } = ledger;
  const rows: readonly LoopRow[] = name === undefined ? await store.loops() : [(await loopOf(context, name)).row];
  const results = [];
  for (const row of rows) {
    const verified = await store.verify(row.loop);
    const anchored = verified.ok ? await comparedWithAnchors(ledger, context.home(), row, context.env) : none;
    results.push({ loop: row.loop, name: row.name, ...anchored, ...verified });
  }
  return results;
}

const anchorWords = (anchors: number): string =>
  anchors === 0 ? '' : `, ${plural(anchors, 'anchor')} in git agree${anchors === 1 ? 's' : ''}`;

/** Whoever rewrites a ledger can delete the notes too, but not without a trace. */
const lostWords = ({ anchors, anchors_expected }: Anchored): string =>
  `${plural(anchors_expected, 'checkpoint')} ${anchors_expected === 1 ? 'was' : 'were'} anchored, ${plural(anchors, 'anchor')} ${anchors === 1 ? 'is' : 'are'} left in git`;

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const results = name === undefined && !context.hasLedger() ? [] : await verifyAll(context, name);
  const bad = results.filter(result => !result.ok || result.differs !== undefined);
  if (flags['json'] === true)
    context.out(JSON.stringify({ version: 1, ok: bad.length === 0, loops: results }, null, 2));
  else {
    for (const result of results) {
      if (result.ok && result.differs !== undefined)
        context.print(`${result.name}: BROKEN: event ${result.differs} is not the one that was anchored in git`);
      else if (result.ok)
        context.print(
          `${result.name}: ${result.events} events, chain holds${anchorWords(result.anchors)}, head ${result.head}`,
        );
      else context.print(`${result.name}: BROKEN at event ${result.seq}: ${result.detail}`);
      if (result.ok && result.anchors < result.anchors_expected) context.print(`${result.name}: ${lostWords(result)}`);
    }
    context.say(
      results.length === 0
        ? 'There is no loop yet: nothing to verify.'
        : 'The chain shows changes against a head that you noted elsewhere; it cannot show a ledger rewritten as a whole.',
    );
  }
  return bad.length === 0 ? 0 : 1;
}
