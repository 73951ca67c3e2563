// Writes statuses into a PRD.json by replacing only their literals, with an index so that a mark costs the change alone.
import type { TaskMark } from '../document.ts';
import { scanJson, stringAt } from '../json.ts';

/** Where the literals of each story stand in one text. Treat it as opaque. */
export interface StoryIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where `passes` starts, where `skipped` starts (-1: no such key). */
  readonly starts: Int32Array;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const literals = new Set(['true', 'false']);

/** A text that is not a valid PRD gives an empty index, and so stays as it is. */
export function indexStories(text: string): StoryIndex {
  const rows = new Map<string, number>();
  const starts: number[] = [];
  let id: string | undefined;
  let passes = -1;
  let skipped = -1;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth === 3 && path[0] === 'userStories') {
        const key = path[2];
        if (key === 'id' && text.startsWith('"', start)) id = stringAt(text, start, end);
        else if (key === 'passes' && literals.has(text.slice(start, end))) passes = start;
        else if (key === 'skipped' && literals.has(text.slice(start, end))) skipped = start;
      } else if (depth === 2 && path[0] === 'userStories') {
        if (id !== undefined && passes !== -1 && !rows.has(id)) {
          rows.set(id, starts.length / 2);
          starts.push(passes, skipped);
        }
        id = undefined;
        passes = -1;
        skipped = -1;
      }
    },
  });
  return fault ? { rows: new Map(), starts: new Int32Array() } : { rows, starts: Int32Array.from(starts) };
}

/** The text with the marks, and its index. The same text comes back when nothing changes. Unknown ids are ignored. */
export function markWithIndex(
  text: string,
  index: StoryIndex,
  marks: readonly TaskMark[],
): { readonly text: string; readonly index: StoryIndex } {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const splices: Splice[] = [];
  /** By row: how far behind `passes` the added `skipped` starts. */
  const added = new Map<number, number>();
  for (const [row, mark] of wanted) {
    const passes = index.starts[2 * row]!;
    const skipped = index.starts[2 * row + 1]!;
    replaceLiteral(text, passes, mark.done, splices);
    if (skipped !== -1) {
      replaceLiteral(text, skipped, mark.skipped, splices);
    } else if (mark.skipped) {
      const end = literalEnd(text, passes);
      const before = memberLike(text, passes, end);
      splices.push({ start: end, end, text: `${before}true` });
      added.set(row, (mark.done ? 4 : 5) + before.length);
    }
  }
  if (splices.length === 0) return { text, index };
  splices.sort((one, other) => one.start - other.start || one.end - other.end);
  return { text: spliced(text, splices), index: { rows: index.rows, starts: shifted(index, splices, added) } };
}

function replaceLiteral(text: string, start: number, value: boolean, splices: Splice[]): void {
  const end = literalEnd(text, start);
  if (text.startsWith('true', start) !== value) splices.push({ start, end, text: String(value) });
}

function literalEnd(text: string, start: number): number {
  return start + (text.startsWith('true', start) ? 4 : 5);
}

/** What to put after `passes` so that `skipped` looks like its neighbour: separator, key and colon in the story's own style. */
function memberLike(text: string, valueStart: number, valueEnd: number): string {
  const keyEnd = text.lastIndexOf('"', valueStart) + 1;
  const keyStart = text.lastIndexOf('"', keyEnd - 2);
  const colon = text.slice(keyEnd, valueStart);
  const separatorStart = backOver(text, keyStart);
  // The first member has no separator before it; the one after it shows the style.
  const separator = text.slice(separatorStart, keyStart).includes(',')
    ? text.slice(separatorStart, keyStart)
    : text.slice(valueEnd, forwardOver(text, valueEnd));
  return `${separator}"skipped"${colon}`;
}

function isSeparator(character: string | undefined): boolean {
  return character !== undefined && ' \t\r\n,'.includes(character);
}

function backOver(text: string, from: number): number {
  let at = from;
  while (isSeparator(text[at - 1])) at--;
  return at;
}

function forwardOver(text: string, from: number): number {
  let at = from;
  while (isSeparator(text[at])) at++;
  return at;
}

function spliced(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const splice of splices) {
    pieces.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Moves every start behind a splice by what that splice added. */
function shifted(index: StoryIndex, splices: readonly Splice[], added: ReadonlyMap<number, number>): Int32Array {
  const starts = index.starts.slice();
  const ends = splices.map(splice => splice.end);
  const totals: number[] = [];
  let total = 0;
  for (const splice of splices) {
    total += splice.text.length - (splice.end - splice.start);
    totals.push(total);
  }
  // Stories stand in document order, so one pointer per story suffices; `skipped` may come before `passes` in it.
  let passed = 0;
  for (let row = 0; 2 * row < starts.length; row++) {
    const passes = index.starts[2 * row]!;
    const skipped = index.starts[2 * row + 1]!;
    const first = skipped === -1 ? passes : Math.min(passes, skipped);
    while (passed < ends.length && ends[passed]! <= first) passed++;
    starts[2 * row] = passes + shiftAt(passes, passed, ends, totals);
    if (skipped !== -1) starts[2 * row + 1] = skipped + shiftAt(skipped, passed, ends, totals);
    const offset = added.get(row);
    if (offset !== undefined) starts[2 * row + 1] = starts[2 * row]! + offset;
  }
  return starts;
}

function shiftAt(start: number, passed: number, ends: readonly number[], totals: readonly number[]): number {
  let at = passed;
  while (at < ends.length && ends[at]! <= start) at++;
  return at === 0 ? 0 : totals[at - 1]!;
}
