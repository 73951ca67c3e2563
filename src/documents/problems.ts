// Collects what is wrong with a document, all of it in one go, and says where in the text each problem lies.
import type { Problem } from './document.ts';
import { type JsonPath, scanJson } from './json.ts';
import { positionAt } from './text-position.ts';

/** More than a screenful helps nobody; the rest is counted. */
export const problemsMax = 20;

/** Where a problem lies: an offset, or the path of a value. */
export type Place = number | JsonPath;

interface Entry {
  readonly place: Place;
  readonly message: string;
  readonly fix: string;
}

export class ProblemList {
  private readonly entries: Entry[] = [];
  count = 0;

  add(place: Place, message: string, fix: string): void {
    this.count++;
    if (this.entries.length < problemsMax) this.entries.push({ place, message, fix });
  }

  /** In the order in which they were found; the text is walked once more, only when something is wrong. */
  located(text: string): readonly Problem[] {
    const shownEntries = this.count > problemsMax ? this.entries.slice(0, problemsMax - 1) : this.entries;
    const offsets = offsetsOf(
      text,
      shownEntries.flatMap(entry => (typeof entry.place === 'number' ? [] : [entry.place])),
    );
    const problems: Problem[] = shownEntries.map(({ place, message, fix }) => {
      const offset = typeof place === 'number' ? place : offsets.get(pathText(place));
      const position = offset === undefined ? undefined : positionAt(text, offset);
      return { message, fix, ...position };
    });
    const rest = this.count - shownEntries.length;
    if (rest > 0) problems.push({ message: `${rest} more problems are not listed.`, fix: 'Mend these first.' });
    return problems;
  }
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
