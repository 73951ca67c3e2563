// The wire to an ACP agent: cuts its output into JSON-RPC messages and drops what is none, so that nothing ends the talk.
import type { Oddities } from '../stream.ts';

export interface RpcMessage {
  readonly jsonrpc: '2.0';
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: unknown;
  readonly result?: unknown;
  readonly error?: unknown;
}

export interface WireOrder {
  write(text: string): void;
  /** In the order of the output, and before any later answer is seen. */
  onUpdate(params: unknown): void;
  /** A line that is no message. */
  onNoise(line: string): void;
}

export interface Wire {
  /** Requests and answers only: the SDK complains on our own stderr about anything that it does not expect. */
  readonly readable: ReadableStream<RpcMessage>;
  readonly writable: WritableStream<RpcMessage>;
  push(text: string): void;
  /** The agent is gone: whoever waits for an answer learns it. */
  close(): void;
  readonly oddities: Readonly<Oddities>;
}

const headChars = 300;
const longLineChars = 1_000_000; // the house's limit for a line; longer ones are read, but it is said when they are lost
const idPattern = /"id":\s*(\d{1,15}|"[^"\\]{1,100}")\s*[,}]/;

export function openWire(order: WireOrder): Wire {
  const awaited = new Set<unknown>();
  let incoming!: ReadableStreamDefaultController<RpcMessage>;
  let isClosing = false;
  let isClosed = false;
  const oddities: Oddities = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };

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
    oddities,
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
