// Turns what agents say about tokens, money and context into totals that never shrink, whatever they say (F57).
import type { Usage } from '../core/event.ts';
import type { Heard, PriceBook, Tokens } from '../ports/agent.ts';
import { countOf } from './fields.ts';

type HeardUsage = Extract<Heard, { type: 'usage' }>;
type HeardContext = Extract<Heard, { type: 'context' }>;

export interface Meter {
  /** The new totals; undefined when nothing changed. */
  usage(heard: HeardUsage): Usage | undefined;
  usedFraction(heard: HeardContext): number;
}

interface Share {
  readonly tokens: Tokens;
  readonly costUsdMicros: number;
  readonly estimated: boolean;
}

const windowTokensUsual = 200_000;
const microsPerDollar = 1_000_000;

export function meterOf(prices: PriceBook, modelAsked: string | undefined): Meter {
  const shares = new Map<string, Share>();
  let said: Usage | undefined;
  let asked: { readonly model: string | undefined; readonly windowTokens: number } | undefined;

  /** The same model is asked about again and again, and the tables are long. */
  function windowOf(model: string | undefined): number {
    if (asked === undefined || asked.model !== model)
      asked = { model, windowTokens: countOf(prices.windowTokens(model)) || windowTokensUsual };
    return asked.windowTokens;
  }

  function share(tokens: Tokens, model: string | undefined, costUsd: unknown): Share {
    const stated = microsOf(costUsd);
    if (stated !== undefined) return { tokens, costUsdMicros: stated, estimated: false };
    if (sumOf(tokens) === 0) return { tokens, costUsdMicros: 0, estimated: false };
    return { tokens, costUsdMicros: countOf(Math.ceil(prices.costUsdMicros(tokens, model))), estimated: true };
  }

  return {
    usage(heard) {
      const model = heard.model ?? modelAsked;
      shares.set(model ?? '', share(countable(heard.tokens), model, heard.costUsd));
      const total = withoutLoss(said, totalOf([...shares.values()]));
      if (said !== undefined && isSame(said, total)) return undefined;
      said = total;
      return total;
    },
    usedFraction(heard) {
      const window = countOf(heard.windowTokens) || windowOf(heard.model ?? modelAsked);
      return Math.min(1, countOf(heard.usedTokens) / window);
    },
  };
}

/** Undefined for a cost that is missing, zero or nonsense. */
function microsOf(costUsd: unknown): number | undefined {
  if (typeof costUsd !== 'number' || !(costUsd > 0)) return undefined;
  const micros = Math.max(1, Math.round(costUsd * microsPerDollar));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

function countable(tokens: Tokens): Tokens {
  const { input, output, cacheRead, cacheWrite } = tokens;
  return {
    input: countOf(input),
    output: countOf(output),
    cacheRead: countOf(cacheRead),
    cacheWrite: countOf(cacheWrite),
  };
}

function sumOf({ input, output, cacheRead, cacheWrite }: Tokens): number {
  return input + output + cacheRead + cacheWrite;
}

function totalOf(shares: readonly Share[]): Usage {
  const sum = (count: (share: Share) => number): number => shares.reduce((total, each) => total + count(each), 0);
  return {
    inputTokens: sum(each => each.tokens.input),
    outputTokens: sum(each => each.tokens.output),
    cacheReadTokens: sum(each => each.tokens.cacheRead),
    cacheWriteTokens: sum(each => each.tokens.cacheWrite),
    costUsdMicros: sum(each => each.costUsdMicros),
    estimated: shares.some(each => each.estimated),
  };
}

/** Where the old number was higher it stays, with its own word on whether it was an estimate. */
function withoutLoss(before: Usage | undefined, now: Usage): Usage {
  if (before === undefined) return now;
  return {
    inputTokens: Math.max(before.inputTokens, now.inputTokens),
    outputTokens: Math.max(before.outputTokens, now.outputTokens),
    cacheReadTokens: Math.max(before.cacheReadTokens, now.cacheReadTokens),
    cacheWriteTokens: Math.max(before.cacheWriteTokens, now.cacheWriteTokens),
    costUsdMicros: Math.max(before.costUsdMicros, now.costUsdMicros),
    estimated: before.costUsdMicros > now.costUsdMicros ? before.estimated : now.estimated,
  };
}

function isSame(a: Usage, b: Usage): boolean {
  return (Object.keys(a) as (keyof Usage)[]).every(name => a[name] === b[name]);
}
