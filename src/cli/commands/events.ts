// `ralph events`: the ledger itself; with -f it goes on as events come, with --json one object per line.
import type { Look } from '../../app/loops/loops.ts';
import { waitingFor } from '../../core/next.ts';
import type { Recorded } from '../../ledger/ledger.ts';
import { visible } from '../../text/text.ts';
import { endingOf } from '../../views/ending.ts';
import { livenessOf } from '../../views/loop.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { stopOnSignals } from '../interrupt.ts';
import { waitWords } from '../live.ts';
import { jsonText } from '../output/json.ts';
import { oneLine } from '../terminal.ts';

const lookEveryMs = 1_000;

/** Why no events come and what to type then; none while somebody works, or when the loop is over. */
export function restLines({ row: { name }, state, held }: Look, now: number): readonly string[] {
  if (state.control.ended !== undefined) return [];
  const { sentence, next } = endingOf(state);
  const asks = state.questions.open.length > 0;
  const isHeld = livenessOf(false, held).is === 'held';
  if (!isHeld)
    return [
      `Loop ${name} is not running. ${oneLine(sentence)}`,
      `  ${(asks && next.at(-1)) || `ralph resume ${name}`}`,
    ];
  const waits = waitingFor(state, now);
  if (waits === undefined) return [];
  if (waits.kind === 'human' && asks) return [`Loop ${name}: ${oneLine(sentence)}`, `  ${next.at(-1) ?? ''}`];
  return [`Loop ${name} ${waitWords(state, now)}.`, ...(state.control.paused ? [`  ralph resume ${name}`] : [])];
}

/** Says once what a loop waits for, and again when that is something else. */
function tellRests(say: (line: string) => void, look: () => Promise<Look>): () => void {
  let told = '';
  const tell = async (): Promise<void> => {
    const seen = await look();
    const now = Date.now();
    const why = JSON.stringify([seen.state.questions.open.length, waitingFor(seen.state, now), seen.held?.alive]);
    const lines = restLines(seen, now);
    if (why !== told) for (const line of lines) say(line);
    told = why;
  };
  const timer = setInterval(() => void tell().catch(() => {}), lookEveryMs);
  void tell().catch(() => {});
  return () => clearInterval(timer);
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const lineOf = ({ loop, seq, hash, event }: Recorded): string =>
    flags['json'] === true
      ? jsonText({ loop, seq, hash, ...event }, 0)
      : `${String(seq).padStart(5)}  ${new Date(event.at).toISOString()}  ${event.type.padEnd(20)} ${visible(oneLine(sentenceOf(event)))}`;
  let cursor = 0;
  for await (const page of loops.history(row.loop)) {
    context.out(page.map(lineOf).join('\n')); // one write for all of them: a write per line costs more than reading them
    cursor = page.at(-1)?.cursor ?? cursor;
  }
  if (flags['follow'] !== true || row.reason !== null) return 0;
  const end = tellRests(context.say, () => loops.look(row));
  try {
    for await (const recorded of loops.follow({ cursor, loop: row.loop }, stopOnSignals())) {
      context.out(lineOf(recorded));
      if (recorded.event.type === 'loop.ended') break;
    }
  } finally {
    end();
  }
  return 0;
}
