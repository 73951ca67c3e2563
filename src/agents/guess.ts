// Guesses the tokens of a turn that its agent said nothing about: less than the truth perhaps, but not nothing.
import type { Tokens } from './agent.ts';

export interface Turn {
  readonly promptChars: number;
  /** Its words and what it gave to tools. */
  readonly spokenChars: number;
  /** Calls of tools: the answer of each goes back to the model with all that was before. */
  readonly toolCalls?: number;
  /** The context that the agent stated, 0 for none. */
  readonly usedTokens?: number;
}

const charsPerToken = 3; // English has four, code fewer: rather too many tokens than too few
const contextTokensMax = 200_000;
const callsMax = 200; // beyond that it has begun its context anew at least once

const tokensIn = (chars: number): number => Math.ceil(chars / charsPerToken);

/** Undefined for a turn in which nothing was done. What is sent again comes from the provider's cache. */
export function guessOf({ promptChars, spokenChars, toolCalls = 0, usedTokens = 0 }: Turn): Tokens | undefined {
  if (spokenChars === 0 && usedTokens === 0 && toolCalls === 0) return undefined;
  const input = Math.max(usedTokens, tokensIn(promptChars));
  const output = tokensIn(spokenChars);
  const sentAgain = Math.min(contextTokensMax, input + Math.ceil(output / 2)); // on average half of it was said by then
  return { input, output, cacheRead: Math.min(callsMax, toolCalls) * sentAgain, cacheWrite: 0 };
}
