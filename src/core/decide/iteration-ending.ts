// What the end of an iteration means: outcome, claims, waits, questions. The heart of "done is never just said".

import { readSignals, type Signals } from '../../messages/claims.ts';
import { findRepetition, fingerprint, normalise } from '../../messages/repetition.ts';
import { formatDuration, plural } from '../../text/format.ts';
import { stripControls, takeLastCharacters } from '../../text/text.ts';
import { agentOptions, type Event, type EventOf, type IterationOutcome } from '../event.ts';
import { backoffMs, countsAsAttempt, type Failure, failsToStart, failureRules } from '../failure.ts';
import { isAdvance, shouldHandOff } from '../handoff.ts';
import type { InputOf, Performed, Question } from '../input.ts';
import { choosePerformer, closedBreaker, resetMsMax, tripsAt } from '../scheduling.ts';
import { recordUsage } from '../spend.ts';
import { type LiveIteration, liveIteration, type State, usedFractionBefore } from '../state.ts';
import { findTask } from '../task.ts';
import { claimOf, type Ending, parkIfSpent, readClaims, readFindings, readResult, refuse } from './claims.ts';
import { raise, stuckOptions } from './questions.ts';
import { askAboutEffect } from './work.ts';

function outcomeOf(failure: Failure | undefined, signals: Signals, live: LiveIteration): IterationOutcome {
  if (failure?.kind === 'stopped') return 'interrupted';
  if (failure !== undefined) return 'failed';
  if (signals.escalate) return 'escalated';
  return signals.handoff === undefined && !live.handoff?.delivered ? 'succeeded' : 'handed-off';
}

/** The ladder's own stop is a failure of the iteration; the end of a handoff is none; any other stop interrupts it. */
function failureOf(performed: Performed, live: LiveIteration): Failure | undefined {
  if (performed.failure?.kind !== 'stopped') return performed.failure;
  if (live.terminated !== undefined) return { kind: 'timeout', detail: live.terminated };
  return performed.stoppedFor === 'handoff' && live.handoff?.delivered ? undefined : performed.failure;
}

/** An agent that ended well without calling its task done, in whichever way its mode knows. */
function isUnclaimed({ state, outcome, signals, live, performed }: Ending): boolean {
  const task = findTask(state.tasks, live.task);
  if (outcome !== 'succeeded' || task?.performer !== undefined || task?.closing !== undefined) return false;
  const isEdited = performed.statusEdits?.includes(live.task) === true;
  return claimOf(state, live.task, signals, isEdited).claimed === undefined;
}

function whyEnded(
  { state, outcome, failure, durationMs, signals, live, performed }: Ending,
  unclaimed: boolean,
): string {
  const took = `after ${formatDuration(durationMs)}`;
  if (outcome === 'interrupted') return `${failure?.detail ?? 'stopped'}, ${took}`;
  if (failure !== undefined) return `${failure.kind} ${took}: ${failure.detail}`;
  if (outcome === 'escalated') return `the agent asked a human ${took}`;
  if (live.handoff?.delivered && outcome === 'handed-off') {
    const cut = performed.failure === undefined ? 'it stopped as asked' : 'it was interrupted';
    return `handed off ${took} (${live.handoff.trigger}): ${cut}`;
  }
  if (outcome === 'handed-off') return `the agent asked for a fresh context ${took}: ${signals.handoff}`;
  const task = findTask(state.tasks, live.task);
  if (task?.performer !== undefined) return `it was done ${took}`;
  if (task?.closing === 'findings') return `the reviewer ended ${took}`;
  if (task?.closing === 'result')
    return performed.message === '' ? `it was left ${took} without done.md` : `the round ended ${took}`;
  return `the agent ended ${took}${unclaimed ? ' without claiming the task' : ' and claims the task'}`;
}

/** The budget trigger fires in the iteration that crossed the line, and once per loop. */
function budgetFacts({ state, live, spentUsdMicros }: Ending): { budgetUsed: number; budgetAlerted: boolean } {
  const { budgetAlertFraction, limits } = state.settings;
  const max = limits.costUsdMicrosMax;
  const { before } = usedFractionBefore(state, live);
  const alerted = state.budgetHandedOff || before > budgetAlertFraction;
  return { budgetUsed: max === null ? 0 : spentUsdMicros / max, budgetAlerted: alerted };
}

function iterationEnded(ending: Ending, chance: number): Event {
  const { state, live, performed, failure, signals, outcome, now } = ending;
  const echo = normalise(failure?.detail ?? performed.message);
  const error = failure !== undefined && failure.kind !== 'stopped' ? fingerprint(failure.detail) : undefined;
  const repetition = findRepetition({
    echo,
    // Another task's words say nothing about this one.
    echoes: state.lastIteration === undefined || state.lastIteration.task === live.task ? state.echoes : [],
    error,
    errors: Array.from({ length: state.sameErrorsInRow }, () => fingerprint(state.lastError)),
    sameErrorMax: state.settings.sameErrorsToEscalate ?? state.settings.errorsToHandOff,
  });
  const asked = outcome === 'handed-off' && live.handoff?.delivered ? live.handoff.trigger : undefined;
  const found = shouldHandOff({
    contextUsed: failure?.kind === 'context-too-long' ? 1 : live.contextUsed,
    contextFractionMax: state.settings.contextFractionMax,
    errorsInRow: state.errorsInRow + (failure && failureRules[failure.kind].counts ? 1 : 0),
    errorsToHandOff: state.settings.errorsToHandOff,
    ...budgetFacts(ending),
    budgetAlertFraction: state.settings.budgetAlertFraction,
    phaseComplete: signals.report?.phase === 'complete',
    requested: outcome === 'handed-off',
    timedOut: failure?.kind === 'timeout',
  });
  const handoff = asked ?? found;
  const unclaimed = isUnclaimed(ending);
  return {
    type: 'iteration.ended',
    at: now,
    iteration: live.iteration,
    task: live.task,
    performer: live.performer,
    outcome,
    durationMs: ending.durationMs,
    because: whyEnded(ending, unclaimed),
    unclaimed: unclaimed || undefined,
    excerpt: takeLastCharacters(stripControls(performed.message).trim(), 500),
    echo,
    failure: failure === undefined ? undefined : { ...failure, detail: takeLastCharacters(failure.detail, 500) },
    handoff,
    report: signals.report,
    toolCalls: performed.toolCalls || undefined,
    repetition: outcome === 'interrupted' ? undefined : repetition,
    ...waitAfter(ending, chance),
  };
}

function askedByAgent(ending: Ending): readonly Event[] {
  const { state, live, signals, now } = ending;
  const block = signals.escalate;
  if (block === undefined) return [];
  const question = {
    kind: block.type,
    summary: block.summary === '' ? 'The agent asks for help' : block.summary,
    context: [block.context, block.attached].filter(part => part !== '').join('\n\n'),
    options: agentOptions(block.options),
    question: block.question,
  };
  return tooManyQuestions(ending) ?? raise(state, question, now, `the agent raised "${block.type}"`, live);
}

/** Questions about an iteration that is over need no answer any more. */
function mootQuestions(state: State, iteration: number, now: number): readonly Event[] {
  return state.escalations
    .filter(one => one.kind === 'health' && one.iteration === iteration)
    .map(one => ({
      type: 'escalation.answered',
      at: now,
      id: one.id,
      answer: { kind: 'retry' },
      by: 'ralph',
      because: 'the iteration has ended',
    }));
}

function recovery(ending: Ending): readonly Event[] {
  const { state, live, failure, now } = ending;
  const breaker = state.breakers[live.performer];
  const healed = failure === undefined && breaker !== undefined && (breaker.openings > 0 || breaker.failures > 0);
  return healed
    ? [{ type: 'performer.recovered', at: now, performer: live.performer, because: 'an iteration ended well' }]
    : [];
}

/** `workedUntil`: when Ralph itself was gone, the last sign of life rather than now. */
export function endIteration(
  state: State,
  live: LiveIteration,
  performed: Performed,
  chance: number,
  now: number,
  workedUntil = now,
): readonly Event[] {
  const failure = failureOf(performed, live);
  const signals = readSignals(stripControls(performed.message), { task: live.task, promise: state.settings.promise });
  const outcome = outcomeOf(failure, signals, live);
  const durationMs = Math.max(0, workedUntil - live.startedAt);
  const usage = performed.usage === undefined ? [] : recordUsage(state, live, performed.usage, now);
  const spent = usage.reduce((sum, one) => sum + (one.type === 'usage.recorded' ? one.usage.costUsdMicros : 0), 0);
  const ending: Ending = {
    state,
    live,
    spentUsdMicros: state.usage.costUsdMicros + spent,
    performed,
    signals,
    outcome,
    now,
    durationMs,
    failure,
  };
  const events: Event[] = [
    ...usage,
    iterationEnded(ending, chance),
    ...mootQuestions(state, live.iteration, now),
    ...recovery(ending),
  ];
  // Whom we had to interrupt has not finished, whatever it wrote before.
  const isCut = outcome === 'interrupted' || performed.stoppedFor !== undefined;
  const claims = !isCut && (outcome === 'succeeded' || outcome === 'handed-off');
  if (!claims && performed.statusEdits?.includes(live.task)) {
    const how = isCut ? 'was interrupted' : outcome;
    const because = `the document was edited to call ${live.task} done, but the iteration ${how}`;
    events.push(refuse(ending, 'status-edit', live.task, because));
  }
  if (outcome === 'interrupted') {
    // In a project an attempt counts when it begins, so that a crash counts (seed 002).
    const counts = failure?.crashed === true && state.settings.mode === 'project';
    return counts ? [...events, ...parkIfSpent(state, live.task, now)] : events;
  }
  if (isCut && outcome === 'handed-off') {
    const because = 'it was interrupted before it had finished, so what it said does not count';
    if (signals.done) events.push(refuse(ending, 'done', live.task, because));
    return [...events, ...(isAdvance(state, live, signals.report) ? [] : parkIfSpent(state, live.task, now))];
  }
  if (outcome === 'failed') {
    if (signals.done)
      events.push(refuse(ending, 'done', live.task, 'the agent failed, so what it said does not count'));
    return [...events, ...afterFailure(ending)];
  }
  return [...events, ...(outcome === 'escalated' ? askedByAgent(ending) : readEnd(ending))];
}

/** What closes a task is a matter of the task. */
function readEnd(ending: Ending): readonly Event[] {
  const closing = findTask(ending.state.tasks, ending.live.task)?.closing;
  if (closing === 'result') return readResult(ending);
  return closing === 'findings' ? readFindings(ending) : [...readClaims(ending), ...askedByTag(ending)];
}

/** A fixer that says that a person must step in. */
function askedByTag(ending: Ending): readonly Event[] {
  const { state, live, signals, now, performed } = ending;
  if (state.settings.mode !== 'review' || signals.review !== 'blocked') return [];
  const question = {
    kind: 'stuck' as const,
    summary: `${live.task} needs a person`,
    context: takeLastCharacters(stripControls(performed.message).trim(), 2_000),
    options: stuckOptions,
    question: `How should ${live.task} go on?`,
  };
  return tooManyQuestions(ending) ?? raise(state, question, now, 'the last line is the tag review-blocked', live);
}

export function performedInput(state: State, input: InputOf<'performed'>, now: number): readonly Event[] {
  const live = liveIteration(state, input.iteration);
  return live === undefined ? [] : endIteration(state, live, input.performed, input.chance, now);
}

// What a failure of an iteration means: how long to wait, whom to ask, when a task is parked.

/** A limit that names no reset is asked about ever more rarely: each question costs an iteration. */
const blindMsMax = 30 * 60_000;

function waitAfter(ending: Ending, chance: number): Pick<EventOf<'iteration.ended'>, 'waitUntil' | 'waitFor'> {
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

function afterFailure(ending: Ending): readonly Event[] {
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
    const question: Question = {
      kind: 'agent',
      performer: live.performer,
      summary: unableWords(live.performer, failure.kind),
      context: failure.detail,
      options: [{ id: 'go-on', text: 'It is mended: go on' }],
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
  const question: Question = {
    kind: 'stuck',
    findings: [live.task],
    summary: `${errors} failures in a row, the last one of ${live.task}`,
    context: failure.detail,
    options: [
      { id: 'go-on', text: 'Go on and try again' },
      { id: 'leave-out', text: `Leave ${live.task} out and go on` },
    ],
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
function tooManyQuestions(ending: Ending): readonly Event[] | undefined {
  const { state, live, now } = ending;
  const asked = findTask(state.tasks, live.task)?.escalations ?? 0;
  const { escalationsPerTaskMax } = state.settings.limits;
  if (asked < escalationsPerTaskMax) return undefined;
  const because = `${plural(asked, 'question')} about this task already, ${escalationsPerTaskMax} allowed`;
  return [{ type: 'task.blocked', at: now, task: live.task, because }];
}

function askAboutError(ending: Ending, failure: Failure, times: number, because: string): readonly Event[] {
  const { state, live, now } = ending;
  const question: Question = {
    kind: 'stuck',
    summary: `The same error ${times} times in a row`,
    context: failure.detail,
    options: stuckOptions,
    question: `How should ${live.task} go on?`,
  };
  return tooManyQuestions(ending) ?? raise(state, question, now, because, live);
}
