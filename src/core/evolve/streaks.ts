// Streaks: what happened in a row, iteration after iteration, and which event begins which of them anew.

import type { EventOf } from '../event.ts';
import { failsToStart, failureRules } from '../failure.ts';
import type { State } from '../state.ts';

const noFailures = {
  errorsInRow: 0,
  failuresInRow: 0,
  sameErrorsInRow: 0,
  terminationsInRow: 0,
  startsFailedInRow: 0,
} as const;

/** The only place where a streak is reset. What a limit counts (iterations, money, time) is no streak and never starts anew. */
export const resets = {
  /** `iteration.ended`, and its performer did not fail. */
  iterationWentWell: { ...noFailures, lastError: '' },
  /** `iteration.ended` or `checkpoint.made`, with something new in the report or in the tree. */
  somethingNew: { sinceProgress: 0 },
  /** `task.closed` */
  taskClosed: { sinceProgress: 0, parkedSinceProgress: 0 },
  /** `task.blocked`: the first since a task was closed, see `taskBlocked`. */
  firstTaskParked: { sinceProgress: 0 },
  /** `escalation.answered` by a person, who has looked at the agents too. */
  questionAnswered: { sinceProgress: 0, sameErrorsInRow: 0, startsFailedInRow: 0 },
  /** The same, and the question was about too many failures. */
  failuresAnswered: { sinceProgress: 0, sameErrorsInRow: 0, startsFailedInRow: 0, errorsInRow: 0 },
  /** `loop.resumed` while the loop waited for a provider. */
  waitEnded: { limitsInRow: {} },
  /** `loop.resumed` after the loop had ended. */
  loopReopened: { ...noFailures, sinceProgress: 0, limitsInRow: {} },
} as const satisfies Readonly<Record<string, Partial<State>>>;

/** Failures in a row after an iteration; one that was interrupted says nothing about them. */
export function streaksAfter(state: State, event: EventOf<'iteration.ended'>, byLadder: boolean): Partial<State> {
  const { outcome, failure, performer, echo } = event;
  if (outcome === 'interrupted') return {};
  if (outcome !== 'failed' || failure === undefined) {
    const { [performer]: _served, ...limitsInRow } = state.limitsInRow;
    return { ...resets.iterationWentWell, limitsInRow };
  }
  const failed = {
    failuresInRow: state.failuresInRow + 1,
    terminationsInRow: byLadder ? state.terminationsInRow + 1 : 0,
    startsFailedInRow: failsToStart(failure.kind) ? state.startsFailedInRow + 1 : 0,
  };
  if (!failureRules[failure.kind].counts) return failed;
  const lastError = echo === '' ? failure.kind : echo;
  const sameErrorsInRow = lastError === state.lastError ? state.sameErrorsInRow + 1 : 1;
  return { ...failed, errorsInRow: state.errorsInRow + 1, sameErrorsInRow, lastError };
}
