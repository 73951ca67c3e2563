// `ralph events`: the ledger itself; with -f it goes on as events come, with --json one object per line.
import type { Recorded } from '../../ledger/ledger.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';
import { jsonText } from '../output/json.ts';
import { oneLine } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const lineOf = ({ loop, seq, hash, event }: Recorded): string =>
    flags['json'] === true
      ? jsonText({ loop, seq, hash, ...event }, 0)
      : `${String(seq).padStart(5)}  ${new Date(event.at).toISOString()}  ${event.type.padEnd(20)} ${oneLine(sentenceOf(event))}`;
  let cursor = 0;
  for await (const page of loops.history(row.loop)) {
    context.out(page.map(lineOf).join('\n')); // one write for all of them: a write per line costs more than reading them
    cursor = page.at(-1)?.cursor ?? cursor;
  }
  if (flags['follow'] !== true || row.reason !== null) return 0;
  for await (const recorded of loops.follow({ cursor, loop: row.loop }, stopOnSignals())) {
    context.out(lineOf(recorded));
    if (recorded.event.type === 'loop.ended') break;
  }
  return 0;
}
