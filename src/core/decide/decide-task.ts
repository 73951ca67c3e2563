// What a person says about one task, outside of any question; an effect that may have happened is never repeated in passing.
import type { Event } from '../event.ts';
import type { Command } from '../input.ts';
import type { State } from '../state.ts';
import { findTask, mayHaveHappened } from '../task.ts';

export function taskCommand(
  state: State,
  { act, task: id, again }: Extract<Command, { type: 'task' }>,
  by: string,
  now: number,
): readonly Event[] {
  const task = findTask(state.tasks, id);
  if (task === undefined || state.ended || task.status === 'active') return [];
  if (act === 'skip') {
    const isClosed = task.status === 'done' || task.status === 'skipped';
    return isClosed
      ? []
      : [
          ...closedWith(state, id, by, now),
          { type: 'task.skipped', at: now, task: id, by, because: 'ralph task skip' },
        ];
  }
  const isAgain = mayHaveHappened(task);
  if (isAgain && again !== true) return [];
  const because = isAgain ? `ralph task retry --again: ${by} wants it done again` : 'ralph task retry';
  return [...closedWith(state, id, by, now), { type: 'task.reopened', at: now, task: id, because }];
}

const closed = (id: string, by: string, because: string, now: number): Event => ({
  type: 'escalation.answered',
  at: now,
  id,
  answer: { kind: 'retry' },
  by,
  because,
});

/** The questions about a task need no answer once a person decided about it; whether nothing is ready is asked anew. */
const closedWith = (state: State, task: string, by: string, now: number): readonly Event[] =>
  state.escalations
    .filter(one => (one.task === task && one.kind !== 'health') || one.kind === 'blocked')
    .map(({ id }) => closed(id, by, 'decided by ralph task', now));

/** "No task is ready" is no longer true when tasks were opened again. */
export const stallsOver = (state: State, because: string, now: number): readonly Event[] =>
  state.escalations.filter(one => one.kind === 'blocked').map(({ id }) => closed(id, 'ralph', because, now));
