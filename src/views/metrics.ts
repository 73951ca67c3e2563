// Metrics of a loop as a projection of the ledger: telemetry and efficiency figures.
import type { Event, EventType, Usage } from '../core/event.ts';
import { type State, totalTokens } from '../core/state.ts';
import { progress } from '../core/task.ts';

const counters = [
  'iterations',
  'successes',
  'failures',
  'errors',
  'interrupted',
  'checkpoints',
  'rollbacks',
  'checksPassed',
  'checksFailed',
  'claimsRefused',
  'merges',
  'mergesRefused',
  'mergeConflicts',
  'escalations',
  'tasksClosed',
] as const;

type Counter = (typeof counters)[number];

/** How often each thing has happened; also what each event adds to it. */
export type Counts = Readonly<Record<Counter, number>>;

const one = (is: boolean): number => (is ? 1 : 0);

const counted: { readonly [Type in EventType]?: (event: Extract<Event, { type: Type }>) => Partial<Counts> } = {
  'iteration.started': ({ again }) => ({ iterations: one(!again) }),
  'iteration.ended': ({ outcome, failure }) => ({
    successes: one(['succeeded', 'handed-off', 'escalated'].includes(outcome)),
    failures: one(outcome === 'failed'),
    errors: one(outcome === 'failed' && failure !== undefined),
    interrupted: one(outcome === 'interrupted'),
  }),
  'checkpoint.made': () => ({ checkpoints: 1 }),
  'checkpoint.restored': () => ({ rollbacks: 1 }),
  'check.ended': ({ passed }) => ({
    checksPassed: one(passed),
    checksFailed: one(!passed),
    claimsRefused: one(!passed),
  }),
  'merge.ended': ({ merged, conflict }) => ({
    merges: one(merged),
    mergesRefused: one(!merged),
    mergeConflicts: one(conflict !== undefined),
    claimsRefused: one(!merged),
  }),
  'signal.read': ({ accepted }) => ({ claimsRefused: one(!accepted) }),
  'proof.screened': ({ refused }) => ({ claimsRefused: one(refused) }),
  'escalation.raised': () => ({ escalations: 1 }),
  'task.closed': () => ({ tasksClosed: 1 }),
};

/** As seed 001 names them. */
export type Metrics = ReturnType<MetricsView['metrics']>;

export class MetricsView {
  readonly counts = Object.fromEntries(counters.map(name => [name, 0])) as Record<Counter, number>;
  private costUsdMicros = 0;
  private firstAt = 0;
  private lastAt = 0;

  add(event: Event): void {
    if (this.firstAt === 0) this.firstAt = event.at;
    this.lastAt = Math.max(this.lastAt, event.at);
    const added = (counted[event.type] as ((event: Event) => Partial<Counts>) | undefined)?.(event) ?? {};
    for (const name of Object.keys(added) as readonly Counter[]) this.counts[name] += added[name] ?? 0;
    if (event.type === 'usage.recorded') this.costUsdMicros += event.usage.costUsdMicros;
  }

  metrics() {
    const { checksPassed, checksFailed, claimsRefused, mergesRefused, mergeConflicts, tasksClosed, ...counts } =
      this.counts;
    return {
      ...counts,
      checks_passed: checksPassed,
      checks_failed: checksFailed,
      claims_refused: claimsRefused,
      merges_refused: mergesRefused,
      merge_conflicts: mergeConflicts,
      tasks_closed: tasksClosed,
      success_rate: counts.successes / Math.max(1, counts.iterations),
      elapsed_hours: Math.max(0, this.lastAt - this.firstAt) / 3_600_000,
      cost_per_task_usd: share(this.costUsdMicros / 1_000_000, tasksClosed),
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
