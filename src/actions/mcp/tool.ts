// Calls one tool of an MCP server as an iteration: a session per call, so that no state lives between iterations.

import type { Activity, Assignment, Performer } from '../../agents/performer.ts';
import type { Order } from '../../core/task.ts';
import { minimalEnvironment } from '../../processes/limits.ts';
import type { ProcessOrder } from '../../processes/spawn.ts';
import { itemsOf, type Sink, tailOf } from '../../processes/streams.ts';
import { timerMsMax } from '../../processes/timers.ts';
import { detailOf } from '../../text/fields.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { callTool, type Outcome } from './call.ts';
import { type Connection, type ConnectionListener, type Interruption, openConnection } from './connection.ts';
import { type McpServer, usualCallMs } from './server.ts';

export interface McpToolOptions extends Pick<ProcessOrder, 'graceMs' | 'limits' | 'confinement'> {
  readonly server: McpServer;
  /** Only its harmless variables reach a server, besides what the server's own configuration names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type Ended = Extract<Activity, { type: 'ended' }>;

const openMsMax = 120_000; // a first start may have to fetch the program
const backstopMs = 60_000;
const nameCharsMax = 200;
const progressCharsMax = 1_000;
const progressKeptChars = 10_000;
const progressCountMax = 1_000;

export function mcpTool(options: McpToolOptions): Performer {
  return {
    name: `mcp:${options.server.name}`,
    can: { steer: false, resume: false, interactive: false, usage: false },
    perform: (assignment, stop) => perform(options, assignment, stop),
  };
}

async function* perform(
  options: McpToolOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const { order } = assignment;
  if (stop.aborted) return yield failed('stopped', 'stopped before it began');
  if (order?.type !== 'mcp' || order.server !== options.server.name)
    return yield failed('invalid', `this is no order for the server ${options.server.name}`);
  yield* itemsOf<Activity>(async ({ push, room, left }) => {
    const acting = { order, stop: AbortSignal.any([stop, left]), push, room };
    const ended = await act(options, assignment, acting).catch((error: Error) =>
      failed('unknown', `the adapter of MCP servers failed: ${error.message}`),
    );
    push(ended);
  });
}

interface Acting extends Omit<Sink<Activity>, 'left'> {
  readonly order: Extract<Order, { type: 'mcp' }>;
  readonly stop: AbortSignal;
}

async function act(options: McpToolOptions, assignment: Assignment, acting: Acting): Promise<Ended> {
  const { order, push, room } = acting;
  const deadline = openDeadline(acting.stop, assignment.timeMsMax);
  const { interrupt } = deadline;
  const connection = connect(options, assignment, { push, room, interrupt });
  const progress = openProgress(push);
  const outcome = await callTool({
    connection,
    tool: order.tool,
    params: order.params,
    key: assignment.key,
    isDeclaredIdempotent: options.server.idempotent.includes(order.tool),
    // Without a record nothing may leave us: it could not be known after a crash.
    intend: async repeatable => (await assignment.intend?.(repeatable)) === true,
    interrupted: deadline.signal,
    onCall() {
      push({
        type: 'tool',
        name: takeCharacters(stripControls(`${order.server}/${order.tool}`), nameCharsMax),
        detail: detailOf(order.params),
      });
      deadline.limit(options.server.timeMsMax ?? usualCallMs);
    },
    onProgress: progress.add,
    onStreamEnd: () =>
      interrupt({ why: 'lost', kind: 'connection', detail: 'the server closed the line without an answer' }),
  });
  deadline.disarm();
  const reaped = await connection.close(deadline.signal.aborted);
  if (outcome.message !== '') push({ type: 'text', text: `${outcome.message}\n`, channel: 'output' });
  return ended(outcome, progress.text(), reaped);
}

function ended({ message, failure }: Outcome, progress: string, reaped: number): Ended {
  if (failure === undefined) return { type: 'ended', message, reaped };
  return { type: 'ended', message: message === '' ? progress : message, failure, reaped };
}

function connect(options: McpToolOptions, assignment: Assignment, listener: ConnectionListener): Connection {
  const { server, environment, graceMs, limits, confinement } = options;
  const order = {
    directory: assignment.directory,
    environment: minimalEnvironment(environment, []),
    timeMsMax: assignment.timeMsMax + backstopMs, // its time is kept by `openDeadline`; this is for when that is lost
    graceMs,
    limits,
    confinement,
  };
  return openConnection(server, order, listener);
}

/** Everything that may end a call early, in one signal: the first reason counts. */
function openDeadline(stop: AbortSignal, timeMsMax: number) {
  const controller = new AbortController();
  const startedMs = performance.now();
  const interrupt = (reason: Interruption): void => controller.abort(reason);
  const stopped = (): void => interrupt({ why: 'stop' });
  let timer: NodeJS.Timeout | undefined;
  /** From now on the call itself has this long, inside the time of the whole. */
  function limit(timeMs: number): void {
    clearTimeout(timer);
    const leftMs = Math.max(0, timeMsMax - (performance.now() - startedMs));
    const waitMs = Math.min(timeMs, leftMs, timerMsMax);
    timer = setTimeout(() => interrupt({ why: 'time', timeMs: waitMs === timeMs ? timeMs : timeMsMax }), waitMs);
  }
  limit(openMsMax);
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  return {
    /** Its reason is an `Interruption`. */
    signal: controller.signal,
    interrupt,
    limit,
    disarm(): void {
      clearTimeout(timer);
      stop.removeEventListener('abort', stopped);
    },
  };
}

/** What the server says while it works: told as it comes, and the last word of a call that was broken off. */
function openProgress(push: (activity: Activity) => void) {
  const kept = tailOf(progressKeptChars);
  let count = 0;
  return {
    add(text: string): void {
      count += 1;
      if (count > progressCountMax) return;
      const line = `${takeCharacters(stripControls(text.slice(0, 2 * progressCharsMax)), progressCharsMax)}\n`;
      kept.add(line);
      push({ type: 'text', text: line, channel: 'output' });
    },
    text: kept.text,
  };
}

function failed(kind: 'stopped' | 'invalid' | 'unknown', detail: string): Ended {
  return { type: 'ended', message: '', failure: { kind, detail } };
}
