// Adds up tokens and money.
import type { Usage } from './event.ts';

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    inputTokens: a.inputTokens + b.inputTokens,
    outputTokens: a.outputTokens + b.outputTokens,
    cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
    cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
    costUsdMicros: a.costUsdMicros + b.costUsdMicros,
    estimated: a.estimated || b.estimated,
  };
}
