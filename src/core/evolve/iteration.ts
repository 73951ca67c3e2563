// What the life of an iteration does to the state: it starts, is heard, is nudged, ends.

import type { EventOf } from '../event.ts';
import { countsAsAttempt, failsToStart, failureRules } from '../failure.ts';
import { isAdvance } from '../handoff.ts';
import { hasNewItem, hasNewStep, obstaclesAfter, remember, reportedAfter } from '../memory.ts';
import { closedBreaker, withFailure } from '../scheduling.ts';
import {
  clocked,
  type Guidance,
  type LiveIteration,
  noUsage,
  type State,
  shown,
  withDue,
  withLive,
  withTask,
} from '../state.ts';
import { findTask } from '../task.ts';

/** A word to a task stands until the task is closed; a word to the loop, for the next iteration that runs. */
const said = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.filter(one => one.task !== undefined || one.iteration !== iteration);

const unsaid = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.map(({ iteration: stood, ...one }) =>
    stood === undefined || stood === iteration ? one : { ...one, iteration: stood },
  );

/** Who could not be told is remembered only while it lives. */
const forgotten = (guidance: readonly Guidance[], iteration: number): readonly Guidance[] =>
  guidance.map(one =>
    one.unreached === undefined ? one : { ...one, unreached: one.unreached.filter(each => each !== iteration) },
  );

const addressed = (guidance: readonly Guidance[], task: string, iteration: number): readonly Guidance[] =>
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
  const ticking = clocked(state, at);
  if (event.again) return { ...ticking, live: ticking.live.map(one => (one.iteration === iteration ? live : one)) };
  const { wait: _over, ...going } = ticking;
  const begun = shown(
    withTask(going, task, one => ({ ...one, status: 'active', attempts: attempt })),
    task,
  );
  return {
    ...begun,
    iterations: Math.max(begun.iterations, iteration),
    live: [...begun.live, live],
    guidance: addressed(begun.guidance, task, iteration),
  };
}

function afterOutcome(state: State, event: EventOf<'iteration.ended'>, terminated: boolean): State {
  const { outcome, failure, excerpt } = event;
  if (outcome === 'interrupted') return state;
  const { [event.performer]: _served, ...limitsInRow } = state.limitsInRow;
  const layer = outcome === 'failed' ? 'errors' : 'recent';
  const memory = remember(state.memory, layer, outcome === 'failed' ? (failure?.detail ?? excerpt) : excerpt);
  const echoes = event.echo === '' ? state.echoes : [...state.echoes, event.echo].slice(-5);
  if (outcome !== 'failed' || failure === undefined) {
    return {
      ...state,
      memory,
      echoes,
      limitsInRow,
      errorsInRow: 0,
      failuresInRow: 0,
      sameErrorsInRow: 0,
      lastError: '',
      terminationsInRow: 0,
      startsFailedInRow: 0,
    };
  }
  const rule = failureRules[failure.kind];
  const error = event.echo === '' ? failure.kind : event.echo;
  const breaker = state.breakers[event.performer] ?? closedBreaker;
  return {
    ...state,
    memory,
    echoes,
    errorsInRow: state.errorsInRow + (rule.counts ? 1 : 0),
    failuresInRow: state.failuresInRow + 1,
    sameErrorsInRow: rule.counts ? (error === state.lastError ? state.sameErrorsInRow + 1 : 1) : state.sameErrorsInRow,
    lastError: rule.counts ? error : state.lastError,
    terminationsInRow: terminated ? state.terminationsInRow + 1 : 0,
    startsFailedInRow: failsToStart(failure.kind) ? state.startsFailedInRow + 1 : 0,
    breakers: rule.trips ? { ...state.breakers, [event.performer]: withFailure(breaker) } : state.breakers,
  };
}

function dueAfter(state: State, { iteration, task, outcome }: EventOf<'iteration.ended'>): State['checkpointsDue'] {
  if (!state.settings.checkpoints) return state.checkpointsDue;
  const how = outcome === 'succeeded' ? '' : ` (${outcome})`;
  return withDue(state, { kind: 'iteration', label: `after iteration ${iteration}${how}`, iteration, task, outcome })
    .checkpointsDue;
}

/** Where a task takes many iterations, its work is committed now and then although it is not done (seed 001). */
function commitsAfter(state: State, { iteration, task, outcome }: EventOf<'iteration.ended'>): State['commitsDue'] {
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
function isNews(state: State, { outcome, report, repetition }: EventOf<'iteration.ended'>): boolean {
  const { stepwise, mode, checkpoints } = state.settings;
  if (!stepwise || (outcome !== 'succeeded' && outcome !== 'handed-off')) return false;
  if (hasNewItem(state, report)) return true;
  return mode === 'goal' ? hasNewStep(state, report) : !checkpoints && repetition === undefined;
}

/** Iterations since something was achieved, and what their reports have named. */
function progressAfter(
  state: State,
  event: EventOf<'iteration.ended'>,
  tried: boolean,
  advanced: boolean,
): Pick<State, 'sinceProgress' | 'reported'> {
  const { sinceProgress, reported } = state;
  if (!tried) return { sinceProgress, reported };
  const isNew = isNews(state, event);
  // Where one task takes many iterations, a failure is bounded as an error: it is no standstill besides.
  const isError = state.settings.stepwise && event.outcome === 'failed';
  const counts = !advanced && event.outcome !== 'escalated' && !isError;
  return {
    sinceProgress: isNew ? 0 : sinceProgress + (counts ? 1 : 0),
    reported: reportedAfter(state, event, isNew),
  };
}

/** A provider's limit concerns only its performer: another one of the chain may go on meanwhile. */
function afterwards(state: State, event: EventOf<'iteration.ended'>): Partial<State> {
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

export function iterationEnded(state: State, event: EventOf<'iteration.ended'>): State {
  const ticking = clocked(state, event.at);
  const live = ticking.live.find(one => one.iteration === event.iteration);
  const { handoff, repetition, report, refusal, lastIteration, ...rest } = ticking;
  // Our own stop or a provider's trouble says nothing about the task: neither progress nor attempts count it.
  const isAction = findTask(ticking.tasks, event.task)?.performer !== undefined;
  const blameless = event.failure !== undefined && !countsAsAttempt(event.failure.kind, isAction);
  const tried = event.outcome !== 'interrupted' && !blameless;
  const advanced = tried && live !== undefined && isAdvance(ticking, live, event.report);
  const isHeard = tried && event.outcome !== 'handed-off' && !(event.failure && failsToStart(event.failure.kind));
  const counted = event.failure?.crashed === true && state.settings.mode === 'project'; // a crash is an attempt (seed 002)
  // What the last one left stays for the next that works, when this one did not.
  const left: Partial<State> = tried
    ? { lastIteration: { iteration: event.iteration, task: event.task, performer: event.performer } }
    : { lastIteration, handoff, repetition, report, refusal };
  const ended: State = {
    ...rest,
    live: ticking.live.filter(one => one.iteration !== event.iteration),
    iterationsEnded: ticking.iterationsEnded + 1,
    iterationMsSum: ticking.iterationMsSum + event.durationMs,
    estimatedSoFar: ticking.estimatedSoFar || live?.usage.estimated === true,
    dearestUsdMicros: Math.max(ticking.dearestUsdMicros, live?.usage.costUsdMicros ?? 0),
    ...progressAfter(ticking, event, tried, advanced),
    guidance: forgotten((isHeard ? said : unsaid)(ticking.guidance, event.iteration), event.iteration),
    checkpointsDue: dueAfter(ticking, event),
    commitsDue: commitsAfter(ticking, event),
    obstacles: obstaclesAfter(ticking.obstacles, event),
    toolCalls: ticking.toolCalls + (event.toolCalls ?? 0),
    ...left,
    handoff: event.handoff ?? left.handoff,
    repetition: event.repetition ?? left.repetition,
    // The items of a task that takes many iterations runDetached one that left no word about them.
    report: (tried ? event.report : undefined) ?? (state.settings.stepwise ? report : left.report),
    budgetHandedOff: event.handoff === 'token_budget' || ticking.budgetHandedOff,
    ...afterwards(ticking, event),
  };
  const freed = withTask(ended, event.task, task => ({
    ...task,
    status: task.status === 'active' ? 'pending' : task.status,
    attempts: (tried && !advanced) || counted ? task.attempts : Math.max(0, task.attempts - 1),
    acted: event.failure?.kind === 'lost-reply' || task.acted,
  }));
  return afterOutcome(shown(freed, event.task), event, live?.terminated !== undefined);
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
  return withLive(clocked(state, event.at), event.iteration, live => {
    const contextUsed = event.contextUsed ?? live.contextUsed;
    return { ...alive(live, event.at - event.quietMs), contextUsed, aliveAt: event.at };
  });
}

/** A sign of life after the last rung starts the ladder anew: what was slow is not stuck. */
export function alive(live: LiveIteration, at: number): LiveIteration {
  const heardAt = Math.max(live.heardAt, at);
  const { nudgedAt, escalatedAt, ...rest } = live;
  const rungAt = escalatedAt ?? nudgedAt;
  return rungAt !== undefined && heardAt >= rungAt ? { ...rest, heardAt, nudges: 0 } : { ...live, heardAt };
}
