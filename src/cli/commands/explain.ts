// `ralph explain`: every deciding event with the rule and the numbers behind it.
import type { Event } from '../../core/event.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, printJson, textFlag, type Words } from '../context.ts';
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

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { loops, row } = await loopOf(context, name);
  const isWanted = isTold(textFlag(flags, 'task'));
  const style = makeStyle(flags, process.stdout);
  const steps: unknown[] = [];
  for await (const { event, seq } of loops.history(row.loop)) {
    if (!isWanted(event)) continue;
    const { at, type, task, iteration } = { task: undefined, iteration: undefined, ...event };
    if (flags['json'] === true) {
      steps.push({ seq, at, type, task, iteration, sentence: sentenceOf(event) });
      continue;
    }
    const start = `${String(seq).padStart(4)}  ${new Date(at).toTimeString().slice(0, 8)}  `;
    const sentence = oneLine(sentenceOf(event));
    context.out(process.stdout.isTTY ? hanging(start, sentence, style.columns()) : `${start}${sentence}`);
  }
  return flags['json'] === true ? printJson(context, { version: 2, loop: row.loop, name: row.name, steps }) : 0;
}
