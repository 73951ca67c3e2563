// A circuit breaker per performer: after failures that are its own fault it rests, then one probe decides.
import type { BreakerSettings } from './settings.ts';

export interface Breaker {
  readonly failures: number;
  /** Times it opened since the last success. */
  readonly openings: number;
  readonly openUntil?: number;
}

export type BreakerPosition = 'closed' | 'open' | 'half-open';

export const closedBreaker: Breaker = { failures: 0, openings: 0 };

export function breakerPosition(breaker: Breaker, now: number): BreakerPosition {
  if (breaker.openUntil === undefined) return 'closed';
  return now < breaker.openUntil ? 'open' : 'half-open';
}

/** A failed probe opens it again at once; a closed one opens at the threshold; an open one rests already. */
export function tripsAt(breaker: Breaker, settings: BreakerSettings, now: number): number | undefined {
  const position = breakerPosition(breaker, now);
  if (position === 'open') return undefined;
  if (position === 'closed' && breaker.failures + 1 < settings.failuresToOpen) return undefined;
  return now + Math.min(settings.cooldownMs * 2 ** Math.min(breaker.openings, 20), settings.cooldownMsMax);
}

export function withFailure(breaker: Breaker): Breaker {
  return { ...breaker, failures: breaker.failures + 1 };
}

export function opened(breaker: Breaker, until: number): Breaker {
  return { failures: 0, openings: breaker.openings + 1, openUntil: until };
}

/** It opened so often that waiting on is no plan. */
export function isExhausted(breaker: Breaker, settings: BreakerSettings): boolean {
  return breaker.openUntil !== undefined && breaker.openings >= settings.openingsMax;
}
