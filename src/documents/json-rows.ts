// Rows of a JSON task list: where each stands in the text, so that a mark or an edit costs the rows that it touches.
import type { TaskMark, TaskSpec } from '../core/task.ts';
import type { TextIndex } from './document.ts';
import { difference, type Edit, withEdits } from './edits.ts';
import { scanJson, stringAt } from './json.ts';

/** Where each task stands in one text, and what it says there. Treat it as opaque. */
export interface TaskIndex extends TextIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where the task's object starts and ends. */
  readonly spans: Int32Array;
  /** Absent where the text was only marked, not read. */
  readonly read?: ReadRows;
}

export interface ReadRows {
  /** In the order of the text. */
  readonly specs: readonly TaskSpec[];
  /** What each row says of its place in the order. */
  readonly ranks: readonly number[];
  /** Some row gave reason for a notice: notices name rows by their number. */
  readonly isNoted: boolean;
}

export const rowsOf = (specs: readonly TaskSpec[]): ReadonlyMap<string, number> =>
  new Map(specs.map(({ id }, row) => [id, row]));

/** The lower rank goes first; without any the order of the text stands. */
export function inOrder({ specs, ranks }: Pick<ReadRows, 'specs' | 'ranks'>): readonly TaskSpec[] {
  const [first] = ranks;
  if (first === undefined || ranks.every(rank => rank === first)) return specs;
  const rows = specs.map((spec, row) => ({ spec, rank: ranks[row]! }));
  // Infinity - Infinity is no number.
  rows.sort((one, other) => (one.rank === other.rank ? 0 : one.rank - other.rank));
  return rows.map(({ spec }) => spec);
}

/** The places alone. A text that is no valid JSON gives an empty index, and so stays as it is. */
export function indexTasks(text: string, list: string): TaskIndex {
  const rows = new Map<string, number>();
  const spans: number[] = [];
  let id: string | undefined;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth < 2 || depth > 3 || path[0] !== list) return;
      if (depth === 3) {
        if (path[2] === 'id' && text[start] === '"') id = stringAt(text, start, end);
        return;
      }
      if (id !== undefined && !rows.has(id)) {
        rows.set(id, spans.length / 2);
        spans.push(start, end);
      }
      id = undefined;
    },
  });
  return fault ? { rows: new Map(), spans: new Int32Array() } : { rows, spans: Int32Array.from(spans) };
}

interface MarkedRows {
  readonly text: string;
  readonly rows: readonly number[];
  readonly spans: Int32Array;
}

/** The text with the marks; undefined when nothing changes. Unknown ids are ignored. */
export function markRows(
  text: string,
  index: TaskIndex,
  marks: readonly TaskMark[],
  editsOf: (start: number, end: number, mark: TaskMark) => readonly Edit[],
): MarkedRows | undefined {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const edits = [...wanted].flatMap(([row, mark]) => editsOf(index.spans[2 * row]!, index.spans[2 * row + 1]!, mark));
  if (edits.length === 0) return undefined;
  edits.sort((one, other) => one.start - other.start);
  return { text: withEdits(text, edits), rows: [...wanted.keys()], spans: shifted(index.spans, edits) };
}

/** Tasks do not overlap and stand in order, so that each change moves every later bound, and its own task's end. */
function shifted(spans: Int32Array, edits: readonly Edit[]): Int32Array {
  let at = 0;
  let shift = 0;
  return spans.map(bound => {
    for (; at < edits.length && edits[at]!.end <= bound; at++) {
      const { start, end, text } = edits[at]!;
      shift += text.length - (end - start);
    }
    return bound + shift;
  });
}

/** The values of the rows with others in the place of those that changed. */
export const spliced = <Value>(
  values: readonly Value[],
  { first, last }: RowsChange,
  others: readonly Value[],
): readonly Value[] => [...values.slice(0, first), ...others, ...values.slice(last + 1)];

/** The same for their places in the whole text. */
export function splicedSpans(
  spans: Int32Array,
  { first, last, shift }: RowsChange,
  others: readonly number[],
): Int32Array {
  const [before, after] = [spans.subarray(0, 2 * first), spans.subarray(2 * (last + 1))];
  const moved = after.map(bound => bound + shift);
  const all = new Int32Array(before.length + others.length + moved.length);
  all.set(before);
  all.set(others, before.length);
  all.set(moved, before.length + others.length);
  return all;
}

export interface RowsChange {
  readonly first: number;
  readonly last: number;
  /** Where they stand in the new text. */
  readonly start: number;
  readonly end: number;
  /** By how much whatever stands behind them moved. */
  readonly shift: number;
}

/** The rows within which all differences lie; undefined when some lie elsewhere. `space`: only the end of the text differs, by space. */
export function changedRows(before: string, text: string, spans: Int32Array): RowsChange | 'space' | undefined {
  const { start, same } = difference(before, text);
  if (isSpace(before, start) && isSpace(text, start)) return 'space';
  const count = spans.length / 2;
  let first = 0;
  while (first + 1 < count && spans[2 * (first + 1)]! <= start) first++;
  let last = first;
  while (last + 1 < count && spans[2 * last + 1]! < before.length - same) last++;
  const [from, to] = [spans[2 * first], spans[2 * last + 1]];
  if (from === undefined || to === undefined || from > start || to < before.length - same) return undefined;
  const shift = text.length - before.length;
  return { first, last, start: from, end: to + shift, shift };
}

const isSpace = (text: string, from: number): boolean => /^[ \t\r\n]*$/.test(text.slice(from));
