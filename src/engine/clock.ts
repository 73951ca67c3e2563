// Clock: the port to time, ids and chance, and the clock of the machine.

const lookEveryMs = 60_000;

export function systemClock(id: () => string): Clock {
  return {
    now: () => Date.now(),
    at(at, due) {
      // By whichever comes first of the wall clock and the time that really passed, looked at once a minute: neither a
      // clock that is set back nor a machine that slept may hold up a renewal, a back-off or a deadline (F53).
      const delayMs = at - Date.now();
      const since = performance.now();
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const leftMs = Math.min(at - Date.now(), delayMs - (performance.now() - since));
        timer = leftMs <= 0 ? setTimeout(due, 0) : setTimeout(arm, Math.min(leftMs, lookEveryMs));
      };
      arm();
      return () => clearTimeout(timer);
    },
    id,
    random: Math.random,
  };
}

/** So that the core and the simulator can do without the machine's. */
export interface Clock {
  now(): number;
  /** Calls back once at or after `at`; returns how to cancel. */
  at(at: number, due: () => void): () => void;
  /** UUIDv7. */
  id(): string;
  /** In [0, 1). */
  random(): number;
}
