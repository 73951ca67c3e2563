// Usage of a run: what agents say about tokens, money and context becomes totals that never shrink, whatever they say (F57).
import type { Usage } from '../core/event.ts';
import { addUsage, combineUsage } from '../core/spend.ts';
import { noUsage } from '../core/state.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../text/fields.ts';
import type { Account, AgentCli, AgentEvent, Billing, LaunchOrder, PriceBook, Tokens } from './agent.ts';
import type { Activity } from './performer.ts';
import { nothing } from './reader.ts';

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

/** For an agent that counts message by message: what a reader reports are the totals of an iteration, by model. */
export function openTokenTotals() {
  const totals = new Map<string, { readonly tokens: Tokens; readonly costUsd: number }>();
  return {
    /** The new totals of that model. A cost that is no number adds nothing. */
    add(tokens: Tokens, model = '', costUsd?: unknown): AgentEvent {
      const before = totals.get(model) ?? { tokens: noTokens, costUsd: 0 };
      const cost = before.costUsd + (typeof costUsd === 'number' && costUsd > 0 ? costUsd : 0);
      const total = combineTokens(before.tokens, tokens, (a, b) => a + countOf(b));
      totals.set(model, { tokens: total, costUsd: cost });
      return { type: 'usage', tokens: total, model: model || undefined, costUsd: cost > 0 ? cost : undefined };
    },
  };
}

type UsageEvent = Extract<AgentEvent, { type: 'usage' }>;
type ContextEvent = Extract<AgentEvent, { type: 'context' }>;

interface Share {
  readonly tokens: Tokens;
  readonly costUsdMicros: number;
  readonly estimated: boolean;
  /** Of the cost, what stands at an upper bound. */
  readonly boundUsdMicros: number;
  /** What is not in the cost yet: the agent will say what it is. */
  readonly unpriced: Tokens;
}

const windowTokensUsual = 200_000;
const microsPerDollar = 1_000_000;
const noShare: Share = { tokens: noTokens, costUsdMicros: 0, estimated: false, boundUsdMicros: 0, unpriced: noTokens };

/** `statesCost`: the agent says itself what it cost. `billing`: who pays, as far as it is known before the stream. */
export function openMeter(prices: PriceBook, modelAsked: string | undefined, statesCost = false, billing?: Billing) {
  const shares = new Map<string, Share>();
  const cover = openCover(billing);
  const { isBound, withPrice } = openPricing(prices);
  let reported: Usage | undefined;

  /** Only what is new gets a price: one for long contexts is for a long request, not for many short ones. */
  function share(before: Share, tokens: Tokens, model: string | undefined, costUsd: unknown): Share {
    const stated = microsOf(costUsd);
    if (stated !== undefined) return { ...noShare, tokens, costUsdMicros: stated };
    if (sumTokens(tokens) === 0) return noShare;
    const total = combineTokens(tokens, before.tokens, Math.max);
    const more = combineTokens(total, before.tokens, (now, then) => now - then);
    if (statesCost && isBound(model)) return { ...before, tokens: total, unpriced: addTokens(before.unpriced, more) };
    return withPrice({ ...before, tokens: total }, more, model);
  }

  function report(): Usage | undefined {
    const used = [...shares.values()].map(usageOf).reduce(addUsage, noUsage);
    const kept = withoutLoss(reported ?? noUsage, used);
    const total = { ...kept, unbilledUsdMicros: cover.of(kept.costUsdMicros) };
    if (reported !== undefined && isSame(reported, total)) return undefined;
    reported = total;
    return total;
  }

  return {
    /** The new totals; undefined when nothing changed. */
    usage({ tokens, costUsd, model = modelAsked }: UsageEvent): Usage | undefined {
      const counted = combineTokens(tokens, noTokens, countOf);
      shares.set(model ?? '', share(shares.get(model ?? '') ?? noShare, counted, model, costUsd));
      return report();
    },
    /** Like `usage`, when no more will come: what the agent owes a price for is charged at an upper bound. */
    end(): Usage | undefined {
      for (const [model, share] of shares)
        shares.set(model, withPrice({ ...share, unpriced: noTokens }, share.unpriced, model || undefined));
      return shares.size === 0 ? undefined : report();
    },
    /** The stream says who pays from now on. */
    billed(by: Billing): Usage | undefined {
      cover.by(by);
      return reported === undefined ? undefined : report();
    },
    /** So far there was nothing to count. */
    isEmpty: () => reported === undefined || Object.values(reported).every(count => Number(count ?? 0) === 0),
    usedFraction: openContextMeter(prices, modelAsked),
  };
}

/** Adds what tokens cost to a share: at an upper bound where the model or its price is not known. */
function openPricing(prices: PriceBook) {
  const isBound = (model: string | undefined): boolean => model === undefined || !prices.knows(model);
  return {
    isBound,
    withPrice(share: Share, tokens: Tokens, model: string | undefined): Share {
      if (sumTokens(tokens) === 0) return share;
      const price = countOf(Math.ceil(prices.costUsdMicros(tokens, model)));
      const costUsdMicros = share.costUsdMicros + price;
      const boundUsdMicros = share.boundUsdMicros + (isBound(model) ? price : 0);
      return { ...share, estimated: true, costUsdMicros, boundUsdMicros };
    },
  };
}

/** What of a growing cost a subscription covers; what was spent before that was known is covered with the rest. */
function openCover(known: Billing | undefined) {
  let billing = known;
  let [seen, unknown, covered] = [0, 0, 0];
  return {
    by(next: Billing): void {
      billing = next;
    },
    of(costUsdMicros: number): number | undefined {
      const more = Math.max(0, costUsdMicros - seen);
      seen += more;
      if (billing === 'subscription') covered += more + unknown;
      unknown = billing === undefined ? unknown + more : 0;
      return covered || undefined;
    },
  };
}

/** The part of the context that is used; undefined when nothing changed. */
function openContextMeter(prices: PriceBook, modelAsked: string | undefined) {
  let usedFraction: number | undefined;
  let window: { readonly model: string | undefined; readonly tokens: number } | undefined;

  /** The same model is asked about again and again, and the tables are long. */
  function windowOf(model: string | undefined): number {
    if (window === undefined || window.model !== model)
      window = { model, tokens: countOf(prices.windowTokens(model)) || windowTokensUsual };
    return window.tokens;
  }

  return ({ usedTokens, windowTokens, model = modelAsked }: ContextEvent): number | undefined => {
    const before = usedFraction;
    usedFraction = Math.min(1, countOf(usedTokens) / (countOf(windowTokens) || windowOf(model)));
    return usedFraction === before ? undefined : usedFraction;
  };
}

/** Undefined for a cost that is missing, zero or nonsense. */
function microsOf(costUsd: unknown): number | undefined {
  if (typeof costUsd !== 'number' || !(costUsd > 0)) return undefined;
  const micros = Math.max(1, Math.round(costUsd * microsPerDollar));
  return Number.isSafeInteger(micros) ? micros : undefined;
}

const usageOf = ({ tokens, costUsdMicros, estimated, boundUsdMicros }: Share): Usage => ({
  inputTokens: tokens.input,
  outputTokens: tokens.output,
  cacheReadTokens: tokens.cacheRead,
  cacheWriteTokens: tokens.cacheWrite,
  costUsdMicros,
  estimated,
  boundUsdMicros: boundUsdMicros || undefined,
});

/** Where the old number was higher it stays, with its own word on what kind of figure it was. */
function withoutLoss(before: Usage, now: Usage): Usage {
  const { estimated, boundUsdMicros } = before.costUsdMicros > now.costUsdMicros ? before : now;
  return { ...combineUsage(before, now, Math.max), estimated, boundUsdMicros };
}

function isSame(a: Usage, b: Usage): boolean {
  return (Object.keys({ ...a, ...b }) as (keyof Usage)[]).every(name => a[name] === b[name]);
}

export interface UsageOrder {
  readonly cli: AgentCli;
  readonly prices: PriceBook;
  readonly launchOrder: LaunchOrder;
  readonly account?: Account | undefined;
}

/** Reports what a run of an agent CLI used: as the agent says it, and by an estimate where it ended before it could. */
export function openUsageReporter(
  { cli, prices, launchOrder, account }: UsageOrder,
  push: (activity: Activity) => void,
) {
  const meter = openMeter(prices, launchOrder.model ?? account?.model?.name, cli.cost === 'agent', account?.billing);
  let toolCalls = 0;
  let spokenChars = 0;

  function report(usage: Usage | undefined): void {
    if (usage !== undefined) push({ type: 'usage', usage });
  }

  return {
    onEvent(event: Extract<AgentEvent, { type: 'text' | 'tool' | 'usage' | 'context' | 'billing' }>): void {
      if (event.type === 'text') spokenChars += event.text.length;
      else if (event.type === 'usage') report(meter.usage(event));
      else if (event.type === 'billing') report(meter.billed(event.by));
      else if (event.type === 'context') {
        const usedFraction = meter.usedFraction(event);
        if (usedFraction !== undefined) push({ type: 'context', usedFraction });
      } else if (event.phase === 'began') {
        toolCalls += 1;
        spokenChars += event.detail.length;
      }
    },
    /** `message` is its final one, empty for none. */
    end(message: string): void {
      // Neither work nor an answer: what was said is how it was refused, and that costs nothing.
      const isWork = toolCalls > 0 || message !== '';
      const turn = { promptChars: launchOrder.prompt.length, spokenChars, toolCalls };
      const tokens = cli.can.usage && isWork && meter.isEmpty() ? estimateTokens(turn) : undefined;
      if (tokens !== undefined) report(meter.usage({ type: 'usage', tokens }));
      report(meter.end());
    },
  };
}

/** A turn that its agent stated no tokens for. */
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

/**
 * Less than the truth perhaps, but not nothing; undefined for a turn in which nothing was done. What is sent again comes from the
 * provider's cache.
 */
export function estimateTokens({
  promptChars,
  spokenChars,
  toolCalls = 0,
  usedTokens = 0,
}: TurnSize): Tokens | undefined {
  if (spokenChars === 0 && usedTokens === 0 && toolCalls === 0) return undefined;
  const input = Math.max(usedTokens, Math.ceil(promptChars / charsPerToken));
  const output = Math.ceil(spokenChars / charsPerToken);
  const sentAgain = Math.min(contextTokensMax, input + Math.ceil(output / 2)); // on average half of it was said by then
  return { input, output, cacheRead: Math.min(callsMax, toolCalls) * sentAgain, cacheWrite: 0 };
}

// Tokens of a stream of messages: live from each message's own count, at the end from its result, which is the truth.

interface CountedMessage {
  readonly id: unknown;
  readonly model: string;
  counted: Tokens;
}

const resultNames = {
  input: 'inputTokens',
  output: 'outputTokens',
  cacheRead: 'cacheReadInputTokens',
  cacheWrite: 'cacheCreationInputTokens',
};
const messageNames = {
  input: 'input_tokens',
  output: 'output_tokens',
  cacheRead: 'cache_read_input_tokens',
  cacheWrite: 'cache_creation_input_tokens',
};

/** What was counted under this name stands elsewhere now. */
const emptied = (model: string): AgentEvent => ({ type: 'usage', tokens: noTokens, model: model || undefined });

/** Without the list by model its sum is the truth; tokens are those that were counted live, or stated for the turn. */
function readTotal(totals: Map<string, Tokens>, result: Fields): readonly AgentEvent[] {
  const costUsd = result['total_cost_usd'];
  if (typeof costUsd !== 'number' || !(costUsd > 0)) return nothing;
  const [only, ...others] = totals.keys();
  const counted = [...totals.values()].reduce(addTokens, noTokens);
  const tokens = combineTokens(counted, tokensIn(fieldsOf(result['usage']), messageNames), Math.max);
  const model = others.length === 0 ? only : undefined;
  const renamed = [...totals.keys()].filter(name => name !== model);
  totals.clear();
  if (model !== undefined) totals.set(model, tokens);
  return [...renamed.map(emptied), { type: 'usage', tokens, model: model || undefined, costUsd }];
}

/** Each thread (the main one, each subagent) writes one message at a time. */
export function trackMessages() {
  const open = new Map<unknown, CountedMessage>();
  const totals = new Map<string, Tokens>();

  function count(event: Fields, piece: Fields): readonly AgentEvent[] {
    const thread = event['parent_tool_use_id'] ?? null;
    const current = open.get(thread);
    if (current === undefined) return nothing;
    const now = combineTokens(current.counted, tokensIn(fieldsOf(piece['usage']), messageNames), Math.max);
    const more = combineTokens(now, current.counted, (after, before) => after - before);
    const total = combineTokens(totals.get(current.model) ?? noTokens, more, (before, added) => before + added);
    current.counted = now;
    totals.set(current.model, total);
    const model = current.model || undefined;
    const counted: AgentEvent = { type: 'usage', tokens: total, model };
    return thread === null ? [counted, { type: 'context', usedTokens: sumTokens(now), model }] : [counted];
  }

  return {
    /** The id of the message that the main thread is writing. */
    mainId: () => open.get(null)?.id,
    /** Undefined when the piece does not concern it. */
    read(event: Fields, piece: Fields): readonly AgentEvent[] | undefined {
      if (piece['type'] === 'message_delta') return count(event, piece);
      if (piece['type'] !== 'message_start') return undefined;
      const message = fieldsOf(piece['message']);
      const model = textOf(message['model']);
      open.set(event['parent_tool_use_id'] ?? null, { id: message['id'], model, counted: noTokens });
      return undefined;
    },
    /**
     * The last result's modelUsage holds all calls of all threads since the start; `usage` and the sum of results do not.
     * What is counted from now on is added to it. What was counted live under another name for the same model stands in
     * there too, so that name begins anew.
     */
    readResult(result: Fields): readonly AgentEvent[] {
      const stated = Object.entries(fieldsOf(result['modelUsage'])).map(([model, counts]) => {
        const fields = fieldsOf(counts);
        return { type: 'usage', tokens: tokensIn(fields, resultNames), model, costUsd: fields['costUSD'] } as const;
      });
      if (stated.length === 0) return readTotal(totals, result);
      const renamed = [...totals.keys()].filter(model => stated.every(each => each.model !== model));
      totals.clear();
      for (const { model, tokens } of stated) totals.set(model, tokens);
      return [...renamed.map(emptied), ...stated];
    },
  };
}
