// One whole talk with an MCP server: agree on the protocol, find the tool, check, record the intent, call, understand.
import type { CallToolResult, Client, Tool, Transport } from '@modelcontextprotocol/client';
import type { Failure } from '../../core/failure.ts';
import { wordsOf } from './answer.ts';
import { argumentsFor, type Judge, loadJudge, type Params } from './arguments.ts';
import type { Break, Connection } from './connection.ts';
import { type Call, failureOf, saysBadOutput, shortened, unreadable } from './failure.ts';

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

const forever = 2_147_483_647; // our own clock ends a talk; the SDK's would end every request after a minute
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
