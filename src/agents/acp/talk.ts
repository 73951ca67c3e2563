// Holds the conversation with one ACP agent: opens a session, prompts it, passes notes on, cancels.

import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, textOf } from '../../text/fields.ts';
import type { StreamProblem } from '../agent.ts';
import type { Note } from '../performer.ts';
import {
  type Agent,
  connect,
  type MessageStream,
  openSession,
  permissionOutcome,
  type SessionOrder,
} from './session.ts';

export interface SessionOrder2 extends SessionOrder {
  readonly stream: MessageStream;
  readonly prompt: string;
  readonly permission: 'allow' | 'deny';
  onPermission(params: unknown): void;
  onTurnBegan(promptChars: number, notes: readonly Note[]): void;
  /** The result of `session/prompt`, undefined when none came. Says what went wrong although the turn ended well. */
  onTurnEnded(answer: unknown): StreamProblem | undefined;
}

/** How it went; `lost` when the agent was gone before it had answered. */
export type SessionEnd =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly problem: StreamProblem }
  | { readonly type: 'lost' };

export interface Session {
  /** Never rejects. */
  readonly over: Promise<SessionEnd>;
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

export function startSession(order: SessionOrder2): Session {
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

  async function converse(agent: Agent): Promise<SessionEnd> {
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

function endOfError(error: unknown): SessionEnd {
  const problem = problemOfError(error);
  return problem === undefined ? { type: 'lost' } : { type: 'failed', problem };
}

// Says what went wrong in an ACP session: by the class that the agent names, by a status, and by its words last.

/** `data.errorKind` of claude-agent-acp and `data.codexErrorInfo` of codex-acp. */
const kinds: Readonly<Record<string, FailureKind>> = {
  rate_limit: 'rate-limit',
  usage_limit_reached: 'rate-limit',
  rateLimitExceeded: 'rate-limit',
  usageLimitExceeded: 'rate-limit',
  overloaded: 'overloaded',
  serverOverloaded: 'overloaded',
  authentication_failed: 'auth',
  oauth_org_not_allowed: 'auth',
  verification_required: 'auth',
  cloud_credential_error: 'auth',
  unauthorized: 'auth',
  billing_error: 'billing',
  account_on_hold: 'billing',
  model_not_found: 'model',
  max_output_tokens: 'context-too-long',
  prompt_too_long: 'context-too-long',
  contextWindowExceeded: 'context-too-long',
  server_error: 'connection',
  transport_lost: 'connection',
  internalServerError: 'connection',
};

/** `end_turn` is the only good one. A turn out of tokens needs a fresh context, and that is what this kind brings. */
const stops: Readonly<Record<string, StreamProblem>> = {
  max_tokens: { kind: 'context-too-long', text: 'it ran out of tokens in its turn' },
  max_turn_requests: { kind: 'unknown', text: 'it reached its own limit of requests in one turn' },
  refusal: { kind: 'unknown', text: 'the model refused to go on' },
  cancelled: { kind: 'unknown', text: 'it cancelled its turn by itself' },
};

function problemOfStop(stopReason: unknown): StreamProblem | undefined {
  if (stopReason === 'end_turn') return undefined;
  const reason = textOf(stopReason) || 'no reason';
  return Object.hasOwn(stops, reason) ? stops[reason] : { text: `its turn stopped for ${reason}` };
}

const authRequired = -32_000;
const requestCancelled = -32_800;
const textCharsMax = 2_000;

/** Some answer a cancelled prompt with an error instead of a stop reason, and not all with the one that is meant for it. */
function isCancelled(error: unknown, weCancelled: boolean): boolean {
  const { code } = fieldsOf(error);
  return code === requestCancelled || (weCancelled && typeof code === 'number');
}

/** `error` is what a request was rejected with. Without a code it did not come from the agent: undefined. */
function problemOfError(error: unknown): StreamProblem | undefined {
  const { code, message, data } = fieldsOf(error);
  if (typeof code !== 'number') return undefined;
  const more = fieldsOf(data);
  const kind = code === authRequired ? 'auth' : kindIn(more);
  const status = [code, more['status'], more['statusCode'], more['httpStatusCode'], nestedStatus(more)].find(isStatus);
  const resetAtMs = resetIn(more);
  return {
    text: wordsOf(message, data, more),
    kind,
    status,
    resetAtMs,
  };
}

function kindIn({ errorKind, codexErrorInfo }: Fields): FailureKind | undefined {
  const name = textOf(errorKind) || textOf(codexErrorInfo);
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

function nestedStatus({ codexErrorInfo }: Fields): unknown {
  return fieldsOf(Object.values(fieldsOf(codexErrorInfo))[0])['httpStatusCode'];
}

function isStatus(value: unknown): value is number {
  return typeof value === 'number' && value >= 400 && value <= 599;
}

/** Seconds since 1970 are told from milliseconds by their size. */
function resetIn({ resetsAt, resetAt }: Fields): number | undefined {
  const at = countOf(resetsAt) || countOf(resetAt);
  if (at === 0) return undefined;
  return at < 100_000_000_000 ? at * 1_000 : at;
}

/** One line: only the last one of a text is read for its meaning. */
function wordsOf(message: unknown, data: unknown, { message: inner, details }: Fields): string {
  const first = textOf(message) || 'an error without words';
  const second = textOf(data) || textOf(inner) || textOf(details);
  const all = first.includes(second) ? first : `${first}: ${second}`;
  return all.replace(/\s+/g, ' ').slice(0, textCharsMax);
}
