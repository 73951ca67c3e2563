// Understands what an ACP session tells while it works: its words, its tools, its context and its cost.
import type { Heard, StreamProblem } from '../agent.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import { tailOf } from '../../processes/tail.ts';
import { watchTools } from './tools.ts';

export interface Listening {
  /** The parameters of `session/update`. */
  update(params: unknown): readonly Heard[];
  /** A permission that is asked for tells of a tool, too; some agents announce it in no other way. */
  permission(params: unknown): readonly Heard[];
  /** From now on only this session counts: one of a subagent may speak on the same wire. */
  session(id: string): void;
  /** A tool is at work. */
  isBusy(): boolean;
  turnBegan(): void;
  /** What went wrong in a turn that says itself that it ended well: its words are the error then. */
  problem(): StreamProblem | undefined;
  /** No tool outlives its turn. */
  turnEnded(): readonly Heard[];
  /** The last message of the last turn: the text after the last tool. */
  message(): string;
  /** Characters that the model made in this turn, thoughts included. */
  spokenChars(): number;
  /** The largest context that was stated in this turn. */
  usedTokens(): number;
}

const messageCharsMax = 1_000_000;
const toolCallChars = 100; // about what a model writes to call one

export function listenToSession(): Listening {
  const message = lastMessage();
  const tools = watchTools(() => {
    message.begin();
    turn.spoken += toolCallChars;
  });
  let session: unknown;
  let turn = { spoken: 0, used: 0, hasFailed: false };

  const isOurs = (id: unknown): boolean => session === undefined || id === session;

  function said(chunk: Fields): readonly Heard[] {
    const text = textOf(fieldsOf(chunk['content'])['text']);
    if (text === '') return [];
    turn.spoken += text.length;
    message.add(text, textOf(chunk['messageId']));
    return [{ type: 'text', text: text.slice(0, messageCharsMax) }];
  }

  function read(fields: Fields): readonly Heard[] {
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

  function update(params: unknown): readonly Heard[] {
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
function contextAndCost({ used, size, cost }: Fields): readonly Heard[] {
  const usedTokens = countOf(used);
  const windowTokens = countOf(size) || undefined;
  const context: readonly Heard[] = usedTokens === 0 ? [] : [{ type: 'context', usedTokens, windowTokens }];
  const { amount, currency } = fieldsOf(cost);
  return currency === 'USD' ? [...context, { type: 'usage', tokens: none, costUsd: amount }] : context;
}
