// `ralph explain`: every deciding event with the rule and the numbers behind it.
import { ledgerEvents } from '../../app.ts';
import type { Event } from '../../core/event.ts';
import { sentenceOf } from '../../views/timeline.ts';
import { type Context, loopOf } from './context.ts';
import { plain } from './style.ts';

const noise: readonly Event['type'][] = ['iteration.heard', 'iteration.spawned', 'usage.recorded', 'tasks.saved'];

const concerns = (event: Event, task: string): boolean =>
  ('task' in event && event.task === task) ||
  (event.type === 'escalation.raised' && event.escalation.task === task) ||
  event.type === 'loop.ended';

export async function execute(
  context: Context,
  [name]: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  const { ledger, row } = await loopOf(context, name);
  const task = flags['task'];
  for await (const page of ledgerEvents(ledger, row.loop)) {
    for (const { event, seq } of page) {
      if (noise.includes(event.type) || (typeof task === 'string' && !concerns(event, task))) continue;
      context.out(
        `${String(seq).padStart(4)}  ${new Date(event.at).toTimeString().slice(0, 8)}  ${plain(sentenceOf(event)).replaceAll('\n', ' ')}`,
      );
    }
  }
  return 0;
}
