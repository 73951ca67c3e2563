// `ralph explain`: every deciding event with the rule and the numbers behind it, the newest ones first where there are many.
import type { LedgerLoops } from '../../app/loops/loops.ts';
import type { Event } from '../../core/event.ts';
import { findTask } from '../../core/task.ts';
import type { LoopRow, Recorded } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { visible } from '../../text/text.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, printJson, textFlag, type Words } from '../context.ts';
import { clockTime } from '../output/time.ts';
import { hanging, makeStyle, oneLine } from '../terminal.ts';

const noise: readonly Event['type'][] = ['iteration.heartbeat', 'iteration.spawned', 'usage.recorded', 'tasks.saved'];

/** Deciding events; of one task: its own, its questions and their answers, and how the loop ended. */
export function isTold(task?: string): (event: Event) => boolean {
  const questions = new Set<string>();
  return event => {
    if (noise.includes(event.type)) return false;
    if (task === undefined) return true;
    if (event.type === 'escalation.raised' && event.escalation.task === task) questions.add(event.escalation.id);
    if (event.type === 'escalation.raised') return event.escalation.task === task;
    if (event.type === 'escalation.answered') return questions.has(event.id);
    return event.type === 'loop.ended' || ('task' in event && event.task === task);
  };
}

const stepsMax = 500;
const rowsAtOnce = 1_000;

interface Asked {
  readonly task: string | undefined;
  /** Only what came before this event. */
  readonly before: number;
  readonly most: number;
}

/** At least the newest `most` and one, where there are so many. */
async function newestSteps(loops: LedgerLoops, loop: string, { task, before, most }: Asked): Promise<Recorded[]> {
  const isWanted = isTold(task);
  const isAsked = ({ event, seq }: Recorded): boolean => seq < before && isWanted(event);
  let steps: Recorded[] = [];
  if (task !== undefined || most === Number.POSITIVE_INFINITY) {
    // Whose answer it is stands in an earlier event, so a task is looked for from the beginning.
    for await (const page of loops.history(loop)) steps.push(...page.filter(isAsked));
    return steps;
  }
  for (let to = before - 1; to > 0 && steps.length <= most; to -= rowsAtOnce) {
    const from = Math.max(0, to - rowsAtOnce);
    steps = [...(await loops.events(loop, from, to - from)).filter(isAsked), ...steps];
  }
  return steps;
}

function beforeOf(flags: Flags, { seq }: LoopRow): number {
  const text = textFlag(flags, 'before');
  if (text === undefined) return seq + 1;
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError(`--before ${text} is no number of an event.`);
  return Math.min(Number(text), seq + 1);
}

const stepOf = ({ event, seq }: Recorded) => {
  const { at, type, task, iteration } = { task: undefined, iteration: undefined, ...event };
  return { seq, at, type, task, iteration, sentence: sentenceOf(event) };
};

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const task = textFlag(flags, 'task');
  if (task !== undefined && findTask((await loops.look(row)).state.tasks, task) === undefined)
    throw new UsageError(
      `Loop ${row.name} has no task ${JSON.stringify(task)}.`,
      `See them all: ralph task list ${row.name}`,
    );
  const before = beforeOf(flags, row);
  if (flags['json'] === true) {
    const most = flags['before'] === undefined ? Number.POSITIVE_INFINITY : stepsMax;
    const steps = await newestSteps(loops, row.loop, { task, before, most });
    return printJson(context, { loop: row.loop, name: row.name, steps: steps.slice(-most).map(stepOf) });
  }
  const style = makeStyle(flags, process.stdout);
  const steps = await newestSteps(loops, row.loop, { task, before, most: stepsMax });
  const shown = steps.slice(-stepsMax);
  const lines = shown.map(({ event, seq }) => {
    const start = `${String(seq).padStart(4)}  ${clockTime(event.at, 'seconds')}  `;
    const sentence = visible(oneLine(sentenceOf(event)));
    return process.stdout.isTTY ? hanging(start, sentence, style.columns()) : `${start}${sentence}`;
  });
  if (lines.length > 0) context.out(lines.join('\n'));
  if (shown.length < steps.length) {
    const of = task === undefined ? '' : ` --task ${task}`;
    context.say(
      `These are the newest ${shown.length} steps. Those before: ralph explain ${row.name}${of} --before ${shown[0]?.seq}`,
    );
  }
  return 0;
}
