// Turns: work of this process that must not all be done at once.

/** Runs so many at a time, the others in the order in which they came. Merges see each what the one before it left. */
export function atMost(count: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let free = count;
  const waiting: (() => void)[] = [];
  return async work => {
    if (free > 0) free -= 1;
    else await new Promise<void>(go => waiting.push(go));
    try {
      return await work();
    } finally {
      const go = waiting.shift();
      if (go === undefined) free += 1;
      else go();
    }
  };
}
