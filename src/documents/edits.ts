// Replaces pieces of a text and leaves every other byte where it is.

import type { TaskSpec } from '../core/task.ts';
import { takenOut } from '../core/task-identity.ts';
import { canonical } from '../text/canonical.ts';
import { someOf } from '../text/format.ts';
import type { ParsedDocument } from './document.ts';

export interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** The edits must not overlap; their order does not matter. */
export function withEdits(text: string, edits: readonly Edit[]): string {
  if (edits.length === 0) return text;
  const pieces: string[] = [];
  let at = 0;
  for (const edit of [...edits].sort((one, other) => one.start - other.start)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

// Walks a text line by line with the place and the indentation of each, for formats that people write by hand.

export interface TextLine {
  readonly start: number;
  /** Behind the last character, before the line break. */
  readonly end: number;
  readonly text: string;
  /** In columns; a tab goes on to the next multiple of four, as in Markdown. */
  readonly indent: number;
}

export function* textLines(text: string, from: number): Generator<TextLine> {
  let start = from;
  while (start < text.length) {
    const feed = text.indexOf('\n', start);
    const next = feed === -1 ? text.length : feed + 1;
    let end = feed === -1 ? text.length : feed;
    if (end > start && text[end - 1] === '\r') end--;
    const line = text.slice(start, end);
    yield { start, end, text: line, indent: indentOf(line) };
    start = next;
  }
}

function indentOf(line: string): number {
  let column = 0;
  for (let at = 0; at < line.length; at++) {
    if (line[at] === ' ') column++;
    else if (line[at] === '\t') column += 4 - (column % 4);
    else break;
  }
  return column;
}

// Where tasks are listed, whoever works on one may tick it and add others, but takes none of the open ones away.

/** The end of a sentence about the document. */
export function lostTasks(before: ParsedDocument, now: ParsedDocument): string | undefined {
  const lost = takenOut(before.tasks, now.tasks);
  if (lost.length === 0) return undefined;
  return `lost ${someOf(lost, 5)} while an iteration ran (to leave a task out: ralph task skip ID)`;
}

// Where the whole document is one task, whoever works on it may tick its box and no more.

/** What it asks for, and within which limits. */
const asked = ({ tasks, wishes }: ParsedDocument): string =>
  canonical([tasks.map(({ id, title, description }) => [id, title, description]), wishes ?? null]);

/** The end of a sentence about the document. */
export function editedTask(before: ParsedDocument, now: ParsedDocument): string | undefined {
  return asked(before) === asked(now) ? undefined : 'is the task itself and was edited while an iteration ran';
}

// Says which tasks a document calls done although no loop of it has a record of that.

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
