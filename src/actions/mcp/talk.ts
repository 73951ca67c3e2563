// One whole talk with an MCP server: agree on the protocol, find the tool, check, record the intent, call, understand.

import { Script } from 'node:vm';
import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client';
import type { Failure } from '../../core/failure.ts';
import { timerMsMax } from '../../processes/timers.ts';
import { fieldsOf, isFields, textOf } from '../../text/fields.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { type Call, failureOf, saysBadOutput, shortened, unreadable } from './failure.ts';
import type { Break, Connection } from './server.ts';

export interface TalkOrder {
  readonly connection: Connection;
  readonly tool: string;
  readonly params: Params;
  readonly key?: string;
  /** Of the tools that a person declared idempotent. */
  readonly isDeclaredIdempotent: boolean;
  intend(repeatable: boolean): Promise<boolean>;
  /** Aborted with a `Break` as its reason. */
  readonly broken: AbortSignal;
  /** The call is about to leave. */
  onCall(): void;
  onProgress(text: string): void;
  /** The line ended without the answer that we wait for. */
  onDeadLine(): void;
}

export interface Outcome {
  readonly message: string;
  readonly failure?: Failure;
}

const forever = timerMsMax; // our own clock ends a talk; the SDK's would end every request after a minute
const toolsNamedMax = 10;

/** Never throws. */
export async function talk(order: TalkOrder): Promise<Outcome> {
  const call: Call = { isOut: false, isRepeatable: false };
  try {
    return await converse(order, call);
  } catch (error) {
    const broken = order.broken.aborted ? (order.broken.reason as Break) : undefined;
    return { message: '', failure: failureOf(error, broken, call) };
  }
}

async function converse(order: TalkOrder, call: Call): Promise<Outcome> {
  const client = await untilBroken(greet(order, call), order.broken);
  const tools =
    client.getServerCapabilities()?.tools === undefined ? [] : await untilBroken(list(client), order.broken);
  const tool = tools.find(each => each.name === order.tool);
  if (tool === undefined) return invalid(`there is no tool ${order.tool}; ${namesOf(tools)}`);
  const judge = await loadJudge();
  const given = argumentsFor(tool, order.params, order.key, judge);
  if ('problem' in given) return invalid(`the parameters do not fit the tool ${tool.name}: ${given.problem}`);
  const { idempotentHint, readOnlyHint } = tool.annotations ?? {};
  call.isRepeatable = given.hasKey || order.isDeclaredIdempotent || idempotentHint === true || readOnlyHint === true;
  if (!(await order.intend(call.isRepeatable)))
    return { message: '', failure: { kind: 'stopped', detail: 'it was called off before the call' } };
  order.broken.throwIfAborted();
  order.onCall();
  return understand(await untilBroken(send(client, tool, given.params, order), order.broken), tool, call, judge);
}

/** Servers of the protocol's next generation refuse the first words of this one: only then they get the others. */
async function greet(order: TalkOrder, call: Call): Promise<Client> {
  const { Client } = await import('@modelcontextprotocol/client');
  const open = async (mode: 'legacy' | 'auto'): Promise<Client> => {
    const client = new Client(
      { name: 'ralph', version: '1' },
      { capabilities: {}, versionNegotiation: { mode }, inputRequired: { autoFulfill: false } },
    );
    await client.connect(tapped(await order.connection.line(), order, call), {
      signal: order.broken,
      timeout: forever,
    });
    return client;
  };
  try {
    return await open('legacy');
  } catch (error) {
    if (order.broken.aborted || !speaksOtherwise(error)) throw error;
    return await open('auto');
  }
}

function speaksOtherwise(error: unknown): boolean {
  const { code, status } = error as { readonly code?: unknown; readonly status?: unknown };
  return typeof code === 'number' || status === 400;
}

/** Notes the moment in which the call leaves us: from then on it may have happened. */
function tapped(line: Transport, order: TalkOrder, call: Call): Transport {
  const send = line.send.bind(line);
  line.send = (message, options) => {
    const isCall = 'method' in message && message.method === 'tools/call';
    if (isCall) call.isOut = true;
    return send(message, isCall ? { ...options, onRequestStreamEnd: order.onDeadLine } : options);
  };
  return line;
}

async function list(client: Client): Promise<readonly Tool[]> {
  return (await client.listTools(undefined, { timeout: forever })).tools;
}

/**
 * Its output schema is taken away from the SDK, which would refuse a call whose answer it could not check, and throw the
 * same class for an answer of the server's and a check of its own. Given a definition, it also never sends a call twice.
 */
function send(client: Client, tool: Tool, params: Params, order: TalkOrder): Promise<CallToolResult> {
  const { outputSchema: _, ...toolDefinition } = tool;
  return client.callTool(
    {
      name: tool.name,
      arguments: { ...params },
      _meta: order.key === undefined ? undefined : { 'ralph/idempotency-key': order.key },
    },
    {
      toolDefinition,
      signal: order.broken,
      timeout: forever,
      onprogress: ({ message }) => void (message !== undefined && order.onProgress(message)),
    },
  );
}

function understand(result: CallToolResult, tool: Tool, call: Call, judge: Judge): Outcome {
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

function untilBroken<Value>(work: Promise<Value>, broken: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(broken.reason);
    broken.addEventListener('abort', giveUp, { once: true });
    if (broken.aborted) giveUp();
    work.then(resolve, reject).finally(() => broken.removeEventListener('abort', giveUp));
  });
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
