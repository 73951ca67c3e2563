// Metrics of a loop as a projection of the ledger: telemetry and efficiency figures.
import type { Event, Usage } from '../core/event.ts';
import { type State, totalTokens } from '../core/state.ts';
import { progress } from '../core/task.ts';

export interface Metrics {
  readonly iterations: number;
  readonly successes: number;
  readonly failures: number;
  readonly errors: number;
  readonly interrupted: number;
  readonly checkpoints: number;
  readonly rollbacks: number;
  readonly checks_passed: number;
  readonly checks_failed: number;
  readonly claims_refused: number;
  readonly escalations: number;
  readonly tasks_closed: number;
  readonly success_rate: number;
  readonly elapsed_hours: number;
  readonly cost_per_task_usd: number;
}

export class MetricsView {
  private readonly count = new Map<string, number>();
  private costUsdMicros = 0;
  private firstAt = 0;
  private lastAt = 0;

  private more(key: string): void {
    this.count.set(key, (this.count.get(key) ?? 0) + 1);
  }

  add(event: Event): void {
    if (this.firstAt === 0) this.firstAt = event.at;
    this.lastAt = Math.max(this.lastAt, event.at);
    this.more(event.type);
    if (event.type === 'iteration.started' && event.again) this.more('again');
    if (event.type === 'iteration.ended') this.more(`outcome ${event.outcome}`);
    if (event.type === 'iteration.ended' && event.failure && event.outcome === 'failed') this.more('error');
    if (event.type === 'check.ended') this.more(event.passed ? 'check passed' : 'check failed');
    if (event.type === 'signal.read' && !event.accepted) this.more('refused');
    if (event.type === 'proof.screened' && event.refused) this.more('refused');
    if (event.type === 'usage.recorded') this.costUsdMicros += event.usage.costUsdMicros;
  }

  metrics(): Metrics {
    const of = (key: string): number => this.count.get(key) ?? 0;
    const iterations = of('iteration.started') - of('again');
    const successes = of('outcome succeeded') + of('outcome handed-off') + of('outcome escalated');
    const closed = of('task.closed');
    return {
      iterations,
      successes,
      failures: of('outcome failed'),
      errors: of('error'),
      interrupted: of('outcome interrupted'),
      checkpoints: of('checkpoint.made'),
      rollbacks: of('checkpoint.restored'),
      checks_passed: of('check passed'),
      checks_failed: of('check failed'),
      claims_refused: of('refused') + of('check failed'),
      escalations: of('escalation.raised'),
      tasks_closed: closed,
      success_rate: successes / Math.max(1, iterations),
      elapsed_hours: Math.max(0, this.lastAt - this.firstAt) / 3_600_000,
      cost_per_task_usd: closed === 0 ? 0 : this.costUsdMicros / 1_000_000 / closed,
    };
  }
}

// How well tokens are used (seed 000's EfficiencyMetrics): per tool call, per task, and how much came out of the cache.

export interface Efficiency {
  readonly tokens_per_tool_call: number;
  readonly tokens_per_task: number;
  /** Of all that was read, the share that the provider had in its cache. */
  readonly cache_hit_rate: number;
  readonly cost_per_task_usd: number;
}

const share = (part: number, whole: number): number => (whole === 0 ? 0 : part / whole);

export function efficiencyOf(usage: Usage, toolCalls: number, tasksDone: number): Efficiency {
  const tokens = totalTokens(usage);
  const read = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
  return {
    tokens_per_tool_call: share(tokens, toolCalls),
    tokens_per_task: share(tokens, tasksDone),
    cache_hit_rate: share(usage.cacheReadTokens, read),
    cost_per_task_usd: share(usage.costUsdMicros / 1_000_000, tasksDone),
  };
}

export function measureEfficiency({ usage, toolCalls, tasks }: State): Efficiency {
  return efficiencyOf(usage, toolCalls, progress(tasks).done);
}
