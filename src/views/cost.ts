// What a loop has cost, in words: an agent that reports nothing is not free.
import { formatUsd } from '../text/format.ts';
import { type State, totalTokens } from '../core/state.ts';

/** Before the first iteration is over nobody knows whether anything will be reported. */
export const isCostKnown = ({ usage, iterationsEnded }: State): boolean =>
  iterationsEnded > 0 || totalTokens(usage) > 0 || usage.costUsdMicros > 0;

export function costWords({ usage, iterationsEnded }: State): string {
  if (totalTokens(usage) === 0 && usage.costUsdMicros === 0 && iterationsEnded > 0) return 'cost not reported';
  return `${formatUsd(usage.costUsdMicros)}${usage.estimated ? ' est.' : ''}`;
}
