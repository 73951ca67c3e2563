// Says which tasks a document calls done although no loop of it has a record of that.
import { someOf } from '../text/format.ts';
import type { TaskSpec } from '../core/task.ts';

/** Nobody knows who ticked a box before there was a record; only a person can say that it is right (B48). */
export function watchTicked(tasks: readonly TaskSpec[], recorded: ReadonlySet<string>): readonly string[] {
  const ticked = tasks.filter(task => (task.done || task.skipped) && !recorded.has(task.id)).map(task => task.id);
  if (ticked.length === 0) return [];
  const many = `${ticked.length} of ${tasks.length} tasks (${someOf(ticked, 5)}) are`;
  const what = ticked.length === 1 ? `Task ${ticked[0]} is` : many;
  return [
    `${what} marked as done or skipped already, without a record of it, and will not be worked on. Open again what is not done, or say --accept-ticked.`,
  ];
}
