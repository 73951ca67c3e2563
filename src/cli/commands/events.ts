// `ralph events`: the ledger itself; with -f it goes on as events come, with --json one object per line.
import { ledgerEvents } from '../../app/app.ts';
import type { Recorded } from '../../ledger/ledger.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { plain } from '../terminal.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  const print = ({ loop, seq, hash, event }: Recorded): void => {
    if (flags['json'] === true) context.out(JSON.stringify({ version: 1, loop, seq, hash, ...event }));
    else
      context.out(
        `${String(seq).padStart(5)}  ${new Date(event.at).toISOString()}  ${event.type.padEnd(20)} ${plain(sentenceOf(event)).replaceAll('\n', ' ')}`,
      );
  };
  let cursor = 0;
  for await (const page of ledgerEvents(ledger, row.loop)) {
    for (const recorded of page) {
      print(recorded);
      cursor = recorded.cursor;
    }
  }
  if (flags['follow'] !== true || row.reason !== null) return 0;
  const stop = new AbortController();
  process.once('SIGINT', () => stop.abort());
  process.once('SIGTERM', () => stop.abort());
  const awake = setInterval(() => {}, 60_000); // the ledger's own timers let a process end
  for await (const recorded of ledger.store.follow({ cursor, loop: row.loop }, stop.signal)) {
    print(recorded);
    if (recorded.event.type === 'loop.ended') break;
  }
  clearInterval(awake);
  return 0;
}
