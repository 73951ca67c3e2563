// Words about tasks that take many iterations: people think of the goal and its items, not of one task.

import type { LimitWindow, Termination, TerminationReason, Usage } from '../core/event.ts';
import { phaseNow } from '../core/scheduling.ts';
import { isSingleTask, type State } from '../core/state.ts';
import { openTasks, type TaskStatus } from '../core/task.ts';
import type { Report } from '../messages/report.ts';
import { formatUsd, isoTime, plural } from '../text/format.ts';

/** What people read; files and JSON say `pending` and `active`. */
export const statusWords: Readonly<Record<TaskStatus, string>> = {
  done: 'done',
  pending: 'open',
  active: 'at work',
  blocked: 'blocked',
  skipped: 'skipped',
};

const reasonWords: Readonly<Record<TerminationReason, string>> = {
  goal_achieved: 'Done',
  explicit_stop: 'Stopped on request',
  circuit_breaker_open: 'Stopped: no agent recovered',
  health_failure: 'Stopped: the agent keeps getting stuck',
  consecutive_errors: 'Stopped: too many errors in a row',
  budget_exhausted: 'Stopped: the money is used up',
  max_iterations: 'Stopped: all iterations are used up',
  max_duration: 'Stopped: the time is used up',
  no_progress: 'Stopped: no progress',
};

/** Why a loop ended. */
export const endWords = ({ reason, limit }: Pick<Termination, 'reason' | 'limit'>): string =>
  limit === 'rounds' ? 'Over, but not done' : reasonWords[reason];

/** Its items and phases are those that the agent reports. */
export const isByReport = ({ settings }: State): boolean => settings.policy.progressBy === 'report';

/** `2 of 3 items completed`, as the agent reports them: a claim, once a check has refused it. Nothing while it has named none. */
function itemWords(state: State): string | undefined {
  const { tasks } = state;
  const { report } = state.memory;
  if (!isSingleTask(state) || report === undefined) return undefined;
  const { completed, pending, blocked } = report;
  const total = completed.length + pending.length + blocked.length;
  const isRefused = openTasks(tasks).some(task => task.claimFailed);
  return total === 0
    ? undefined
    : `${completed.length} of ${plural(total, 'item')} ${isRefused ? 'claimed' : 'completed'}`;
}

/** What an iteration begins with. */
export function beginWords(state: State): string {
  const phase = isByReport(state) ? [phaseNow(state)] : [];
  const words = [...phase, itemWords(state)].filter(word => word !== undefined).join(', ');
  return words === '' ? '' : `: ${words}`;
}

/** What an iteration says about them at its end. */
export function reportWords({ phase, completed, pending, blocked }: Report): string {
  const counts = [
    `${completed.length} completed`,
    `${pending.length} pending`,
    ...(blocked.length === 0 ? [] : [`${blocked.length} blocked`]),
  ];
  return `${phase === undefined ? '' : `${phase}: `}${counts.join(', ')}`;
}

/** What stands in the place of a count of tasks. */
export function standingWords(state: State): string {
  return itemWords(state) ?? (isByReport(state) ? 'Nothing reported yet' : 'Not complete');
}

/** The live line's `2/3 items` and what is going on with them. */
export function stepParts(state: State): readonly string[] {
  const { live } = state;
  const { report } = state.memory;
  const total = report === undefined ? 0 : report.completed.length + report.pending.length + report.blocked.length;
  const checking = live.length === 0 && state.claims.open.length > 0;
  const doing = checking ? ['checking'] : isByReport(state) ? [phaseNow(state)] : [];
  return [...(total === 0 ? [] : [`${report?.completed.length}/${total} items`]), ...doing];
}

// Money in words: whether it was stated, estimated or is no more than a bound, and whether anybody pays it.

/** Of a whole loop, in a sentence. */
export function usageCostWords(usage: Usage): string {
  const { costUsdMicros, estimated, boundUsdMicros = 0, unbilledUsdMicros = 0 } = usage;
  const amount = formatUsd(costUsdMicros);
  const figure = boundUsdMicros > 0 ? `at most ${amount}, an upper bound` : `${amount}${estimated ? ' est.' : ''}`;
  if (unbilledUsdMicros === 0) return figure;
  return unbilledUsdMicros >= costUsdMicros
    ? `${figure} API-equivalent`
    : `${figure}, ${formatUsd(unbilledUsdMicros)} of it API-equivalent`;
}

/** Of one record: what was new since the one before. */
export function recordedCostWords({ costUsdMicros, estimated, boundUsdMicros, unbilledUsdMicros }: Usage): string {
  const figure = (boundUsdMicros ?? 0) > 0 ? 'an upper bound' : estimated ? 'est.' : '';
  const marks = [figure, (unbilledUsdMicros ?? 0) > 0 ? 'API-equivalent' : ''].filter(mark => mark !== '');
  return `${formatUsd(costUsdMicros)}${marks.length === 0 ? '' : ` (${marks.join(', ')})`}`;
}

/** The windows of a provider's limits, under its own names. */
export function windowWords(windows: readonly LimitWindow[]): string {
  if (windows.length === 0) return 'its provider reports no window of limits';
  const words = windows.map(({ name, usedFraction, isUsedUp, resetAtMs }) => {
    const used = isUsedUp
      ? 'used up'
      : usedFraction === undefined
        ? 'open'
        : `${Math.round(usedFraction * 100)} % used`;
    return `${name.replaceAll('_', ' ')} ${used}${resetAtMs === undefined ? '' : ` (reset ${isoTime(resetAtMs)})`}`;
  });
  return `limits of its provider: ${words.join(', ')}`;
}
