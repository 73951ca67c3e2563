// Turns what agents say about tokens, money and context into totals that never shrink, whatever they say (F57).
import type { Usage } from '../core/event.ts';
import { countOf } from '../text/fields.ts';
import type { AgentEvent, PriceBook, Tokens } from './agent.ts';
import type { AgentRun } from './conversation.ts';
import type { Activity } from './performer.ts';

type HeardUsage = Extract<AgentEvent, { type: 'usage' }>;
type HeardContext = Extract<AgentEvent, { type: 'context' }>;

export interface Meter {
  /** The new totals; undefined when nothing changed. */
  usage(heard: HeardUsage): Usage | undefined;
  /** Like `usage`, when no more will come: what the agent owes a price for is charged at an upper bound. */
  end(): Usage | undefined;
  /** So far there was nothing to count. */
  isEmpty(): boolean;
  usedFraction(heard: HeardContext): number;
}

interface Share {
  readonly tokens: Tokens;
  readonly costUsdMicros: number;
  readonly estimated: boolean;
  /** What is not in the cost yet: the agent will say what it is. */
  readonly owed: Tokens;
}

const windowTokensUsual = 200_000;
const microsPerDollar = 1_000_000;
const noTokens: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 };
const noShare: Share = { tokens: noTokens, costUsdMicros: 0, estimated: false, owed: noTokens };

/** `statesCost` is that of the adapter. */
export function openMeter(prices: PriceBook, modelAsked: string | undefined, statesCost = false): Meter {
  const shares = new Map<string, Share>();
  let said: Usage | undefined;
  let asked: { readonly model: string | undefined; readonly windowTokens: number } | undefined;

  /** The same model is asked about again and again, and the tables are long. */
  function windowOf(model: string | undefined): number {
    if (asked === undefined || asked.model !== model)
      asked = { model, windowTokens: countOf(prices.windowTokens(model)) || windowTokensUsual };
    return asked.windowTokens;
  }

  const priceOf = (tokens: Tokens, model: string | undefined): number =>
    sumOf(tokens) === 0 ? 0 : countOf(Math.ceil(prices.costUsdMicros(tokens, model)));

  /** Only what is new gets a price: one for long contexts is for a long request, not for many short ones. */
  function share(before: Share, tokens: Tokens, model: string | undefined, costUsd: unknown): Share {
    const stated = microsOf(costUsd);
    if (stated !== undefined) return { tokens, costUsdMicros: stated, estimated: false, owed: noTokens };
    if (sumOf(tokens) === 0) return noShare;
    const total = each(tokens, before.tokens, Math.max);
    const more = each(total, before.tokens, (now, then) => now - then);
    if (statesCost && (model === undefined || !prices.knows(model)))
      return { ...before, tokens: total, owed: each(before.owed, more, (owed, now) => owed + now) };
    const estimated = before.estimated || sumOf(more) > 0;
    return { ...before, tokens: total, estimated, costUsdMicros: before.costUsdMicros + priceOf(more, model) };
  }

  function told(): Usage | undefined {
    const total = withoutLoss(said, totalOf([...shares.values()]));
    if (said !== undefined && isSame(said, total)) return undefined;
    said = total;
    return total;
  }

  return {
    usage(heard) {
      const model = heard.model ?? modelAsked;
      const before = shares.get(model ?? '') ?? noShare;
      shares.set(model ?? '', share(before, countable(heard.tokens), model, heard.costUsd));
      return told();
    },
    end() {
      for (const [model, { owed, ...rest }] of shares) {
        const costUsdMicros = rest.costUsdMicros + priceOf(owed, model || undefined);
        const estimated = rest.estimated || sumOf(owed) > 0;
        shares.set(model, { ...rest, costUsdMicros, estimated, owed: noTokens });
      }
      return shares.size === 0 ? undefined : told();
    },
    isEmpty: () => said === undefined || Object.values(said).every(count => Number(count) === 0),
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

const countable = (tokens: Tokens): Tokens => each(tokens, noTokens, countOf);

function each(a: Tokens, b: Tokens, of: (a: number, b: number) => number): Tokens {
  return {
    input: of(a.input, b.input),
    output: of(a.output, b.output),
    cacheRead: of(a.cacheRead, b.cacheRead),
    cacheWrite: of(a.cacheWrite, b.cacheWrite),
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

// Tells what a run of an agent CLI used: as the agent says it, and by a guess where it ended before it could.

export interface UsageReporter {
  onEvent(heard: Extract<AgentEvent, { type: 'text' | 'tool' | 'usage' | 'context' }>): void;
  /** `message` is its final one, empty for none. */
  end(message: string): void;
}

export function openUsageReporter(
  { cli, prices, launchOrder }: Pick<AgentRun, 'cli' | 'prices' | 'launchOrder'>,
  push: (activity: Activity) => void,
): UsageReporter {
  const meter = openMeter(prices, launchOrder.model, cli.statesCost);
  let toolCalls = 0;
  let spokenChars = 0;
  let usedFraction = -1;

  function tell(usage: ReturnType<typeof meter.usage>): void {
    if (usage !== undefined) push({ type: 'usage', usage });
  }

  return {
    onEvent(heard) {
      if (heard.type === 'text') spokenChars += heard.text.length;
      else if (heard.type === 'usage') tell(meter.usage(heard));
      else if (heard.type === 'context') {
        const used = meter.usedFraction(heard);
        if (used !== usedFraction) push({ type: 'context', usedFraction: used });
        usedFraction = used;
      } else if (heard.phase === 'began') {
        toolCalls += 1;
        spokenChars += heard.detail.length;
      }
    },
    end(message) {
      // Neither work nor an answer: what was said is how it was refused, and that costs nothing.
      const isWork = toolCalls > 0 || message !== '';
      const turn = { promptChars: launchOrder.prompt.length, spokenChars, toolCalls };
      const tokens = cli.can.usage && isWork && meter.isEmpty() ? estimateTokens(turn) : undefined;
      if (tokens !== undefined) tell(meter.usage({ type: 'usage', tokens }));
      tell(meter.end());
    },
  };
}

// Guesses the tokens of a turn that its agent said nothing about: less than the truth perhaps, but not nothing.

export interface TurnSize {
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
export function estimateTokens({
  promptChars,
  spokenChars,
  toolCalls = 0,
  usedTokens = 0,
}: TurnSize): Tokens | undefined {
  if (spokenChars === 0 && usedTokens === 0 && toolCalls === 0) return undefined;
  const input = Math.max(usedTokens, tokensIn(promptChars));
  const output = tokensIn(spokenChars);
  const sentAgain = Math.min(contextTokensMax, input + Math.ceil(output / 2)); // on average half of it was said by then
  return { input, output, cacheRead: Math.min(callsMax, toolCalls) * sentAgain, cacheWrite: 0 };
}

// Adds up what an agent counts message by message: the totals of an iteration, by model, are what a reader tells.

export interface TokenTotals {
  /** The new totals of that model. A cost that is no number adds nothing. */
  add(tokens: Tokens, model?: string, costUsd?: unknown): AgentEvent;
}

interface Total {
  readonly tokens: Tokens;
  readonly costUsd: number;
}

const none: Total = { tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }, costUsd: 0 };

export function openTokenTotals(): TokenTotals {
  const totals = new Map<string, Total>();
  return {
    add(tokens, model = '', costUsd) {
      const before = totals.get(model) ?? none;
      const cost = typeof costUsd === 'number' && costUsd > 0 ? costUsd : 0;
      const total = { tokens: addTokens(before.tokens, tokens), costUsd: before.costUsd + cost };
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

function addTokens(before: Tokens, now: Tokens): Tokens {
  return {
    input: before.input + countOf(now.input),
    output: before.output + countOf(now.output),
    cacheRead: before.cacheRead + countOf(now.cacheRead),
    cacheWrite: before.cacheWrite + countOf(now.cacheWrite),
  };
}
