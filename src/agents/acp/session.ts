// Connects to an ACP agent and opens a session: the only place that knows the official SDK, which is loaded when needed.
import type { Stream } from '@agentclientprotocol/sdk';
import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { ParseProblems } from '../stream.ts';

export interface MessageStream {
  readonly readable: ReadableStream<RpcMessage>;
  readonly writable: WritableStream<RpcMessage>;
}

/** What an agent says comes as unknown: agents state things that the stable protocol does not have. */
type Request = (method: string, params: unknown) => Promise<unknown>;

export interface Agent {
  readonly request: Request;
  readonly notify: Request;
}

export interface SessionOrder {
  readonly directory: string;
  readonly model?: string;
  onSession(id: string, model: string | undefined): void;
  onRemark(text: string): void;
}

const protocolVersion = 1;
const offersShownMax = 12;

/** The connection lasts as long as `use`. Every request of the agent but that for a permission is refused by the SDK. */
export async function connect<Result>(
  stream: MessageStream,
  permit: (params: Fields) => unknown,
  use: (agent: Agent) => Promise<Result>,
): Promise<Result> {
  const { client } = await import('@agentclientprotocol/sdk');
  const connection = client({ name: 'ralph' })
    .onRequest('session/request_permission', fieldsOf, ({ params }) => permit(params))
    .connect(stream as Stream);
  try {
    return await use({
      request: (method, params) => connection.agent.request(method, params),
      notify: (method, params) => connection.agent.notify(method, params),
    });
  } finally {
    connection.close();
  }
}

export async function openSession(order: SessionOrder, request: Request): Promise<string> {
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
  order.onSession(sessionId, chosen ?? modelOf(session));
  return sessionId;
}

/** In the form of an error of the wire, so that it goes the same way. */
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

interface Offer {
  readonly value: string;
  readonly name: string;
}

/** As an option of the session, perhaps in groups, or in the older form. */
function offersOf(session: Fields): readonly Offer[] {
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
const wishes: Readonly<Record<'allow' | 'deny' | 'cancel', readonly ((kind: string) => boolean)[]>> = {
  allow: [kind => kind === 'allow_once', kind => kind === 'allow_always', kind => !kind.startsWith('reject')],
  deny: [kind => kind === 'reject_once'],
  cancel: [],
};

export function permissionOutcome(params: Fields, policy: keyof typeof wishes): unknown {
  const options = listOf(params['options']).map(fieldsOf);
  const option = wishes[policy].flatMap(suits => options.filter(each => suits(textOf(each['kind']))))[0];
  const optionId = textOf(option?.['optionId']);
  return { outcome: optionId === '' ? { outcome: 'cancelled' } : { outcome: 'selected', optionId } };
}

// The wire to an ACP agent: cuts its output into JSON-RPC messages and drops what is none, so that nothing ends the talk.

interface RpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface ConnectionOrder {
  write(text: string): void;
  /** In the order of the output, and before any later answer is seen. */
  onUpdate(params: unknown): void;
  /** A line that is no message. */
  onNoise(line: string): void;
}

export interface Connection {
  /** Requests and answers only: the SDK complains on our own stderr about anything that it does not expect. */
  readonly readable: ReadableStream<RpcMessage>;
  readonly writable: WritableStream<RpcMessage>;
  push(text: string): void;
  /** The agent is gone: whoever waits for an answer learns it. */
  close(): void;
  readonly problems: Readonly<ParseProblems>;
}

const headChars = 300;
const longLineChars = 1_000_000; // the house's limit for a line; longer ones are read, but it is said when they are lost
const idPattern = /"id":\s*(\d{1,15}|"[^"\\]{1,100}")\s*[,}]/;

export function openConnection(order: ConnectionOrder): Connection {
  const awaited = new Set<unknown>();
  let incoming!: ReadableStreamDefaultController<RpcMessage>;
  let isClosing = false;
  let isClosed = false;
  const oddities: ParseProblems = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };

  function send(message: RpcMessage): void {
    order.write(`${JSON.stringify(message)}\n`);
  }

  function deliver(message: Omit<RpcMessage, 'jsonrpc'>): void {
    const { id, method } = message;
    if (method === undefined) {
      if (awaited.delete(id)) incoming.enqueue({ ...message, jsonrpc: '2.0' });
      else oddities.notUnderstood += 1;
    } else if (id !== undefined) incoming.enqueue({ ...message, jsonrpc: '2.0' });
    else if (method === 'session/update') order.onUpdate(message.params);
  }

  /** Half a message may still name the request that somebody waits for: that one ends as an error, not never. */
  function salvage(line: string): void {
    const head = line.slice(0, headChars).split(/"(?:params|result|error)":/)[0] ?? '';
    const found = idPattern.exec(head)?.[1];
    if (found === undefined) return;
    const id = JSON.parse(found) as string | number;
    const error = { code: -32_600, message: 'the message was too long or damaged' };
    if (head.includes('"method":')) send({ jsonrpc: '2.0', id, error });
    else if (awaited.delete(id)) incoming.enqueue({ jsonrpc: '2.0', id, error });
  }

  function take(line: string): void {
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (message !== undefined) return void deliver(message);
    oddities[line.length > longLineChars ? 'tooLong' : 'notUnderstood'] += 1;
    if (!line.trimStart().startsWith('{')) order.onNoise(line);
    else if (!isClosing) salvage(line);
  }

  const lines = splitLines(line => !isClosed && take(line));
  return {
    readable: new ReadableStream<RpcMessage>({
      start(controller) {
        incoming = controller;
      },
      cancel() {
        isClosed = true;
      },
    }),
    writable: new WritableStream<RpcMessage>({
      write(message) {
        if (message.method !== undefined && message.id !== undefined) awaited.add(message.id);
        send(message);
      },
    }),
    push: lines.push,
    close() {
      if (isClosed) return;
      isClosing = true;
      lines.end();
      isClosed = true;
      incoming.close();
    },
    problems: oddities,
  };
}

function splitLines(take: (line: string) => void): { push(text: string): void; end(): void } {
  const pieces: string[] = [];
  const end = (): void => take(pieces.splice(0).join(''));
  return {
    push(text) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        pieces.push(text.slice(from, at));
        end();
        from = at + 1;
      }
      if (from < text.length) pieces.push(text.slice(from));
    },
    end,
  };
}

function messageIn(line: string): Omit<RpcMessage, 'jsonrpc'> | undefined {
  try {
    const value: unknown = JSON.parse(line.trim()); // which takes a byte order mark away too
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    const { id, method } = value as { id?: unknown; method?: unknown };
    const hasId = typeof id === 'string' || typeof id === 'number';
    const hasMethod = typeof method === 'string';
    return (hasId || hasMethod) && (hasMethod || method === undefined) ? (value as RpcMessage) : undefined;
  } catch {
    return undefined;
  }
}
