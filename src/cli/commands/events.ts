// `ralph events`: the ledger itself; with -f it goes on as events come, with --json one object per line.
import type { Recorded } from '../../ledger/ledger.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';
import { oneLine } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const print = ({ loop, seq, hash, event }: Recorded): void =>
    context.out(
      flags['json'] === true
        ? JSON.stringify({ version: 1, loop, seq, hash, ...event })
        : `${String(seq).padStart(5)}  ${new Date(event.at).toISOString()}  ${event.type.padEnd(20)} ${oneLine(sentenceOf(event))}`,
    );
  let cursor = 0;
  for await (const recorded of loops.history(row.loop)) {
    print(recorded);
    cursor = recorded.cursor;
  }
  if (flags['follow'] !== true || row.reason !== null) return 0;
  for await (const recorded of loops.follow({ cursor, loop: row.loop }, stopOnSignals())) {
    print(recorded);
    if (recorded.event.type === 'loop.ended') break;
  }
  return 0;
}
