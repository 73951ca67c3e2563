// Listens to an ACP session while it works: its words, its tools, its context and its cost become activities.

import type { Usage } from '../../core/event.ts';
import { tailOf } from '../../processes/streams.ts';
import { countOf, detailOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { AgentEvent, PriceBook, StreamProblem } from '../agent.ts';
import type { Note } from '../performer.ts';
import { gatherText, type Push } from '../process-run.ts';
import { messageCharsMax } from '../reader.ts';
import { noTokens } from '../usage.ts';
import { openSessionUsage } from './usage.ts';

export interface SessionListener {
  /** The parameters of `session/update`. */
  update(params: unknown): void;
  /** A permission that is asked for tells of a tool, too; some agents announce it in no other way. */
  permission(params: unknown): void;
  /** From now on only this session counts: one of a subagent may speak on the same connection. */
  session(id: string, model: string | undefined): void;
  turnBegan(promptChars: number, notes: readonly Note[]): void;
  /** `answer`: the result of `session/prompt`, undefined when none came. Says what went wrong although the turn ended well. */
  turnEnded(answer: unknown): StreamProblem | undefined;
  /** Ends a line that is still open, for whoever reads along. */
  endLine(): void;
  /** The text in which signals are read. */
  message(): string;
}

/** `busy` hears whether a tool is at work. */
export function openSessionListener(prices: PriceBook, push: Push, busy: (isBusy: boolean) => void): SessionListener {
  const updates = openUpdateReader();
  const usage = openSessionUsage(prices);
  const text = gatherText(push);
  let promptChars = 0;
  let wasBusy = false;
  let usedFraction = -1;

  function onEvent(event: AgentEvent): void {
    if (event.type === 'text') {
      text.add(event.text);
      text.flush();
    } else if (event.type === 'tool' && event.phase === 'began') {
      text.endLine();
      push({ type: 'tool', name: event.name, detail: event.detail });
    } else if (event.type === 'context') {
      const now = usage.usedFraction(event);
      if (now !== usedFraction) push({ type: 'context', usedFraction: now });
      usedFraction = now;
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
    update: params => onEvents(updates.read(params)),
    permission: params => onEvents(updates.readPermission(params)),
    session(id, model) {
      updates.session(id);
      usage.model(model);
      push({ type: 'session', id });
    },
    turnBegan(chars, notes) {
      promptChars = chars;
      updates.turnBegan();
      text.endLine();
      for (const note of notes) push({ type: 'told', note: note.id });
    },
    turnEnded(answer) {
      onEvents(updates.endTools());
      const { spokenChars, usedTokens, hasFailed } = updates.turn();
      report(usage.turnEnded(answer, { promptChars, spokenChars, usedTokens }));
      return hasFailed ? { text: updates.message() } : undefined;
    },
    endLine: text.endLine,
    message: updates.message,
  };
}

const toolCallChars = 100; // about what a model writes to call one
const newTurn = { spokenChars: 0, usedTokens: 0, hasFailed: false };

/** Makes events of the updates of a session. */
function openUpdateReader() {
  const message = lastMessage();
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
    turnBegan(): void {
      message.begin();
      turn = { ...newTurn };
    },
    /** What the model made in this turn, thoughts included, the largest context, and whether its words are an error. */
    turn: () => turn,
    /** The last message of the last turn: the text after the last tool. */
    message: message.text,
  };
}

/** A new id begins a new message; a piece without an id goes on with the one before. */
function lastMessage() {
  let tail = tailOf(messageCharsMax);
  let current = '';
  function begin(id = ''): void {
    tail = tailOf(messageCharsMax);
    current = id;
  }
  return {
    begin: () => begin(),
    add(text: string, id: string): void {
      if (id !== '' && id !== current) begin(id);
      tail.add(text);
    },
    text: () => tail.text(),
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
