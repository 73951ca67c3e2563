// Adds up what an agent counts message by message: the totals of an iteration, by model, are what a reader tells.
import type { Heard, Tokens } from './agent.ts';
import { countOf } from '../text/fields.ts';

export interface Tally {
  /** The new totals of that model. A cost that is no number adds nothing. */
  add(tokens: Tokens, model?: string, costUsd?: unknown): Heard;
}

interface Total {
  readonly tokens: Tokens;
  readonly costUsd: number;
}

const none: Total = { tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 0 };

export function openTally(): Tally {
  const totals = new Map<string, Total>();
  return {
    add(tokens, model = '', costUsd) {
      const before = totals.get(model) ?? none;
      const cost = typeof costUsd === 'number' && costUsd > 0 ? costUsd : 0;
      const total = { tokens: sumOf(before.tokens, tokens), costUsd: before.costUsd + cost };
      totals.set(model, total);
      return {
        type: 'usage',
        tokens: total.tokens,
        model: model || undefined,
        costUsd: total.costUsd > 0 ? total.costUsd : undefined,
      };
    },
  };
}

function sumOf(before: Tokens, now: Tokens): Tokens {
  return {
    input: before.input + countOf(now.input),
    output: before.output + countOf(now.output),
    cacheRead: before.cacheRead + countOf(now.cacheRead),
    cacheWrite: before.cacheWrite + countOf(now.cacheWrite),
  };
}
