// Adds up what an ACP session used: every agent states it in another place, and some not at all.
import type { Usage } from '../../core/event.ts';
import type { Heard, PriceBook, Tokens } from '../../ports/agent.ts';
import { countOf, type Fields, fieldsOf, listOf, textOf } from '../../process/fields.ts';
import { meterOf } from '../../process/metering.ts';

interface Turn {
  readonly promptChars: number;
  readonly spokenChars: number;
  /** The context that the agent stated, 0 for none. */
  readonly usedTokens: number;
}

/** Each gives the new totals of the session, undefined when they did not change. */
export interface Account {
  /** What the session has cost so far in US dollars, as the agent says: it may be nonsense. */
  cost(amountUsd: unknown): Usage | undefined;
  /** `answer` is the result of `session/prompt`, undefined when none came. */
  turnEnded(answer: unknown, turn: Turn): Usage | undefined;
  usedFraction(heard: Extract<Heard, { type: 'context' }>): number;
  /** The model that works, unless an answer names another. */
  model(name: string | undefined): void;
}

const charsPerToken = 3; // English has four, code fewer: rather too many tokens than too few

export function openAccount(prices: PriceBook): Account {
  const byModel = new Map<string, Tokens>();
  let current = '';
  let costUsd: unknown;

  /** The cost that an agent states is of all its models together, so they are one thing to the meter. */
  const meter = meterOf(
    {
      ...prices,
      costUsdMicros: () =>
        [...byModel].reduce((sum, [model, tokens]) => sum + prices.costUsdMicros(tokens, model || undefined), 0),
      windowTokens: () => prices.windowTokens(current || undefined),
    },
    undefined,
  );
  const total = (): Usage | undefined =>
    meter.usage({ type: 'usage', tokens: [...byModel.values()].reduce(plus, zero), costUsd });

  return {
    cost(amountUsd) {
      costUsd = amountUsd;
      return total();
    },
    turnEnded(answer, turn) {
      const stated = statedIn(answer);
      for (const [model, tokens] of stated.size > 0 ? stated : guessOf(turn)) {
        const name = model || current;
        byModel.set(name, plus(byModel.get(name) ?? zero, tokens));
      }
      return byModel.size === 0 ? undefined : total();
    },
    usedFraction: heard => meter.usedFraction(heard),
    model(name) {
      current = name ?? '';
    },
  };
}

const zero: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };

function plus(a: Tokens, b: Tokens): Tokens {
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    cacheRead: a.cacheRead + b.cacheRead,
    cacheWrite: a.cacheWrite + b.cacheWrite,
  };
}

/** By model; '' where no model is named. */
type ByModel = ReadonlyMap<string, Tokens>;

/** The list by model knows of side calls that the sum does not; gemini has only the list. */
function statedIn(answer: unknown): ByModel {
  const { usage, _meta } = fieldsOf(answer);
  const quota = fieldsOf(fieldsOf(_meta)['quota']);
  const stated = new Map<string, Tokens>();
  const add = (model: string, counts: Fields): void => {
    const tokens = tokensIn(counts);
    if (tokens !== undefined) stated.set(model, plus(stated.get(model) ?? zero, tokens));
  };
  for (const each of listOf(quota['model_usage']).map(fieldsOf))
    add(textOf(each['model']), fieldsOf(each['token_count']));
  if (stated.size === 0) add('', fieldsOf(usage));
  if (stated.size === 0) add('', fieldsOf(quota['token_count']));
  return stated;
}

/** In the wire's own names and in the others that were seen. `input` does not hold what the cache gave. */
function tokensIn(counts: Fields): Tokens | undefined {
  const count = (...names: string[]): number => names.reduce((found, name) => found || countOf(counts[name]), 0);
  const input = count('inputTokens', 'input_tokens');
  const cacheRead = count('cachedReadTokens', 'cachedInputTokens', 'cached_input_tokens');
  const cacheWrite = count('cachedWriteTokens', 'cacheWriteInputTokens');
  // Thoughts are paid as output; whether `outputTokens` holds them is told only by the total.
  const rest = countOf(counts['totalTokens']) - input - cacheRead - cacheWrite;
  const output = Math.max(count('outputTokens', 'output_tokens'), rest);
  return input + output + cacheRead + cacheWrite > 0 ? { input, output, cacheRead, cacheWrite } : undefined;
}

/** For a turn that nothing was stated about: less than the truth when it had many steps, but not nothing. */
function guessOf({ promptChars, spokenChars, usedTokens }: Turn): ByModel {
  if (spokenChars === 0 && usedTokens === 0) return new Map();
  const input = Math.max(usedTokens, Math.ceil(promptChars / charsPerToken));
  return new Map([['', { ...zero, input, output: Math.ceil(spokenChars / charsPerToken) }]]);
}
