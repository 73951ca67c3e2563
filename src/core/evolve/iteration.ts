// Folds of an iteration: it starts, is heard, is nudged, ends.

import type { EventOf } from '../event.ts';
import { countsAsAttempt, failsToStart, failureRules, isCrashAttempt } from '../failure.ts';
import { isAdvance } from '../handoff.ts';
import { hasNewItem, hasNewStep, obstaclesAfter, remember, reportedAfter } from '../memory.ts';
import { closedBreaker, withFailure } from '../scheduling.ts';
import {
  type Guidance,
  isSingleTask,
  type LiveIteration,
  liveIteration,
  markShown,
  noUsage,
  queueCheckpoint,
  type State,
  withLive,
  withTask,
} from '../state.ts';
import { findTask } from '../task.ts';
import { released } from './checkpoints.ts';
import { resets, streaksAfter } from './streaks.ts';

type Ended = EventOf<'iteration.ended'>;

/** A word to a task stands until the task is closed; a word to the loop, for the next iteration that runs. */
const dropDelivered = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.filter(one => one.task !== undefined || one.iteration !== iteration);

const undeliver = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.map(one => (one.iteration === iteration ? { ...one, iteration: undefined } : one));

/** Who could not be told is remembered only while it lives. */
const forgetUnreached = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.map(one =>
    one.unreached === undefined ? one : { ...one, unreached: one.unreached.filter(each => each !== iteration) },
  );

const addressTo = (guidance: readonly Guidance[], task: string, iteration: number): readonly Guidance[] =>
  guidance.map(one =>
    one.task === task || (one.task === undefined && one.iteration === undefined) ? { ...one, iteration } : one,
  );

export function iterationStarted(state: State, event: EventOf<'iteration.started'>): State {
  const { iteration, task, performer, holder, attempt, at } = event;
  const live: LiveIteration = {
    iteration,
    task,
    performer,
    holder,
    attempt,
    startedAt: at,
    heardAt: at,
    usage: noUsage,
    contextUsed: 0,
    nudges: 0,
    documentHash: state.documentHash,
  };
  if (event.again) return withLive(state, iteration, () => live);
  const active = withTask(state, task, one => ({ ...one, status: 'active', attempts: attempt }));
  return {
    ...markShown(active, task),
    wait: undefined,
    iterations: Math.max(state.iterations, iteration),
    live: [...state.live, live],
    guidance: addressTo(state.guidance, task, iteration),
  };
}

function withCheckpoint(state: State, { iteration, task, outcome }: Ended): State {
  if (!state.settings.checkpoints) return state;
  const label = `after iteration ${iteration}${outcome === 'succeeded' ? '' : ` (${outcome})`}`;
  return queueCheckpoint(state, { kind: 'iteration', label, iteration, task, outcome });
}

/** Where a task takes many iterations, its work is committed now and then although it is not done (seed 001). */
function commitsAfter(state: State, { iteration, task, outcome }: Ended): State['commitsDue'] {
  const { commits, worktreePerTask, commitEvery } = state.settings;
  const isDue =
    commitEvery !== null && iteration % commitEvery === 0 && (outcome === 'succeeded' || outcome === 'handed-off');
  if (!commits || worktreePerTask || !isDue) return state.commitsDue;
  return [...state.commitsDue.filter(one => one.task !== task), { task, iteration }];
}

/**
 * Where one task takes many iterations, something was achieved by a new item of the report, a new phase, or words that
 * are not those of before (with checkpoints a changed tree says it, see `checkpointMade`).
 */
function isNews(state: State, { outcome, report, repetition }: Ended): boolean {
  const { policy, checkpoints } = state.settings;
  if (policy.tasks === 'many' || (outcome !== 'succeeded' && outcome !== 'handed-off')) return false;
  if (hasNewItem(state, report)) return true;
  return policy.progressBy === 'report' ? hasNewStep(state, report) : !checkpoints && repetition === undefined;
}

/** An iteration that has ended, in the state before. */
interface EndedIn {
  readonly state: State;
  readonly event: Ended;
  readonly live: LiveIteration | undefined;
}

interface Counts {
  /** It says something about its task, and the next iteration is told of it. */
  readonly isTry: boolean;
  readonly isAttempt: boolean;
  /** Unless it brought news, it counts as one without progress. */
  readonly isStandstill: boolean;
}

const isCrash = ({ state, event }: EndedIn): boolean => isCrashAttempt(state.settings, event.failure);

function isBlameless({ state, event: { outcome, failure, task } }: EndedIn): boolean {
  if (outcome === 'interrupted') return true;
  return failure !== undefined && !countsAsAttempt(failure.kind, findTask(state.tasks, task)?.performer !== undefined);
}

const isStepOfLargeTask = ({ state, event, live }: EndedIn): boolean =>
  live !== undefined && isAdvance(state, live, event.report);

/** Where one task takes many iterations, a failure is bounded as an error: it is no standstill besides. */
const isErrorOfLargeTask = ({ state, event }: EndedIn): boolean => isSingleTask(state) && event.outcome === 'failed';

/** How an iteration counts: the first row that holds. */
const countings: readonly (Counts & { readonly holds: (ended: EndedIn) => boolean })[] = [
  { holds: isCrash, isTry: false, isAttempt: true, isStandstill: false },
  // Our own stop or a provider's trouble says nothing about the task.
  { holds: isBlameless, isTry: false, isAttempt: false, isStandstill: false },
  { holds: isStepOfLargeTask, isTry: true, isAttempt: false, isStandstill: false },
  // Who asks a person does not stand still.
  { holds: ({ event }) => event.outcome === 'escalated', isTry: true, isAttempt: true, isStandstill: false },
  { holds: isErrorOfLargeTask, isTry: true, isAttempt: true, isStandstill: false },
  { holds: () => true, isTry: true, isAttempt: true, isStandstill: true },
];

const countsOf = (ended: EndedIn): Counts => countings.find(row => row.holds(ended)) as Counts;

/** What all iterations together took and cost. */
function totalsAfter({ state, event, live }: EndedIn): Partial<State> {
  const { iteration, durationMs, toolCalls = 0, handoff } = event;
  const { estimated, costUsdMicros } = live?.usage ?? noUsage;
  return {
    live: state.live.filter(one => one.iteration !== iteration),
    iterationsEnded: state.iterationsEnded + 1,
    iterationMsSum: state.iterationMsSum + durationMs,
    estimatedSoFar: state.estimatedSoFar || estimated,
    dearestUsdMicros: Math.max(state.dearestUsdMicros, costUsdMicros),
    toolCalls: state.toolCalls + toolCalls,
    budgetHandedOff: handoff === 'token_budget' || state.budgetHandedOff,
  };
}

/** Iterations since something was achieved, and what their reports have named. */
function progressAfter({ state, event }: EndedIn, { isTry, isStandstill }: Counts): Partial<State> {
  if (!isTry) return {};
  const isNew = isNews(state, event);
  const reported = reportedAfter(state, event, isNew);
  if (isNew) return { ...resets.somethingNew, reported };
  return { sinceProgress: state.sinceProgress + (isStandstill ? 1 : 0), reported };
}

/** When its performer may work again. A provider's limit concerns only that one: another one of the chain may go on. */
function performerAfter({ state, event }: EndedIn): Partial<State> {
  const { outcome, failure, performer, waitUntil, waitFor = 'backoff', because } = event;
  const isTripped = outcome === 'failed' && failure !== undefined && failureRules[failure.kind].trips;
  const breakers = isTripped
    ? { ...state.breakers, [performer]: withFailure(state.breakers[performer] ?? closedBreaker) }
    : state.breakers;
  if (waitUntil === undefined) return { breakers };
  if (waitFor === 'backoff') return { breakers, wait: { until: waitUntil, for: waitFor, because } };
  const inRow = (state.limitsInRow[performer] ?? 0) + 1;
  return {
    breakers,
    limited: { ...state.limited, [performer]: waitUntil },
    limitsInRow: { ...state.limitsInRow, [performer]: inRow },
  };
}

/** What its words leave for later prompts, and for the comparison with later words. */
function wordsAfter({ state, event }: EndedIn): Partial<State> {
  const { outcome, failure, excerpt, echo } = event;
  if (outcome === 'interrupted') return {};
  const memory =
    outcome === 'failed'
      ? remember(state.memory, 'errors', failure?.detail ?? excerpt)
      : remember(state.memory, 'recent', excerpt);
  return { memory, echoes: echo === '' ? state.echoes : [...state.echoes, echo].slice(-5) };
}

/** What the next iteration is told of this one. What the last one left stays for the next, when this one did not work. */
function leftBehind({ state, event }: EndedIn, { isTry }: Counts): Partial<State> {
  const { iteration, task, performer, handoff, repetition, report } = event;
  if (!isTry) return { handoff: handoff ?? state.handoff, repetition: repetition ?? state.repetition };
  return {
    lastIteration: { iteration, task, performer },
    refusal: undefined,
    handoff,
    repetition,
    // The items of a task that takes many iterations outlive one that left no word about them.
    report: report ?? (isSingleTask(state) ? state.report : undefined),
  };
}

/** What people said is over when an iteration worked with it: not when it failed to start, and not when it handed off. */
function guidanceAfter({ state, event }: EndedIn, { isTry }: Counts): readonly Guidance[] {
  const { iteration, outcome, failure } = event;
  const isHeard = isTry && outcome !== 'handed-off' && !(failure && failsToStart(failure.kind));
  return forgetUnreached((isHeard ? dropDelivered : undeliver)(state.guidance, iteration), iteration);
}

export function iterationEnded(state: State, event: Ended): State {
  const { iteration, task, failure } = event;
  const live = liveIteration(state, iteration);
  const ended: EndedIn = { state, event, live };
  const counts = countsOf(ended);
  const after: State = {
    ...state,
    ...totalsAfter(ended),
    ...streaksAfter(state, event, live?.terminated !== undefined),
    ...progressAfter(ended, counts),
    ...performerAfter(ended),
    ...wordsAfter(ended),
    ...leftBehind(ended, counts),
    guidance: guidanceAfter(ended, counts),
    obstacles: obstaclesAfter(state.obstacles, event),
    commitsDue: commitsAfter(state, event),
  };
  const freed = withTask(withCheckpoint(after, event), task, one => ({
    ...released(one),
    attempts: counts.isAttempt ? one.attempts : Math.max(0, one.attempts - 1),
    maybeExecuted: failure?.kind === 'lost-reply' || one.maybeExecuted,
  }));
  return markShown(freed, task);
}

export function nudged(state: State, event: EventOf<'iteration.nudged'>): State {
  const told = event.trigger === 'token_budget' && event.delivered ? { ...state, budgetHandedOff: true } : state;
  return withLive(told, event.iteration, live => {
    if (event.level === 'nudge') return { ...live, nudges: live.nudges + 1, nudgedAt: event.at };
    if (event.level === 'escalate') return { ...live, escalatedAt: event.at };
    if (event.level === 'terminate') return { ...live, terminated: event.because };
    const { at, trigger = 'explicit_request', delivered = false } = event;
    return { ...live, handoff: { trigger, at, delivered } };
  });
}

export function heard(state: State, event: EventOf<'iteration.heartbeat'>): State {
  return withLive(state, event.iteration, live => {
    const contextUsed = event.contextUsed ?? live.contextUsed;
    return { ...withSignOfLife(live, event.at - event.quietMs), contextUsed, aliveAt: event.at };
  });
}

/** A sign of life after the last rung starts the ladder anew: what was slow is not stuck. */
export function withSignOfLife(live: LiveIteration, at: number): LiveIteration {
  const heard = { ...live, heardAt: Math.max(live.heardAt, at) };
  const rungAt = live.escalatedAt ?? live.nudgedAt;
  const isAnew = rungAt !== undefined && heard.heardAt >= rungAt;
  return isAnew ? { ...heard, nudges: 0, nudgedAt: undefined, escalatedAt: undefined } : heard;
}
