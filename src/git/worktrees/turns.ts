// Turns: work of this process that must not all be done at once.

export interface Turns {
  <Result>(work: () => Promise<Result>): Promise<Result>;
  /** When nobody is at work, or now. */
  idle(): Promise<void>;
}

/** Runs so many at a time, the others in the order in which they came. Merges see each what the one before it left. */
export function atMost(count: number): Turns {
  let free = count;
  const waiting: (() => void)[] = [];
  const patient: (() => void)[] = [];
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    if (free > 0) free -= 1;
    else await new Promise<void>(go => waiting.push(go));
    try {
      return await work();
    } finally {
      const go = waiting.shift();
      if (go === undefined) free += 1;
      else go();
      if (free === count) for (const rested of patient.splice(0)) rested();
    }
  };
  const idle = async (): Promise<void> => {
    if (free < count) await new Promise<void>(go => patient.push(go));
  };
  return Object.assign(inTurn, { idle });
}
