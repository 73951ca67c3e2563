// Reads Markdown line by line and knows which lines are code or comment, so that an example is never taken for the real thing.

import { suspicion } from '../text/text.ts';
import type { Parsed, TaskMark } from './document.ts';
import { byteOrderMark } from './json.ts';
import { ProblemList, problemsMax } from './problems.ts';

export interface MarkdownLine {
  /** Where it starts in the whole text. */
  readonly start: number;
  /** Without its line end. */
  readonly text: string;
  /** Inside a fenced code block, its fences included. */
  readonly isCode: boolean;
  /** Inside an HTML comment that begins a line. */
  readonly isComment: boolean;
}

const fence = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(`{3,}|~{3,})(.*)$/;
const closingFence = /^[ \t]*(`{3,}|~{3,})[ \t]*$/;
const commentStart = /^[ \t]*<!--/;

interface RawLine {
  readonly start: number;
  readonly text: string;
}

function rawLines(text: string, from: number): readonly RawLine[] {
  const lines: RawLine[] = [];
  for (let start = from; start < text.length; ) {
    const newline = text.indexOf('\n', start);
    const end = newline === -1 ? text.length : newline;
    lines.push({ start, text: text.slice(start, text.charCodeAt(end - 1) === 0x0d && end > start ? end - 1 : end) });
    start = end + 1;
  }
  return lines;
}

function opensFence(line: string): string | undefined {
  if (!line.includes('```') && !line.includes('~~~')) return undefined;
  const [, marks, rest] = fence.exec(line) ?? [];
  return marks?.startsWith('`') && rest!.includes('`') ? undefined : marks;
}

/** For each line the longest closing fence in it or below: what opens a block that nothing closes is only text. */
function longestBelow(lines: readonly RawLine[], character: string): Int32Array {
  const longest = new Int32Array(lines.length + 1);
  for (let row = lines.length - 1; row >= 0; row -= 1) {
    const { text } = lines[row]!;
    const found = text.includes(character) ? closingFence.exec(text)?.[1] : undefined;
    longest[row] = Math.max(longest[row + 1]!, found?.startsWith(character) ? found.length : 0);
  }
  return longest;
}

/** A block or comment that is never closed hides nothing: a slip must not swallow the rest of the document. */
export function markdownLines(text: string, from = text.startsWith(byteOrderMark) ? 1 : 0): readonly MarkdownLine[] {
  const raw = rawLines(text, from);
  const below = { '`': longestBelow(raw, '`'), '~': longestBelow(raw, '~') };
  const lastCommentEnd = raw.findLastIndex(line => line.text.includes('-->'));
  let open: string | undefined;
  let inComment = false;
  return raw.map(({ start, text: line }, row) => {
    if (open !== undefined) {
      const close = closingFence.exec(line)?.[1];
      if (close?.startsWith(open)) open = undefined;
      return { start, text: line, isCode: true, isComment: false };
    }
    if (!inComment) {
      const marks = opensFence(line);
      if (marks !== undefined && below[marks[0] as '`' | '~'][row + 1]! >= marks.length) {
        open = marks;
        return { start, text: line, isCode: true, isComment: false };
      }
      inComment = commentStart.test(line) && row <= lastCommentEnd;
    }
    const isComment = inComment;
    if (inComment && line.includes('-->')) inComment = false;
    return { start, text: line, isCode: false, isComment };
  });
}

/** A list item with a box, as GitHub reads it. */
export interface BoxLine {
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
  const found = box.exec(line.text);
  if (found === null) return undefined;
  const [, indent, bullet, state, text] = found;
  return {
    indent: indent!,
    state: state!,
    offset: line.start + indent!.length + bullet!.length + 1,
    text: (text ?? '').trim(),
  };
}

export function heading(line: MarkdownLine): { readonly depth: number; readonly text: string } | undefined {
  if (line.isCode || line.isComment || !line.text.includes('#')) return undefined;
  const found = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/.exec(line.text);
  if (found === null) return undefined;
  return { depth: found[1]!.length, text: withoutClosing((found[2] ?? '').trim()) };
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
    problems.add(
      first,
      'The document holds the markers of an unfinished merge.',
      'Resolve the conflict, then remove the <<<<<<<, ======= and >>>>>>> lines.',
    );
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
  const rest = notices.length - problemsMax;
  return rest > 0 ? [...notices.slice(0, problemsMax), `${rest} more lines look odd.`] : notices;
}

const textCharsMax = 64 * 1024 * 1024;

/** The refusal of a list that nobody works through; nothing else of it is looked at. */
export function tooLarge(text: string): Parsed | undefined {
  if (text.length <= textCharsMax) return undefined;
  const problems = new ProblemList();
  problems.add(0, 'The document is larger than 64 MB.', 'Split the work into several files.');
  return { ok: false, problems: problems.located(text.slice(0, 1)) };
}

// How far an item of a checklist or a section of a plan reaches: the last line that still belongs to it.

const columnsOf = (text: string): number => /^[ \t]*/.exec(text)![0].replaceAll('\t', '    ').length;

/** The row of the last line with something in it that stands below this item. */
export function itemEnd(lines: readonly MarkdownLine[], row: number): number {
  const columns = columnsOf(lines[row]!.text);
  let end = row;
  for (let at = row + 1; at < lines.length; at += 1) {
    const { text, isCode } = lines[at]!;
    const goesOn = isCode && lines[at - 1]!.isCode;
    if (!goesOn && text.trim() !== '' && columnsOf(text) <= columns) break;
    if (text.trim() !== '') end = at;
  }
  return end;
}

/** The same for the section that this heading begins. */
export function sectionEnd(lines: readonly MarkdownLine[], row: number): number {
  const depth = heading(lines[row]!)?.depth ?? 0;
  let end = row;
  for (let at = row + 1; at < lines.length; at += 1) {
    const found = heading(lines[at]!);
    if (found !== undefined && found.depth <= depth) break;
    if (lines[at]!.text.trim() !== '') end = at;
  }
  return end;
}

// What the character in a box means, and which one a mark puts there.

export type BoxMeaning = 'open' | 'done' | 'skipped' | 'blocked';

/** Plain Markdown has the first three; the others are what people and note programs use. */
const meanings: Readonly<Record<string, BoxMeaning>> = {
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
export function boxMeaning(state: string): BoxMeaning | undefined {
  return Object.hasOwn(meanings, state) ? meanings[state] : undefined;
}

/** A mark that says no more than "not done" leaves alone what already says so: a box in progress, or a blocked one. */
export function markMeans(mark: TaskMark, now: BoxMeaning): BoxMeaning {
  if (mark.done) return 'done';
  if (mark.skipped) return 'skipped';
  if (mark.status === 'blocked' || (mark.status === undefined && now === 'blocked')) return 'blocked';
  return 'open';
}

export const boxCharacter: Readonly<Record<BoxMeaning, string>> = {
  open: ' ',
  done: 'x',
  skipped: '-',
  blocked: '!',
};
