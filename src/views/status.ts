// Status of a loop (LoopStatus, field for field): a pure projection of the ledger.

import type { Event, EventOf, TerminationReason, Usage } from '../core/event.ts';
import { phaseOf } from '../core/handoff.ts';
import { assessHealth } from '../core/health.ts';
import { type LimitName, type Limits, type LimitTable, limitNames, limitRow, perUnit } from '../core/settings.ts';
import { addUsage } from '../core/spend.ts';
import { initialState, isBusy, noUsage, type State } from '../core/state.ts';
import type { Holder, LeaseState } from '../ledger/ledger.ts';
import { evolve } from '../modes/evolve.ts';
import { isoTime } from '../text/format.ts';
import { isByReport } from './words.ts';

export type LoopState =
  | 'initializing'
  | 'running'
  | 'paused'
  | 'handoff'
  | 'completing'
  | 'completed'
  | 'failed'
  | 'terminated';

export interface IterationStatus {
  readonly iteration: number;
  readonly agent_id: string;
  readonly started_at: string;
  readonly completed_at: string;
  readonly phase: string;
  readonly completed_items: readonly string[];
  readonly pending_items: readonly string[];
  readonly errors: readonly string[];
  readonly checkpoint_id: string;
  readonly input_tokens: number;
  readonly output_tokens: number;
  readonly cost: number;
  readonly handoff_trigger: string;
  readonly health_state: string;
}

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

export interface LoopStatus {
  readonly loop_id: string;
  readonly task_id: string;
  readonly project_id: string;
  readonly state: LoopState;
  readonly goal: string;
  readonly config: Readonly<Record<StatusName, number | null>> & {
    readonly context_threshold: number;
    readonly agent_type: string;
    readonly model: string;
  };
  readonly current_iteration: number;
  readonly iterations: readonly IterationStatus[];
  readonly total_input_tokens: number;
  readonly total_output_tokens: number;
  readonly total_cost: number;
  readonly started_at: string;
  readonly completed_at: string;
  readonly termination_reason: string;
  readonly last_checkpoint_id: string;
  readonly errors: readonly string[];
}

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

/** The seed's eight labels, computed. */
export function loopLabel(state: State): LoopState {
  if (state.control.ended) return endLabels[state.control.ended.reason];
  if (!state.document.isLoaded) return 'initializing';
  if (state.control.paused) return 'paused';
  if (state.claims.open.length > 0) return 'completing';
  if (!isBusy(state) && state.memory.handoff !== undefined) return 'handoff';
  return 'running';
}

/** Whether a process works on it. `holder` of a loop that has ended: its process is not gone yet. */
export type Liveness =
  | { readonly is: 'ended'; readonly holder?: Holder }
  | { readonly is: 'held'; readonly holder: Holder; readonly renewedAt: number }
  | { readonly is: 'nobody' };

/** The one rule about who works on a loop. */
export function livenessOf(isEnded: boolean, held: LeaseState | undefined): Liveness {
  const holder = held?.alive === true ? held.lease.holder : undefined;
  if (isEnded) return { is: 'ended', holder };
  if (held === undefined || holder === undefined) return { is: 'nobody' };
  return { is: 'held', holder, renewedAt: held.renewedAt };
}

interface Draft {
  readonly started: EventOf<'iteration.started'>;
  /** Of the work that it went on with. */
  readonly phase: string;
  readonly closed: string[];
  readonly errors: string[];
  usage: Usage;
  checkpoint: string;
  health: string;
  ended?: EventOf<'iteration.ended'>;
}

/** Folds events into the status; keep one to go on from where it was (it grows by one row per iteration). */
export class StatusView {
  state: State = initialState;
  private readonly drafts = new Map<number, Draft>();
  private readonly errors: string[] = [];

  add(event: Event): void {
    this.state = evolve(this.state, event);
    if (event.type === 'iteration.started') this.begin(event);
    const draft =
      'iteration' in event && typeof event.iteration === 'number' ? this.drafts.get(event.iteration) : undefined;
    if (draft === undefined) return;
    if (event.type === 'usage.recorded') draft.usage = addUsage(draft.usage, event.usage);
    else if (event.type === 'task.closed') draft.closed.push(event.task);
    else if (event.type === 'checkpoint.made') draft.checkpoint = event.checkpoint;
    else if (event.type === 'check.ended' && !event.passed) draft.errors.push(event.because);
    else if (event.type === 'iteration.ended') this.end(draft, event);
  }

  private begin(started: EventOf<'iteration.started'>): void {
    const phase = isByReport(this.state) ? phaseOf(this.state) : 'implementing';
    const draft = { started, phase, closed: [], errors: [], usage: noUsage, checkpoint: '', health: 'healthy' };
    this.drafts.set(started.iteration, draft);
  }

  private end(draft: Draft, event: EventOf<'iteration.ended'>): void {
    draft.ended = event;
    draft.health = assessHealth(this.state, event.at).state;
    if (event.outcome !== 'failed') return;
    draft.errors.push(event.because);
    this.errors.push(`iteration ${event.iteration}: ${event.because}`);
    if (this.errors.length > 100) this.errors.shift();
  }

  private row({ started, ended, phase, usage, ...draft }: Draft): IterationStatus {
    const { iteration, task, at } = started;
    const report = ended?.report;
    const isClosed = draft.closed.length > 0;
    const closed = isByReport(this.state) ? [] : draft.closed;
    const open = isByReport(this.state) || isClosed ? [] : [task];
    return {
      iteration,
      agent_id: `ralph-loop-${this.state.loop.id.slice(0, 8)}-iter-${iteration}`,
      started_at: isoTime(at),
      completed_at: isoTime(ended?.at ?? 0),
      phase: report?.phase ?? (isClosed ? 'complete' : phase),
      completed_items: [...closed, ...(report?.completed ?? [])],
      pending_items: report?.pending ?? open,
      errors: draft.errors,
      checkpoint_id: draft.checkpoint,
      input_tokens: usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      output_tokens: usage.outputTokens,
      cost: usd(usage.costUsdMicros),
      handoff_trigger: ended?.handoff ?? '',
      health_state: draft.health,
    };
  }

  /** Who did each iteration, and at which task: what LoopStatus has no field for. */
  workers(): readonly { readonly task: string; readonly performer: string }[] {
    return [...this.drafts.values()].map(({ started: { task, performer } }) => ({ task, performer }));
  }

  status(): LoopStatus {
    const { state } = this;
    const { limits, performers, contextFractionMax } = state.settings;
    const rows = [...this.drafts.values()].map(draft => this.row(draft));
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
      errors: this.errors,
    };
  }
}
