// The MCP server over any pair of streams: the tools of one role, their arguments held to their schemas, problems as typed errors.
import type { Readable, Writable } from 'node:stream';
import type { CallToolResult } from '@modelcontextprotocol/server';
import { UsageError } from '../text/errors.ts';
import { type Answer, type Role, type ToolCalls, type ToolProblem, type ToolRow, tools } from './tools.ts';

interface ServeOrder<Whose extends Role> {
  readonly role: Whose;
  readonly calls: ToolCalls<Whose>;
  /** What whoever connects is told first. */
  readonly instructions: string;
  readonly version: string;
  readonly input: Readable;
  readonly output: Writable;
}

export interface Serving {
  /** The other side is gone, or this one was closed. */
  readonly closed: Promise<void>;
  close(): Promise<void>;
}

const problemCharsMax = 1_000;

/** JSON-RPC's "invalid params", which MCP has for a tool that is not there. */
const invalidParams = -32_602;

/** In both eras of the protocol: with the handshake of 2025 and before, and without it. The SDK is loaded when somebody connects. */
export async function serve<Whose extends Role>(order: ServeOrder<Whose>): Promise<Serving> {
  const { ProtocolError, Server } = await import('@modelcontextprotocol/server');
  const { serveStdio, StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const { AjvJsonSchemaValidator } = await import('@modelcontextprotocol/server/validators/ajv');
  const validator = new AjvJsonSchemaValidator();
  const own = (tools as readonly ToolRow[]).filter(({ role }) => role === order.role);

  async function call(name: string, given: unknown): Promise<CallToolResult> {
    const row = own.find(one => one.name === name);
    if (row === undefined) {
      const { kind, message } = unavailable(name, order.role);
      throw new ProtocolError(invalidParams, message, { kind });
    }
    const judged = validator.getValidator(row.input as never)(given);
    if (!judged.valid) return problemResult(wrongArguments(row, judged.errorMessage));
    const tool = order.calls[name as keyof ToolCalls<Whose>] as (given: unknown) => Answer | Promise<Answer>;
    const answer = await refusing(async () => tool(given));
    return 'problem' in answer ? problemResult(answer.problem) : result(answer.result, false);
  }

  const make = (): InstanceType<typeof Server> => {
    const { instructions, version } = order;
    const server = new Server({ name: 'ralph', version }, { capabilities: { tools: {} }, instructions });
    server.setRequestHandler('tools/list', () => ({
      tools: own.map(({ name, description, input, looks }) => ({
        name,
        description,
        inputSchema: input as never,
        annotations: { readOnlyHint: looks === true, destructiveHint: false, openWorldHint: false },
      })),
    }));
    server.setRequestHandler('tools/call', ({ params }) => call(params.name, params.arguments ?? {}));
    return server;
  };

  const { promise: closed, resolve } = Promise.withResolvers<void>();
  order.input.once('close', resolve).once('end', resolve);
  if (order.input.readableEnded || order.input.destroyed) resolve();
  const transport = new StdioServerTransport(order.input, order.output);
  const handle = serveStdio(make, { transport, onerror: () => {} });
  return { closed, close: () => handle.close() };
}

/** A tool of the other role is there, but not for this one: no token and no word changes that. */
function unavailable(name: string, role: Role): ToolProblem {
  const other = tools.find(one => one.name === name);
  if (other === undefined)
    return { kind: 'unknown-tool', message: `There is no tool ${JSON.stringify(name.slice(0, 100))}.` };
  const whose = role === 'agent' ? 'a person, never for an agent in its iteration' : 'an agent in its iteration';
  return { kind: 'not-your-role', message: `The tool ${name} is for ${whose}.` };
}

const wrongArguments = ({ name }: ToolRow, why: string): ToolProblem => ({
  kind: 'wrong-arguments',
  message: `The arguments of ${name} do not fit: ${why.replaceAll(/(^|, )data(?=[/ ])/g, '$1they').slice(0, problemCharsMax)}.`,
});

/** What the doors refuse is an answer, not an error of ours. */
async function refusing(work: () => Promise<Answer>): Promise<Answer> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return { problem: { kind: 'refused', message: error.message, hint: error.hint } };
  }
}

const problemResult = (problem: ToolProblem): CallToolResult => result({ error: problem }, true);

/** The same as data and as text: not every client shows the model both. */
const result = (content: object, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content, null, 2) }],
  structuredContent: { ...content },
  isError,
});
