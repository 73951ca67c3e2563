// What a task waits for, in words and as data: the same in the list and in the account of one task.
import type { State } from '../../core/state.ts';
import { findTask, type Task, type TaskTable } from '../../core/task.ts';

const namesMax = 3;

export const someOf = (ids: readonly string[], most = namesMax): string =>
  `${ids.slice(0, most).join(', ')}${ids.length > most ? `, and ${ids.length - most} more` : ''}`;

/** The dependencies that keep it from starting. */
function unmetOf(table: TaskTable, task: Task): readonly string[] {
  if (task.status !== 'pending' && task.status !== 'blocked') return [];
  return task.dependsOn.filter(id => findTask(table, id)?.status !== 'done');
}

/** Why nobody works on it now; '' when somebody does, has, or could at once. */
export function waitWords(table: TaskTable, task: Task, state: State | undefined): string {
  const live = state?.live.find(one => one.task === task.id);
  if (live !== undefined) return `iteration ${live.iteration}, ${live.performer}`;
  if (state?.claims.some(one => one.task === task.id)) return 'being checked';
  if (task.status === 'done') return task.verified === false ? 'unverified' : '';
  if (task.status === 'skipped') return '';
  if (task.asked !== undefined) return `waits for your answer to ${task.asked}`;
  if (task.parked !== undefined) return task.parked;
  const unmet = unmetOf(table, task);
  return unmet.length === 0 ? '' : `waits for ${someOf(unmet)}`;
}

/** One task for programs. */
export function taskJson(table: TaskTable, task: Task): Readonly<Record<string, unknown>> {
  return {
    id: task.id,
    title: task.title,
    status: task.status,
    attempts: task.attempts,
    verified: task.verified ?? null,
    depends_on: task.dependsOn,
    waits_for: unmetOf(table, task),
    question: task.asked ?? null,
    parked: task.parked ?? null,
  };
}
