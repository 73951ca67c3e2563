// Status of a loop (LoopStatus, field for field): a pure projection of the ledger.

import type { TerminationReason } from '../core/event.ts';
import { agentId } from '../core/handoff.ts';
import { type LimitName, type Limits, type LimitTable, limitNames, limitRow, perUnit } from '../core/settings.ts';
import { isBusy, noUsage, type State } from '../core/state.ts';
import { progress } from '../core/task.ts';
import { isoTime } from '../text/format.ts';
import type { IterationView, LoopHistory } from './loop.ts';

export type LoopState =
  | 'initializing'
  | 'running'
  | 'paused'
  | 'handoff'
  | 'completing'
  | 'completed'
  | 'failed'
  | 'terminated';

type StatusName = Extract<LimitTable[LimitName], { readonly statusName: string }>['statusName'];

/** The limits that status.json shows, and how many of the core's units one of its own is. */
export const statusLimits = limitNames.flatMap(name => {
  const { statusName, unit } = limitRow(name);
  return statusName === undefined ? [] : [{ name, statusName: statusName as StatusName, scale: perUnit[unit] }];
});

const inStatusUnits = (limits: Limits) =>
  Object.fromEntries(
    statusLimits.map(({ name, statusName, scale }) => [statusName, limits[name] && limits[name] / scale]),
  ) as Record<StatusName, number | null>;

/** status.json, field by field. */
export type LoopStatus = ReturnType<typeof statusOf>;
export type IterationStatus = ReturnType<typeof iterationStatus>;

const usd = (micros: number): number => micros / 1_000_000;

const endLabels: Readonly<Record<TerminationReason, LoopState>> = {
  goal_achieved: 'completed',
  explicit_stop: 'terminated',
  circuit_breaker_open: 'failed',
  health_failure: 'failed',
  consecutive_errors: 'failed',
  budget_exhausted: 'failed',
  max_iterations: 'failed',
  max_duration: 'failed',
  no_progress: 'failed',
};

/** Nothing is left but to prove what was claimed. */
const isCompleting = ({ claims: { open }, tasks }: State): boolean =>
  open.length > 0 && progress(tasks).open <= open.length;

/** The eight labels of status.json, computed. */
export function loopLabel(state: State): LoopState {
  if (state.control.ended) return endLabels[state.control.ended.reason];
  if (!state.document.isLoaded) return 'initializing';
  if (state.control.paused) return 'paused';
  if (isCompleting(state)) return 'completing';
  if (!isBusy(state) && state.memory.handoff !== undefined) return 'handoff';
  return 'running';
}

export function iterationStatus(loop: string, one: IterationView) {
  const { usage = noUsage } = one;
  return {
    iteration: one.iteration,
    agent_id: agentId(loop, one.iteration),
    started_at: isoTime(one.startedAt),
    completed_at: isoTime(one.endedAt ?? 0),
    phase: one.phase,
    completed_items: one.completed,
    pending_items: one.pending,
    errors: one.errors,
    checkpoint_id: one.checkpoint ?? '',
    input_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    cost: usd(usage.costUsdMicros),
    handoff_trigger: one.handoff ?? '',
    health_state: one.health,
  };
}

export function statusOf(state: State, { iterations, errors }: LoopHistory) {
  const { limits, performers, contextFractionMax } = state.settings;
  const rows = iterations.map(one => iterationStatus(state.loop.id, one));
  const [agent = '', ...model] = (performers[0] ?? '').split('/');
  return {
    loop_id: state.loop.id,
    task_id: state.loop.taskId,
    project_id: state.loop.projectId,
    state: loopLabel(state),
    goal: state.loop.goal,
    config: {
      ...inStatusUnits(limits),
      context_threshold: contextFractionMax,
      agent_type: agent,
      model: model.join('/'),
    },
    current_iteration: state.iterations.begun,
    iterations: rows,
    total_input_tokens: rows.reduce((sum, row) => sum + row.input_tokens, 0),
    total_output_tokens: rows.reduce((sum, row) => sum + row.output_tokens, 0),
    total_cost: usd(state.spend.usage.costUsdMicros),
    started_at: isoTime(state.loop.startedAt),
    completed_at: isoTime(state.control.ended?.at ?? 0),
    termination_reason: state.control.ended?.reason ?? '',
    last_checkpoint_id: state.checkpoints.latest?.checkpoint ?? '',
    errors,
  };
}
