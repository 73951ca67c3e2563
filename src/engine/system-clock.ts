// The clock of the machine, for everything that is not a simulation.
import type { Clock } from '../ports/clock.ts';

export function systemClock(id: () => string): Clock {
  return {
    now: () => Date.now(),
    at(at, due) {
      // setTimeout takes at most 2^31-1 ms; a later time is reached in several steps.
      let timer: NodeJS.Timeout;
      const arm = (): void => {
        const left = Math.max(0, at - Date.now());
        timer = setTimeout(() => (Date.now() >= at ? due() : arm()), Math.min(left, 2 ** 31 - 1));
      };
      arm();
      return () => clearTimeout(timer);
    },
    id,
    random: Math.random,
  };
}
