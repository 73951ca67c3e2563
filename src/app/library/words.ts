// Enumerations of the library as frozen objects: their values are the words that the ledger and the views use.

import type { TerminationReason as Reason, HandoffTrigger as Trigger } from '../../core/event.ts';
import type { HealthState as Health, LadderStep } from '../../core/health.ts';
import type { BreakerPosition } from '../../core/scheduling.ts';
import type { BudgetAction as Action } from '../../core/spend.ts';
import type { Phase } from '../../messages/report.ts';
import type { TriggerReason as Beginning } from '../../modes/prompt/trigger.ts';
import type { LoopState as Label } from '../../views/status.ts';

/** PHASE_COMPLETE for phase_complete: a word that is missing or misspelt does not compile. */
type Named<Word extends string> = {
  readonly [Name in Word as Name extends `${infer Left}-${infer Right}`
    ? Uppercase<`${Left}_${Right}`>
    : Uppercase<Name>]: Name;
};

export type HealthState = Health;
export const HealthState: Named<Health> = Object.freeze({
  HEALTHY: 'healthy',
  DEGRADED: 'degraded',
  STUCK: 'stuck',
  FAILING: 'failing',
  TERMINATED: 'terminated',
});

export type InterventionLevel = LadderStep['level'];
export const InterventionLevel: Named<LadderStep['level']> = Object.freeze({
  NUDGE: 'nudge',
  ESCALATE: 'escalate',
  TERMINATE: 'terminate',
});

export type ExecutionPhase = Phase;
export const ExecutionPhase: Named<Phase> = Object.freeze({
  PLANNING: 'planning',
  IMPLEMENTING: 'implementing',
  TESTING: 'testing',
  REVIEWING: 'reviewing',
  HANDOFF: 'handoff',
  COMPLETE: 'complete',
});

export type HandoffTrigger = Trigger;
export const HandoffTrigger: Named<Trigger> = Object.freeze({
  CONTEXT_THRESHOLD: 'context_threshold',
  PHASE_COMPLETE: 'phase_complete',
  ERROR_THRESHOLD: 'error_threshold',
  EXPLICIT_REQUEST: 'explicit_request',
  TOKEN_BUDGET: 'token_budget',
  TIMEOUT: 'timeout',
});

export type BudgetAction = Action;
export const BudgetAction: Named<Action> = Object.freeze({
  ALLOW: 'allow',
  THROTTLE: 'throttle',
  DENY: 'deny',
  ALERT_ONLY: 'alert_only',
});

export type LoopState = Label;
export const LoopState: Named<Label> = Object.freeze({
  INITIALIZING: 'initializing',
  RUNNING: 'running',
  PAUSED: 'paused',
  HANDOFF: 'handoff',
  COMPLETING: 'completing',
  COMPLETED: 'completed',
  FAILED: 'failed',
  TERMINATED: 'terminated',
});

export type TerminationReason = Reason;
export const TerminationReason: Named<Reason> = Object.freeze({
  GOAL_ACHIEVED: 'goal_achieved',
  MAX_ITERATIONS: 'max_iterations',
  BUDGET_EXHAUSTED: 'budget_exhausted',
  MAX_DURATION: 'max_duration',
  HEALTH_FAILURE: 'health_failure',
  CONSECUTIVE_ERRORS: 'consecutive_errors',
  CIRCUIT_BREAKER_OPEN: 'circuit_breaker_open',
  EXPLICIT_STOP: 'explicit_stop',
  NO_PROGRESS: 'no_progress',
});

/** Seed 001. */
export type TriggerReason = Beginning;
export const TriggerReason: Named<Beginning> = Object.freeze({
  INITIAL: 'initial',
  TASK_INCOMPLETE: 'task_incomplete',
  PREVIOUS_SUCCESS: 'previous_success',
  RECOVERY: 'recovery',
  LOOP_DETECTED: 'loop_detected',
  SAFETY_LIMIT: 'safety_limit',
  USER_STOP: 'user_stop',
});

export type CircuitBreakerState = BreakerPosition;
export const CircuitBreakerState: Named<BreakerPosition> = Object.freeze({
  CLOSED: 'closed',
  OPEN: 'open',
  HALF_OPEN: 'half-open',
});
