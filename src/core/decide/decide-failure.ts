// What a failure of an iteration means: how long to wait, whom to ask, when a task is parked.
import { backoffMs } from '../backoff.ts';
import { closedBreaker, tripsAt } from '../breaker.ts';
import { choosePerformer, resetMsMax } from '../choose.ts';
import { askAboutEffect } from './decide-action.ts';
import { type Ending, parkIfSpent } from './claims.ts';
import { raise } from './questions.ts';
import type { Event, EventOf } from '../event.ts';
import { countsAsAttempt, type Failure, failsToStart, failureRules } from '../failure.ts';
import { formatDuration, plural } from '../../text/format.ts';
import { normalise } from '../../messages/repetition.ts';
import type { LiveIteration, State } from '../state.ts';
import { findTask } from '../task.ts';

/** A limit that names no reset is asked about ever more rarely: each question costs an iteration. */
const blindMsMax = 30 * 60_000;

export function waitAfter(ending: Ending, chance: number): Pick<EventOf<'iteration.ended'>, 'waitUntil' | 'waitFor'> {
  const { failure, state, now, live } = ending;
  if (failure === undefined || failure.kind === 'stopped' || !failureRules[failure.kind].retryable) return {};
  const { backoffBaseMs, backoffMsMax } = state.settings;
  if (failure.kind === 'rate-limit') {
    // A reset that is already past is no reason to ask again at once.
    const known = failure.resetAtMs !== undefined && failure.resetAtMs > now && failure.resetAtMs < now + resetMsMax;
    const inRow = state.limitsInRow[live.performer] ?? 0;
    const blind = Math.min(backoffMsMax * 2 ** Math.min(inRow, 10), blindMsMax);
    return { waitUntil: known ? failure.resetAtMs : now + blind, waitFor: 'limit-reset' };
  }
  const { retryMs } = state.settings;
  if (retryMs !== null) {
    // A step that is given up now has no next try to wait for, and others may go on.
    const waitMs = isSpent(ending) ? undefined : retryMs[Math.min(live.attempt, retryMs.length) - 1];
    return waitMs === undefined ? {} : { waitUntil: now + waitMs, waitFor: 'backoff' };
  }
  return {
    waitUntil: now + backoffMs(state.failuresInRow + 1, chance, backoffBaseMs, backoffMsMax),
    waitFor: 'backoff',
  };
}

function isSpent({ state, live, failure }: Ending): boolean {
  const task = findTask(state.tasks, live.task);
  if (task === undefined || failure === undefined) return false;
  const { attemptsMax = state.settings.limits.attemptsPerTaskMax, performer } = task;
  return countsAsAttempt(failure.kind, performer !== undefined) && task.attempts >= attemptsMax;
}

export function afterFailure(ending: Ending): readonly Event[] {
  const { state, live, failure, now } = ending;
  if (failure === undefined) return [];
  if (failure.kind === 'lost-reply') return askAboutEffect(state, live, failure, now);
  if (failure.kind === 'invalid')
    return [
      { type: 'task.blocked', at: now, task: live.task, because: `the order itself is wrong: ${failure.detail}` },
    ];
  const rule = failureRules[failure.kind];
  const events: Event[] = [];
  const until = rule.trips
    ? tripsAt(state.breakers[live.performer] ?? closedBreaker, state.settings.breaker, now)
    : undefined;
  if (until !== undefined) {
    const because = `${live.performer}: ${failure.kind} again; it rests for ${formatDuration(until - now)}`;
    events.push({ type: 'performer.tripped', at: now, performer: live.performer, until, because });
  }
  const unable = (because: string): readonly Event[] => {
    const question = {
      kind: 'agent' as const,
      performer: live.performer,
      summary: unableWords(live.performer, failure.kind),
      context: failure.detail,
      options: ['It is mended: go on'],
      question: rule.hint,
    };
    return [...events, ...raise(state, question, now, because)];
  };
  if (!rule.retryable) return unable(`${failure.kind} is not worth a retry`);
  const starts = state.startsFailedInRow + 1;
  const startsMax = state.settings.breaker.failuresToOpen;
  // An agent that does not start is nobody's task: every task would meet the same end.
  if (failsToStart(failure.kind) && starts >= startsMax && alone(state, live, now)) {
    return unable(`${starts} starts in a row without a sign of life, ${startsMax} allowed`);
  }
  const spent = errorsToEscalate(ending);
  if (spent !== undefined) return [...events, ...spent];
  const error = normalise(failure.detail) || failure.kind;
  const same = state.lastError === error ? state.sameErrorsInRow + 1 : 1;
  const threshold = state.settings.sameErrorsToEscalate;
  if (!rule.counts || threshold === null || same < threshold) {
    const isAction = findTask(state.tasks, live.task)?.performer !== undefined;
    return countsAsAttempt(failure.kind, isAction) ? [...events, ...parkFailed(ending)] : events;
  }
  if (failsToStart(failure.kind)) return [...events, ...parkFailed(ending)];
  const because = `${same} identical errors, ${threshold} allowed (STUCK_THRESHOLD)`;
  return [...events, ...askAboutError(ending, failure, same, because)];
}

/** A reviewer that fails is followed by the next agent of the chain, then by a question: to park it would be to not look. */
function parkFailed({ state, live, now, failure }: Ending): readonly Event[] {
  const task = findTask(state.tasks, live.task);
  if (task?.closing === 'findings') return [];
  // Whoever is asked about an action must know what its tool said.
  return parkIfSpent(state, live.task, now, task?.performer === undefined ? undefined : failure?.detail);
}

/** In a review a person is asked where other modes end the loop (seed 001, part 3). */
function errorsToEscalate({ state, live, failure, now }: Ending): readonly Event[] | undefined {
  const { mode, limits } = state.settings;
  const errors = state.errorsInRow + 1;
  if (mode !== 'review' || failure === undefined || !failureRules[failure.kind].counts) return undefined;
  if (errors < limits.consecutiveErrorsMax) return undefined;
  // Reviewers fail side by side: one question is enough for one trouble.
  if (state.escalations.some(one => one.kind === 'stuck' && one.task === undefined)) return [];
  const question = {
    kind: 'stuck' as const,
    findings: [live.task],
    summary: `${errors} failures in a row, the last one of ${live.task}`,
    context: failure.detail,
    options: ['Go on and try again', `Leave ${live.task} out and go on`],
    question: 'Look at the last error, then go on or stop.',
  };
  return raise(
    state,
    question,
    now,
    `${errors} errors in a row, ${limits.consecutiveErrorsMax} allowed (--max-errors)`,
  );
}

const unableWords = (performer: string, kind: Failure['kind']): string =>
  ({
    auth: `${performer}: login needed`,
    billing: `${performer}: its account has no credit`,
    model: `${performer}: its provider does not know the model`,
    spawn: `${performer}: the agent does not start`,
    'no-start': `${performer}: the agent does not start`,
  })[kind as string] ?? `${performer} cannot work: ${kind}`;

/** Nobody else of the chain can do the task, now or after a provider's reset. */
function alone(state: State, live: LiveIteration, now: number): boolean {
  const { performer, waitsFor } = choosePerformer(state, live.task, now, live.performer);
  return performer === undefined && waitsFor !== 'limit-reset';
}

/** Escalations are bounded per task (ADR 11): then the task is parked. */
export function tooManyQuestions(ending: Ending): readonly Event[] | undefined {
  const { state, live, now } = ending;
  const asked = findTask(state.tasks, live.task)?.escalations ?? 0;
  const { escalationsPerTaskMax } = state.settings.limits;
  if (asked < escalationsPerTaskMax) return undefined;
  const because = `${plural(asked, 'question')} about this task already, ${escalationsPerTaskMax} allowed`;
  return [{ type: 'task.blocked', at: now, task: live.task, because }];
}

function askAboutError(ending: Ending, failure: Failure, times: number, because: string): readonly Event[] {
  const { state, live, now } = ending;
  const question = {
    kind: 'stuck' as const,
    summary: `The same error ${times} times in a row`,
    context: failure.detail,
    options: ['Try again with a fresh context', 'Leave this task out'],
    question: `How should ${live.task} go on?`,
  };
  return tooManyQuestions(ending) ?? raise(state, question, now, because, live);
}
