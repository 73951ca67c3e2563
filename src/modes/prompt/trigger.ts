// Triggers: why an iteration starts, in seven words, five for a start and two for how a loop ends.

import type { TerminationReason } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { findTask } from '../../core/task.ts';

export type TriggerReason =
  | 'initial'
  | 'task_incomplete'
  | 'recovery'
  | 'previous_success'
  | 'loop_detected'
  | 'safety_limit'
  | 'user_stop';

/** The first row that holds is the reason; the last one always does. */
const beginnings: readonly {
  readonly trigger: TriggerReason;
  readonly holds: (state: State, iteration: number, task: string) => boolean;
}[] = [
  { trigger: 'initial', holds: (state, iteration) => iteration <= 1 || state.iterations.ended === 0 },
  { trigger: 'loop_detected', holds: ({ memory: { repetition } }) => repetition !== undefined },
  // The one before it failed, or was cut short and so left nothing behind.
  {
    trigger: 'recovery',
    holds: ({ streaks, iterations }, iteration) => streaks.failures > 0 || iterations.last?.iteration !== iteration - 1,
  },
  // It ended well, but what it claimed was refused, or it brought nothing new.
  {
    trigger: 'task_incomplete',
    holds: ({ memory, tasks, streaks }, _iteration, task) =>
      memory.lastRejection !== undefined || findTask(tasks, task)?.rejection !== undefined || streaks.sinceProgress > 0,
  },
  { trigger: 'previous_success', holds: () => true },
];

/** `state` is the one in which the iteration begins: just before `iteration.started` or just after it. */
export function triggerOf(state: State, iteration: number, task: string): TriggerReason {
  return beginnings.find(row => row.holds(state, iteration, task))?.trigger ?? 'previous_success';
}

const endings: Readonly<Record<TerminationReason, TriggerReason | undefined>> = {
  goal_achieved: undefined,
  explicit_stop: 'user_stop',
  no_progress: 'loop_detected',
  circuit_breaker_open: 'safety_limit',
  health_failure: 'safety_limit',
  consecutive_errors: 'safety_limit',
  budget_exhausted: 'safety_limit',
  max_iterations: 'safety_limit',
  max_duration: 'safety_limit',
};

/** What kept the next iteration from starting; nothing did when the goal was reached. */
export function triggerOfEnd(reason: TerminationReason): TriggerReason | undefined {
  return endings[reason];
}
