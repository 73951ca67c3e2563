// The end of an iteration: its outcome, claims, waits and questions.

import { readSignals, type Signals } from '../../messages/claims.ts';
import { comparable, endsInError } from '../../messages/said.ts';
import { withToolReports } from '../../messages/tool-reports.ts';
import { formatDuration } from '../../text/format.ts';
import { oneLine, stripControls, takeLastCharacters } from '../../text/text.ts';
import {
  agentOptions,
  type Escalation,
  type EventOf,
  type HandoffTrigger,
  type IterationOutcome,
  type NewEvent,
  sameError,
} from '../event.ts';
import { fold } from '../evolve/evolve.ts';
import {
  backoffMs,
  countsAsAttempt,
  countsAsError,
  type Failure,
  failsToStart,
  failureRules,
  failureWords,
  isCrashAttempt,
  restsAtFirst,
} from '../failure.ts';
import { shouldHandOff } from '../handoff.ts';
import type { Performed, Question } from '../input.ts';
import { movesOn, sameErrorsOf, standstillOf, withEnded } from '../memory.ts';
import { choosePerformer, closedBreaker, resetMsMax, tripsAt } from '../scheduling.ts';
import { limitFlag } from '../settings.ts';
import { addUsage, recordUsage } from '../spend.ts';
import { attemptsMaxOf, countedUsdMicros, type LiveIteration, type State, usedFractionBefore } from '../state.ts';
import { findTask } from '../task.ts';
import { askAboutEffect } from './actions.ts';
import {
  askOrBlock,
  blockIfSpent,
  blockUnlessAdvance,
  claimOf,
  dialectOf,
  type Ending,
  readClaims,
  readFindings,
  readResult,
  refuse,
} from './claims.ts';
import { closeQuestions, raise, stuckOptions } from './questions.ts';

function outcomeOf(failure: Failure | undefined, signals: Signals, live: LiveIteration): IterationOutcome {
  if (failure?.kind === 'stopped') return 'interrupted';
  if (failure !== undefined) return 'failed';
  if (signals.escalate) return 'escalated';
  return signals.handoff === undefined && !live.handoff?.delivered ? 'succeeded' : 'handed-off';
}

/** The ladder's own stop is a failure of the iteration; the end of a handoff is none; any other stop interrupts it. */
function failureOf(performed: Performed, live: LiveIteration, { streaks }: State): Failure | undefined {
  const { failure, message, toolCalls = 0 } = performed;
  const isIdle = message.trim() === '' && toolCalls === 0;
  if (failure !== undefined && restsAtFirst(failure, isIdle, streaks.failures)) return { ...failure, rests: true };
  if (failure?.kind !== 'stopped') return failure;
  if (live.terminated !== undefined) return { kind: 'timeout', detail: live.terminated };
  return performed.stoppedFor === 'handoff' && live.handoff?.delivered ? undefined : failure;
}

/** An agent that ended well without calling its task done, in whichever way its mode knows. */
function isUnclaimed({ state, outcome, signals, live, performed }: Ending): boolean {
  const task = findTask(state.tasks, live.task);
  if (outcome !== 'succeeded' || task?.spec.performer !== undefined || task?.spec.completion !== undefined)
    return false;
  const isEdited = performed.statusEdits?.includes(live.task) === true;
  return claimOf(state, live.task, signals, isEdited).claimed === undefined;
}

/** Whoever ends sooner has not begun to work. */
const atOnceMs = 10_000;

function whyFailed(failure: Failure, { performer }: LiveIteration, durationMs: number): string {
  const isAtOnce = failure.silent === true && durationMs < atOnceMs;
  const next = isAtOnce ? `; it printed nothing, so try it: ralph agents test ${performer}` : '';
  return `${failureWords[failure.kind]} (after ${formatDuration(durationMs)}): ${failure.detail}${next}`;
}

function whyEnded(
  { state, outcome, failure, durationMs, signals, live, performed }: Ending,
  unclaimed: boolean,
): string {
  const took = `after ${formatDuration(durationMs)}`;
  if (outcome === 'interrupted') return `${failure?.detail ?? 'stopped'}, ${took}`;
  if (failure !== undefined) return whyFailed(failure, live, durationMs);
  if (outcome === 'escalated') return `the agent asked a human ${took}`;
  if (live.handoff?.delivered && outcome === 'handed-off') {
    const cut = performed.failure === undefined ? 'it stopped as asked' : 'it was interrupted';
    return `handed off ${took} (${live.handoff.trigger}): ${cut}`;
  }
  if (outcome === 'handed-off') return `the agent asked for a fresh context ${took}: ${signals.handoff}`;
  const task = findTask(state.tasks, live.task);
  if (task?.spec.performer !== undefined) return `it was done ${took}`;
  if (task?.spec.completion === 'findings') return `the reviewer ended ${took}`;
  if (task?.spec.completion === 'result')
    return performed.message === '' ? `it was left ${took} without done.md` : `the round ended ${took}`;
  return `the agent ended ${took}${unclaimed ? ' without claiming the task' : ' and claims the task'}`;
}

/** Why a fresh context takes over: what was asked for, else the first trigger that holds. */
function handoffOf({ state, live, failure, signals, outcome, spentUsdMicros }: Ending): HandoffTrigger | undefined {
  if (outcome === 'handed-off' && live.handoff?.delivered) return live.handoff.trigger;
  const { contextFractionMax, errorsToHandOff, budgetAlertFraction, limits } = state.settings;
  const max = limits.costUsdMicrosMax;
  return shouldHandOff({
    contextUsed: failure?.kind === 'context-too-long' ? 1 : live.contextUsed,
    contextFractionMax,
    // Whoever ended well has got over the errors before.
    errorsInRow: failure !== undefined && countsAsError(failure) ? state.streaks.errors + 1 : 0,
    errorsToHandOff,
    // The budget trigger fires in the iteration that crossed the line, and once per loop.
    budgetUsed: max === null ? 0 : spentUsdMicros / max,
    budgetAlerted: state.spend.isHandedOff || usedFractionBefore(state, live).before > budgetAlertFraction,
    budgetAlertFraction,
    phaseComplete: signals.report?.phase === 'complete',
    requested: outcome === 'handed-off',
    timedOut: failure?.kind === 'timeout',
  });
}

type Ended = Omit<EventOf<'iteration.ended'>, 'at'>;

function iterationEnded(ending: Ending, chance: number): Ended {
  const { live, performed, failure, signals, outcome, durationMs } = ending;
  const { iteration, task, performer } = live;
  const echo = comparable(failure?.detail ?? performed.message);
  const unclaimed = isUnclaimed(ending) || undefined;
  const ended: Ended = {
    type: 'iteration.ended',
    iteration,
    task,
    performer,
    outcome,
    durationMs,
    because: whyEnded(ending, unclaimed === true),
    unclaimed,
    excerpt: takeLastCharacters(stripControls(performed.message).trim(), 500),
    echo,
    failure: failure && { ...failure, detail: takeLastCharacters(failure.detail, 500) },
    handoff: handoffOf(ending),
    report: signals.report,
    noted: performed.noted?.obstacles.length ? performed.noted.obstacles : undefined,
    toolCalls: performed.toolCalls || undefined,
    ...waitAfter(ending, chance),
  };
  return outcome === 'interrupted' ? ended : { ...ended, ...judgedBy(ending, withEnded(ending.state, ended)) };
}

/** By its words alone: where there are checkpoints, its files say more later. */
function judgedBy({ state, live: { task } }: Ending, after: State): Pick<Ended, 'repetition' | 'progress'> {
  const { kind, detail } = standstillOf(after, task) ?? {};
  const repetition = kind === undefined || detail === undefined ? undefined : { kind, detail };
  return { repetition, progress: state.settings.checkpoints ? undefined : movesOn(after, task) };
}

function askedByAgent({ state, live, signals }: Ending): readonly NewEvent[] {
  const block = signals.escalate;
  if (block === undefined) return [];
  const question = {
    kind: block.type,
    summary: block.summary || oneLine(block.question) || 'The agent asks for help',
    context: [block.context, block.attached].filter(part => part !== '').join('\n\n'),
    options: agentOptions(block.options),
    question: block.question,
  };
  return askOrBlock(state, question, 'the agent asks', live);
}

function recovery({ state, live: { performer }, failure }: Ending): readonly NewEvent[] {
  const { openings, failures } = state.performers.breakers[performer] ?? closedBreaker;
  if (failure !== undefined || openings + failures === 0) return [];
  return [{ type: 'performer.recovered', performer, because: 'an iteration ended well' }];
}

/** Whom we had to interrupt has not finished, whatever it wrote before. */
const isCut = ({ outcome, performed }: Ending): boolean =>
  outcome === 'interrupted' || performed.stoppedFor !== undefined;

/** Only an end of its own may claim; what was said or written otherwise is answered, so that the next attempt knows. */
function refusedClaims(ending: Ending): readonly NewEvent[] {
  const { live, outcome, performed, signals } = ending;
  if (!isCut(ending) && (outcome === 'succeeded' || outcome === 'handed-off')) return [];
  const { task } = live;
  const events: NewEvent[] = [];
  if (performed.statusEdits?.includes(task)) {
    const how = isCut(ending) ? 'was interrupted' : outcome;
    const because = `the document was edited to call ${task} done, but the iteration ${how}`;
    events.push(refuse(ending, 'status-edit', task, because));
  }
  if (signals.done && outcome === 'failed')
    events.push(refuse(ending, 'done', task, 'the agent failed, so what it said does not count'));
  if (signals.isByTool && outcome === 'interrupted')
    events.push(
      refuse(ending, 'done', task, 'it was interrupted before it had ended, so what it reported does not count'),
    );
  if (signals.done && outcome === 'handed-off') {
    const because = 'it was interrupted before it had finished, so what it said does not count';
    events.push(refuse(ending, 'done', task, because));
  }
  return events;
}

/** What the outcome means for the task. */
const consequences: Readonly<Record<IterationOutcome, (ending: Ending, ended: Ended) => readonly NewEvent[]>> = {
  succeeded: readEnd,
  'handed-off': ending => (isCut(ending) ? blockUnlessAdvance(ending) : readEnd(ending)),
  escalated: askedByAgent,
  failed: afterFailure,
  interrupted: ({ state, live, failure }) =>
    isCrashAttempt(state.settings, failure) ? blockIfSpent(state, live.task) : [],
};

interface IterationEnd {
  readonly performed: Performed;
  /** In [0, 1): spreads the wait after a failure. */
  readonly chance: number;
  readonly now: number;
  /** When Ralph itself was gone: the last sign of life rather than now. */
  readonly workedUntil?: number;
}

export function endIteration(state: State, live: LiveIteration, end: IterationEnd): readonly NewEvent[] {
  const { performed, chance, now, workedUntil = now } = end;
  const failure = failureOf(performed, live, state);
  const inWords = readSignals(stripControls(performed.message), dialectOf(state, live.task));
  const signals = withToolReports(inWords, live.reports);
  const usage = performed.usage === undefined ? [] : recordUsage(state, live, performed.usage);
  const spent = usage.reduce(
    (sum, one) => (one.type === 'usage.recorded' ? addUsage(sum, one.usage) : sum),
    state.spend.usage,
  );
  const ending: Ending = {
    state,
    live,
    performed,
    failure,
    signals,
    outcome: outcomeOf(failure, signals, live),
    now,
    durationMs: Math.max(0, workedUntil - live.startedAt),
    spentUsdMicros: countedUsdMicros(state.settings, spent),
  };
  const ended = iterationEnded(ending, chance);
  const after = consequences[ending.outcome](ending, ended);
  const isAboutIt = ({ kind, iteration }: Escalation): boolean => kind === 'health' && iteration === live.iteration;
  return [
    ...usage,
    isGivenUp(live, after) ? withoutBackoff(ended) : ended,
    ...closeQuestions(state, isAboutIt, 'ralph', 'the iteration has ended'),
    ...recovery(ending),
    ...refusedClaims(ending),
    ...after,
  ];
}

/** The task is blocked or asked about: it has no next try to wait for, and others may go on. */
const isGivenUp = ({ task }: LiveIteration, after: readonly NewEvent[]): boolean =>
  after.some(
    one =>
      (one.type === 'task.blocked' && one.task === task) ||
      (one.type === 'escalation.raised' && one.escalation.task === task),
  );

const withoutBackoff = (ended: Ended): Ended =>
  ended.waitFor === 'backoff' ? { ...ended, waitUntil: undefined, waitFor: undefined } : ended;

/** What closes a task is a matter of the task. */
function readEnd(ending: Ending): readonly NewEvent[] {
  const closing = findTask(ending.state.tasks, ending.live.task)?.spec.completion;
  if (closing === 'result') return readResult(ending);
  if (closing === 'findings') return readFindings(ending);
  return [...(blockedByAgent(ending) ?? printedAgain(ending) ?? readClaims(ending)), ...askedByTag(ending)];
}

const stuck = ({ task }: LiveIteration, summary: string, context: string): Question => ({
  kind: 'stuck',
  summary,
  context,
  options: stuckOptions,
  question: `How should ${task} go on?`,
});

/** An agent that cannot go on may say so in the document: that is taken, shown, and asked about. */
function blockedByAgent({ state, live, performed, signals }: Ending): readonly NewEvent[] | undefined {
  const { blockedEdit } = performed;
  const { claimed } = claimOf(state, live.task, signals, performed.statusEdits?.includes(live.task) === true);
  if (blockedEdit === undefined || claimed !== undefined) return undefined;
  const said = [blockedEdit, ...(signals.report?.blocked ?? [])].filter(one => one !== '');
  const reason = said.length > 0 ? said.join('; ') : takeLastCharacters(stripControls(performed.message).trim(), 500);
  const because = `${live.performer} calls it blocked: ${reason === '' ? 'it does not say why' : reason.replace(/\s+/g, ' ')}`;
  const question = stuck(live, `${live.task} is blocked, says its agent`, reason);
  const asked = askOrBlock(state, question, 'the agent called its task blocked in the document', live);
  return [{ type: 'task.blocked', task: live.task, because }, ...asked.filter(one => one.type !== 'task.blocked')];
}

/** The same error printed as the last word of iterations that ended with exit 0: as good as the same failure. */
function printedAgain(ending: Ending): readonly NewEvent[] | undefined {
  const { state, live, performed } = ending;
  const { sameErrorsToEscalate: most } = state.settings;
  if (most === null || !isUnclaimed(ending) || !endsInError(performed.message)) return undefined;
  const echo = comparable(performed.message);
  const before = state.memory.recentOutputs.slice(1 - most);
  const isSame =
    state.iterations.last?.task === live.task && before.length === most - 1 && before.every(one => one === echo);
  if (!isSame) return undefined;
  const said = takeLastCharacters(stripControls(performed.message).trim(), 500);
  const question = { ...stuck(live, `The same error ${most} times in a row`, said), subjects: [sameError] };
  return askOrBlock(
    state,
    question,
    `the agent printed the same error ${most} times, ${most} allowed (--stuck-threshold)`,
    live,
  );
}

/** A fixer that says that a person must step in. */
function askedByTag({ state, live, signals, performed }: Ending): readonly NewEvent[] {
  if (state.settings.policy.claimsBy !== 'review-tag' || signals.review !== 'blocked') return [];
  const said = takeLastCharacters(stripControls(performed.message).trim(), 2_000);
  const question = stuck(live, `${live.task} needs a person`, said);
  return askOrBlock(state, question, 'the last line is the tag review-blocked', live);
}

// Failures: how long to wait, whom to ask, when a task is blocked.

/** A limit that names no reset is asked about ever more rarely: each question costs an iteration. */
const blindMsMax = 30 * 60_000;

/** A reset that is already past is no reason to ask again at once. */
const resetMs = ({ resetAtMs }: Failure, now: number): number | undefined =>
  resetAtMs !== undefined && resetAtMs > now && resetAtMs < now + resetMsMax ? resetAtMs : undefined;

function waitAfter(ending: Ending, chance: number): Pick<Ended, 'waitUntil' | 'waitFor'> {
  const { failure, state, now, live } = ending;
  if (failure === undefined || !failureRules[failure.kind].retryable) return {};
  if (failure.kind === 'stopped' && failure.byOthers !== true) return {};
  const { backoffBaseMs, backoffMsMax } = state.settings;
  if (failure.kind === 'rate-limit') {
    const reset = resetMs(failure, now);
    const inRow = state.streaks.rateLimits[live.performer] ?? 0;
    const blind = Math.min(backoffMsMax * 2 ** Math.min(inRow, 10), blindMsMax);
    return { waitUntil: reset ?? now + blind, waitFor: 'limit-reset' };
  }
  const { retryMs } = state.settings;
  if (retryMs !== null) {
    // A step that is given up now has no next try to wait for, and others may go on.
    const waitMs = isSpent(ending) ? undefined : retryMs[Math.min(live.attempt, retryMs.length) - 1];
    return waitMs === undefined ? {} : { waitUntil: now + waitMs, waitFor: 'backoff' };
  }
  const backoffUntil = now + backoffMs(state.streaks.failures + 1, chance, backoffBaseMs, backoffMsMax);
  return { waitUntil: Math.max(backoffUntil, resetMs(failure, now) ?? 0), waitFor: 'backoff' };
}

function isSpent({ state, live, failure }: Ending): boolean {
  const task = findTask(state.tasks, live.task);
  if (task === undefined || failure === undefined) return false;
  const isAttempt = countsAsAttempt(failure, task.spec.performer !== undefined);
  return isAttempt && task.attempts >= attemptsMaxOf(state, task);
}

/** An iteration whose performer failed, and the loop after it: its streaks hold this failure too. */
interface Failed extends Ending {
  readonly failure: Failure;
  readonly after: State;
}

function afterFailure(ending: Ending, ended: Ended): readonly NewEvent[] {
  const { state, failure, now } = ending;
  if (failure === undefined) return [];
  const failed: Failed = { ...ending, failure, after: fold(state, { ...ended, at: now }) };
  return [...tripped(failed), ...askOrTryAgain(failed)];
}

/** Asks a person about the action, the agent, the failures or the task; else the task is tried again or blocked. */
function askOrTryAgain(failed: Failed): readonly NewEvent[] {
  const { state, live, failure, after } = failed;
  const { kind, detail } = failure;
  const { retryable } = failureRules[kind];
  const counts = countsAsError(failure);
  const { breaker, limits, policy, sameErrorsToEscalate } = state.settings;
  const starts = after.streaks.failedStarts;
  if (kind === 'lost-reply') return askAboutEffect(state, live, failure);
  if (kind === 'invalid')
    return [{ type: 'task.blocked', task: live.task, because: `the order itself is wrong: ${detail}` }];
  if (!retryable) return askAboutAgent(failed, `${kind} is not worth a retry`);
  // An agent that does not start is nobody's task: every task would meet the same end.
  if (failsToStart(kind) && starts >= breaker.failuresToOpen && isAlone(failed))
    return askAboutAgent(failed, `${starts} starts in a row without a sign of life, ${breaker.failuresToOpen} allowed`);
  const { consecutiveErrorsMax } = limits;
  const isTooMany = consecutiveErrorsMax !== null && after.streaks.errors >= consecutiveErrorsMax;
  if (policy.onErrors === 'ask' && counts && isTooMany) return askAboutFailures(failed);
  const isStuck = sameErrorsToEscalate !== null && sameErrorsIn(failed) >= sameErrorsToEscalate;
  if (isStuck && counts && !failsToStart(kind)) return askAboutSameError(failed);
  return blockFailed(failed);
}

/** In a row in the loop, or of this task alone while others work beside it. */
const sameErrorsIn = ({ after, live }: Failed): number => Math.max(after.streaks.sameErrors, sameErrorsOf(after, live));

function blockFailed({ state, live, failure }: Failed): readonly NewEvent[] {
  const task = findTask(state.tasks, live.task);
  // A reviewer that fails is followed by the next agent of the chain, then by a question: to block it would be to not look.
  if (task?.spec.completion === 'findings') return [];
  const isAction = task?.spec.performer !== undefined;
  if (!countsAsAttempt(failure, isAction)) return [];
  // Whoever is asked about an action must know what its tool said.
  return blockIfSpent(state, live.task, isAction ? failure.detail : undefined);
}

/** The performer rests after failures that are its own fault. */
function tripped({ state, live: { performer }, now, failure: { kind } }: Failed): readonly NewEvent[] {
  const breaker = state.performers.breakers[performer] ?? closedBreaker;
  const until = failureRules[kind].trips ? tripsAt(breaker, state.settings.breaker, now) : undefined;
  if (until === undefined) return [];
  const because = `${performer}: ${kind} again; it rests for ${formatDuration(until - now)}`;
  return [{ type: 'performer.tripped', performer, until, because }];
}

function askAboutAgent(
  { state, live: { performer }, failure: { kind, detail } }: Failed,
  because: string,
): readonly NewEvent[] {
  const question: Question = {
    kind: 'agent',
    performer,
    summary: unableWords(performer, kind),
    context: detail,
    options: [{ id: 'go-on', text: 'It is mended: go on' }],
    question: failureRules[kind].hint,
  };
  return raise(state, question, because);
}

function askAboutSameError(failed: Failed): readonly NewEvent[] {
  const { state, live, failure } = failed;
  const times = sameErrorsIn(failed);
  const question = { ...stuck(live, `The same error ${times} times in a row`, failure.detail), subjects: [sameError] };
  const because = `${times} identical errors, ${state.settings.sameErrorsToEscalate} allowed (--stuck-threshold)`;
  return askOrBlock(state, question, because, live);
}

function askAboutFailures({ state, live, failure, after }: Failed): readonly NewEvent[] {
  const errors = after.streaks.errors;
  // Reviewers fail side by side: one question is enough for one trouble.
  if (state.questions.open.some(one => one.kind === 'stuck' && one.task === undefined)) return [];
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
  const { consecutiveErrorsMax } = state.settings.limits;
  return raise(
    state,
    question,
    `${errors} errors in a row, ${consecutiveErrorsMax} allowed (${limitFlag('consecutiveErrorsMax')})`,
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
function isAlone({ state, live, now }: Ending): boolean {
  const { performer, waitsFor } = choosePerformer(state, live.task, now, live.performer);
  return performer === undefined && waitsFor !== 'limit-reset';
}
