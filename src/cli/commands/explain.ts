// `ralph explain`: every deciding event with the rule and the numbers behind it.
import { ledgerEvents } from '../../app/app.ts';
import type { Event } from '../../core/event.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, type Flags, loopOf, type Words } from '../context.ts';
import { hanging, makeStyle, plain } from '../terminal.ts';

export const noise: readonly Event['type'][] = [
  'iteration.heard',
  'iteration.spawned',
  'usage.recorded',
  'tasks.saved',
];

/** What concerns one task: its own events, its questions and their answers, and how the loop ended. */
export function about(task: string): (event: Event) => boolean {
  const questions = new Set<string>();
  return event => {
    if (event.type === 'escalation.raised' && event.escalation.task === task) questions.add(event.escalation.id);
    if (event.type === 'escalation.raised') return event.escalation.task === task;
    if (event.type === 'escalation.answered') return questions.has(event.id);
    return event.type === 'loop.ended' || ('task' in event && event.task === task);
  };
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  const task = flags['task'];
  const concerns = typeof task === 'string' ? about(task) : () => true;
  const style = makeStyle(flags, process.stdout);
  for await (const page of ledgerEvents(ledger, row.loop)) {
    for (const { event, seq } of page) {
      if (noise.includes(event.type) || !concerns(event)) continue;
      const start = `${String(seq).padStart(4)}  ${new Date(event.at).toTimeString().slice(0, 8)}  `;
      const sentence = plain(sentenceOf(event)).replaceAll('\n', ' ');
      context.out(process.stdout.isTTY ? hanging(start, sentence, style.columns()) : `${start}${sentence}`);
    }
  }
  return 0;
}
