// Problems and notices of a plan: collected by offset, told with line and column in the order of the text.
import type { Problem } from '../../../documents/document.ts';
import { startOf } from '../../../documents/edits.ts';
import type { TextPosition } from '../../../documents/problems.ts';

/** Lint promises all problems at once; beyond this many they are only counted. */
const problemsMax = 200;
const noticesMax = 50;

const byPlace = (one: Partial<TextPosition>, other: Partial<TextPosition>): number =>
  (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);

export class PlanProblems {
  private readonly text: string;
  private readonly problems: Problem[] = [];
  private readonly notes: (TextPosition & { readonly message: string })[] = [];
  private lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get count(): number {
    return this.problems.length;
  }

  add(offset: number, message: string, fix: string): void {
    this.problems.push({ message, fix, ...this.place(offset) });
  }

  /** A problem that somebody else has already given a line. */
  addLocated(problem: Problem): void {
    this.problems.push(problem);
  }

  notice(offset: number, message: string): void {
    this.notes.push({ message, ...this.place(offset) });
  }

  located(): readonly Problem[] {
    const all = this.problems.toSorted(byPlace);
    if (all.length <= problemsMax) return all;
    const rest = all.length - problemsMax + 1;
    return [
      ...all.slice(0, problemsMax - 1),
      { message: `${rest} more problems are not listed.`, fix: 'Mend these first.' },
    ];
  }

  notices(): readonly string[] {
    const told = this.notes.toSorted(byPlace).slice(0, noticesMax);
    const rest = this.notes.length - told.length;
    const sentences = told.map(({ line, message }) => `Line ${line}: ${message}`);
    return rest > 0 ? [...sentences, `${rest} more things are worth a look.`] : sentences;
  }

  /** As `positionAt`, for many places: the line starts are found once. */
  place(offset: number): TextPosition {
    this.lineStarts ??= lineStartsOf(this.text);
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(1, offset - this.lineStarts[low]! + 1) };
  }
}

function lineStartsOf(text: string): readonly number[] {
  const starts = [startOf(text)];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
