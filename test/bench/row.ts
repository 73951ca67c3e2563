// What every measurement hands back: a ratio to a floor of the same run, so that the machine's speed cancels out.

/** A ratio and the absolute figures behind it. */
export interface Told {
  readonly ratio: number;
  readonly detail: string;
}

export interface BenchRow extends Told {
  readonly name: string;
  /** Absent when the row only tells a cost. */
  readonly limit?: number | undefined;
  readonly higherIsBetter?: boolean | undefined;
  /** The same of another build (`--against`). */
  readonly other?: Told | undefined;
  /** It could not be measured here: why. */
  readonly skipped?: string | undefined;
}

export function isOver({ ratio, limit, higherIsBetter, skipped }: BenchRow): boolean {
  if (limit === undefined || skipped !== undefined) return false;
  return higherIsBetter ? !(ratio >= limit) : !(ratio <= limit); // NaN is over
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length / 2;
  return sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The best of several runs: noise only ever adds time. */
export function bestMs(work: () => unknown, runs = 5): number {
  let best = Number.POSITIVE_INFINITY;
  for (let run = 0; run < runs; run += 1) {
    const begin = performance.now();
    work();
    best = Math.min(best, performance.now() - begin);
  }
  return best;
}
