// Prices and context windows of models from the bundled tables of genai-prices: offline; a model that is not known has no price.
import type { PriceBook, Tokens } from './agent.ts';
import { combineTokens, noTokens, sumTokens } from './usage.ts';

/**
 * US dollars per million tokens for a model whose price nobody knows: above every list price of a model that a coding
 * agent used when this was written (F58), so that a budget binds too early rather than too late.
 */
const unknownRates = { input: 30, output: 180, cacheRead: 3, cacheWrite: 30 } as const;

/** Claude's own spelling for a model with a window of a million tokens. */
const millionWindow = /\[1m\]$/i;
/** How clouds spell where a model runs and who made it, and which build of it: `us.anthropic.claude-x-20250929-v1:0`. */
const cloudParts: readonly RegExp[] = [
  /^(us|us-gov|eu|apac|jp|au|ca|global)\./i,
  /^[a-z]+\.(?=[a-z])/i,
  /-v\d+(:\d+)*$/i,
  /[-@]20\d\d-?\d\d-?\d\d$/,
];

type Library = Pick<typeof import('@pydantic/genai-prices'), 'calcPrice'>;
type Found = NonNullable<ReturnType<Library['calcPrice']>>;
type Rate = Found['model_price'][string];

/** Loads the tables, once per process. */
export async function openPriceBook(): Promise<PriceBook> {
  return priceBook(await import('@pydantic/genai-prices'));
}

/**
 * The name as given, then without what stands before each slash: `openrouter/anthropic/claude-x` is found at last. Then the
 * same without what a cloud puts around a name.
 */
export function spellings(model: string): readonly string[] {
  const plain = model.trim().replace(millionWindow, '');
  const parts = plain.split('/');
  const names = parts.map((_part, at) => parts.slice(at).join('/')).filter(name => name !== '');
  const last = names.at(-1) ?? '';
  const barer = cloudParts.map((_part, at) =>
    cloudParts.slice(0, at + 1).reduce((name, part) => name.replace(part, ''), last),
  );
  return [...new Set([...names, ...barer])].filter(name => name !== '');
}

export function priceBook(library: Library): PriceBook {
  const find = memoized(model => {
    for (const name of spellings(model)) {
      const found = lookUp(library, name);
      if (found !== undefined) return found;
    }
    return undefined;
  });
  return {
    costUsdMicros(given, model) {
      const tokens = combineTokens(given, noTokens, count);
      if (sumTokens(tokens) === 0) return 0;
      const rates = find(model)?.model_price;
      const usd = rates === undefined ? 0 : listPriceUsd(tokens, rates);
      // A price of nothing is no price: a table without this kind of token says 0 too.
      return micros(Number.isFinite(usd) && usd > 0 ? usd : dollars(tokens, unknownRates));
    },
    windowTokens(model) {
      if (model !== undefined && millionWindow.test(model.trim())) return 1_000_000;
      const window = find(model)?.model.context_window;
      return window !== undefined && Number.isFinite(window) && window > 0 ? window : undefined;
    },
    knows: model => find(model) !== undefined,
  };
}

const namesMax = 1_000; // an agent that makes up names must not fill the memory

/** The tables are long and asked with every message. Prices that depend on the time of day are looked up each time. */
function memoized(find: (model: string) => Found | undefined): (model: string | undefined) => Found | undefined {
  const known = new Map<string, Found | undefined>();
  return model => {
    if (model === undefined) return undefined;
    if (known.has(model)) return known.get(model);
    const found = find(model);
    if (!Array.isArray(found?.model.prices) && known.size < namesMax) known.set(model, found);
    return found;
  };
}

function lookUp({ calcPrice }: Library, name: string): Found | undefined {
  try {
    return calcPrice({ input_tokens: 1 }, name) ?? undefined;
  } catch {
    return undefined; // a model that is not paid by tokens
  }
}

/** As the library calculates, but without its checks of every table, which take longer than reading a message. */
function listPriceUsd(tokens: Tokens, rates: Found['model_price']): number {
  const read = tokens.input + tokens.cacheRead + tokens.cacheWrite; // what decides over a price for long contexts
  const { input_mtok: input, cache_read_mtok: cacheRead = input, cache_write_mtok: cacheWrite = input } = rates;
  return dollars(tokens, {
    input: rateAt(input, read),
    output: rateAt(rates['output_mtok'], read),
    cacheRead: rateAt(cacheRead, read),
    cacheWrite: rateAt(cacheWrite, read),
  });
}

function rateAt(rate: Rate, read: number): number {
  if (typeof rate !== 'object') return rate ?? 0;
  return rate.tiers.reduce((price, tier) => (read > tier.start ? tier.price : price), rate.base);
}

function dollars(tokens: Tokens, perMillion: Tokens): number {
  const { input, output, cacheRead, cacheWrite } = perMillion;
  const read = tokens.input * input + tokens.cacheRead * cacheRead + tokens.cacheWrite * cacheWrite;
  return (read + tokens.output * output) / 1_000_000;
}

const countMax = Number.MAX_SAFE_INTEGER / 1_000; // far beyond any use, and sums of it stay exact enough

/** Whatever an agent called a count. */
const count = (value: number): number => (Number.isFinite(value) && value > 0 ? Math.min(value, countMax) : 0);

const micros = (usd: number): number => Math.min(Math.max(1, Math.round(usd * 1_000_000)), Number.MAX_SAFE_INTEGER);
