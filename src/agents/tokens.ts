// Token counts: read from what an agent states, combined, and added up by model.
import { countOf, type Fields } from '../text/fields.ts';
import type { AgentEvent, Tokens } from './agent.ts';

export const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

export function combineTokens(a: Tokens, b: Tokens, combine: (a: number, b: number) => number): Tokens {
  return {
    input: combine(a.input, b.input),
    output: combine(a.output, b.output),
    cacheRead: combine(a.cacheRead, b.cacheRead),
    cacheWrite: combine(a.cacheWrite, b.cacheWrite),
  };
}

const sum = (a: number, b: number): number => a + b;

export const addTokens = (a: Tokens, b: Tokens): Tokens => combineTokens(a, b, sum);

export function sumTokens({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

/** The names under which an agent states its counts. */
type CountNames = Readonly<Record<'input' | 'output' | 'cacheRead', string>> & { readonly cacheWrite?: string };

export function tokensIn(counts: Fields, names: CountNames): Tokens {
  return {
    input: countOf(counts[names.input]),
    output: countOf(counts[names.output]),
    cacheRead: countOf(counts[names.cacheRead]),
    cacheWrite: names.cacheWrite === undefined ? 0 : countOf(counts[names.cacheWrite]),
  };
}

/** For an agent whose input includes what came from or went into a cache. */
export function withoutCache(tokens: Tokens): Tokens {
  return { ...tokens, input: Math.max(0, tokens.input - tokens.cacheRead - tokens.cacheWrite) };
}

export interface TokenTotals {
  /** The new totals of that model. A cost that is no number adds nothing. */
  add(tokens: Tokens, model?: string, costUsd?: unknown): AgentEvent;
}

/** For an agent that counts message by message: what a reader reports are the totals of an iteration, by model. */
export function openTokenTotals(): TokenTotals {
  const totals = new Map<string, { readonly tokens: Tokens; readonly costUsd: number }>();
  return {
    add(tokens, model = '', costUsd) {
      const before = totals.get(model) ?? { tokens: noTokens, costUsd: 0 };
      const cost = before.costUsd + (typeof costUsd === 'number' && costUsd > 0 ? costUsd : 0);
      const total = combineTokens(before.tokens, tokens, (a, b) => a + countOf(b));
      totals.set(model, { tokens: total, costUsd: cost });
      return { type: 'usage', tokens: total, model: model || undefined, costUsd: cost > 0 ? cost : undefined };
    },
  };
}
