// Heartbeat of a live iteration: signs of life, a filling context and usage, each reported only as often as it matters.
import type { Usage } from '../core/event.ts';
import type { Input } from '../core/input.ts';
import type { Limits } from '../core/settings.ts';
import { noUsage, totalTokens } from '../core/state.ts';
import type { Clock } from './clock.ts';

const heartbeatMsMin = 1_000;
const heartbeatMsMax = 60_000;
const contextStep = 0.05;
/** Tokens and context are totals: reporting them once a second is enough, and the end reports the last (F29). */
const reportEveryMs = 1_000;

export interface Heartbeat {
  heard(): void;
  /** Its silence is no sign of anything while it waits. */
  waiting(isWaiting: boolean): void;
  context(usedFraction: number): void;
  usage(usage: Usage): void;
  stop(): void;
}

/** A limit is to be overrun by one message, not by a second's worth of them (F59). */
const isLargeFor =
  ({ costUsdMicrosMax, tokensMax }: Limits) =>
  (usage: Usage, said = noUsage): boolean => {
    const money = usage.costUsdMicros - said.costUsdMicros;
    const tokens = totalTokens(usage) - totalTokens(said);
    const isPart = (part: number, whole: number | null): boolean => whole !== null && part >= whole / 200;
    return isPart(money, costUsdMicrosMax) || isPart(tokens, tokensMax);
  };

interface HeartbeatNeeds {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly isInteractive: boolean;
  readonly post: (input: Input) => void;
}

/**
 * Reports that the iteration is alive and since when it is quiet, so that a crash loses half of its time at most. A context
 * that fills up is reported at once: the loop may want to hand off.
 */
export function startHeartbeat(iteration: number, { clock, limits, isInteractive, post }: HeartbeatNeeds): Heartbeat {
  let heardAt = clock.now();
  let everyMs = heartbeatMsMin;
  let isWaiting = false;
  let contextUsed: number | undefined;
  let contextSaid = 0;
  let cancel: () => void = () => {};
  const say = (): void => {
    // At a terminal nothing is heard, and a person sits there.
    const quietMs = isInteractive || isWaiting ? 0 : Math.max(0, clock.now() - heardAt);
    contextSaid = contextUsed ?? contextSaid;
    post({ type: 'heard', iteration, quietMs, contextUsed });
  };
  const arm = (): void => {
    cancel = clock.at(clock.now() + everyMs, () => {
      everyMs = Math.min(everyMs * 2, heartbeatMsMax);
      say();
      arm();
    });
  };
  arm();
  const filled = throttle<void>(clock, reportEveryMs, say);
  const report = (usage: Usage): void => post({ type: 'usage', iteration, usage });
  const spent = throttle<Usage>(clock, reportEveryMs, report, isLargeFor(limits));
  return {
    heard: () => {
      heardAt = clock.now();
    },
    waiting: waits => {
      isWaiting = waits;
    },
    context: usedFraction => {
      contextUsed = usedFraction;
      if (Math.abs(usedFraction - contextSaid) >= contextStep) filled.say();
    },
    usage: spent.say,
    stop: () => {
      cancel();
      filled.stop();
      spent.stop();
    },
  };
}

/** Says a thing at once when it was quiet before, else only every so often: what comes meanwhile makes way for newer. */
export function throttle<Value>(
  clock: Clock,
  everyMs: number,
  say: (value: Value) => void,
  /** Cannot wait, compared with what was said last. */
  isUrgent: (value: Value, said: Value | undefined) => boolean = () => false,
) {
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
    say(value: Value) {
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
    /** What still waits is not said. */
    stop(): void {
      waiting = undefined;
      cancel();
    },
  };
}
