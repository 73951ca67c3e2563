// Metrics of a loop as a projection of the ledger: telemetry and efficiency figures.
import type { Event, Usage } from '../core/event.ts';
import { type State, totalTokens } from '../core/state.ts';
import { progress } from '../core/task.ts';

/** An event counts for each row that it fits. */
const counters = {
  iterations: event => event.type === 'iteration.started' && !event.again,
  successes: event =>
    event.type === 'iteration.ended' && ['succeeded', 'handed-off', 'escalated'].includes(event.outcome),
  failures: event => event.type === 'iteration.ended' && event.outcome === 'failed',
  errors: event => event.type === 'iteration.ended' && event.outcome === 'failed' && event.failure !== undefined,
  interrupted: event => event.type === 'iteration.ended' && event.outcome === 'interrupted',
  checkpoints: event => event.type === 'checkpoint.made',
  rollbacks: event => event.type === 'checkpoint.restored',
  checks_passed: event => event.type === 'check.ended' && event.passed,
  checks_failed: event => event.type === 'check.ended' && !event.passed,
  claims_refused: event =>
    (event.type === 'signal.read' && !event.accepted) ||
    (event.type === 'proof.screened' && event.refused) ||
    (event.type === 'check.ended' && !event.passed),
  escalations: event => event.type === 'escalation.raised',
  tasks_closed: event => event.type === 'task.closed',
} satisfies Record<string, (event: Event) => boolean>;

type Counter = keyof typeof counters;
export type Metrics = Readonly<Record<Counter | 'success_rate' | 'elapsed_hours' | 'cost_per_task_usd', number>>;

const names = Object.keys(counters) as readonly Counter[];

export class MetricsView {
  private readonly counts = Object.fromEntries(names.map(name => [name, 0])) as Record<Counter, number>;
  private costUsdMicros = 0;
  private firstAt = 0;
  private lastAt = 0;

  add(event: Event): void {
    if (this.firstAt === 0) this.firstAt = event.at;
    this.lastAt = Math.max(this.lastAt, event.at);
    for (const name of names) if (counters[name](event)) this.counts[name] += 1;
    if (event.type === 'usage.recorded') this.costUsdMicros += event.usage.costUsdMicros;
  }

  metrics(): Metrics {
    const { iterations, successes, tasks_closed } = this.counts;
    return {
      ...this.counts,
      success_rate: successes / Math.max(1, iterations),
      elapsed_hours: Math.max(0, this.lastAt - this.firstAt) / 3_600_000,
      cost_per_task_usd: share(this.costUsdMicros / 1_000_000, tasks_closed),
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

export function measureEfficiency({ spend: { usage }, iterations: { toolCalls }, tasks }: State): Efficiency {
  return efficiencyOf(usage, toolCalls, progress(tasks).done);
}
