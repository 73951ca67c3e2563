// Says a thing at once when it was quiet before, and otherwise only every so often: what comes meanwhile makes way for newer.
import type { Clock } from './ports-clock-part.ts';

export interface Sparing<Value> {
  say(value: Value): void;
  /** What still waits is not said. */
  stop(): void;
}

export function sparingly<Value>(
  clock: Clock,
  everyMs: number,
  say: (value: Value) => void,
  /** Cannot wait, compared with what was said last. */
  isUrgent: (value: Value, said: Value | undefined) => boolean = () => false,
): Sparing<Value> {
  let said: Value | undefined;
  let saidAt = Number.NEGATIVE_INFINITY;
  let waiting: { value: Value } | undefined;
  let cancel: () => void = () => {};

  function tell(value: Value): void {
    saidAt = clock.now();
    said = value;
    say(value);
  }

  return {
    say(value) {
      const isDue = Math.abs(clock.now() - saidAt) >= everyMs; // also when the clock was put back
      if (isUrgent(value, said)) {
        cancel();
        waiting = undefined;
        return tell(value);
      }
      if (waiting === undefined && isDue) return tell(value);
      const isArmed = waiting !== undefined;
      waiting = { value };
      if (isArmed) return;
      cancel = clock.at(saidAt + everyMs, () => {
        const newest = waiting;
        waiting = undefined;
        if (newest !== undefined) tell(newest.value);
      });
    },
    stop() {
      waiting = undefined;
      cancel();
    },
  };
}
