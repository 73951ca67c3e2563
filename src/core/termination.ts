// Termination criteria: why a loop ends, as one ordered table; the first row that holds is the reason.

import { formatDuration, formatUsd, plural } from '../text/format.ts';
import type { Termination, TerminationReason } from './event.ts';
import { isExhausted } from './scheduling.ts';
import { limitFlag } from './settings.ts';
import {
  activeMsAt,
  countedUsdMicros,
  hasUserDocument,
  isSingleTask,
  isWorking,
  type State,
  totalTokens,
} from './state.ts';
import { openTasks, progress } from './task.ts';

type Met = Omit<Termination, 'reason'>;

const because = (words: string | undefined): Met | undefined => (words === undefined ? undefined : { because: words });

export interface Criterion {
  readonly reason: TerminationReason;
  /** Reaches into a live iteration: it is aborted rather than waited for. */
  readonly hard: boolean;
  readonly holds: (state: State, now: number) => Met | undefined;
}

/** What of the money that counts stands at an upper bound. */
const boundPart = ({ settings, spend: { usage } }: State): number =>
  Math.min(usage.boundUsdMicros ?? 0, countedUsdMicros(settings, usage));

/** The limit of money is met by an upper bound alone: work stops, and a person is asked (F85). */
export function boundStop(state: State): Termination | undefined {
  const { costUsdMicrosMax: max } = state.settings.limits;
  const counted = countedUsdMicros(state.settings, state.spend.usage);
  if (max === null || counted < max || counted - boundPart(state) >= max) return undefined;
  const because = `at most ${formatUsd(counted)}, an upper bound, of ${formatUsd(max)} (${limitFlag('costUsdMicrosMax')})`;
  return { reason: 'budget_exhausted', limit: 'cost', because };
}

function spent(state: State): Met | undefined {
  const { costUsdMicrosMax, tokensMax } = state.settings.limits;
  const { usage } = state.spend;
  const counted = countedUsdMicros(state.settings, usage);
  if (costUsdMicrosMax !== null && counted - boundPart(state) >= costUsdMicrosMax) {
    const words = `${formatUsd(counted)} spent of ${formatUsd(costUsdMicrosMax)} (${limitFlag('costUsdMicrosMax')})`;
    return { limit: 'cost', because: words };
  }
  if (tokensMax !== null && totalTokens(usage) >= tokensMax) {
    return {
      limit: 'tokens',
      because: `${totalTokens(usage)} tokens used of ${tokensMax} (${limitFlag('tokensMax')})`,
    };
  }
  return undefined;
}

function outOfTime(state: State, now: number): Met | undefined {
  const { durationMsMax, deadlineAt, averageIterationMsMax } = state.settings.limits;
  const active = activeMsAt(state, now);
  if (durationMsMax !== null && active >= durationMsMax) {
    const words = `${formatDuration(active)} worked of ${formatDuration(durationMsMax)} (${limitFlag('durationMsMax')})`;
    return { limit: 'duration', because: words };
  }
  if (deadlineAt !== null && now >= deadlineAt)
    return { limit: 'deadline', because: `the deadline has passed (${limitFlag('deadlineAt')})` };
  const average = state.iterations.ended >= 3 ? state.iterations.msSum / state.iterations.ended : 0;
  if (averageIterationMsMax !== null && average > averageIterationMsMax) {
    const words = `iterations take ${formatDuration(average)} on average, more than ${formatDuration(averageIterationMsMax)} (${limitFlag('averageIterationMsMax')})`;
    return { limit: 'average-duration', because: words };
  }
  return undefined;
}

const completed: Readonly<Record<string, string>> = { goal: 'the goal is reached' };

/** Undefined where there are many tasks, each with a name of its own. */
export function doneWords({ settings: { policy } }: State): string | undefined {
  if (policy.tasks === 'many') return undefined;
  return completed[policy.subject] ?? 'the task is complete';
}

/** What did not happen, so that whoever reads it knows what would have counted. */
function standstill({ settings: { policy }, streaks: { sinceProgress }, memory: { reported } }: State): string {
  const last = `the last ${plural(sinceProgress, 'iteration')}`;
  if (policy.progressBy !== 'report')
    return `${policy.tasks === 'one' ? 'nothing new' : 'no task completed'} in ${last}`;
  const silent = Math.min(reported.silent, sinceProgress);
  const without = silent === 0 ? '' : ` (${silent} left no report block)`;
  return `no report of ${last} named a new completed item or a later phase${without}`;
}

/** Seed 002: a task that has used up its attempts ends everything, where a person wants it so. */
function haltedBy(state: State): string | undefined {
  if (!state.settings.haltOnMaxAttempts) return undefined;
  const task = openTasks(state.tasks).find(one => one.status === 'blocked' && one.attempts > 0);
  return task && `${task.id} used up its ${plural(task.attempts, 'attempt')} (--halt-on-max-attempts)`;
}

/** One task that fails says little; several in a row say that something is wrong with all of them. */
function tooManyBlocked({ settings: { limits }, streaks: { blockedSinceProgress } }: State): string | undefined {
  const max = limits.blockedMax ?? null; // a ledger before 0.5 has none
  if (max === null || blockedSinceProgress < max) return undefined;
  return `${plural(blockedSinceProgress, 'task')} blocked in a row and none done between, ${max} allowed (${limitFlag('blockedMax')})`;
}

/** A loop that is done, and whose tasks a person may open again: no verdict on the whole stands against it, and nothing was put away. */
export const mayReopenTasks = (state: State): boolean =>
  state.control.ended?.reason === 'goal_achieved' &&
  hasUserDocument(state) &&
  !state.settings.policy.vault &&
  state.mode.achieved === undefined;

export const criteria: readonly Criterion[] = [
  {
    reason: 'goal_achieved',
    hard: false,
    holds: state => {
      if (!state.document.isLoaded) return undefined;
      if (state.settings.policy.achievedBy === 'rounds') return because(state.mode.achieved);
      const { total, done, skipped, open } = progress(state.tasks);
      if (open > 0) return undefined;
      if (isSingleTask(state) && done > 0) return because(doneWords(state));
      return because(`${done} of ${plural(total, 'task')} done${skipped > 0 ? `, ${skipped} skipped` : ''}`);
    },
  },
  {
    reason: 'explicit_stop',
    hard: true,
    holds: ({ control: { stop } }) => stop && { because: `${stop.because} (by ${stop.by})` },
  },
  {
    reason: 'circuit_breaker_open',
    hard: false,
    holds: state => {
      const { performers, breaker } = state.settings;
      const all =
        performers.length > 0 &&
        performers.every(name => {
          const own = state.performers.breakers[name];
          return own !== undefined && isExhausted(own, breaker);
        });
      return all ? { because: `every performer failed ${plural(breaker.openingsMax, 'time')} to recover` } : undefined;
    },
  },
  {
    reason: 'health_failure',
    hard: false,
    holds: state => {
      const { terminationsMax } = state.settings.ladder;
      if (state.streaks.terminations < terminationsMax) return undefined;
      return { because: `${plural(state.streaks.terminations, 'iteration')} in a row got stuck and had to be ended` };
    },
  },
  {
    reason: 'consecutive_errors',
    hard: false,
    holds: state => {
      const { consecutiveErrorsMax } = state.settings.limits;
      if (consecutiveErrorsMax === null || state.settings.policy.onErrors === 'ask') return undefined;
      if (state.streaks.errors < consecutiveErrorsMax) return undefined;
      return {
        because: `${state.streaks.errors} errors in a row, ${consecutiveErrorsMax} allowed (${limitFlag('consecutiveErrorsMax')})`,
      };
    },
  },
  { reason: 'budget_exhausted', hard: true, holds: spent },
  {
    reason: 'max_iterations',
    hard: false,
    holds: state => {
      // Rounds that are used up are over, and not done.
      if (state.mode.exhausted !== undefined) return { limit: 'rounds', because: state.mode.exhausted };
      const { iterationsMax } = state.settings.limits;
      if (iterationsMax === null || state.iterations.begun < iterationsMax) return undefined;
      return {
        limit: 'iterations',
        because: `iteration ${state.iterations.begun} of ${iterationsMax} (${limitFlag('iterationsMax')})`,
      };
    },
  },
  { reason: 'max_duration', hard: true, holds: outOfTime },
  {
    reason: 'no_progress',
    hard: false,
    holds: state => {
      const halted = haltedBy(state);
      if (halted !== undefined) return { because: halted };
      const many = tooManyBlocked(state);
      if (many !== undefined) return { because: many };
      const { noProgressIterations } = state.settings.limits;
      if (noProgressIterations === null || state.streaks.sinceProgress < noProgressIterations) return undefined;
      return {
        because: `${standstill(state)}, ${noProgressIterations} allowed (${limitFlag('noProgressIterations')})`,
      };
    },
  },
];

function firstHolding(rows: readonly Criterion[], state: State, now: number): Termination | undefined {
  for (const row of rows) {
    const met = row.holds(state, now);
    if (met !== undefined) return { reason: row.reason, ...met };
  }
  return undefined;
}

export function evaluateTermination(state: State, now: number): Termination | undefined {
  return firstHolding(criteria, state, now);
}

const hardCriteria = criteria.filter(row => row.hard);

/** Stop asked, deadline, money (at an upper bound, too) or duration used up: live work is aborted. */
export function hardStop(state: State, now: number): Termination | undefined {
  return firstHolding(hardCriteria, state, now) ?? boundStop(state);
}

/** When a time limit will be used up if nothing else happens. */
export function timeLimitAt(state: State, now: number): number | undefined {
  const { durationMsMax, deadlineAt } = state.settings.limits;
  const busy = isWorking(state);
  const byDuration = busy && durationMsMax !== null ? now + (durationMsMax - activeMsAt(state, now)) : undefined;
  if (deadlineAt === null) return byDuration;
  return byDuration === undefined ? deadlineAt : Math.min(byDuration, deadlineAt);
}
