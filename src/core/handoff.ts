// When a fresh context should take over: the seed's six triggers as one ordered table.
import type { HandoffTrigger } from './event.ts';

export interface HandoffFacts {
  readonly contextUsed: number;
  readonly contextFractionMax: number;
  readonly errorsInRow: number;
  readonly errorsToHandOff: number;
  readonly budgetUsed: number;
  readonly budgetAlertFraction: number;
  /** The budget trigger fires once per loop. */
  readonly budgetAlerted: boolean;
  readonly phaseComplete: boolean;
  readonly requested: boolean;
  readonly timedOut: boolean;
}

export const handoffTriggers: readonly {
  readonly trigger: HandoffTrigger;
  readonly holds: (facts: HandoffFacts) => boolean;
}[] = [
  { trigger: 'explicit_request', holds: facts => facts.requested },
  { trigger: 'context_threshold', holds: facts => facts.contextUsed > facts.contextFractionMax },
  { trigger: 'error_threshold', holds: facts => facts.errorsInRow >= facts.errorsToHandOff },
  { trigger: 'token_budget', holds: facts => !facts.budgetAlerted && facts.budgetUsed > facts.budgetAlertFraction },
  { trigger: 'phase_complete', holds: facts => facts.phaseComplete },
  { trigger: 'timeout', holds: facts => facts.timedOut },
];

export function shouldHandOff(facts: HandoffFacts): HandoffTrigger | undefined {
  return handoffTriggers.find(row => row.holds(facts))?.trigger;
}
