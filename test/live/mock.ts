// The project's own mock of the model APIs on 127.0.0.1: a model is a function from a request to a step.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { anthropic, unifiedHeaders } from './dialects/anthropic.ts';
import { type Answer, type Asked, billed, type Dialect, json, type Said, type ToolCall } from './dialects/dialect.ts';
import { gemini } from './dialects/gemini.ts';
import { openAiChat } from './dialects/openai-chat.ts';
import { openAiResponses } from './dialects/openai-responses.ts';
import { shellCall, writeCall } from './tools.ts';

/** What the model does with one request that offers tools. */
export type Step =
  | { readonly text: string; readonly outputTokens?: number }
  | { readonly sh: string }
  /** A tool by its own name. */
  | { readonly call: ToolCall }
  | { readonly write: string; readonly content: string }
  | {
      readonly error: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly message?: string;
      readonly code?: string;
      readonly resetAtMs?: number;
    }
  /** The subscription's window is used up (Anthropic's unified headers). */
  | { readonly windowUsedUpUntilMs: number }
  | { readonly tooLong: true }
  /** Never answers. */
  | { readonly hang: true }
  /** Cuts the connection. */
  | { readonly drop: true };

export type Model = (asked: Asked, count: number) => Step;

interface Request {
  readonly path: string;
  /** As it came. */
  readonly body: string;
  readonly asked: Asked;
  /** Absent for what the agent asks beside its work: titles, summaries, token counts. */
  readonly step?: Step;
}

export interface Mock {
  readonly url: string;
  readonly requests: readonly Request[];
  /** Requests that offered tools: the agent's work. */
  work(): readonly Request[];
  /** The request with this number (from 0) among those that offered tools. */
  asked(number: number): Promise<Request>;
  /** Refuses every connection until it picks up again, at the same address. */
  hangUp(): Promise<void>;
  pickUp(): Promise<void>;
}

const dialects: readonly Dialect[] = [anthropic, openAiResponses, openAiChat, gemini];
const auxiliary = 'A small task';

function answer(dialect: Dialect, asked: Asked, step: Step, id: string): Answer | 'hang' | 'drop' {
  if ('hang' in step) return 'hang';
  if ('drop' in step) return 'drop';
  if ('tooLong' in step) return dialect.refuse(dialect.tooLong);
  if ('windowUsedUpUntilMs' in step) {
    const headers = unifiedHeaders(step.windowUsedUpUntilMs);
    return dialect.refuse({ status: 429, message: 'This would exceed your account rate limit.', headers });
  }
  if ('error' in step) return dialect.refuse({ ...step, status: step.error });
  return dialect.say(asked, saidOf(asked, step), id);
}

function saidOf(asked: Asked, step: Extract<Step, Said | { sh: string } | { write: string }>): Said {
  if ('text' in step || 'call' in step) return step;
  return { call: 'sh' in step ? shellCall(asked.tools, step.sh) : writeCall(asked.tools, step.write, step.content) };
}

async function bodyOf(request: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function send(response: ServerResponse, { status, type, headers, parts }: Answer): void {
  response.writeHead(status, { 'content-type': type, ...headers });
  for (const part of parts) response.write(part);
  response.end();
}

export async function startMock(model: Model): Promise<Mock> {
  const requests: Request[] = [];
  const watchers = new Set<() => void>();
  const work = (): Request[] => requests.filter(one => one.step !== undefined);
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const path = request.url ?? '';
    const bare = path.split('?')[0] ?? '';
    const body = await bodyOf(request);
    if (bare.endsWith('/count_tokens')) return send(response, json(200, { input_tokens: billed.input }));
    const dialect = dialects.find(one => one.serves(bare));
    if (dialect === undefined) return send(response, json(404, { error: { message: `no ${bare} here` } }));
    const asked = dialect.read(path, body);
    const step = asked.tools.length === 0 ? undefined : model(asked, work().length);
    requests.push({ path: bare, body: JSON.stringify(body), asked, ...(step === undefined ? {} : { step }) });
    for (const look of [...watchers]) look();
    const given = answer(dialect, asked, step ?? { text: auxiliary }, String(requests.length));
    if (given === 'hang') return;
    if (given === 'drop') {
      request.socket.destroy();
      return;
    }
    send(response, given);
  };
  const server = createServer((request, response) => {
    serve(request, response).catch(error => send(response, json(500, { error: { message: String(error) } })));
  });
  const listen = (port: number): Promise<void> =>
    new Promise(resolve => server.listen(port, '127.0.0.1', () => resolve()));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    work,
    asked: number =>
      new Promise(resolve => {
        const look = (): void => {
          const found = work()[number];
          if (found === undefined) return;
          watchers.delete(look);
          resolve(found);
        };
        watchers.add(look);
        look();
      }),
    hangUp: () =>
      new Promise(resolve => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    pickUp: () => listen(port),
  };
}
