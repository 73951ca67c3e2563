// One seed, one world: a small generator whose every draw can be replayed.

export interface Random {
  /** In [0, 1). */
  chance(): number;
  /** Whole number in [low, high]. */
  whole(low: number, high: number): number;
  pick<T>(items: readonly T[]): T;
  /** True with this probability. */
  is(probability: number): boolean;
}

/** mulberry32 */
export function random(seed: number): Random {
  let state = seed >>> 0;
  const chance = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return {
    chance,
    whole: (low, high) => low + Math.floor(chance() * (high - low + 1)),
    pick: items => items[Math.floor(chance() * items.length)]!,
    is: probability => chance() < probability,
  };
}
