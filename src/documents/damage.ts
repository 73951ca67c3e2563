// Document damage: tasks that were lost, edited or ticked while no record of ours says that this is right.
import type { TaskSpec } from '../core/task.ts';
import { takenOut } from '../core/task-identity.ts';
import { canonical } from '../text/canonical.ts';
import { someOf } from '../text/format.ts';
import type { ParsedDocument } from './document.ts';

/**
 * Where tasks are listed, whoever works on one may tick it and add others, but takes none of the open ones away.
 * The end of a sentence about the document.
 */
export function lostTasks(before: ParsedDocument, now: ParsedDocument): string | undefined {
  const lost = takenOut(before.tasks, now.tasks);
  if (lost.length === 0) return undefined;
  return `lost ${someOf(lost, 5)} while an iteration ran (to leave a task out: ralph task skip ID)`;
}

/** What the document asks for, and within which limits. */
const request = ({ tasks, defaults }: ParsedDocument): string =>
  canonical([tasks.map(({ id, title, description }) => [id, title, description]), defaults ?? null]);

/** Where the whole document is one task, whoever works on it may tick its box and no more. The end of a sentence. */
export function editedTask(before: ParsedDocument, now: ParsedDocument): string | undefined {
  return request(before) === request(now) ? undefined : 'is the task itself and was edited while an iteration ran';
}

/** Nobody knows who ticked a box before there was a record; only a person can say that it is right (B48). */
export function unrecordedTicks(tasks: readonly TaskSpec[], recorded: ReadonlySet<string>): readonly string[] {
  const ticked = tasks.filter(task => (task.done || task.skipped) && !recorded.has(task.id)).map(task => task.id);
  if (ticked.length === 0) return [];
  const many = `${ticked.length} of ${tasks.length} tasks (${someOf(ticked, 5)}) are`;
  const what = ticked.length === 1 ? `Task ${ticked[0]} is` : many;
  return [
    `${what} marked as done or skipped already, without a record of it, and will not be worked on. Open again what is not done; --accept-ticked says that they are right, and this note is left out.`,
  ];
}
