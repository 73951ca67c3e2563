// Calls one tool of an MCP server as an iteration: a session per call, so that no state lives between iterations.

import type { Activity, Assignment, Performer } from '../../agents/performer.ts';
import type { Order } from '../../core/task.ts';
import { minimalEnvironment } from '../../processes/limits.ts';
import type { ProcessOrder } from '../../processes/spawn.ts';
import { openQueue, type Queue, tailOf } from '../../processes/streams.ts';
import { timerMsMax } from '../../processes/timers.ts';
import { detailOf } from '../../text/fields.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import { httpConnection } from './http.ts';
import type { Break, Connection, Hearing, McpServer } from './server.ts';
import { stdioConnection } from './stdio.ts';
import { type Outcome, talk } from './talk.ts';

export interface McpToolOptions extends Pick<ProcessOrder, 'graceMs' | 'limits' | 'confinement'> {
  readonly server: McpServer;
  /** Only its harmless variables reach a server, besides what the server's own configuration names. */
  readonly environment: Readonly<Record<string, string | undefined>>;
}

type McpOrder = Extract<Order, { type: 'mcp' }>;
type Ended = Extract<Activity, { type: 'ended' }>;

const callMsUsual = 120_000;
const openMsMax = 120_000; // a first start may have to fetch the program
const backstopMs = 60_000;
const queuedCharsMax = 262_144;
const activityWeight = 256;
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
  const queue = openQueue<Activity>(queuedCharsMax);
  const leaving = new AbortController();
  const acting = act(options, assignment, { order, stop: AbortSignal.any([stop, leaving.signal]), queue })
    .catch(error => failed('unknown', `the adapter of MCP servers failed: ${(error as Error).message}`))
    .then(ended => {
      queue.push(ended, 0);
      queue.close();
    });
  try {
    for (let activity = await queue.take(); activity !== undefined; activity = await queue.take()) yield activity;
  } finally {
    queue.close(); // nobody listens any more, so nothing may wait for it
    leaving.abort();
    await acting;
  }
}

interface Acting {
  readonly order: McpOrder;
  readonly stop: AbortSignal;
  readonly queue: Queue<Activity>;
}

async function act(options: McpToolOptions, assignment: Assignment, { order, stop, queue }: Acting): Promise<Ended> {
  const tell = (activity: Activity): void =>
    queue.push(activity, activityWeight + (activity.type === 'text' ? activity.text.length : 0));
  const breaking = openBreaking(stop, assignment.timeMsMax);
  const hearing: Hearing = { tell, room: () => queue.room(), breakOff: breaking.breakOff };
  const connection = connect(options, assignment, hearing);
  const progress = openProgress(tell);
  const outcome = await talk({
    connection,
    tool: order.tool,
    params: order.params,
    key: assignment.key,
    isDeclaredIdempotent: options.server.idempotent.includes(order.tool),
    // Without a record nothing may leave us: it could not be known after a crash.
    intend: async repeatable => (await assignment.intend?.(repeatable)) === true,
    broken: breaking.signal,
    onCall() {
      tell({
        type: 'tool',
        name: takeCharacters(stripControls(`${order.server}/${order.tool}`), nameCharsMax),
        detail: detailOf(order.params),
      });
      breaking.limit(options.server.timeMsMax ?? callMsUsual);
    },
    onProgress: progress.add,
    onDeadLine: () =>
      breaking.breakOff({ why: 'lost', kind: 'connection', detail: 'the server closed the line without an answer' }),
  });
  breaking.disarm();
  const reaped = await connection.close(breaking.signal.aborted);
  if (outcome.message !== '') tell({ type: 'text', text: `${outcome.message}\n`, channel: 'output' });
  return ended(outcome, progress.text(), reaped);
}

function ended({ message, failure }: Outcome, progress: string, reaped: number): Ended {
  if (failure === undefined) return { type: 'ended', message, reaped };
  return { type: 'ended', message: message === '' ? progress : message, failure, reaped };
}

function connect(options: McpToolOptions, assignment: Assignment, hearing: Hearing): Connection {
  const { server, environment, graceMs, limits, confinement } = options;
  if (server.type === 'http') return httpConnection(server, hearing);
  const order = {
    directory: assignment.directory,
    environment: minimalEnvironment(environment, []),
    timeMsMax: assignment.timeMsMax + backstopMs, // its time is kept by `openBreaking`; this is for when that is lost
    graceMs,
    limits,
    confinement,
  };
  return stdioConnection(server, order, hearing);
}

interface Breaking {
  /** Its reason is a `Break`. */
  readonly signal: AbortSignal;
  breakOff(reason: Break): void;
  /** From now on the call itself has this long, inside the time of the whole. */
  limit(timeMs: number): void;
  disarm(): void;
}

/** Everything that may end a talk early, in one signal: the first reason counts. */
function openBreaking(stop: AbortSignal, timeMsMax: number): Breaking {
  const controller = new AbortController();
  const startedMs = performance.now();
  const breakOff = (reason: Break): void => controller.abort(reason);
  const stopped = (): void => breakOff({ why: 'stop' });
  let timer: NodeJS.Timeout | undefined;
  function limit(timeMs: number): void {
    clearTimeout(timer);
    const leftMs = Math.max(0, timeMsMax - (performance.now() - startedMs));
    const waitMs = Math.min(timeMs, leftMs, timerMsMax);
    timer = setTimeout(() => breakOff({ why: 'time', timeMs: waitMs === timeMs ? timeMs : timeMsMax }), waitMs);
  }
  limit(openMsMax);
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  return {
    signal: controller.signal,
    breakOff,
    limit,
    disarm() {
      clearTimeout(timer);
      stop.removeEventListener('abort', stopped);
    },
  };
}

/** What the server says while it works: told as it comes, and the last word of a call that was broken off. */
function openProgress(tell: (activity: Activity) => void): { add(text: string): void; text(): string } {
  const kept = tailOf(progressKeptChars);
  let count = 0;
  return {
    add(text) {
      count += 1;
      if (count > progressCountMax) return;
      const line = `${takeCharacters(stripControls(text.slice(0, 2 * progressCharsMax)), progressCharsMax)}\n`;
      kept.add(line);
      tell({ type: 'text', text: line, channel: 'output' });
    },
    text: () => kept.text(),
  };
}

function failed(kind: 'stopped' | 'invalid' | 'unknown', detail: string): Ended {
  return { type: 'ended', message: '', failure: { kind, detail } };
}
