// One call of a tool of an MCP server: agree on the protocol, find the tool, check the parameters, record the intent, call,
// and read the answer or say what its absence means.

import { Script } from 'node:vm';
import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client';
import { classifyFailure, type Failure } from '../../core/failure.ts';
import { timerMsMax } from '../../processes/timers.ts';
import { fieldsOf, isFields, textOf } from '../../text/fields.ts';
import { oneLine, stripControls, takeCharacters } from '../../text/text.ts';
import type { Connection, Interruption } from './connection.ts';

export interface CallOrder {
  readonly connection: Connection;
  readonly tool: string;
  readonly params: Params;
  readonly key?: string;
  /** Of the tools that a person declared idempotent. */
  readonly isDeclaredIdempotent: boolean;
  intend(repeatable: boolean): Promise<boolean>;
  /** Aborted with an `Interruption` as its reason. */
  readonly interrupted: AbortSignal;
  /** The call is about to leave. */
  onCall(): void;
  onProgress(text: string): void;
  /** The stream ended without the answer that we wait for. */
  onStreamEnd(): void;
}

export interface Outcome {
  readonly message: string;
  readonly failure?: Failure;
}

/** How far a call has come. */
interface Call {
  /** It has left us, or may have. */
  isSent: boolean;
  isRepeatable: boolean;
}

const forever = timerMsMax; // our own clock ends a call; the SDK's would end every request after a minute
const toolsNamedMax = 10;

/** Never throws. */
export async function callTool(order: CallOrder): Promise<Outcome> {
  const call: Call = { isSent: false, isRepeatable: false };
  try {
    return await connectAndCall(order, call);
  } catch (error) {
    const interruption = order.interrupted.aborted ? (order.interrupted.reason as Interruption) : undefined;
    return { message: '', failure: failureOf(error, interruption, call) };
  }
}

async function connectAndCall(order: CallOrder, call: Call): Promise<Outcome> {
  const client = await untilAborted(connect(order, call), order.interrupted);
  const tools =
    client.getServerCapabilities()?.tools === undefined ? [] : await untilAborted(listTools(client), order.interrupted);
  const tool = tools.find(each => each.name === order.tool);
  if (tool === undefined) return invalid(`there is no tool ${order.tool}; ${namesOf(tools)}`);
  const judge = await loadJudge();
  const given = argumentsFor(tool, order.params, order.key, judge);
  if ('problem' in given) return invalid(`the parameters do not fit the tool ${tool.name}: ${given.problem}`);
  const { idempotentHint, readOnlyHint } = tool.annotations ?? {};
  call.isRepeatable = given.hasKey || order.isDeclaredIdempotent || idempotentHint === true || readOnlyHint === true;
  if (!(await order.intend(call.isRepeatable)))
    return { message: '', failure: { kind: 'stopped', detail: 'it was called off before the call' } };
  order.interrupted.throwIfAborted();
  order.onCall();
  const result = await untilAborted(send(client, tool, given.params, order), order.interrupted);
  return outcomeOf(result, tool, call, judge);
}

/** Servers of the protocol's next generation refuse the handshake of this one: only then they get the other. */
async function connect(order: CallOrder, call: Call): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client');
  const open = async (mode: 'legacy' | 'auto'): Promise<Client> => {
    const client = new Client(
      { name: 'ralph', version: '1' },
      { capabilities: {}, versionNegotiation: { mode }, inputRequired: { autoFulfill: false } },
    );
    const transport = noteSending(await order.connection.transport(), order, call);
    await client.connect(transport, { signal: order.interrupted, timeout: forever });
    return client;
  };
  try {
    return await open('legacy');
  } catch (error) {
    if (order.interrupted.aborted || !refusesHandshake(error)) throw error;
    return await open('auto');
  }
}

function refusesHandshake(error: unknown): boolean {
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown };
  return typeof code === 'number' || status === 400;
}

/** Notes the moment in which the call leaves us: from then on it may have happened. */
function noteSending(transport: Transport, order: CallOrder, call: Call): Transport {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    const isCall = 'method' in message && message.method === 'tools/call';
    if (isCall) call.isSent = true;
    return send(message, isCall ? { ...options, onRequestStreamEnd: order.onStreamEnd } : options);
  };
  return transport;
}

async function listTools(client: Client): Promise<readonly Tool[]> {
  return (await client.listTools(undefined, { timeout: forever })).tools;
}

/**
 * Its output schema is taken away from the SDK, which would refuse a call whose answer it could not check, and throw the
 * same class for an answer of the server's and a check of its own. Given a definition, it also never sends a call twice.
 */
function send(client: Client, tool: Tool, params: Params, order: CallOrder): Promise<CallToolResult> {
  const { outputSchema: _, ...toolDefinition } = tool;
  return client.callTool(
    {
      name: tool.name,
      arguments: { ...params },
      _meta: order.key === undefined ? undefined : { 'ralph/idempotency-key': order.key },
    },
    {
      toolDefinition,
      signal: order.interrupted,
      timeout: forever,
      onprogress: ({ message }) => void (message !== undefined && order.onProgress(message)),
    },
  );
}

function outcomeOf(result: CallToolResult, tool: Tool, call: Call, judge: Judge): Outcome {
  const message = wordsOf(result);
  if (result.isError === true && saysBadOutput(message))
    return { message, failure: unreadable(`the server refused its tool's own answer: ${shortened(message)}`, call) };
  if (result.isError === true)
    return { message, failure: { kind: 'refused', detail: shortened(message) || 'the tool says that it failed' } };
  const problem = outputProblem(result, tool, judge);
  if (problem === undefined) return { message };
  return { message, failure: unreadable(`the answer breaks the tool's own schema (${problem})`, call) };
}

function outputProblem({ structuredContent }: CallToolResult, tool: Tool, judge: Judge): string | undefined {
  if (tool.outputSchema === undefined) return undefined;
  if (structuredContent === undefined) return 'no structured content';
  try {
    return judge(tool.outputSchema, structuredContent);
  } catch {
    return undefined; // a schema that is wrong itself proves nothing against the answer
  }
}

function namesOf(tools: readonly Tool[]): string {
  const names = tools.slice(0, toolsNamedMax).map(each => each.name);
  const more = tools.length > names.length ? ` and ${tools.length - names.length} more` : '';
  return names.length === 0 ? 'the server has none' : shortened(`the server has ${names.join(', ')}${more}`);
}

const invalid = (detail: string): Outcome => ({ message: '', failure: { kind: 'invalid', detail: shortened(detail) } });

function untilAborted<Value>(work: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(signal.reason);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
}

// What a call that failed means: above all whether the effect may have happened although no answer came (F62).

interface Judged {
  readonly failure: Failure;
  /** The server said, or it is plain, that nothing was done. */
  readonly isUndone?: boolean;
}

const detailCharsMax = 1_000;
/** Of JSON-RPC: parse error, invalid request, method not found. */
const refusedCodes = [-32_700, -32_600, -32_601];
const invalidParams = -32_602;
const neverConnected = [
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'UND_ERR_CONNECT_TIMEOUT',
];

export function failureOf(error: unknown, interruption: Interruption | undefined, call: Call): Failure {
  const { failure, isUndone } = interruption === undefined ? ofError(error) : ofInterruption(interruption, call);
  if (!call.isSent || call.isRepeatable || isUndone === true) return failure;
  const detail = `the call was sent, but no good answer came (${failure.detail}): it may have happened`;
  return { kind: 'lost-reply', detail };
}

/** For an answer that came and is none: the tool has run, so only what may run twice may run again. */
function unreadable(detail: string, { isRepeatable }: Call): Failure {
  return isRepeatable ? { kind: 'refused', detail } : { kind: 'lost-reply', detail: `${detail}; the tool has run` };
}

/** The words by which the official servers say that the tool ran, but that its answer breaks its own schema. */
const saysBadOutput = (text: string): boolean => /output validation error/i.test(text.slice(0, detailCharsMax));

/** The same servers give the code for wrong parameters to wrong results too: only their words tell which. */
const saysBadInput = (text: string): boolean => /input|argument|param/i.test(text) && !/output|result/i.test(text);

/** It stands in the middle of sentences. */
const shortened = (text: string): string => oneLine(text, detailCharsMax);

function ofInterruption(reason: Interruption, { isSent }: Call): Judged {
  if (reason.why === 'stop')
    return { failure: { kind: 'stopped', detail: `stopped ${isSent ? 'during' : 'before'} the call` } };
  if (reason.why === 'time') {
    const detail = `no ${isSent ? 'answer' : 'start of the call'} in ${reason.timeMs / 1_000} s`;
    return { failure: { kind: 'timeout', detail } };
  }
  if (reason.why === 'unreadable') return { failure: { kind: 'process', detail: reason.detail } };
  const { kind, detail, exitCode } = reason;
  return { failure: { kind, detail, exitCode } };
}

function ofError(error: unknown): Judged {
  const { code, status, message, cause } = fieldsOf(error);
  const said = shortened(textOf(message));
  if (typeof status === 'number') return ofStatus(status, said);
  if (typeof code === 'number') return ofAnswer(code, said);
  if (code === 'UNSUPPORTED_RESULT_TYPE')
    return {
      failure: { kind: 'refused', detail: 'the tool asks for input that nobody can give here' },
      isUndone: true,
    };
  const causeCode = textOf(fieldsOf(cause)['code']);
  const detail = causeCode === '' ? said || 'the connection broke' : `${said}: ${causeCode}`;
  return { failure: { kind: 'connection', detail }, isUndone: neverConnected.includes(causeCode) };
}

function ofStatus(status: number, said: string): Judged {
  const { kind } = classifyFailure({ status, text: '' });
  const detail = `the server answered HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  return { failure: { kind: kind === 'unknown' ? 'refused' : kind, detail }, isUndone: status < 500 };
}

function ofAnswer(code: number, said: string): Judged {
  const isRefused = refusedCodes.includes(code) || (code === invalidParams && saysBadInput(said));
  const detail = `the server answered with error ${code}: ${said}`;
  return { failure: { kind: isRefused ? 'invalid' : 'refused', detail }, isUndone: isRefused };
}

// What a tool's answer says as text: bounded and clean, so that 10 MB of it break neither the memory nor the ledger (F63).

const messageCharsMax = 100_000;

function wordsOf(result: CallToolResult): string {
  const pieces: string[] = [];
  let chars = 0;
  for (const block of result.content) {
    if (chars >= messageCharsMax) break;
    const piece = blockText(block);
    chars += piece.length;
    pieces.push(piece.slice(0, messageCharsMax + 1)); // one more, so that the cut is seen
  }
  if (pieces.length === 0 && result.structuredContent !== undefined)
    pieces.push(JSON.stringify(result.structuredContent) ?? '');
  return cut(stripControls(cut(pieces.join('\n'))));
}

function blockText(block: CallToolResult['content'][number]): string {
  if (block.type === 'text') return block.text;
  if (block.type === 'resource_link') return `[${block.uri}]`;
  if (block.type !== 'resource') return `[${block.type}: ${block.mimeType}]`;
  return textOf(fieldsOf(block.resource)['text']) || `[${block.resource.uri}]`;
}

function cut(text: string): string {
  if (text.length <= messageCharsMax) return text;
  const marker = '\n[… cut]';
  return takeCharacters(text, messageCharsMax - marker.length) + marker;
}

// Checks a plan's parameters against the tool's own schema before anything leaves us, and gives the tool our key.

type Params = Readonly<Record<string, unknown>>;

/** Undefined when the value is right. Throws when the schema itself is wrong. */
type Judge = (schema: object, value: unknown) => string | undefined;

export type Arguments =
  /** `hasKey`: the tool gets our key, so doing it twice is as good as once. */
  { readonly params: Params; readonly hasKey: boolean } | { readonly problem: string };

const keyNames = ['idempotency_key', 'idempotencyKey'];
const problemCharsMax = 1_000;
const schemaCharsMax = 256 * 1_024;
const judgeMsMax = 2_000;

/** The SDK brings its validator (Ajv with formats) along. */
export async function loadJudge(timeMsMax = judgeMsMax): Promise<Judge> {
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/client/validators/ajv');
  const validator = new AjvJsonSchemaValidator();
  return (schema, value) => {
    const compiled = (): ReturnType<typeof validator.getValidator> =>
      validator.getValidator(schema as Parameters<typeof validator.getValidator>[0]);
    const verdict = within(timeMsMax, () => compiled()(value));
    if (verdict === undefined) return `the schema takes longer than ${timeMsMax / 1_000} s to check`;
    return verdict.valid ? undefined : takeCharacters(verdict.errorMessage, problemCharsMax);
  };
}

/**
 * Undefined when it takes too long: a schema is the server's own text, and one pattern in it can take for ever. Only V8 itself
 * can break off a pattern that it is matching, and it does so for scripts.
 */
function within<Value>(timeMsMax: number, work: () => Value): Value | undefined {
  try {
    return new Script('work()').runInNewContext({ work }, { timeout: timeMsMax }) as Value;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  }
}

/** Of either schema, before anything leaves us: undefined when both can be used. */
function schemaProblem({ inputSchema, outputSchema }: Tool): string | undefined {
  const isTooLarge = [inputSchema, outputSchema].some(each => (JSON.stringify(each) ?? '').length > schemaCharsMax);
  return isTooLarge ? `the tool's own schema is larger than ${schemaCharsMax / 1_024} kB` : undefined;
}

export function argumentsFor(tool: Tool, given: Params, key: string | undefined, judge: Judge): Arguments {
  const unusable = schemaProblem(tool);
  if (unusable !== undefined) return { problem: unusable };
  try {
    const keyed = withKey(tool, given, key);
    if (keyed !== undefined && judge(tool.inputSchema, keyed) === undefined) return { params: keyed, hasKey: true };
    const problem = judge(tool.inputSchema, given);
    if (problem === undefined) return { params: given, hasKey: false };
    return { problem: problem.replaceAll(/(^|, )data(?=[/ ])/g, '$1Params') }; // as the plan calls them
  } catch (error) {
    const why = takeCharacters((error as Error).message, problemCharsMax);
    return { problem: `the tool's own schema is wrong (${why})` };
  }
}

function withKey(tool: Tool, given: Params, key: string | undefined): Params | undefined {
  const { properties } = tool.inputSchema;
  const name = keyNames.find(each => isFields(properties) && Object.hasOwn(properties, each));
  if (name === undefined || key === undefined || Object.hasOwn(given, name)) return undefined;
  return { ...given, [name]: key };
}
