// Prices and context windows of models from the bundled tables of genai-prices: offline, and never nothing for something.
import type { PriceBook, Tokens } from '../ports/agent.ts';

/**
 * US dollars per million tokens for a model whose price nobody knows: above every list price of a model that a coding
 * agent used when this was written (F58), so that a budget binds too early rather than too late.
 */
const unknownInputUsdPerMillion = 30;
const unknownOutputUsdPerMillion = 180;

/** Claude's own spelling for a model with a window of a million tokens. */
const millionWindow = /\[1m\]$/i;

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>;

/** Loads the tables, once per process. */
export async function openPriceBook(): Promise<PriceBook> {
  return priceBook(await import('@pydantic/genai-prices'));
}

/** The name as given, then without what stands before each slash: `openrouter/anthropic/claude-x` is found at last. */
export function spellings(model: string): readonly string[] {
  const plain = model.trim().replace(millionWindow, '');
  const parts = plain.split('/');
  return parts.map((_part, at) => parts.slice(at).join('/')).filter(name => name !== '');
}

export function priceBook(library: Library): PriceBook {
  const ask = (tokens: Tokens, model: string | undefined) => {
    for (const name of model === undefined ? [] : spellings(model)) {
      const found = calculated(library, tokens, name);
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return {
    costUsdMicros(given, model) {
      const tokens = counted(given);
      if (tokens.input + tokens.output + tokens.cacheRead + tokens.cacheWrite === 0) return 0;
      const usd = ask(tokens, model)?.total_price;
      // A price of nothing is no price: a table without this kind of token says 0 too.
      const known = usd !== undefined && Number.isFinite(usd) && usd > 0;
      return micros(known ? usd : upperBoundUsd(tokens));
    },
    windowTokens(model) {
      if (model !== undefined && millionWindow.test(model.trim())) return 1_000_000;
      const window = ask(oneToken, model)?.model.context_window;
      return window !== undefined && Number.isFinite(window) && window > 0 ? window : undefined;
    },
    knows: model => ask(oneToken, model) !== undefined,
  };
}

const oneToken: Tokens = { input: 1, output: 0, cacheRead: 0, cacheWrite: 0 };

function calculated({ calcPrice }: Library, tokens: Tokens, name: string) {
  const usage = {
    input_tokens: tokens.input + tokens.cacheRead + tokens.cacheWrite, // the library wants the total
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    output_tokens: tokens.output,
  };
  try {
    return calcPrice(usage, name) ?? undefined;
  } catch {
    return undefined; // a model without a price for one of these kinds
  }
}

const countMax = Number.MAX_SAFE_INTEGER / 1_000; // far beyond any use, and sums of it stay exact enough

/** Whatever an agent called a count. */
const count = (value: number): number => (Number.isFinite(value) && value > 0 ? Math.min(value, countMax) : 0);

function counted({ input, output, cacheRead, cacheWrite }: Tokens): Tokens {
  return { input: count(input), output: count(output), cacheRead: count(cacheRead), cacheWrite: count(cacheWrite) };
}

function upperBoundUsd({ input, output, cacheRead, cacheWrite }: Tokens): number {
  const read = (input + cacheRead + cacheWrite) * unknownInputUsdPerMillion;
  return (read + output * unknownOutputUsdPerMillion) / 1_000_000;
}

const micros = (usd: number): number => Math.min(Math.max(1, Math.round(usd * 1_000_000)), Number.MAX_SAFE_INTEGER);
