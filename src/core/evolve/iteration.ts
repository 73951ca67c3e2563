// Folds of an iteration: it starts, is heard, is nudged, ends.

import type { EventOf } from '../event.ts';
import { countsAsAttempt, failsToStart, failureRules, isCrash, isCrashAttempt } from '../failure.ts';
import { isAdvance } from '../handoff.ts';
import {
  carriedReport,
  hasNewItem,
  hasNewStep,
  obstaclesAfter,
  remember,
  reportedAfter,
  withEnded,
} from '../memory.ts';
import { closedBreaker, withFailure } from '../scheduling.ts';
import {
  countedUsdMicros,
  type Guidance,
  isSingleTask,
  type LiveIteration,
  liveIteration,
  markShown,
  noUsage,
  queueCheckpoint,
  type State,
  setsAside,
  update,
  withLive,
  withTask,
} from '../state.ts';
import { findTask } from '../task.ts';
import { released } from './checkpoints.ts';
import { resets, streaksAfter, withProgress } from './streaks.ts';

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
    documentHash: state.document.hash,
  };
  if (event.again) return withLive(state, iteration, () => live);
  const active = markShown(
    withTask(state, task, one => {
      const documentBefore = one.documentBefore ?? (one.spec.round === undefined ? undefined : state.document.hash);
      return { ...one, status: 'active', attempts: attempt, documentBefore };
    }),
    task,
  );
  return {
    ...active,
    control: { ...state.control, wait: undefined },
    iterations: { ...state.iterations, begun: Math.max(state.iterations.begun, iteration) },
    live: [...state.live, live],
    memory: { ...state.memory, guidance: addressTo(state.memory.guidance, task, iteration) },
  };
}

function withCheckpoint(state: State, { iteration, task, outcome, failure }: Ended): State {
  if (!state.settings.checkpoints) return state;
  const label = `after iteration ${iteration}${outcome === 'succeeded' ? '' : ` (${outcome})`}`;
  const crashed = (setsAside(state) && isCrash(failure)) || undefined;
  return queueCheckpoint(state, { kind: 'iteration', label, iteration, task, outcome, crashed });
}

/** Where a task takes many iterations, its work is committed now and then although it is not done (seed 001). */
function commitsAfter(state: State, { iteration, task, outcome }: Ended): State['checkpoints']['commitsDue'] {
  const { commits, worktreePerTask, commitEvery } = state.settings;
  const isDue =
    commitEvery !== null && iteration % commitEvery === 0 && (outcome === 'succeeded' || outcome === 'handed-off');
  if (!commits || worktreePerTask || !isDue) return state.checkpoints.commitsDue;
  return [...state.checkpoints.commitsDue.filter(one => one.task !== task), { task, iteration }];
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

const isRalphCrash = ({ state, event }: EndedIn): boolean => isCrashAttempt(state.settings, event.failure);

function isBlameless({ state, event: { outcome, failure, task } }: EndedIn): boolean {
  if (outcome === 'interrupted') return true;
  return failure !== undefined && !countsAsAttempt(failure, findTask(state.tasks, task)?.spec.performer !== undefined);
}

const isStepOfLargeTask = ({ state, event, live }: EndedIn): boolean =>
  live !== undefined && isAdvance(state, live, event.report);

/** Where one task takes many iterations, a failure is bounded as an error: it is no standstill besides. */
const isErrorOfLargeTask = ({ state, event }: EndedIn): boolean => isSingleTask(state) && event.outcome === 'failed';

/** How an iteration counts: the first row that holds. */
const countings: readonly (Counts & { readonly holds: (ended: EndedIn) => boolean })[] = [
  { holds: isRalphCrash, isTry: false, isAttempt: true, isStandstill: false },
  // Our own stop or a provider's trouble says nothing about the task.
  { holds: isBlameless, isTry: false, isAttempt: false, isStandstill: false },
  { holds: isStepOfLargeTask, isTry: true, isAttempt: false, isStandstill: false },
  // Who asks a person does not stand still.
  { holds: ({ event }) => event.outcome === 'escalated', isTry: true, isAttempt: true, isStandstill: false },
  { holds: isErrorOfLargeTask, isTry: true, isAttempt: true, isStandstill: false },
  { holds: () => true, isTry: true, isAttempt: true, isStandstill: true },
];

const countsOf = (ended: EndedIn): Counts => countings.find(row => row.holds(ended)) as Counts;

function iterationsAfter({ state, event }: EndedIn, { isTry }: Counts): State['iterations'] {
  const { iteration, task, performer, durationMs, toolCalls = 0 } = event;
  const { begun, ended, msSum, toolCalls: before, last } = state.iterations;
  return {
    begun,
    ended: ended + 1,
    msSum: msSum + durationMs,
    toolCalls: before + toolCalls,
    last: isTry ? { iteration, task, performer } : last,
  };
}

function spendAfter({ state: { spend, settings }, event, live }: EndedIn): State['spend'] {
  const { estimated } = live?.usage ?? noUsage;
  const costUsdMicros = countedUsdMicros(settings, live?.usage ?? noUsage);
  return {
    ...spend,
    isEstimated: spend.isEstimated || estimated,
    dearestUsdMicros: Math.max(spend.dearestUsdMicros, costUsdMicros),
    isHandedOff: event.handoff === 'token_budget' || spend.isHandedOff,
  };
}

/** Iterations since something was achieved. */
function sinceProgressAfter({ state, event }: EndedIn, { isTry, isStandstill }: Counts): Partial<State['streaks']> {
  if (isTry && isNews(state, event)) return resets.somethingNew;
  return isStandstill ? { sinceProgress: state.streaks.sinceProgress + 1 } : {};
}

/** When its performer may work again. A provider's limit concerns only that one: another one of the chain may go on. */
function performersAfter({ state: { performers }, event }: EndedIn): State['performers'] {
  const { outcome, failure, performer, waitUntil, waitFor } = event;
  const { breakers, rateLimitedUntil } = performers;
  const isTripped = outcome === 'failed' && failure !== undefined && failureRules[failure.kind].trips;
  const isLimited = waitUntil !== undefined && waitFor === 'limit-reset';
  return {
    ...performers,
    breakers: isTripped ? { ...breakers, [performer]: withFailure(breakers[performer] ?? closedBreaker) } : breakers,
    rateLimitedUntil: isLimited ? { ...rateLimitedUntil, [performer]: waitUntil } : rateLimitedUntil,
  };
}

function waitAfter({ state, event }: EndedIn): State['control']['wait'] {
  const { waitUntil, waitFor = 'backoff', because } = event;
  const isBackoff = waitUntil !== undefined && waitFor === 'backoff';
  return isBackoff ? { until: waitUntil, for: waitFor, because } : state.control.wait;
}

/** What its words leave for later prompts, and for the comparison with later words. */
function wordsAfter({ state: { memory }, event }: EndedIn): State['memory'] {
  const { outcome, failure, excerpt, echo } = event;
  if (outcome === 'interrupted') return memory;
  const layers =
    outcome === 'failed' ? remember(memory, 'errors', failure?.detail ?? excerpt) : remember(memory, 'recent', excerpt);
  return echo === '' ? layers : { ...layers, recentOutputs: [...memory.recentOutputs, echo].slice(-5) };
}

/** What the next iteration is told of this one. What the last one left stays for the next, when this one did not work. */
function leftBehind({ state, event }: EndedIn, { isTry }: Counts): Partial<State['memory']> {
  const { handoff, repetition, report } = event;
  const { memory } = state;
  if (!isTry) return { handoff: handoff ?? memory.handoff, repetition: repetition ?? memory.repetition };
  return {
    lastRejection: undefined,
    handoff,
    repetition,
    // The items of a task that takes many iterations outlive one that left no word about them.
    report: isSingleTask(state) ? carriedReport(memory.report, report) : report,
    reported: reportedAfter(state, event, isNews(state, event)),
  };
}

/** What people said is over when an iteration worked with it: not when it failed to start, and not when it handed off. */
function guidanceAfter({ state, event }: EndedIn, { isTry }: Counts): readonly Guidance[] {
  const { iteration, outcome, failure } = event;
  const isHeard = isTry && outcome !== 'handed-off' && !(failure && failsToStart(failure.kind));
  return forgetUnreached((isHeard ? dropDelivered : undeliver)(state.memory.guidance, iteration), iteration);
}

export function iterationEnded(state: State, event: Ended): State {
  const { iteration, task, failure } = event;
  const live = liveIteration(state, iteration);
  const ended: EndedIn = { state, event, live };
  const counts = countsOf(ended);
  const after: State = {
    ...state,
    live: state.live.filter(one => one.iteration !== iteration),
    iterations: iterationsAfter(ended, counts),
    spend: spendAfter(ended),
    streaks: {
      ...streaksAfter(state.streaks, event, live?.terminated !== undefined),
      ...sinceProgressAfter(ended, counts),
    },
    performers: performersAfter(ended),
    control: { ...state.control, wait: waitAfter(ended) },
    memory: {
      ...wordsAfter(ended),
      ...leftBehind(ended, counts),
      guidance: guidanceAfter(ended, counts),
      obstacles: obstaclesAfter(state.memory.obstacles, event),
    },
    checkpoints: { ...state.checkpoints, commitsDue: commitsAfter(state, event) },
  };
  const freed = withTask(withCheckpoint(after, event), task, one => ({
    ...released(one),
    attempts: counts.isAttempt ? one.attempts : Math.max(0, one.attempts - 1),
    maybeExecuted: failure?.kind === 'lost-reply' || one.maybeExecuted,
  }));
  const told = counts.isTry ? withEnded(freed, event) : freed;
  return markShown(event.progress && counts.isAttempt ? withProgress(told, task) : told, task);
}

export function nudged(state: State, event: EventOf<'iteration.nudged'>): State {
  const isTold = event.trigger === 'token_budget' && event.delivered;
  const told = isTold ? update(state, 'spend', { isHandedOff: true }) : state;
  return withLive(told, event.iteration, live => {
    if (event.level === 'nudge') return { ...live, nudges: live.nudges + 1, nudgedAt: event.at };
    if (event.level === 'escalate') return { ...live, escalatedAt: event.at };
    if (event.level === 'terminate') return { ...live, terminated: event.because };
    const { at, trigger = 'explicit_request', delivered = false } = event;
    return { ...live, handoff: { trigger, at, delivered } };
  });
}

/** A claim takes the place of the one before it. */
export function reported(state: State, { iteration, report, at }: EventOf<'iteration.reported'>): State {
  return withLive(state, iteration, live => {
    const before = (live.reports ?? []).filter(one => one.type !== 'done' || report.type !== 'done');
    return { ...withSignOfLife(live, at), aliveAt: at, reports: [...before, report] };
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
