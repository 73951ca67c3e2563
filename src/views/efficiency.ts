// How well tokens are used (seed 000's EfficiencyMetrics): per tool call, per task, and how much came out of the cache.
import type { Usage } from '../core/event.ts';
import { type State, totalTokens } from '../core/state.ts';
import { progress } from '../core/task.ts';

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
