// Stdio MCP servers, run as contained children: the SDK's own stdio transport leaves descendants alive and adds variables.
import type { Transport } from '@modelcontextprotocol/client';
import { openStdin, type ProcessExit, type ProcessOrder, runProcess } from '../../processes/spawn.ts';
import { cutMarker, tailOf } from '../../processes/streams.ts';
import { isFields } from '../../text/fields.ts';
import { stripControls } from '../../text/text.ts';
import { answerBytesMax, type Break, type Connection, type Hearing, type StdioServer, tooLarge } from './server.ts';

/** `environment`: all of it but what the server's own configuration adds. */
export type StdioOrder = Pick<
  ProcessOrder,
  'directory' | 'environment' | 'timeMsMax' | 'graceMs' | 'limits' | 'confinement'
>;

/** What a server gets for its exit after its stdin was closed, as in the SDK. */
const partingMs = 2_000;
const errorsCharsMax = 4_000;

export function stdioConnection(server: StdioServer, order: StdioOrder, hearing: Hearing): Connection {
  const stdin = openStdin();
  const halting = new AbortController();
  const errors = tailOf(errorsCharsMax);
  let current: Transport | undefined;
  let isClosing = false;
  const wire = openWire({
    onMessage: message => current?.onmessage?.(message as Parameters<NonNullable<Transport['onmessage']>>[0]),
    onNoise: line => errors.add(`${line}\n`),
    onUnreadable: detail => hearing.breakOff({ why: 'unreadable', detail }),
  });

  async function live(): Promise<ProcessExit> {
    for await (const event of runProcess({ ...processOrder(server, order), stdin, stop: halting.signal })) {
      if (event.type === 'exited') return event;
      if (event.type === 'started')
        hearing.tell({ type: 'spawned', pid: event.pid, startTime: event.startTime, host: event.host });
      else if (event.channel === 'output') wire.push(event.text);
      else {
        errors.add(event.text);
        hearing.tell({ type: 'text', text: event.text, channel: 'errors' });
      }
      await hearing.room();
    }
    throw new Error('it ended without a word'); // which runProcess never does
  }

  const over = live().then(async exit => {
    await new Promise(resolve => setImmediate(resolve)); // an answer just before the exit is taken in first
    if (!isClosing) hearing.breakOff(breakOf(exit, errors.text()));
    return exit;
  });

  return {
    async line() {
      current = lineTo(stdin.write);
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
    timers: { afterResultMs: partingMs },
    lineBytesMax: answerBytesMax,
  };
}

/** `pid` and `stderr` are how the SDK tells a pipe from HTTP. Closing a line does not end the process: `close` above does. */
function lineTo(write: (text: string) => void): Transport {
  const line: Transport & { readonly pid: null; readonly stderr: null } = {
    pid: null,
    stderr: null,
    async start() {},
    async send(message) {
      write(`${JSON.stringify(message)}\n`);
    },
    async close() {
      line.onclose?.();
    },
  };
  return line;
}

function breakOf(exit: ProcessExit, errors: string): Break {
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

/** Cuts what a stdio server writes into messages; noise on its stdout is borne with, a damaged answer is told. */
export interface WireOrder {
  onMessage(message: object): void;
  /** A line that is no message: servers that log to stdout are common. */
  onNoise(line: string): void;
  onUnreadable(detail: string): void;
}

export interface Wire {
  push(text: string): void;
}

const edgeChars = 300;

export function openWire(order: WireOrder): Wire {
  const pieces: string[] = [];
  const marker = cutMarker(answerBytesMax);

  function take(line: string): void {
    if (line.trim() === '') return;
    const value = parsed(line);
    if (line.length > edgeChars && line.endsWith(marker)) order.onUnreadable(tooLarge);
    else if (value === undefined && looksLikeMessage(line)) order.onUnreadable('its answer is damaged');
    else if (!isFields(value) || value['jsonrpc'] !== '2.0') order.onNoise(line);
    else if (['method', 'result', 'error'].some(name => name in value)) order.onMessage(value);
    else order.onUnreadable('its answer holds neither a result nor an error');
  }

  return {
    push(text) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        pieces.push(text.slice(from, at));
        from = at + 1;
        take(pieces.splice(0).join(''));
      }
      if (from < text.length) pieces.push(text.slice(from));
    },
  };
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
