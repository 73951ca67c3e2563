// Markdown by lines, each known as code, comment or text, so that an example is never taken for the real thing.
import type { TaskSpec } from '../core/task.ts';
import { suspicion } from '../text/text.ts';
import type { Parsed, WrittenStatus } from './document.ts';
import { startOf, type TextLine, textLines } from './edits.ts';
import { firstNotices, ProblemList, sizeRefusal } from './problems.ts';
import { checkIds } from './task-checks.ts';

export interface MarkdownLine extends TextLine {
  /** Inside a fenced code block, its fences included. */
  readonly isCode: boolean;
  /** Inside an HTML comment that begins a line. */
  readonly isComment: boolean;
}

const fence = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)$/;
const closingFence = /^[ \t]*(`{3,}|~{3,})[ \t]*$/;
const commentStart = /^[ \t]*<!--/;

function opensFence(line: string): string | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const [, marks, rest] = fence.exec(line) ?? [];
  return marks?.startsWith('`') && rest!.includes('`') ? undefined : marks;
}

/** For each line the longest closing fence in it or below: what opens a block that nothing closes is only text. */
function longestBelow(lines: readonly TextLine[], character: string): Int32Array {
  const longest = new Int32Array(lines.length + 1);
  for (let row = lines.length - 1; row >= 0; row -= 1) {
    const { text } = lines[row]!;
    const found = text.includes(character) ? closingFence.exec(text)?.[1] : undefined;
    longest[row] = Math.max(longest[row + 1]!, found?.startsWith(character) ? found.length : 0);
  }
  return longest;
}

/** A block or comment that is never closed hides nothing: a slip must not swallow the rest of the document. */
export function markdownLines(text: string, from = startOf(text)): readonly MarkdownLine[] {
  const raw = [...textLines(text, from)];
  const below = { '`': longestBelow(raw, '`'), '~': longestBelow(raw, '~') };
  const lastCommentEnd = raw.findLastIndex(line => line.text.includes('-->'));
  let open: string | undefined;
  let inComment = false;
  return raw.map((line, row) => {
    if (open !== undefined) {
      const close = closingFence.exec(line.text)?.[1];
      if (close?.startsWith(open)) open = undefined;
      return { ...line, isCode: true, isComment: false };
    }
    if (!inComment) {
      const marks = opensFence(line.text);
      if (marks !== undefined && below[marks[0] as '`' | '~'][row + 1]! >= marks.length) {
        open = marks;
        return { ...line, isCode: true, isComment: false };
      }
      inComment = commentStart.test(line.text) && row <= lastCommentEnd;
    }
    const isComment = inComment;
    if (inComment && line.text.includes('-->')) inComment = false;
    return { ...line, isCode: false, isComment };
  });
}

/** A list item with a box, as GitHub reads it. */
interface BoxLine {
  readonly indent: string;
  /** What stands in the box: a space, `x`, `X` or another single character. */
  readonly state: string;
  /** Where that character stands in the whole text. */
  readonly offset: number;
  readonly text: string;
}

const box = /^([ \t]*)((?:[-*+]|\d{1,9}[.)])[ \t]+)\[(.)\](?:[ \t]+(.*))?$/u;

export function boxLine(line: MarkdownLine): BoxLine | undefined {
  if (line.isCode || line.isComment || !line.text.includes('[')) return undefined;
  const [whole, indent = '', bullet = '', state = '', text = ''] = box.exec(line.text) ?? [];
  if (whole === undefined) return undefined;
  return { indent, state, offset: line.start + indent.length + bullet.length + 1, text: text.trim() };
}

export function heading(line: MarkdownLine): { readonly depth: number; readonly text: string } | undefined {
  if (line.isCode || line.isComment || !line.text.includes('#')) return undefined;
  const [, marks, text = ''] = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line.text) ?? [];
  return marks === undefined ? undefined : { depth: marks.length, text: withoutClosing(text.trim()) };
}

/** A heading may be closed by number signs behind a space. */
function withoutClosing(text: string): string {
  let end = text.length;
  while (text[end - 1] === '#') end -= 1;
  return end < text.length && (end === 0 || /[ \t]/.test(text[end - 1]!)) ? text.slice(0, end).trim() : text;
}

/** The three marks of a failed merge, in order and outside of code: a single row of ======= underlines a heading. */
export function watchMerge(lines: readonly MarkdownLine[], problems: ProblemList): void {
  const steps = [/^<{7}(?: |$)/, /^={7}$/, /^>{7}(?: |$)/];
  let first: number | undefined;
  let step = 0;
  for (const line of lines) {
    if (line.isCode || !steps[step]!.test(line.text)) continue;
    first ??= line.start;
    step += 1;
    if (step < steps.length) continue;
    problems.addMerge(first);
    return;
  }
}

/** What a reader of the rendered page would not see: odd characters, and comments, which agents read all the same. */
export function watchHidden(lines: readonly MarkdownLine[], firstLine = 1): readonly string[] {
  const notices: string[] = [];
  for (const [row, line] of lines.entries()) {
    const warning = suspicion(line.text);
    if (warning !== undefined) notices.push(`Line ${firstLine + row} ${warning}`);
    if (!line.isCode && line.text.includes('<!--')) {
      notices.push(`Line ${firstLine + row} holds an HTML comment: a page does not show it, but agents read it.`);
    }
    if (!line.isCode && !line.isComment && opensFence(line.text) !== undefined) {
      notices.push(`Line ${firstLine + row} opens a code block that is never closed; what follows is read as text.`);
    }
  }
  return firstNotices(notices, 'lines look odd');
}

const textCharsMax = 64 * 1024 * 1024;

interface MarkdownTasks {
  readonly title: string;
  /** Each with the place and the line, from 1, where it stands. */
  readonly listed: readonly { readonly task: TaskSpec; readonly start: number; readonly line: number }[];
  readonly notices: readonly string[];
}

/** Every list of tasks in Markdown is judged alike: its size, an unfinished merge, and its ids. */
export function parseMarkdownTasks(
  text: string,
  noun: string,
  read: (lines: readonly MarkdownLine[], problems: ProblemList) => MarkdownTasks,
): Parsed {
  const tooLarge = sizeRefusal(text, textCharsMax, '64 MB', 'Split the work into several files.');
  if (tooLarge !== undefined) return tooLarge;
  const problems = new ProblemList();
  const lines = markdownLines(text);
  watchMerge(lines, problems);
  const { title, listed, notices } = read(lines, problems);
  const tasks = listed.map(({ task }) => task);
  checkIds(tasks, {
    noun,
    taskName: row => `line ${listed[row]!.line}`,
    idName: row => `Line ${listed[row]!.line}: the id`,
    idPlace: row => listed[row]!.start,
    add: problems.add.bind(problems),
  });
  if (problems.count > 0) return problems.refusal(text);
  return { ok: true, document: { project: title, goal: title, tasks, notices: [...notices, ...watchHidden(lines)] } };
}

/** An item or a heading, and the lines that belong to it. */
export interface MarkdownPart {
  readonly head: MarkdownLine;
  readonly below: readonly MarkdownLine[];
}

/** The last of its lines that has something in it. */
export const lastLine = ({ head, below }: MarkdownPart): MarkdownLine =>
  below.findLast(line => line.text.trim() !== '') ?? head;

/** What stands in a box: plain Markdown has the first three; the others are what people and note programs use. */
const meanings: Readonly<Record<string, WrittenStatus>> = {
  ' ': 'open',
  x: 'done',
  X: 'done',
  '-': 'skipped',
  '!': 'blocked',
  '~': 'open',
  '/': 'open',
  '>': 'open',
};

/** Undefined: no box at all, but a footnote or a link. */
export function boxMeaning(state: string): WrittenStatus | undefined {
  return Object.hasOwn(meanings, state) ? meanings[state] : undefined;
}

export const boxCharacter: Readonly<Record<WrittenStatus, string>> = {
  open: ' ',
  done: 'x',
  skipped: '-',
  blocked: '!',
};
