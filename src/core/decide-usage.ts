// Usage arrives as a running total per iteration; the ledger gets only what is new, and never less than before.
import { checkBudget } from './spend.ts';
import type { Event, Usage } from './event.ts';
import type { LiveIteration, State } from './state.ts';
import { addUsage } from './usage.ts';

/** Sums of it stay numbers, whatever an agent says. */
const amountMax = Number.MAX_SAFE_INTEGER;

const more = (now: number, before: number): number =>
  Number.isFinite(now) ? Math.max(0, Math.min(Math.round(now), amountMax) - before) : 0;

export function recordUsage(state: State, live: LiveIteration, total: Usage, now: number): readonly Event[] {
  const before = live.usage;
  const usage: Usage = {
    inputTokens: more(total.inputTokens, before.inputTokens),
    outputTokens: more(total.outputTokens, before.outputTokens),
    cacheReadTokens: more(total.cacheReadTokens, before.cacheReadTokens),
    cacheWriteTokens: more(total.cacheWriteTokens, before.cacheWriteTokens),
    costUsdMicros: more(total.costUsdMicros, before.costUsdMicros),
    // A running total: what the agent states for all of it makes exact what was estimated on the way, unless that was more.
    estimated: total.estimated || total.costUsdMicros < before.costUsdMicros,
  };
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, costUsdMicros } = usage;
  const isNothing = inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens + costUsdMicros === 0;
  if (isNothing && (before.estimated === usage.estimated || !before.estimated)) return [];
  const recorded: Event = {
    type: 'usage.recorded',
    at: now,
    iteration: live.iteration,
    performer: live.performer,
    task: live.task,
    usage,
  };
  const { costUsdMicrosMax } = state.settings.limits;
  if (state.budgetAlerted || costUsdMicrosMax === null) return [recorded];
  const used = addUsage(state.usage, usage).costUsdMicros;
  const verdict = checkBudget(
    [{ scope: 'task', usedUsdMicros: used, limitUsdMicros: costUsdMicrosMax }],
    state.settings.budgetAlertFraction,
  );
  if (verdict.action === 'allow') return [recorded];
  return [recorded, { type: 'budget.alerted', at: now, fraction: verdict.fraction, because: verdict.because }];
}
