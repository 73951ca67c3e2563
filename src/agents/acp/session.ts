// A session with one ACP agent: opens it, prompts it, passes notes on, cancels, and names what went wrong.

import type { FailureKind } from '../../core/failure.ts';
import { countOf, type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { StreamProblem } from '../agent.ts';
import { isStatus } from '../failures.ts';
import type { Note } from '../performer.ts';
import { type Agent, connect, type MessageStream, type Request } from './connection.ts';
import type { SessionListener } from './listener.ts';

export interface SessionOrder {
  readonly directory: string;
  readonly model?: string;
  onRemark(text: string): void;
  readonly stream: MessageStream;
  readonly prompt: string;
  readonly permission: 'allow' | 'deny';
  readonly listener: Pick<SessionListener, 'session' | 'permission' | 'turnBegan' | 'turnEnded'>;
}

/** How it went; `lost` when the agent was gone before it had answered. */
export type SessionEnd =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly problem: StreamProblem }
  | { readonly type: 'lost' };

export type Session = ReturnType<typeof startSession>;

const nudgesMax = 3;
const nudge: Note = {
  id: 'nudge',
  text:
    'You were silent for so long that your turn was broken off. Go on with the work in smaller steps; if it is finished, ' +
    'write your final message now; if something keeps you from it, say what it is.',
  urgent: true,
};

/** One prompt and the work on it. */
interface Turn extends Agent {
  readonly sessionId: string;
  isCancelled: boolean;
  isOver: boolean;
}

/** False when there is none at work. */
function cancel(turn: Turn | undefined): boolean {
  if (turn === undefined || turn.isOver) return false;
  turn.isCancelled = true;
  void turn.notify('session/cancel', { sessionId: turn.sessionId }).catch(() => {});
  return true;
}

export function startSession(order: SessionOrder) {
  const waiting: Note[] = [];
  let isStopping = false;
  let nudges = 0;
  let turn: Turn | undefined;

  /** What went wrong in the turn, if anything did. */
  async function work(current: Turn, texts: readonly string[]): Promise<StreamProblem | undefined> {
    turn = current;
    const { stopReason, problem } = await runTurn(current, texts, order.listener);
    const wasInterrupted = stopReason === 'cancelled' && waiting.some(each => each.urgent === true);
    return wasInterrupted ? undefined : (problemOfStop(stopReason) ?? problem);
  }

  async function workInTurns(agent: Agent): Promise<SessionEnd> {
    const sessionId = await openSession(order, agent.request);
    for (let texts = [order.prompt]; ; texts = []) {
      const notes = waiting.splice(0);
      texts.push(...notes.map(each => each.text));
      const given = notes.filter(each => each !== nudge);
      order.listener.turnBegan(texts.join('').length, given);
      const problem = await work({ ...agent, sessionId, isCancelled: false, isOver: false }, texts);
      if (problem !== undefined) return { type: 'failed', problem };
      if (isStopping || waiting.length === 0) return { type: 'answered' };
    }
  }

  function permit(params: Fields): unknown {
    order.listener.permission(params);
    return permissionOutcome(params, turn?.isCancelled === true ? 'cancel' : order.permission);
  }

  /** An urgent note cancels the turn at work; every other waits for its end. */
  function note(given: Note): void {
    waiting.push(given);
    if (given.urgent === true) cancel(turn);
  }

  return {
    /** Never rejects. */
    over: connect(order.stream, permit, workInTurns).catch(endOfError),
    note,
    /** Wakes a turn that says nothing: false when there is none. */
    nudge(): boolean {
      if (turn === undefined || turn.isOver || isStopping || nudges === nudgesMax) return false;
      nudges += 1;
      note(nudge);
      return true;
    },
    /** No turn begins any more, and the one at work is cancelled: false when there is none. */
    stop(): boolean {
      isStopping = true;
      return cancel(turn);
    },
  };
}

async function runTurn(turn: Turn, texts: readonly string[], listener: SessionOrder['listener']) {
  let answer: unknown;
  let problem: StreamProblem | undefined;
  try {
    answer = await prompt(turn, texts);
  } finally {
    turn.isOver = true;
    problem = listener.turnEnded(answer);
  }
  return { stopReason: fieldsOf(answer)['stopReason'], problem };
}

/** A cancelled prompt that is answered with an error has been answered as well. */
async function prompt(turn: Turn, texts: readonly string[]): Promise<unknown> {
  const { request, sessionId } = turn;
  try {
    return await request('session/prompt', { sessionId, prompt: texts.map(text => ({ type: 'text', text })) });
  } catch (error) {
    if (isCancelled(error, turn.isCancelled)) return { stopReason: 'cancelled' };
    throw error;
  }
}

function endOfError(error: unknown): SessionEnd {
  const problem = problemOfError(error);
  return problem === undefined ? { type: 'lost' } : { type: 'failed', problem };
}

// Opening: the agent's version, its session, and the model that it is to use.

const protocolVersion = 1;
const offersShownMax = 12;

async function openSession(order: SessionOrder, request: Request): Promise<string> {
  const greeting = fieldsOf(
    await request('initialize', {
      protocolVersion,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
    }),
  );
  if (greeting['protocolVersion'] !== protocolVersion)
    throw refused(`it speaks version ${String(greeting['protocolVersion'])} of ACP, Ralph speaks ${protocolVersion}`);
  const session = fieldsOf(await request('session/new', { cwd: order.directory, mcpServers: [] }));
  const sessionId = textOf(session['sessionId']);
  if (sessionId === '') throw refused('it opened a session without an id');
  const chosen = order.model === undefined ? undefined : await chooseModel(order, request, session, sessionId);
  order.listener.session(sessionId, chosen ?? modelOf(session));
  return sessionId;
}

/** In the form of an error of the protocol, so that it goes the same way. */
function refused(message: string): Error & { readonly code: number } {
  return Object.assign(new Error(message), { code: -32_600 });
}

function modelOption(session: Fields): Fields | undefined {
  const options = listOf(session['configOptions']).map(fieldsOf);
  return options.find(({ category }) => category === 'model') ?? options.find(({ id }) => id === 'model');
}

function modelOf(session: Fields): string | undefined {
  return (
    textOf(modelOption(session)?.['currentValue']) || textOf(fieldsOf(session['models'])['currentModelId']) || undefined
  );
}

/** As an option of the session, perhaps in groups, or in the older form. */
function offersOf(session: Fields): readonly { readonly value: string; readonly name: string }[] {
  const options = listOf(modelOption(session)?.['options']).map(fieldsOf);
  const flat = options.flatMap(each => ('options' in each ? listOf(each['options']).map(fieldsOf) : [each]));
  const older = listOf(fieldsOf(session['models'])['availableModels']).map(fieldsOf);
  return [...flat, ...older]
    .map(each => ({ value: textOf(each['value']) || textOf(each['modelId']), name: textOf(each['name']) }))
    .filter(each => each.value !== '');
}

/** Undefined when the agent does not let us choose. One that is not offered is tried all the same: lists lag behind. */
async function chooseModel(order: SessionOrder, request: Request, session: Fields, sessionId: string) {
  const wanted = order.model ?? '';
  const offers = offersOf(session);
  const model =
    (offers.find(each => each.value === wanted) ?? offers.find(each => each.name === wanted))?.value ?? wanted;
  const option = modelOption(session);
  try {
    if (option !== undefined)
      await request('session/set_config_option', { sessionId, configId: option['id'], value: model });
    else if (session['models'] !== undefined && session['models'] !== null)
      await request('session/set_model', { sessionId, modelId: model });
    else {
      order.onRemark(`its model cannot be chosen through ACP: it works with its own choice, not with ${model}`);
      return undefined;
    }
  } catch (error) {
    const { code, message } = fieldsOf(error);
    if (typeof code !== 'number') throw error;
    const offered = offers.map(each => each.value).slice(0, offersShownMax);
    const hint = offered.length === 0 ? '' : `; it offers ${offered.join(', ')}`;
    const data = { errorKind: 'model_not_found' };
    throw Object.assign(new Error(`it refuses the model ${model}: ${textOf(message)}${hint}`), { code, data });
  }
  return model;
}

/**
 * Once rather than for ever, which outlives this iteration in some agents; a kind that we do not know is allowed when it is
 * at least no refusal. A cancelled turn must get no other answer.
 */
const permissionChoices: Readonly<Record<'allow' | 'deny' | 'cancel', readonly ((kind: string) => boolean)[]>> = {
  allow: [kind => kind === 'allow_once', kind => kind === 'allow_always', kind => !kind.startsWith('reject')],
  deny: [kind => kind === 'reject_once'],
  cancel: [],
};

function permissionOutcome(params: Fields, policy: keyof typeof permissionChoices): unknown {
  const options = listOf(params['options']).map(fieldsOf);
  const option = permissionChoices[policy].flatMap(suits => options.filter(each => suits(textOf(each['kind']))))[0];
  const optionId = textOf(option?.['optionId']);
  return { outcome: optionId === '' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
}

// Problems: named by the class that the agent states, by a status, and by its words last.

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
  return { text: wordsOf(message, data, more), kind, status, resetAtMs: resetIn(more) };
}

function kindIn({ errorKind, codexErrorInfo }: Fields): FailureKind | undefined {
  const name = textOf(errorKind) || textOf(codexErrorInfo);
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

function nestedStatus({ codexErrorInfo }: Fields): unknown {
  return fieldsOf(Object.values(fieldsOf(codexErrorInfo))[0])['httpStatusCode'];
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
