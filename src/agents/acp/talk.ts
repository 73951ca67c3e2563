// Holds the conversation with one ACP agent: opens a session, prompts it, passes notes on, cancels.
import type { StreamProblem } from '../agent.ts';
import type { Note } from '../performer.ts';
import { type Fields, fieldsOf } from '../../text/fields.ts';
import { isCancelled, problemOfError, problemOfStop } from './problem.ts';
import {
  type Agent,
  connect,
  type MessageStream,
  openSession,
  permissionOutcome,
  type SessionOrder,
} from './session.ts';

export interface TalkOrder extends SessionOrder {
  readonly stream: MessageStream;
  readonly prompt: string;
  readonly permission: 'allow' | 'deny';
  onPermission(params: unknown): void;
  onTurnBegan(promptChars: number, notes: readonly Note[]): void;
  /** The result of `session/prompt`, undefined when none came. Says what went wrong although the turn ended well. */
  onTurnEnded(answer: unknown): StreamProblem | undefined;
}

/** How it went; `lost` when the agent was gone before it had answered. */
export type TalkEnd =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly problem: StreamProblem }
  | { readonly type: 'lost' };

export interface Talk {
  /** Never rejects. */
  readonly over: Promise<TalkEnd>;
  /** An urgent note cancels the turn at work; every other waits for its end. */
  note(note: Note): void;
  /** Wakes a turn that says nothing: false when there is none. */
  nudge(): boolean;
  /** No turn begins any more, and the one at work is cancelled: false when there is none. */
  stop(): boolean;
}

const nudgesMax = 3; // seed 000
const nudge: Note = {
  id: 'nudge',
  text:
    'You were silent for so long that your turn was broken off. Go on with the work in smaller steps; if it is finished, ' +
    'write your final message now; if something keeps you from it, say what it is.',
  urgent: true,
};

export function beginTalk(order: TalkOrder): Talk {
  const waiting: Note[] = [];
  let isStopping = false;
  let isCancelling = false;
  let nudges = 0;
  let cancelTurn: (() => void) | undefined;

  /** What went wrong in it, if anything did. */
  async function turn(
    { request, notify }: Agent,
    sessionId: string,
    texts: readonly string[],
  ): Promise<StreamProblem | undefined> {
    isCancelling = false;
    cancelTurn = () => {
      isCancelling = true;
      void notify('session/cancel', { sessionId }).catch(() => {});
    };
    let answer: unknown;
    let problem: StreamProblem | undefined;
    try {
      answer = await prompt(request, sessionId, texts, () => isCancelling);
    } finally {
      cancelTurn = undefined;
      problem = order.onTurnEnded(answer);
    }
    const { stopReason } = fieldsOf(answer);
    const brokenOff = stopReason === 'cancelled' && waiting.some(each => each.urgent === true);
    return brokenOff ? undefined : (problemOfStop(stopReason) ?? problem);
  }

  async function converse(agent: Agent): Promise<TalkEnd> {
    const sessionId = await openSession(order, agent.request);
    for (let texts = [order.prompt]; ; texts = []) {
      const notes = waiting.splice(0);
      texts.push(...notes.map(each => each.text));
      const given = notes.filter(each => each !== nudge);
      order.onTurnBegan(texts.join('').length, given);
      const problem = await turn(agent, sessionId, texts);
      if (problem !== undefined) return { type: 'failed', problem };
      if (isStopping || waiting.length === 0) return { type: 'answered' };
    }
  }

  function permit(params: Fields): unknown {
    order.onPermission(params);
    return permissionOutcome(params, isCancelling ? 'cancel' : order.permission);
  }

  function note(given: Note): void {
    waiting.push(given);
    if (given.urgent === true) cancelTurn?.();
  }

  return {
    over: connect(order.stream, permit, converse).catch(endOfError),
    note,
    nudge() {
      if (cancelTurn === undefined || isStopping || nudges === nudgesMax) return false;
      nudges += 1;
      note(nudge);
      return true;
    },
    stop() {
      isStopping = true;
      cancelTurn?.();
      return cancelTurn !== undefined;
    },
  };
}

/** A cancelled prompt that is answered with an error has been answered as well. */
async function prompt(
  request: Agent['request'],
  sessionId: string,
  texts: readonly string[],
  weCancelled: () => boolean,
): Promise<unknown> {
  try {
    return await request('session/prompt', { sessionId, prompt: texts.map(text => ({ type: 'text', text })) });
  } catch (error) {
    if (isCancelled(error, weCancelled())) return { stopReason: 'cancelled' };
    throw error;
  }
}

function endOfError(error: unknown): TalkEnd {
  const problem = problemOfError(error);
  return problem === undefined ? { type: 'lost' } : { type: 'failed', problem };
}
