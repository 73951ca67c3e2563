// Problems of a document: all of them are collected in one go, each with the line and column where it lies.
import type { Problem, Refusal } from './document.ts';
import { startOf } from './edits.ts';
import { type JsonPath, scanJson } from './json.ts';

/** More than a screenful helps nobody; the rest is counted. */
const problemsMax = 20;

/** Where a problem lies: an offset, or the path of a value. */
export type Place = number | JsonPath;

interface Entry {
  readonly place: Place;
  readonly message: string;
  readonly fix: string;
}

export class ProblemList {
  readonly entries: Entry[] = [];
  count = 0;
  private readonly most: number;

  constructor(most = problemsMax) {
    this.most = most;
  }

  add(place: Place, message: string, fix: string): void {
    this.count++;
    if (this.entries.length < this.most) this.entries.push({ place, message, fix });
  }

  addMerge(offset: number): void {
    this.add(
      offset,
      'The document holds the markers of an unfinished merge.',
      'Resolve the conflict, then remove the <<<<<<<, ======= and >>>>>>> lines.',
    );
  }

  /** In the order in which they were found; the text is walked once more, only when something is wrong. */
  refusal(text: string): Refusal {
    const shownEntries = this.count > this.most ? this.entries.slice(0, this.most - 1) : this.entries;
    const paths = shownEntries.map(({ place }) => place).filter(place => typeof place !== 'number');
    const offsets = offsetsOf(text, paths);
    const positionOf = positionsIn(text);
    const problems: Problem[] = shownEntries.map(({ place, message, fix }) => {
      const offset = typeof place === 'number' ? place : offsets.get(pathText(place));
      const position = offset === undefined ? undefined : positionOf(offset);
      return { message, fix, ...position };
    });
    const rest = this.count - shownEntries.length;
    if (rest > 0) problems.push({ message: `${rest} more problems are not listed.`, fix: 'Mend these first.' });
    return { ok: false, problems };
  }
}

/** The refusal of a document that nobody works through; nothing else of it is looked at. */
export function sizeRefusal(text: string, charsMax: number, size: string, fix: string): Refusal | undefined {
  if (text.length <= charsMax) return undefined;
  const problems = new ProblemList();
  problems.add(0, `The document is larger than ${size}.`, fix);
  return problems.refusal(text.slice(0, 1));
}

/** A screenful of notices; the rest is counted. */
export function firstNotices(notices: readonly string[], moreWords: string, most = problemsMax): readonly string[] {
  const rest = notices.length - most;
  return rest > 0 ? [...notices.slice(0, most), `${rest} more ${moreWords}.`] : notices;
}

/** `userStories[3].criteria[0]` */
export function pathText(path: JsonPath): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );
}

function offsetsOf(text: string, paths: readonly JsonPath[]): ReadonlyMap<string, number> {
  const offsets = new Map<string, number>();
  const wanted = new Set(paths.map(pathText));
  const lengthMax = Math.max(0, ...paths.map(path => path.length));
  if (wanted.size === 0) return offsets;
  scanJson(text, {
    value(path, depth, start) {
      if (depth > lengthMax) return;
      const name = pathText(path.slice(0, depth));
      if (wanted.has(name)) offsets.set(name, start);
    },
  });
  return offsets;
}

/** Finds the line and column that an editor shows: both count from 1, columns in UTF-16 units; a BOM takes no column. */
export function positionsIn(text: string): (offset: number) => Required<Pick<Problem, 'line' | 'column'>> {
  const starts = [startOf(text)];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return offset => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (starts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(1, offset - starts[low]! + 1) };
  };
}

const markers = ['<<<<<<<', '|||||||', '=======', '>>>>>>>'];

/** The offset of the first merge-conflict marker at the start of a line. */
export function conflictOffset(text: string): number | undefined {
  const start = startOf(text);
  if (markers.some(marker => text.startsWith(marker, start))) return start;
  const found = markers.map(marker => text.indexOf(`\n${marker}`)).filter(at => at !== -1);
  return found.length === 0 ? undefined : Math.min(...found) + 1;
}
