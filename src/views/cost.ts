// What a loop has cost, in words: an agent that reports nothing is not free.
import { formatUsd } from '../core/format.ts';
import { type State, totalTokens } from '../core/state.ts';

export function costWords({ usage, iterationsEnded }: State): string {
  if (totalTokens(usage) === 0 && usage.costUsdMicros === 0 && iterationsEnded > 0) return 'cost not reported';
  return `${formatUsd(usage.costUsdMicros)}${usage.estimated ? ' est.' : ''}`;
}
