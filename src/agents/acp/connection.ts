// The connection to an ACP agent: cuts its output into JSON-RPC messages, drops what is none, and hands them to the official
// SDK. This is the only place that knows the SDK, which is loaded when needed.
import type { Stream } from '@agentclientprotocol/sdk';
import { splitLines } from '../../processes/streams.ts';
import { type Fields, fieldsOf } from '../../text/fields.ts';
import { type ParseProblems, parseFields } from '../stream.ts';

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

/** Requests and answers only: the SDK complains on our own stderr about anything that it does not expect. */
export interface MessageStream {
  readonly readable: ReadableStream<RpcMessage>;
  readonly writable: WritableStream<RpcMessage>;
}

export interface Connection extends MessageStream {
  push(text: string): void;
  /** The agent is gone: whoever waits for an answer learns it. */
  close(): void;
  readonly problems: Readonly<ParseProblems>;
}

const headChars = 300;
const longLineChars = 1_000_000; // the usual limit for a line; longer ones are read, but it is said when they are lost
const damaged = { code: -32_600, message: 'the message was too long or damaged' };
const idPattern = /"id":\s*(\d{1,15}|"[^"\\]{1,100}")\s*[,}]/;

export function openConnection(order: ConnectionOrder): Connection {
  const awaited = new Set<unknown>();
  let isClosing = false;
  let isClosed = false;
  const incoming = openMessages(() => {
    isClosed = true;
  });
  const problems: ParseProblems = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };

  function send(message: RpcMessage): void {
    order.write(`${JSON.stringify(message)}\n`);
  }

  function deliver(message: Omit<RpcMessage, 'jsonrpc'>): void {
    const { id, method } = message;
    const isExpected = method === undefined ? awaited.delete(id) : id !== undefined;
    if (isExpected) incoming.enqueue({ ...message, jsonrpc: '2.0' });
    else if (method === undefined) problems.notUnderstood += 1;
    else if (method === 'session/update') order.onUpdate(message.params);
  }

  /** Half a message may still name the request that somebody waits for: that one ends as an error, not never. */
  function salvage(line: string): void {
    const found = requestIn(line);
    if (found === undefined) return;
    const message = { jsonrpc: '2.0', id: found.id, error: damaged } as const;
    if (found.isOfAgent) send(message);
    else if (awaited.delete(found.id)) incoming.enqueue(message);
  }

  function take(line: string): void {
    if (line.trim() === '') return;
    const message = messageIn(line);
    if (message !== undefined) return void deliver(message);
    problems[line.length > longLineChars ? 'tooLong' : 'notUnderstood'] += 1;
    if (!line.trimStart().startsWith('{')) order.onNoise(line);
    else if (!isClosing) salvage(line);
  }

  const lines = splitLines(line => !isClosed && take(line));
  return {
    readable: incoming.readable,
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
    problems,
  };
}

/** Messages that we enqueue and the SDK reads. */
function openMessages(onCancel: () => void) {
  let controller!: ReadableStreamDefaultController<RpcMessage>;
  const readable = new ReadableStream<RpcMessage>({
    start(given) {
      controller = given;
    },
    cancel: onCancel,
  });
  return { readable, enqueue: (message: RpcMessage) => controller.enqueue(message), close: () => controller.close() };
}

function requestIn(line: string): { readonly id: string | number; readonly isOfAgent: boolean } | undefined {
  const head = line.slice(0, headChars).split(/"(?:params|result|error)":/)[0] ?? '';
  const id = idPattern.exec(head)?.[1];
  return id === undefined ? undefined : { id: JSON.parse(id), isOfAgent: head.includes('"method":') };
}

function messageIn(line: string): Omit<RpcMessage, 'jsonrpc'> | undefined {
  const message = parseFields(line.trim()); // which takes a byte order mark away too
  if (message === undefined) return undefined;
  const { id, method } = message;
  const hasId = typeof id === 'string' || typeof id === 'number';
  const hasMethod = typeof method === 'string';
  return (hasId || hasMethod) && (hasMethod || method === undefined) ? (message as Partial<RpcMessage>) : undefined;
}

/** What an agent says comes as unknown: agents state things that the stable protocol does not have. */
export type Request = (method: string, params: unknown) => Promise<unknown>;

export interface Agent {
  readonly request: Request;
  readonly notify: Request;
}

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
