// A session with one ACP agent: opens it, prompts it, passes notes on, cancels.

import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { StreamProblem } from '../agent.ts';
import type { Note } from '../performer.ts';
import { type Agent, connect, type MessageStream, type Request } from './connection.ts';
import type { SessionListener } from './listener.ts';
import { isCancelled, problemOfError, problemOfStop } from './problems.ts';

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

export function startSession(order: SessionOrder): Session {
  const waiting: Note[] = [];
  let isStopping = false;
  let nudges = 0;
  let turn: Turn | undefined;

  /** What went wrong in the turn, if anything did. */
  async function work(current: Turn, texts: readonly string[]): Promise<StreamProblem | undefined> {
    turn = current;
    let answer: unknown;
    let problem: StreamProblem | undefined;
    try {
      answer = await prompt(current, texts);
    } finally {
      current.isOver = true;
      problem = order.listener.turnEnded(answer);
    }
    const { stopReason } = fieldsOf(answer);
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

  function note(given: Note): void {
    waiting.push(given);
    if (given.urgent === true) cancel(turn);
  }

  return {
    over: connect(order.stream, permit, workInTurns).catch(endOfError),
    note,
    nudge() {
      if (turn === undefined || turn.isOver || isStopping || nudges === nudgesMax) return false;
      nudges += 1;
      note(nudge);
      return true;
    },
    stop() {
      isStopping = true;
      return cancel(turn);
    },
  };
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
