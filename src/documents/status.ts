// The status of a task as documents write it, and what a mark makes of it.
import type { TaskSpec } from '../core/task.ts';
import type { TaskMark } from './document.ts';
import type { Edit } from './edits.ts';

export type WrittenStatus = 'open' | 'done' | 'skipped' | 'blocked';

type StatusFields = Pick<TaskSpec, 'done' | 'skipped' | 'blocked'>;

export const statusOf = ({ done, skipped, blocked }: StatusFields): WrittenStatus =>
  done ? 'done' : skipped ? 'skipped' : blocked ? 'blocked' : 'open';

export const statusFields = (status: WrittenStatus): StatusFields => ({
  done: status === 'done',
  skipped: status === 'skipped',
  blocked: status === 'blocked' || undefined,
});

/** A mark that says no more than "not done" leaves alone what already says so: a task in progress, or a blocked one. */
export function markedStatus({ done, skipped, status }: TaskMark, now: WrittenStatus): WrittenStatus {
  return statusOf({ done, skipped, blocked: status === 'blocked' || (status === undefined && now === 'blocked') });
}

/** The edits of the tasks that are marked; the last mark of an id counts. */
export function markEdits<Item extends { readonly id: string }>(
  items: readonly Item[],
  marks: readonly TaskMark[],
  editsOf: (item: Item, mark: TaskMark) => readonly Edit[],
): readonly Edit[] {
  const byId = new Map(marks.map(mark => [mark.id, mark]));
  return items.flatMap(item => {
    const mark = byId.get(item.id);
    return mark === undefined ? [] : editsOf(item, mark);
  });
}
