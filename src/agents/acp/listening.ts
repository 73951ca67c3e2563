// Understands what an ACP session tells while it works: its words, its tools, its context and its cost.

import { tailOf } from '../../processes/streams.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentEvent, PriceBook, StreamProblem } from '../agent.ts';
import type { Activity, Note } from '../performer.ts';
import { openSessionUsage } from './usage.ts';

export interface Listening {
  /** The parameters of `session/update`. */
  update(params: unknown): readonly AgentEvent[];
  /** A permission that is asked for tells of a tool, too; some agents announce it in no other way. */
  permission(params: unknown): readonly AgentEvent[];
  /** From now on only this session counts: one of a subagent may speak on the same wire. */
  session(id: string): void;
  /** A tool is at work. */
  isBusy(): boolean;
  turnBegan(): void;
  /** What went wrong in a turn that says itself that it ended well: its words are the error then. */
  problem(): StreamProblem | undefined;
  /** No tool outlives its turn. */
  turnEnded(): readonly AgentEvent[];
  /** The last message of the last turn: the text after the last tool. */
  message(): string;
  /** Characters that the model made in this turn, thoughts included. */
  spokenChars(): number;
  /** The largest context that was stated in this turn. */
  usedTokens(): number;
}

const messageCharsMax = 1_000_000;
const toolCallChars = 100; // about what a model writes to call one

function listenToSession(): Listening {
  const message = lastMessage();
  const tools = watchTools(() => {
    message.begin();
    turn.spoken += toolCallChars;
  });
  let session: unknown;
  let turn = { spoken: 0, used: 0, hasFailed: false };

  const isOurs = (id: unknown): boolean => session === undefined || id === session;

  function said(chunk: Fields): readonly AgentEvent[] {
    const text = textOf(fieldsOf(chunk['content'])['text']);
    if (text === '') return [];
    turn.spoken += text.length;
    message.add(text, textOf(chunk['messageId']));
    return [{ type: 'text', text: text.slice(0, messageCharsMax) }];
  }

  function read(fields: Fields): readonly AgentEvent[] {
    switch (fields['sessionUpdate']) {
      case 'agent_message_chunk':
        return said(fields);
      case 'agent_thought_chunk':
        turn.spoken += textOf(fieldsOf(fields['content'])['text']).length;
        return [];
      case 'tool_call':
      case 'tool_call_update':
        return tools.tell(fields);
      case 'usage_update':
        turn.used = Math.max(turn.used, countOf(fields['used']));
        return contextAndCost(fields);
      case 'session_info_update':
        if (codexStatus(fields) !== '') turn.hasFailed = codexStatus(fields) === 'systemError';
        return [];
      default:
        return [];
    }
  }

  function update(params: unknown): readonly AgentEvent[] {
    const { sessionId, update: fields } = fieldsOf(params);
    if (!isOurs(sessionId)) return [];
    const heard = read(fieldsOf(fields));
    return heard.length > 0 && heard[0]?.type !== 'tool' ? [...tools.announceAll(), ...heard] : heard;
  }

  return {
    update,
    permission(params) {
      const { sessionId, toolCall } = fieldsOf(params);
      return isOurs(sessionId) ? [...tools.tell(fieldsOf(toolCall)), ...tools.announceAll()] : [];
    },
    isBusy: tools.isAtWork,
    session(id) {
      session = id;
    },
    turnBegan() {
      message.begin();
      turn = { spoken: 0, used: 0, hasFailed: false };
    },
    problem: () => (turn.hasFailed ? { text: message.text() } : undefined),
    turnEnded: tools.endAll,
    message: () => message.text(),
    spokenChars: () => turn.spoken,
    usedTokens: () => turn.used,
  };
}

interface LastMessage {
  begin(): void;
  add(text: string, id: string): void;
  text(): string;
}

/** A new name begins a new message; a piece without a name goes on with the one before. */
function lastMessage(): LastMessage {
  let tail = tailOf(messageCharsMax);
  let current = '';
  return {
    begin() {
      tail = tailOf(messageCharsMax);
      current = '';
    },
    add(text, id) {
      if (id !== '' && id !== current) {
        tail = tailOf(messageCharsMax);
        current = id;
      }
      tail.add(text);
    },
    text: () => tail.text(),
  };
}

/** codex-acp tells a rate limit as text and a good end; this status is the only mark of it. */
function codexStatus({ _meta }: Fields): string {
  return textOf(fieldsOf(fieldsOf(fieldsOf(_meta)['codex'])['threadStatus'])['type']);
}

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 } as const;

/** A cost in anything but dollars is none that we could count. */
function contextAndCost({ used, size, cost }: Fields): readonly AgentEvent[] {
  const usedTokens = countOf(used);
  const windowTokens = countOf(size) || undefined;
  const context: readonly AgentEvent[] = usedTokens === 0 ? [] : [{ type: 'context', usedTokens, windowTokens }];
  const { amount, currency } = fieldsOf(cost);
  return currency === 'USD' ? [...context, { type: 'usage', tokens: none, costUsd: amount }] : context;
}

// Turns what an ACP session lets us hear into the activities of a performer.

export interface SessionListener {
  update(params: unknown): void;
  permission(params: unknown): void;
  session(id: string, model: string | undefined): void;
  turnBegan(promptChars: number, notes: readonly Note[]): void;
  /** Says what went wrong although the turn ended well. */
  turnEnded(answer: unknown): StreamProblem | undefined;
  /** Ends a line that is still open, for whoever reads along. */
  lineEnd(): void;
  /** The text in which signals are read. */
  message(): string;
}

/** `busy` hears whether a tool is at work. */
export function openSessionListener(
  prices: PriceBook,
  tell: (activity: Activity) => void,
  busy: (isBusy: boolean) => void,
): SessionListener {
  const listening = listenToSession();
  const account = openSessionUsage(prices);
  let promptChars = 0;
  let wasBusy = false;
  let usedFraction = -1;
  let isLineOpen = false;

  function say(text: string): void {
    tell({ type: 'text', text, channel: 'output' });
    isLineOpen = !text.endsWith('\n');
  }

  function lineEnd(): void {
    if (isLineOpen) say('\n');
  }

  function hear(heard: AgentEvent): void {
    if (heard.type === 'text') say(heard.text);
    else if (heard.type === 'tool' && heard.phase === 'began') {
      lineEnd();
      tell({ type: 'tool', name: heard.name, detail: heard.detail });
    } else if (heard.type === 'context') {
      const now = account.usedFraction(heard);
      if (now !== usedFraction) tell({ type: 'context', usedFraction: now });
      usedFraction = now;
    } else if (heard.type === 'usage') tellUsage(account.cost(heard.costUsd));
  }

  function tellUsage(usage: ReturnType<typeof account.cost>): void {
    const { inputTokens = 0, outputTokens = 0, costUsdMicros = 0 } = usage ?? {};
    if (usage !== undefined && inputTokens + outputTokens + costUsdMicros > 0) tell({ type: 'usage', usage });
  }

  function hearAll(all: readonly AgentEvent[]): void {
    for (const heard of all) hear(heard);
    if (listening.isBusy() !== wasBusy) busy(!wasBusy);
    wasBusy = listening.isBusy();
  }

  return {
    update: params => hearAll(listening.update(params)),
    permission: params => hearAll(listening.permission(params)),
    session(id, model) {
      listening.session(id);
      account.model(model);
      tell({ type: 'session', id });
    },
    turnBegan(chars, notes) {
      promptChars = chars;
      listening.turnBegan();
      lineEnd();
      for (const note of notes) tell({ type: 'told', note: note.id });
    },
    turnEnded(answer) {
      hearAll(listening.turnEnded());
      const [spokenChars, usedTokens] = [listening.spokenChars(), listening.usedTokens()];
      tellUsage(account.turnEnded(answer, { promptChars, spokenChars, usedTokens }));
      return listening.problem();
    },
    lineEnd,
    message: () => listening.message(),
  };
}

// Follows the tools of an ACP session: each is told once, with what it does, and ends with its turn at the latest.

export interface Tools {
  /** A word about a tool: `tool_call`, `tool_call_update`, or the one in a request for permission. */
  tell(call: Fields): readonly AgentEvent[];
  /** Something else happened: no tool that is known waits any longer for a better description. */
  announceAll(): readonly AgentEvent[];
  endAll(): readonly AgentEvent[];
  isAtWork(): boolean;
}

interface Tool {
  readonly name: string;
  readonly detail: string;
  announced: boolean;
}

const detailCharsMax = 500;

/** `onNew` is called for every tool that was not known before. */
function watchTools(onNew: () => void): Tools {
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
    tell(call) {
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
    announceAll: () => [...open.values()].flatMap(announce),
    isAtWork: () => open.size > 0,
    endAll: () => [...open].flatMap(([id, tool]) => end(id, tool)),
  };
}
