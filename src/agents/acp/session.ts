// Connects to an ACP agent and opens a session: the only place that knows the official SDK, which is loaded when needed.
import type { Stream } from '@agentclientprotocol/sdk';
import { type Fields, fieldsOf, listOf, textOf } from '../../text/fields.ts';
import type { RpcMessage } from './wire.ts';

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
