// Listens to an ACP session while it works: its words, its tools, its context and its cost become activities.

import type { Usage } from '../../core/event.ts';
import { countOf, detailOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { Account, AgentEvent, PriceBook, StreamProblem, Tokens } from '../agent.ts';
import type { Note } from '../performer.ts';
import { gatherText, type Push } from '../process-run.ts';
import { messageCharsMax, openMessage } from '../reader.ts';
import { addTokens, estimateTokens, noTokens, openMeter, sumTokens, type TurnSize } from '../usage.ts';

export type SessionListener = ReturnType<typeof openSessionListener>;

/** `busy` hears whether a tool is at work. */
export function openSessionListener(prices: PriceBook, push: Push, busy: (isBusy: boolean) => void, account?: Account) {
  const updates = openUpdateReader();
  const usage = openSessionUsage(prices, account);
  const text = gatherText(push);
  let wasBusy = false;

  function onEvent(event: AgentEvent): void {
    if (event.type === 'text') {
      text.add(event.text);
      text.flush();
    } else if (event.type === 'tool' && event.phase === 'began') {
      text.endLine();
      push({ type: 'tool', name: event.name, detail: event.detail });
    } else if (event.type === 'context') {
      const usedFraction = usage.usedFraction(event);
      if (usedFraction !== undefined) push({ type: 'context', usedFraction });
    } else if (event.type === 'usage') report(usage.cost(event.costUsd));
  }

  function report(used: Usage | undefined): void {
    if (used !== undefined && used.inputTokens + used.outputTokens + used.costUsdMicros > 0)
      push({ type: 'usage', usage: used });
  }

  function onEvents(events: readonly AgentEvent[]): void {
    events.forEach(onEvent);
    if (updates.isBusy() !== wasBusy) busy(!wasBusy);
    wasBusy = updates.isBusy();
  }

  return {
    /** The parameters of `session/update`. */
    update: (params: unknown): void => onEvents(updates.read(params)),
    /** A permission that is asked for tells of a tool, too; some agents announce it in no other way. */
    permission: (params: unknown): void => onEvents(updates.readPermission(params)),
    /** From now on only this session counts: one of a subagent may speak on the same connection. */
    session(id: string, model: string | undefined): void {
      updates.session(id);
      usage.model(model);
      push({ type: 'session', id });
    },
    turnBegan(promptChars: number, notes: readonly Note[]): void {
      updates.turnBegan(promptChars);
      text.endLine();
      for (const note of notes) push({ type: 'told', note: note.id });
    },
    /** `answer`: the result of `session/prompt`, undefined when none came. Says what went wrong although the turn ended well. */
    turnEnded(answer: unknown): StreamProblem | undefined {
      onEvents(updates.endTools());
      const { hasFailed, ...turn } = updates.turn();
      report(usage.turnEnded(answer, turn));
      return hasFailed ? { text: updates.message() } : undefined;
    },
    /** Ends a line that is still open, for whoever reads along. */
    endLine: text.endLine,
    /** The text in which signals are read. */
    message: updates.message,
  };
}

const toolCallChars = 100; // about what a model writes to call one
const newTurn = { promptChars: 0, spokenChars: 0, usedTokens: 0, hasFailed: false };

/** Makes events of the updates of a session. */
function openUpdateReader() {
  const message = openMessageById();
  const tools = trackTools(() => {
    message.begin();
    turn.spokenChars += toolCallChars;
  });
  let session: unknown;
  let turn = { ...newTurn };

  const isOurs = (id: unknown): boolean => session === undefined || id === session;

  function readText(chunk: Fields): readonly AgentEvent[] {
    const text = textOf(fieldsOf(chunk['content'])['text']);
    if (text === '') return [];
    turn.spokenChars += text.length;
    message.add(text, textOf(chunk['messageId']));
    return [{ type: 'text', text: text.slice(0, messageCharsMax) }];
  }

  function readUpdate(fields: Fields): readonly AgentEvent[] {
    const type = fields['sessionUpdate'];
    if (type === 'agent_message_chunk') return readText(fields);
    if (type === 'tool_call' || type === 'tool_call_update') return tools.tell(fields);
    if (type === 'agent_thought_chunk') turn.spokenChars += textOf(fieldsOf(fields['content'])['text']).length;
    if (type === 'session_info_update' && codexStatus(fields) !== '')
      turn.hasFailed = codexStatus(fields) === 'systemError';
    if (type !== 'usage_update') return [];
    turn.usedTokens = Math.max(turn.usedTokens, countOf(fields['used']));
    return contextAndCost(fields);
  }

  return {
    read(params: unknown): readonly AgentEvent[] {
      const { sessionId, update } = fieldsOf(params);
      if (!isOurs(sessionId)) return [];
      const events = readUpdate(fieldsOf(update));
      return events.length > 0 && events[0]?.type !== 'tool' ? [...tools.announceAll(), ...events] : events;
    },
    readPermission(params: unknown): readonly AgentEvent[] {
      const { sessionId, toolCall } = fieldsOf(params);
      return isOurs(sessionId) ? [...tools.tell(fieldsOf(toolCall)), ...tools.announceAll()] : [];
    },
    isBusy: tools.isBusy,
    endTools: tools.endAll,
    session(id: string): void {
      session = id;
    },
    turnBegan(promptChars: number): void {
      message.begin();
      turn = { ...newTurn, promptChars };
    },
    /** What went in and what the model made, thoughts included, the largest context, and whether its words are an error. */
    turn: () => turn,
    /** The last message of the last turn: the text after the last tool. */
    message: message.text,
  };
}

/** A new id begins a new message; a piece without an id goes on with the one before. */
function openMessageById() {
  const message = openMessage();
  let current = '';
  function begin(id = ''): void {
    message.begin();
    current = id;
  }
  return {
    begin,
    add(text: string, id: string): void {
      if (id !== '' && id !== current) begin(id);
      message.add(text);
    },
    text: message.text,
  };
}

/** codex-acp tells a rate limit as text and a good end; this status is the only mark of it. */
function codexStatus({ _meta }: Fields): string {
  return textOf(fieldsOf(fieldsOf(fieldsOf(_meta)['codex'])['threadStatus'])['type']);
}

/** A cost in anything but dollars is none that we could count. */
function contextAndCost({ used, size, cost }: Fields): readonly AgentEvent[] {
  const usedTokens = countOf(used);
  const windowTokens = countOf(size) || undefined;
  const context: readonly AgentEvent[] = usedTokens === 0 ? [] : [{ type: 'context', usedTokens, windowTokens }];
  const { amount, currency } = fieldsOf(cost);
  return currency === 'USD' ? [...context, { type: 'usage', tokens: noTokens, costUsd: amount }] : context;
}

interface Tool {
  readonly name: string;
  readonly detail: string;
  announced: boolean;
}

const detailCharsMax = 500;

/**
 * Each tool is told once, with what it does, and ends with its turn at the latest. `onNew` is called for every tool that was
 * not known before.
 */
function trackTools(onNew: () => void) {
  const open = new Map<string, Tool>();
  const seen = new Set<string>();

  function announce(tool: Tool): readonly AgentEvent[] {
    if (tool.announced) return [];
    tool.announced = true;
    return [{ type: 'tool', name: tool.name, detail: tool.detail.slice(0, detailCharsMax), phase: 'began' }];
  }

  function end(id: string, tool: Tool): readonly AgentEvent[] {
    open.delete(id);
    return [...announce(tool), { type: 'tool', name: tool.name, detail: '', phase: 'ended' }];
  }

  return {
    /** A word about a tool: `tool_call`, `tool_call_update`, or the one in a request for permission. */
    tell(call: Fields): readonly AgentEvent[] {
      const id = textOf(call['toolCallId']);
      const known = open.get(id);
      const isNew = !seen.has(id);
      if (id === '' || (known === undefined && !isNew)) return []; // late words about one that has ended
      const title = textOf(call['title']);
      const tool: Tool = {
        name: known?.name || textOf(call['name']) || textOf(call['kind']) || title || 'tool',
        detail: detailOf(call['rawInput']) || title || known?.detail || '',
        announced: known?.announced ?? false,
      };
      open.set(id, tool);
      if (isNew) {
        seen.add(id);
        onNew();
      }
      const status = textOf(call['status']);
      if (status === 'completed' || status === 'failed') return end(id, tool);
      // The first word about a pending one is often empty of detail, so it is told with the second.
      return isNew && status !== 'in_progress' ? [] : announce(tool);
    },
    /** Something else happened: no tool that is known waits any longer for a better description. */
    announceAll: () => [...open.values()].flatMap(announce),
    isBusy: () => open.size > 0,
    endAll: () => [...open].flatMap(([id, tool]) => end(id, tool)),
  };
}

// Usage: every agent states it in another place, and some not at all.

/** Each function gives the new totals of the session, undefined when they did not change. */
export function openSessionUsage(prices: PriceBook, account: Account = {}) {
  let turnByModel = new Map<string, Tokens>();
  let tokens = noTokens;
  const usual = account.model?.name ?? '';
  let current = usual;
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
      knows: () => [...turnByModel.keys()].every(prices.knows),
    },
    '', // which of them works is known above
    false,
    account.billing,
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
      return total();
    },
    usedFraction: meter.usedFraction,
    /** The model that works, unless an answer names another. */
    model(name: string | undefined): void {
      current = name ?? usual;
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
