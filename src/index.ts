// The public API: one function that runs a loop, the life of a loop as pure steps, and the core beneath both. What stands here
// is stable; the types of events, settings and state are in core-types.ts and are not.

export type { Activity, Assignment, Note, Notes, Performer, PerformerAbilities } from './agents/performer.ts';
export {
  createCheckpoint,
  type Documents,
  documents,
  formatsOf,
  type LoopsPlace,
  latestCheckpoint,
  openLoops,
  runLoop,
  type TaskToAdd,
} from './app/library/library.ts';
export {
  checkHandoff,
  completeLoop,
  type IterationOutcome,
  type IterationPlan,
  initialiseLoop,
  type LoopConfig,
  planIteration,
  recordConsumption,
  recordIteration,
  type Step,
} from './app/library/lifecycle.ts';
export type { AnswerQuestion, LoopLimits, LoopOptions, LoopSettings } from './app/library/options.ts';
export type { LoopPaths, LoopPlace, LoopResult } from './app/library/result.ts';
export {
  BudgetAction,
  CircuitBreakerState,
  ExecutionPhase,
  HandoffTrigger,
  HealthState,
  InterventionLevel,
  LoopState,
  TerminationReason,
  TriggerReason,
} from './app/library/words.ts';
export type { Refusal, Sent } from './app/loops/commands.ts';
export type { Loops, Near } from './app/loops/loops.ts';
export type { Output, OutputOf } from './app/loops/output.ts';
export type { RestoreOptions, RestoreView } from './app/restore.ts';
export type { Check, CheckResult } from './checks/check.ts';
export type { Answer, Escalation, Option, OptionId, Termination, Usage } from './core/event.ts';
export { classifyFailure, type Failure, type FailureKind, failureRules, type Observed } from './core/failure.ts';
export {
  continuationPrompt,
  type HandoffFacts,
  handoffWords,
  nudgeWords,
  shouldHandOff,
  shouldHandOff as shouldHandoff,
} from './core/handoff.ts';
export { assessHealth, type Health, type LadderStep, ladderStep } from './core/health.ts';
export type { CheckOutcome, Command, Input, Performed } from './core/input.ts';
export { type Effect, next, type Plan, waitingFor } from './core/next.ts';
export {
  breakerPosition,
  closedBreaker,
  isExhausted,
  opened as openedBreaker,
  tripsAt,
  withFailure,
} from './core/scheduling.ts';
export type { Limits } from './core/settings.ts';
export { type Budget, type BudgetVerdict, checkBudget, type Forecast, forecastCost } from './core/spend.ts';
export { type Breaker, initialState } from './core/state.ts';
export { allTasks, findTask, progress, type Task, type TaskMark, type TaskSpec } from './core/task.ts';
export { evaluateTermination } from './core/termination.ts';
export type { Format, ParsedDocument, Problem } from './documents/document.ts';
export type { FollowFrom, Ledger, LoopFilter, LoopRow, Mailbox, Recorded, Snapshots, Store } from './ledger/ledger.ts';
export { memoryLedger } from './ledger/memory.ts';
export { readSignals, type Signals } from './messages/claims.ts';
export type { Report } from './messages/report.ts';
export { decide } from './modes/decide.ts';
export { evolve } from './modes/evolve.ts';
export { triggerOf, triggerOfEnd } from './modes/prompt/trigger.ts';
export { defaultSettings, type ModeWord as ModeName, modeNames } from './modes/registry.ts';
export { Bug, UsageError } from './text/errors.ts';
export type { CheckpointRecord } from './views/checkpoint-record.ts';
export type { AskedQuestion } from './views/ending.ts';
export { LoopFold } from './views/fold.ts';
export type { IterationView, Liveness, LoopHistory, LoopView } from './views/loop.ts';
export { type Efficiency, efficiencyOf, type Metrics, MetricsView, measureEfficiency } from './views/metrics.ts';
export type { LoopReport } from './views/report.ts';
export type { IterationStatus, IterationStatus as IterationResult, LoopStatus } from './views/status.ts';
