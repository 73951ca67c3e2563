// Streaks: what happened in a row, iteration after iteration, and which event begins which of them anew.

import type { EventOf } from '../event.ts';
import { countsAsError, failsToStart } from '../failure.ts';
import { isSingleTask, type State, type Streaks, update, withTask } from '../state.ts';

const noFailures = { errors: 0, failures: 0, sameErrors: 0, terminations: 0, failedStarts: 0 } as const;

/** The only place where a streak is reset. What a limit counts (iterations, money, time) is no streak and never starts anew. */
export const resets = {
  /** `iteration.ended`, and its performer did not fail. */
  iterationWentWell: { ...noFailures, lastError: '' },
  /** `iteration.ended`, `checkpoint.made` or `check.ended`, with something new in the report, in the tree or in what a check says. */
  somethingNew: { sinceProgress: 0 },
  /** `task.closed` */
  taskClosed: { sinceProgress: 0, blockedSinceProgress: 0 },
  /** `task.blocked`: the first since a task was closed, see `taskBlocked`. */
  firstTaskBlocked: { sinceProgress: 0 },
  /** `escalation.answered` by a person, who has looked at the agents too. */
  questionAnswered: { sinceProgress: 0, sameErrors: 0, failedStarts: 0 },
  /** The same, and the question was about too many failures. */
  failuresAnswered: { sinceProgress: 0, sameErrors: 0, failedStarts: 0, errors: 0 },
  /** `loop.resumed` while the loop waited for a provider. */
  waitEnded: { rateLimits: {} },
  /** `loop.resumed` after the loop had ended. */
  loopReopened: { ...noFailures, sinceProgress: 0, rateLimits: {} },
} as const satisfies Readonly<Record<string, Partial<Streaks>>>;

type Ended = EventOf<'iteration.ended'>;

/** Failures in a row after an iteration; one that was interrupted says nothing about them. */
export function streaksAfter(before: Streaks, event: Ended, byLadder: boolean): Streaks {
  const { outcome, failure, echo } = event;
  const streaks = { ...before, rateLimits: rateLimitsAfter(before.rateLimits, event) };
  if (outcome === 'interrupted') return streaks;
  if (outcome !== 'failed' || failure === undefined) return { ...streaks, ...resets.iterationWentWell };
  const failed = {
    ...streaks,
    failures: before.failures + 1,
    terminations: byLadder ? before.terminations + 1 : 0,
    failedStarts: failsToStart(failure.kind) ? before.failedStarts + 1 : 0,
  };
  if (!countsAsError(failure)) return failed;
  const lastError = echo === '' ? failure.kind : echo;
  const sameErrors = lastError === before.lastError ? before.sameErrors + 1 : 1;
  return { ...failed, errors: before.errors + 1, sameErrors, lastError };
}

/** A provider that refuses again and again says when it serves next; one that served starts anew. */
function rateLimitsAfter(before: Streaks['rateLimits'], event: Ended): Streaks['rateLimits'] {
  const { outcome, failure, performer, waitUntil, waitFor } = event;
  if (waitUntil !== undefined && waitFor === 'limit-reset')
    return { ...before, [performer]: (before[performer] ?? 0) + 1 };
  if (outcome === 'interrupted' || (outcome === 'failed' && failure !== undefined)) return before;
  const { [performer]: _served, ...others } = before;
  return others;
}

/** It was no used-up attempt, and no standstill of the one task. */
export function withProgress(state: State, task: string): State {
  // What was blocked for its attempts had used them up by then.
  const counted = withTask(state, task, one =>
    one.status === 'blocked' ? one : { ...one, attempts: Math.max(0, one.attempts - 1) },
  );
  return isSingleTask(state) ? update(counted, 'streaks', resets.somethingNew) : counted;
}
