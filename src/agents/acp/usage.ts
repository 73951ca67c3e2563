// Adds up what an ACP session used: every agent states it in another place, and some not at all.
import type { Usage } from '../../core/event.ts';
import { countOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { PriceBook, Tokens } from '../agent.ts';
import { addTokens, estimateTokens, noTokens, openMeter, sumTokens, type TurnSize } from '../usage.ts';

/** Each function gives the new totals of the session, undefined when they did not change. */
export function openSessionUsage(prices: PriceBook) {
  let turnByModel = new Map<string, Tokens>();
  let tokens = noTokens;
  let current = '';
  let costUsd: unknown;

  /**
   * The cost that an agent states is of all its models together, so they are one thing to the meter. What is new to it are
   * always the tokens of the last turn.
   */
  const meter = openMeter(
    {
      ...prices,
      costUsdMicros: () =>
        [...turnByModel].reduce((sum, [model, used]) => sum + prices.costUsdMicros(used, model || undefined), 0),
      windowTokens: () => prices.windowTokens(current || undefined),
    },
    undefined,
  );
  const total = (): Usage | undefined => meter.usage({ type: 'usage', tokens, costUsd });

  return {
    /** What the session has cost so far in US dollars, as the agent says: it may be nonsense. */
    cost(amountUsd: unknown): Usage | undefined {
      costUsd = amountUsd;
      return total();
    },
    /** `answer` is the result of `session/prompt`, undefined when none came. */
    turnEnded(answer: unknown, turn: TurnSize): Usage | undefined {
      turnByModel = new Map();
      for (const [model, used] of usedIn(answer, turn)) {
        const name = model || current;
        turnByModel.set(name, addTokens(turnByModel.get(name) ?? noTokens, used));
      }
      tokens = [...turnByModel.values()].reduce(addTokens, tokens);
      return tokens === noTokens ? undefined : total();
    },
    usedFraction: meter.usedFraction,
    /** The model that works, unless an answer names another. */
    model(name: string | undefined): void {
      current = name ?? '';
    },
  };
}

/** By model; '' where no model is named. */
type ByModel = ReadonlyMap<string, Tokens>;

function usedIn(answer: unknown, turn: TurnSize): ByModel {
  const stated = statedIn(answer);
  if (stated.size > 0) return stated;
  const estimate = estimateTokens(turn);
  return estimate === undefined ? stated : new Map([['', estimate]]);
}

/** The list by model knows of side calls that the sum does not; gemini has only the list. */
function statedIn(answer: unknown): ByModel {
  const { usage, _meta } = fieldsOf(answer);
  const quota = fieldsOf(fieldsOf(_meta)['quota']);
  const stated = new Map<string, Tokens>();
  const add = (model: string, counts: Fields): void => {
    const tokens = tokensIn(counts);
    if (tokens !== undefined) stated.set(model, addTokens(stated.get(model) ?? noTokens, tokens));
  };
  for (const each of listOf(quota['model_usage']).map(fieldsOf))
    add(textOf(each['model']), fieldsOf(each['token_count']));
  if (stated.size === 0) add('', fieldsOf(usage));
  if (stated.size === 0) add('', fieldsOf(quota['token_count']));
  return stated;
}

/** In the protocol's own names and in the others that were seen. `input` does not hold what the cache gave. */
function tokensIn(counts: Fields): Tokens | undefined {
  const count = (...names: string[]): number => names.reduce((found, name) => found || countOf(counts[name]), 0);
  const input = count('inputTokens', 'input_tokens');
  const cacheRead = count('cachedReadTokens', 'cachedInputTokens', 'cached_input_tokens');
  const cacheWrite = count('cachedWriteTokens', 'cacheWriteInputTokens');
  // Thoughts are paid as output; whether `outputTokens` holds them is told only by the total.
  const rest = countOf(counts['totalTokens']) - input - cacheRead - cacheWrite;
  const output = Math.max(count('outputTokens', 'output_tokens'), rest);
  const tokens = { input, output, cacheRead, cacheWrite };
  return sumTokens(tokens) > 0 ? tokens : undefined;
}
