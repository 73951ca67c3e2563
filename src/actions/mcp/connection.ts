// Connections to MCP servers: a URL through the SDK's transport with a bound on what is read, a program as a contained child,
// since the SDK's own stdio transport leaves descendants alive and adds variables.
import type { StreamableHTTPClientTransport, Transport } from '@modelcontextprotocol/client';
import type { Activity } from '../../agents/performer.ts';
import type { FailureKind } from '../../core/failure.ts';
import { openStdin, type ProcessExit, type ProcessOrder, runProcess } from '../../processes/spawn.ts';
import { cutMarker, type Sink, splitLines, tailOf } from '../../processes/streams.ts';
import { isFields } from '../../text/fields.ts';
import { stripControls } from '../../text/text.ts';
import type { HttpServer, McpServer, StdioServer } from './server.ts';

export interface Connection {
  /** A fresh transport over the same connection: the SDK closes the one whose handshake failed. */
  transport(): Promise<Transport>;
  /** Lets the server go, or ends it at once; resolves when nothing of it is alive, with how many had to be ended. */
  close(atOnce: boolean): Promise<number>;
}

/** What a connection reports while it lasts. */
export interface ConnectionListener extends Omit<Sink<Activity>, 'left'> {
  /** The first one counts. */
  interrupt(reason: Interruption): void;
}

/** Why a call was broken off before it had come to its end. */
export type Interruption =
  | { readonly why: 'stop' }
  | { readonly why: 'time'; readonly timeMs: number }
  /** The server or the way to it is gone. */
  | { readonly why: 'lost'; readonly kind: FailureKind; readonly detail: string; readonly exitCode?: number }
  /** Something came that must have been an answer, but nobody can read it. */
  | { readonly why: 'unreadable'; readonly detail: string };

/** For a server that we start; `environment`: all of it but what the server's own configuration adds. */
export type StdioOrder = Pick<
  ProcessOrder,
  'directory' | 'environment' | 'timeMsMax' | 'graceMs' | 'limits' | 'confinement'
>;

/** One answer at most: larger ones are not read. */
const answerBytesMax = 16_000_000;
const tooLarge = `its answer is larger than ${answerBytesMax / 1_000_000} MB`;

export function openConnection(server: McpServer, order: StdioOrder, listener: ConnectionListener): Connection {
  return server.type === 'http' ? httpConnection(server, listener) : stdioConnection(server, order, listener);
}

/** What a server gets for the end of its session: a courtesy that nobody waits long for. */
const sessionEndMs = 1_000;

function httpConnection(server: HttpServer, listener: ConnectionListener): Connection {
  const transports: StreamableHTTPClientTransport[] = [];
  const giveUp = (): void => listener.interrupt({ why: 'unreadable', detail: tooLarge });
  return {
    async transport() {
      const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client');
      const transport = new StreamableHTTPClientTransport(new URL(server.url), {
        requestInit: { headers: { ...server.headers } },
        fetch: async (url, init) => bounded(await fetch(url, init), giveUp),
      });
      transports.push(transport);
      return transport;
    },
    async close(atOnce) {
      for (const transport of transports) {
        if (!atOnce) await endSession(transport);
        await transport.close();
      }
      return 0;
    },
  };
}

async function endSession(transport: StreamableHTTPClientTransport): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const patience = new Promise<void>(resolve => {
    timer = setTimeout(resolve, sessionEndMs);
  });
  await Promise.race([transport.terminateSession().catch(() => {}), patience]);
  clearTimeout(timer);
}

/** The SDK reads whole bodies into memory. */
function bounded(response: Response, giveUp: () => void): Response {
  if (response.body === null) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes <= answerBytesMax) return controller.enqueue(chunk);
      giveUp();
      controller.error(new Error(tooLarge));
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}

/** What a server gets for its exit after its stdin was closed, as in the SDK. */
const exitMs = 2_000;
const errorsCharsMax = 4_000;

function stdioConnection(server: StdioServer, order: StdioOrder, listener: ConnectionListener): Connection {
  const stdin = openStdin();
  const halting = new AbortController();
  const errors = tailOf(errorsCharsMax);
  let current: Transport | undefined;
  let isClosing = false;
  const messages = readMessages({
    onMessage: message => current?.onmessage?.(message as Parameters<NonNullable<Transport['onmessage']>>[0]),
    onNoise: line => errors.add(`${line}\n`),
    onUnreadable: detail => listener.interrupt({ why: 'unreadable', detail }),
  });

  async function live(): Promise<ProcessExit> {
    for await (const event of runProcess({ ...processOrder(server, order), stdin, stop: halting.signal })) {
      if (event.type === 'exited') return event;
      if (event.type === 'started') listener.push({ ...event, type: 'spawned' });
      else if (event.channel === 'output') messages.push(event.text);
      else {
        errors.add(event.text);
        listener.push({ type: 'text', text: event.text, channel: 'errors' });
      }
      await listener.room();
    }
    throw new Error('it ended without a word'); // which runProcess never does
  }

  const over = live().then(async exit => {
    await new Promise(resolve => setImmediate(resolve)); // an answer just before the exit is taken in first
    if (!isClosing) listener.interrupt(interruptionBy(exit, errors.text()));
    return exit;
  });

  return {
    async transport() {
      current = stdinTransport(stdin.write);
      return current;
    },
    async close(atOnce) {
      isClosing = true;
      if (atOnce) halting.abort();
      stdin.end();
      stdin.finished();
      return (await over).reaped;
    },
  };
}

function processOrder(server: StdioServer, order: StdioOrder): Omit<ProcessOrder, 'stop' | 'stdin'> {
  return {
    ...order,
    command: server.command,
    args: server.args,
    directory: server.directory ?? order.directory,
    environment: { ...order.environment, ...server.environment },
    input: '',
    timers: { afterResultMs: exitMs },
    lineBytesMax: answerBytesMax,
  };
}

/** `pid` and `stderr` are how the SDK tells a pipe from HTTP. Closing it does not end the process: `close` above does. */
function stdinTransport(write: (text: string) => void): Transport {
  const transport: Transport & { readonly pid: null; readonly stderr: null } = {
    pid: null,
    stderr: null,
    async start() {},
    async send(message) {
      write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      transport.onclose?.();
    },
  };
  return transport;
}

function interruptionBy(exit: ProcessExit, errors: string): Interruption {
  if (exit.spawnError !== undefined)
    return { why: 'lost', kind: 'spawn', detail: `the server did not start: ${exit.spawnError}` };
  const isOver = exit.cause === 'memory' || exit.cause === 'processes';
  const how = exit.signal === null ? `ended with exit code ${exit.code}` : `was ended by ${exit.signal}`;
  const last = stripControls(errors).trim().split('\n').at(-1)?.trim().slice(0, 300) ?? '';
  return {
    why: 'lost',
    kind: isOver ? 'resource-limit' : 'process',
    detail: `the server ${how}${last === '' ? '' : `: ${last}`}`,
    exitCode: exit.code ?? undefined,
  };
}

interface MessageOrder {
  onMessage(message: object): void;
  /** A line that is no message: servers that log to stdout are common. */
  onNoise(line: string): void;
  onUnreadable(detail: string): void;
}

const edgeChars = 300;

/** Cuts what a stdio server writes into messages; noise on its stdout is borne with, a damaged answer is told. */
export function readMessages(order: MessageOrder) {
  const marker = cutMarker(answerBytesMax);
  return splitLines(line => {
    if (line.trim() === '') return;
    const value = parsed(line);
    if (line.length > edgeChars && line.endsWith(marker)) order.onUnreadable(tooLarge);
    else if (value === undefined && looksLikeMessage(line)) order.onUnreadable('its answer is damaged');
    else if (!isFields(value) || value['jsonrpc'] !== '2.0') order.onNoise(line);
    else if (['method', 'result', 'error'].some(name => name in value)) order.onMessage(value);
    else order.onUnreadable('its answer holds neither a result nor an error');
  });
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

/** Servers put the word at either end. */
function looksLikeMessage(line: string): boolean {
  return `${line.slice(0, edgeChars)}${line.slice(-edgeChars)}`.includes('"jsonrpc"');
}
