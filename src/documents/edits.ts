// Edits and lines of a text: pieces are replaced, and every other byte stays where it is.

const byteOrderMark = '\uFEFF';

/** Where the text begins: behind a byte order mark. */
export const startOf = (text: string): number => (text.startsWith(byteOrderMark) ? 1 : 0);

/** The line end that the text itself uses. */
export const lineEndOf = (text: string): string => /\r?\n/.exec(text)?.[0] ?? '\n';

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
  for (const edit of edits.toSorted((one, other) => one.start - other.start || one.end - other.end)) {
    pieces.push(text.slice(at, edit.start), edit.text);
    at = edit.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Lines of their own behind the one in which `end` lies. */
export function linesBehind(text: string, end: number, lines: readonly string[]): Edit {
  const lineEnd = lineEndOf(text);
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  const at = newline === -1 ? text.length : newline + 1;
  return { start: at, end: at, text: lines.map(line => (newline === -1 ? lineEnd + line : line + lineEnd)).join('') };
}

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

// What two texts have in common, at both ends: blocks are compared by the machine, the rest one by one.

const blockChars = 16 * 1024;

function sameAtStart(one: string, other: string): number {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at + blockChars <= most && one.slice(at, at + blockChars) === other.slice(at, at + blockChars))
    at += blockChars;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

/** What was counted at the start is not counted again. */
function sameAtEnd(one: string, other: string, start: number): number {
  const most = Math.min(one.length, other.length) - start;
  const block = (text: string, at: number): string => text.slice(text.length - at - blockChars, text.length - at);
  let at = 0;
  while (at + blockChars <= most && block(one, at) === block(other, at)) at += blockChars;
  while (at < most && one.charCodeAt(one.length - at - 1) === other.charCodeAt(other.length - at - 1)) at++;
  return at;
}

/** How many characters are the same at the start, and how many of the others at the end. */
export function difference(one: string, other: string): { readonly start: number; readonly same: number } {
  const start = sameAtStart(one, other);
  return { start, same: sameAtEnd(one, other, start) };
}
