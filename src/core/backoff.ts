// How long to wait before trying again: exponential, capped, with full jitter from a given chance.

/** Seed 001: min(2^n, 60) s; `chance` in [0, 1) spreads it over the whole interval. */
export function backoffMs(failuresInRow: number, chance: number, baseMs: number, msMax: number): number {
  const ceiling = Math.min(baseMs * 2 ** Math.min(Math.max(failuresInRow, 0), 30), msMax);
  return Math.floor(ceiling * Math.min(Math.max(chance, 0), 1));
}
