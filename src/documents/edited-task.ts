// Where the whole document is one task, whoever works on it may tick its box and no more.
import { canonical } from '../text/canonical.ts';
import type { ParsedDocument } from './document.ts';

/** What it asks for, and within which limits. */
const asked = ({ tasks, wishes }: ParsedDocument): string =>
  canonical([tasks.map(({ id, title, description }) => [id, title, description]), wishes ?? null]);

/** The end of a sentence about the document. */
export function editedTask(before: ParsedDocument, now: ParsedDocument): string | undefined {
  return asked(before) === asked(now) ? undefined : 'is the task itself and was edited while an iteration ran';
}
