// Folds of an iteration: it starts, is heard, is nudged, ends.

import type { EventOf } from '../event.ts';
import { countsAsAttempt, type Failure, failsToStart, failureRules } from '../failure.ts';
import { isAdvance } from '../handoff.ts';
import { hasNewItem, hasNewStep, obstaclesAfter, remember, reportedAfter } from '../memory.ts';
import { closedBreaker, withFailure } from '../scheduling.ts';
import {
  type Guidance,
  type LiveIteration,
  markShown,
  noUsage,
  queueCheckpoint,
  type State,
  withLive,
  withTask,
} from '../state.ts';
import { findTask } from '../task.ts';
import { released } from './checkpoints.ts';

type Ended = EventOf<'iteration.ended'>;

/** A word to a task stands until the task is closed; a word to the loop, for the next iteration that runs. */
const dropDelivered = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.filter(one => one.task !== undefined || one.iteration !== iteration);

const undeliver = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.map(({ iteration: stood, ...one }) =>
    stood === undefined || stood === iteration ? one : { ...one, iteration: stood },
  );

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
  const { wait: _over, ...going } = state;
  const active = withTask(going, task, one => ({ ...one, status: 'active', attempts: attempt }));
  return {
    ...markShown(active, task),
    iterations: Math.max(state.iterations, iteration),
    live: [...state.live, live],
    guidance: addressTo(state.guidance, task, iteration),
  };
}

/** No failure in a row, of whatever kind. */
export const noFailures = {
  errorsInRow: 0,
  failuresInRow: 0,
  sameErrorsInRow: 0,
  terminationsInRow: 0,
  startsFailedInRow: 0,
} as const;

function afterOutcome(state: State, event: Ended, isTerminated: boolean): State {
  const { outcome, failure, excerpt, performer } = event;
  if (outcome === 'interrupted') return state;
  const isFailed = outcome === 'failed';
  const memory = isFailed
    ? remember(state.memory, 'errors', failure?.detail ?? excerpt)
    : remember(state.memory, 'recent', excerpt);
  const echoes = event.echo === '' ? state.echoes : [...state.echoes, event.echo].slice(-5);
  const told = { ...state, memory, echoes };
  if (isFailed && failure !== undefined) return afterFailure(told, event, failure, isTerminated);
  const { [performer]: _served, ...limitsInRow } = state.limitsInRow;
  return { ...told, ...noFailures, limitsInRow, lastError: '' };
}

function afterFailure(state: State, { performer, echo }: Ended, { kind }: Failure, isTerminated: boolean): State {
  const rule = failureRules[kind];
  const failed: State = {
    ...state,
    failuresInRow: state.failuresInRow + 1,
    terminationsInRow: isTerminated ? state.terminationsInRow + 1 : 0,
    startsFailedInRow: failsToStart(kind) ? state.startsFailedInRow + 1 : 0,
  };
  const breaker = withFailure(state.breakers[performer] ?? closedBreaker);
  const tripped = rule.trips ? { ...failed, breakers: { ...state.breakers, [performer]: breaker } } : failed;
  if (!rule.counts) return tripped;
  const lastError = echo === '' ? kind : echo;
  const sameErrorsInRow = lastError === state.lastError ? state.sameErrorsInRow + 1 : 1;
  return { ...tripped, errorsInRow: state.errorsInRow + 1, sameErrorsInRow, lastError };
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
 * Where one task takes many iterations, something was achieved by a new item of the report, a new phase (goal), or words
 * that are not those of before (prompt; with checkpoints a changed tree says it, see `checkpointMade`).
 */
function isNews(state: State, { outcome, report, repetition }: Ended): boolean {
  const { stepwise, mode, checkpoints } = state.settings;
  if (!stepwise || (outcome !== 'succeeded' && outcome !== 'handed-off')) return false;
  if (hasNewItem(state, report)) return true;
  return mode === 'goal' ? hasNewStep(state, report) : !checkpoints && repetition === undefined;
}

/** Iterations since something was achieved, and what their reports have named. */
function progressAfter(state: State, event: Ended, { isTry, isAdvance }: Counted): Partial<State> {
  if (!isTry) return {};
  const isNew = isNews(state, event);
  // Where one task takes many iterations, a failure is bounded as an error: it is no standstill besides.
  const isError = state.settings.stepwise && event.outcome === 'failed';
  const counts = !isAdvance && event.outcome !== 'escalated' && !isError;
  return {
    sinceProgress: isNew ? 0 : state.sinceProgress + (counts ? 1 : 0),
    reported: reportedAfter(state, event, isNew),
  };
}

/** A provider's limit concerns only its performer: another one of the chain may go on meanwhile. */
function waitAfter(state: State, event: Ended): Partial<State> {
  const { waitUntil, waitFor = 'backoff', performer, because } = event;
  if (waitUntil === undefined) return {};
  if (waitFor === 'limit-reset') {
    const inRow = (state.limitsInRow[performer] ?? 0) + 1;
    return {
      limited: { ...state.limited, [performer]: waitUntil },
      limitsInRow: { ...state.limitsInRow, [performer]: inRow },
    };
  }
  return { wait: { until: waitUntil, for: waitFor, because } };
}

/** How an iteration counts: for its task, for progress, for what it was told. */
interface Counted {
  /** Our own stop or a provider's trouble says nothing about the task: neither progress nor attempts count it. */
  readonly isTry: boolean;
  /** A handoff that was asked for and completed something new. */
  readonly isAdvance: boolean;
  readonly isAttempt: boolean;
  /** It worked with what people had told it. */
  readonly isHeard: boolean;
}

function countedAs(state: State, { outcome, failure, report, task }: Ended, live: LiveIteration | undefined): Counted {
  const isAction = findTask(state.tasks, task)?.performer !== undefined;
  const isBlameless = failure !== undefined && !countsAsAttempt(failure.kind, isAction);
  const isTry = outcome !== 'interrupted' && !isBlameless;
  const isStep = isTry && live !== undefined && isAdvance(state, live, report);
  const isCrash = failure?.crashed === true && state.settings.mode === 'project'; // a crash is an attempt (seed 002)
  const isStarted = failure === undefined || !failsToStart(failure.kind);
  return {
    isTry,
    isAdvance: isStep,
    isAttempt: (isTry && !isStep) || isCrash,
    isHeard: isTry && outcome !== 'handed-off' && isStarted,
  };
}

/** What the next iteration is told of this one. What the last one left stays for the next, when this one did not work. */
function leftBehind(state: State, event: Ended, isTry: boolean): Partial<State> {
  const { iteration, task, performer, handoff, repetition, report } = event;
  const before = isTry ? undefined : state;
  return {
    lastIteration: isTry ? { iteration, task, performer } : state.lastIteration,
    refusal: before?.refusal,
    handoff: handoff ?? before?.handoff,
    repetition: repetition ?? before?.repetition,
    // The items of a task that takes many iterations outlive one that left no word about them.
    report: (isTry ? report : undefined) ?? (state.settings.stepwise ? state.report : before?.report),
  };
}

/** What all iterations together took and cost. */
function totalsAfter(
  state: State,
  { iteration, durationMs, toolCalls = 0, handoff }: Ended,
  usage = noUsage,
): Partial<State> {
  return {
    live: state.live.filter(one => one.iteration !== iteration),
    iterationsEnded: state.iterationsEnded + 1,
    iterationMsSum: state.iterationMsSum + durationMs,
    estimatedSoFar: state.estimatedSoFar || usage.estimated,
    dearestUsdMicros: Math.max(state.dearestUsdMicros, usage.costUsdMicros),
    toolCalls: state.toolCalls + toolCalls,
    budgetHandedOff: handoff === 'token_budget' || state.budgetHandedOff,
  };
}

export function iterationEnded(state: State, event: Ended): State {
  const { iteration, task, failure } = event;
  const live = state.live.find(one => one.iteration === iteration);
  const counted = countedAs(state, event, live);
  const ended: State = {
    ...state,
    ...totalsAfter(state, event, live?.usage),
    ...progressAfter(state, event, counted),
    ...leftBehind(state, event, counted.isTry),
    ...waitAfter(state, event),
    guidance: forgetUnreached((counted.isHeard ? dropDelivered : undeliver)(state.guidance, iteration), iteration),
    commitsDue: commitsAfter(state, event),
    obstacles: obstaclesAfter(state.obstacles, event),
  };
  const freed = withTask(withCheckpoint(ended, event), task, one => ({
    ...released(one),
    attempts: counted.isAttempt ? one.attempts : Math.max(0, one.attempts - 1),
    maybeExecuted: failure?.kind === 'lost-reply' || one.maybeExecuted,
  }));
  return afterOutcome(markShown(freed, task), event, live?.terminated !== undefined);
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
  const heardAt = Math.max(live.heardAt, at);
  const { nudgedAt, escalatedAt, ...rest } = live;
  const rungAt = escalatedAt ?? nudgedAt;
  return rungAt !== undefined && heardAt >= rungAt ? { ...rest, heardAt, nudges: 0 } : { ...live, heardAt };
}
