// Where tasks are listed, whoever works on one may tick it and add others, but takes none of the open ones away.
import { someOf } from '../text/format.ts';
import { takenOut } from '../core/task-identity.ts';
import type { ParsedDocument } from './document.ts';

/** The end of a sentence about the document. */
export function lostTasks(before: ParsedDocument, now: ParsedDocument): string | undefined {
  const lost = takenOut(before.tasks, now.tasks);
  if (lost.length === 0) return undefined;
  return `lost ${someOf(lost, 5)} while an iteration ran (to leave a task out: ralph task skip ID)`;
}
