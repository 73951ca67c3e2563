// What the end of an iteration means: outcome, claims, waits, questions. The heart of "done is never just said".
import { type Ending, parkIfSpent, readClaims, readFindings, readResult, refuse } from './claims.ts';
import { afterFailure, tooManyQuestions, waitAfter } from './decide-failure.ts';
import { raise } from './questions.ts';
import { recordUsage } from '../decide-usage.ts';
import { claimOf } from './dialect.ts';
import type { Event, IterationOutcome } from '../event.ts';
import { type Failure, failureRules } from '../failure.ts';
import { formatDuration } from '../../text/format.ts';
import { isAdvance, shouldHandOff } from '../handoff.ts';
import type { InputOf, Performed } from '../input.ts';
import { findRepetition, fingerprint, normalise } from '../../messages/repetition.ts';
import { readSignals, type Signals } from '../../messages/claims.ts';
import { type LiveIteration, liveIteration, type State, usedFractionBefore } from '../state.ts';
import { findTask } from '../task.ts';
import { stripControls, takeLastCharacters } from '../../text/text.ts';

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

function whyEnded({ state, outcome, failure, durationMs, signals, live, performed }: Ending): string {
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
  const isEdited = performed.statusEdits?.includes(live.task) === true;
  const { claimed } = claimOf(state, live.task, signals, isEdited);
  return `the agent ended ${took}${claimed ? ' and claims the task' : ' without claiming the task'}`;
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
  return {
    type: 'iteration.ended',
    at: now,
    iteration: live.iteration,
    task: live.task,
    performer: live.performer,
    outcome,
    durationMs: ending.durationMs,
    because: whyEnded(ending),
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
    options: block.options,
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
    options: ['Try again with a fresh context', 'Leave this task out'],
    question: `How should ${live.task} go on?`,
  };
  return tooManyQuestions(ending) ?? raise(state, question, now, 'the last line is the tag review-blocked', live);
}

export function performedInput(state: State, input: InputOf<'performed'>, now: number): readonly Event[] {
  const live = liveIteration(state, input.iteration);
  return live === undefined ? [] : endIteration(state, live, input.performed, input.chance, now);
}
