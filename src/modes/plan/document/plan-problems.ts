// Collects what is wrong with a plan and what is worth saying about it, and tells both in the order of the text.
import type { Problem } from '../../../documents/document.ts';
import { byteOrderMark } from '../../../documents/json.ts';

/** Lint promises all problems at once; beyond this many they are only counted. */
const problemsMax = 200;
const noticesMax = 50;

interface Entry {
  readonly offset: number;
  readonly message: string;
  readonly fix: string;
}

export class PlanProblems {
  private readonly text: string;
  private readonly entries: Entry[] = [];
  private readonly said: Entry[] = [];
  private readonly told: Problem[] = [];
  private lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get count(): number {
    return this.entries.length + this.told.length;
  }

  add(offset: number, message: string, fix: string): void {
    this.entries.push({ offset, message, fix });
  }

  /** A problem that somebody else has already given a line. */
  tell(problem: Problem): void {
    this.told.push(problem);
  }

  notice(offset: number, message: string): void {
    this.said.push({ offset, message, fix: '' });
  }

  located(): readonly Problem[] {
    const problems: Problem[] = this.entries.map(({ offset, message, fix }) => ({
      message,
      fix,
      ...this.place(offset),
    }));
    const all = [...this.told, ...problems].sort(
      (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
    );
    if (all.length <= problemsMax) return all;
    const rest = all.length - problemsMax + 1;
    return [
      ...all.slice(0, problemsMax - 1),
      { message: `${rest} more problems are not listed.`, fix: 'Mend these first.' },
    ];
  }

  notices(): readonly string[] {
    const sorted = this.said.toSorted((one, other) => one.offset - other.offset);
    const sentences = sorted
      .slice(0, noticesMax)
      .map(({ offset, message }) => `Line ${this.place(offset).line}: ${message}`);
    const rest = sorted.length - noticesMax;
    return rest > 0 ? [...sentences, `${rest} more things are worth a look.`] : sentences;
  }

  lineAt(offset: number): number {
    return this.place(offset).line;
  }

  /** As `positionAt`, for many places: the line starts are found once. */
  private place(offset: number): { readonly line: number; readonly column: number } {
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
  const starts = [text.startsWith(byteOrderMark) ? 1 : 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
