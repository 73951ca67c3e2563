// Scheduling: how many iterations may begin now, which, and by whom; money, the count, shared trees, resting performers.

import type { Phase } from '../messages/report.ts';
import type { BreakerSettings } from './settings.ts';
import { affordable, checkBudget } from './spend.ts';
import { type Breaker, countedUsdMicros, type State } from './state.ts';
import { findTask, readyTasks, type Task } from './task.ts';

/** Everybody at work only looks: others that only look may join them. */
const onlyReaders = (state: State): boolean =>
  state.claims.open.length === 0 && state.live.every(one => findTask(state.tasks, one.task)?.spec.readOnly === true);

/** Side by side in one tree only tasks that change nothing; else as many as have a tree of their own. */
const sideBySide = (state: State, task: Task): number =>
  task.spec.readOnly === true && onlyReaders(state) ? state.settings.readersMax : state.settings.parallel;

/**
 * Work that passed its checks and waits for its merge leaves its place to the next task. As many may wait as may work: what
 * begins meanwhile must not fall far behind the branch.
 */
function placesTaken({ live, claims, settings: { parallel } }: State): number {
  const waiting = claims.open.filter(claim => claim.stage === 'merge').length;
  return live.length + claims.open.length - Math.min(waiting, parallel);
}

export const hasRoomFor = (state: State, task: Task): boolean => placesTaken(state) < sideBySide(state, task);

/** In the last twentieth of the money only one iteration runs at a time. */
function roomBeside(state: State, task: Task): number {
  const { costUsdMicrosMax, iterationsMax } = state.settings.limits;
  const usedUsdMicros = countedUsdMicros(state.settings, state.spend.usage);
  const verdict = checkBudget([{ scope: 'task', usedUsdMicros, limitUsdMicros: costUsdMicrosMax }]);
  const most = verdict.action === 'throttle' ? 1 : sideBySide(state, task);
  const byCount = iterationsMax === null ? most : iterationsMax - state.iterations.begun;
  const byMoney = affordable({
    usedUsdMicros,
    limitUsdMicros: costUsdMicrosMax,
    dearestUsdMicros: state.spend.dearestUsdMicros,
    liveUsdMicros: state.live.map(one => countedUsdMicros(state.settings, one.usage)),
  });
  return Math.min(most - placesTaken(state), byCount, byMoney);
}

/** The first ready tasks for which there is room; undefined: none is ready at all. */
export function startableTasks(state: State): readonly Task[] | undefined {
  const [first] = readyTasks(state.tasks, 1);
  if (first === undefined) return undefined;
  const room = roomBeside(state, first);
  if (room <= 0) return [];
  return readyTasks(state.tasks, room).filter(task => task.spec.readOnly === first.spec.readOnly);
}

// Which performer does a task next: the one named for it, else the first of the chain that is neither limited nor resting.

export interface Choice {
  readonly performer?: string;
  /** When the first of those that cannot work now can again, and why it cannot. */
  readonly usableAt?: number;
  readonly waitsFor?: 'limit-reset' | 'rest';
  readonly waits?: string;
}

/** The stronger agent, once enough claims of the task were refused. */
export function strongerFor({ settings: { stronger }, tasks }: State, task: string): string | undefined {
  const refusedClaims = findTask(tasks, task)?.refusedClaims ?? 0;
  return stronger !== undefined && refusedClaims >= stronger.after ? stronger.performer : undefined;
}

/** Whose agents report phases are told which one comes now; elsewhere the last report is all that is known. */
const phaseKnown = (state: State): string =>
  state.settings.policy.progressBy === 'report' ? phaseNow(state) : (state.memory.report?.phase ?? '');

function chainOf(state: State, task: string): readonly string[] {
  const spec = findTask(state.tasks, task)?.spec;
  if (spec?.performer !== undefined) return [spec.performer];
  const { performers, performersByTask, performersByPhase } = state.settings;
  const phase = spec?.completion === 'findings' ? 'reviewing' : phaseKnown(state);
  const named = (table: Readonly<Record<string, string>>, key: string): string | undefined =>
    Object.hasOwn(table, key) ? table[key] : undefined;
  const first = strongerFor(state, task) ?? named(performersByTask, task) ?? named(performersByPhase, phase);
  return first === undefined ? performers : [first, ...performers.filter(one => one !== first)];
}

/** Who does a task when everybody can. */
export const preferredFor = (state: State, task: string): string | undefined => chainOf(state, task)[0];

/** Every third error in a row moves on to the next one. */
function chainFor(state: State, task: string): readonly string[] {
  const chain = chainOf(state, task);
  const shift =
    chain.length === 0 ? 0 : Math.floor(state.streaks.errors / state.settings.errorsToHandOff) % chain.length;
  return [...chain.slice(shift), ...chain.slice(0, shift)];
}

/** Providers' windows are a month at most: a reset beyond that is a clock that was set. */
export const resetMsMax = 32 * 24 * 3_600_000;

/** An open question that concerns everybody; one about a single performer only keeps that one away. */
export const isBlocked = ({ questions }: State): boolean =>
  questions.open.some(one => one.task === undefined && one.performer === undefined);

/** Work is left that needs no answer before it: something can be begun, or was cut short. */
export const canGoOn = (state: State): boolean =>
  !isBlocked(state) && (state.live.length > 0 || readyTasks(state.tasks, 1).length > 0);

function limitedUntil({ performers }: State, name: string, now: number): number | undefined {
  const until = performers.rateLimitedUntil[name] ?? 0;
  return until > now && until <= now + resetMsMax ? until : undefined;
}

/** Neither its provider's limit nor an open question keeps it away. */
export const isFree = (state: State, name: string, now: number): boolean =>
  limitedUntil(state, name, now) === undefined && !state.questions.open.some(one => one.performer === name);

/** Why a performer cannot work now, and until when where that is known; undefined: it can. */
function hindrance(state: State, name: string, now: number): Pick<Choice, 'usableAt' | 'waitsFor'> | undefined {
  if (state.questions.open.some(one => one.performer === name)) return {};
  const limited = limitedUntil(state, name, now);
  if (limited !== undefined) return { usableAt: limited, waitsFor: 'limit-reset' };
  const breaker = state.performers.breakers[name] ?? closedBreaker;
  const position = breakerPosition(breaker, now);
  if (position === 'open') return { usableAt: breaker.openUntil, waitsFor: 'rest' };
  const isProbed = position === 'half-open' && state.live.some(one => one.performer === name);
  return isProbed ? {} : undefined;
}

/** `besides` leaves one out: whether anybody else could do the work. */
export function choosePerformer(state: State, task: string, now: number, besides?: string): Choice {
  let soonest: Choice = {};
  for (const name of chainFor(state, task)) {
    if (name === besides) continue;
    const hindered = hindrance(state, name, now);
    if (hindered === undefined) return { performer: name };
    const { usableAt, waitsFor } = hindered;
    if (usableAt !== undefined && usableAt < (soonest.usableAt ?? Number.POSITIVE_INFINITY))
      soonest = { usableAt, waitsFor, waits: name };
  }
  return soonest;
}

// A circuit breaker per performer: after failures that are its own fault it rests, then one probe decides.

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

// Which of the six phases of seed 000 the next iteration of a goal works in, by what the last report said.

/** What follows a phase that the last report named: while items are pending, and when none is. */
const afterwards: Readonly<Record<Phase, { readonly pending: Phase; readonly none: Phase }>> = {
  planning: { pending: 'implementing', none: 'planning' },
  implementing: { pending: 'implementing', none: 'testing' },
  testing: { pending: 'testing', none: 'reviewing' },
  reviewing: { pending: 'reviewing', none: 'handoff' },
  handoff: { pending: 'implementing', none: 'complete' },
  // It said so, and yet here we are: the claim was refused.
  complete: { pending: 'implementing', none: 'testing' },
};

/** The phase to work in now: planning while no report names one, then by the table above. */
export function phaseNow({ memory: { report } }: State): Phase {
  if (report?.phase === undefined) return 'planning';
  const { pending, none } = afterwards[report.phase];
  return report.pending.length > 0 ? pending : none;
}
