// Which performer does a task next: the one named for it, else the first of the chain that is neither limited nor resting.
import { breakerPosition } from './breaker.ts';
import { phaseNow } from './phase.ts';
import type { State } from './state.ts';
import { findTask } from './task.ts';

export interface Choice {
  readonly performer?: string;
  /** When the first of those that cannot work now can again, and why it cannot. */
  readonly usableAt?: number;
  readonly waitsFor?: 'limit-reset' | 'rest';
  readonly waits?: string;
}

function chainOf(state: State, task: string): readonly string[] {
  const fixed = findTask(state.tasks, task)?.performer;
  if (fixed !== undefined) return [fixed];
  const { mode, performers, performersByTask, performersByPhase } = state.settings;
  // A goal is told which phase comes now; elsewhere the last report is all that is known.
  const phase = mode === 'goal' ? phaseNow(state) : (state.report?.phase ?? '');
  const named = [performersByTask, performersByPhase].map((table, at) => {
    const key = at === 0 ? task : phase;
    return Object.hasOwn(table, key) ? table[key] : undefined;
  });
  const first = named.find(one => one !== undefined);
  return first === undefined ? performers : [first, ...performers.filter(one => one !== first)];
}

/** Who does a task when everybody can. */
export const preferredFor = (state: State, task: string): string | undefined => chainOf(state, task)[0];

/** Every third error in a row moves on to the next one. */
function chainFor(state: State, task: string): readonly string[] {
  const chain = chainOf(state, task);
  const shift = chain.length === 0 ? 0 : Math.floor(state.errorsInRow / state.settings.errorsToHandOff) % chain.length;
  return [...chain.slice(shift), ...chain.slice(0, shift)];
}

/** Providers' windows are a week at most: a reset beyond that is a clock that was set. */
export const resetMsMax = 8 * 24 * 3_600_000;

/** An open question that concerns everybody; one about a single performer only keeps that one away. */
export const isBlocked = ({ escalations }: State): boolean =>
  escalations.some(one => one.task === undefined && one.performer === undefined);

/** `besides` leaves one out: whether anybody else could do the work. */
export function choosePerformer(state: State, task: string, now: number, besides?: string): Choice {
  let soonest: Choice = {};
  const later = (until: number, waitsFor: 'limit-reset' | 'rest', waits: string): void => {
    if (soonest.usableAt === undefined || until < soonest.usableAt) soonest = { usableAt: until, waitsFor, waits };
  };
  for (const name of chainFor(state, task)) {
    if (name === besides || state.escalations.some(one => one.performer === name)) continue;
    const limitedUntil = state.limited[name] ?? 0;
    if (limitedUntil > now && limitedUntil <= now + resetMsMax) {
      later(limitedUntil, 'limit-reset', name);
      continue;
    }
    const breaker = state.breakers[name];
    const position = breaker === undefined ? 'closed' : breakerPosition(breaker, now);
    const probing = position === 'half-open' && state.live.some(one => one.performer === name);
    if (position === 'closed' || (position === 'half-open' && !probing)) return { performer: name };
    const until = breaker?.openUntil;
    if (until !== undefined && until > now) later(until, 'rest', name);
  }
  return soonest;
}
