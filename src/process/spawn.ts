// Runs one contained process and tells its life as events: the only place from which agents and checks are started.
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { type Contained, type Containment, contained } from './contain.ts';
import { type Ending, endingOf } from './ending.ts';
import { startTimeOf, thisHost } from './identity.ts';
import { openQueue, type Queue } from './queue.ts';
import { drained, type OutputEvent, readText, weightOfEvent } from './streams.ts';
import { type Territory, territoryOf } from './territory.ts';

export interface ProcessOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** All of it: nothing of our own environment is added. */
  readonly environment: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed. */
  readonly input: string;
  readonly timeMsMax: number;
  readonly stop: AbortSignal;
  readonly lineBytesMax?: number;
  readonly graceMs?: number;
  /** Less than the best that this host offers. */
  readonly containment?: 'group';
}

export interface ProcessExit {
  readonly type: 'exited';
  /** 128 + n when a signal ended it; null when it never ran. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stoppedByUs: boolean;
  readonly spawnError?: string;
  /** Processes that it left behind or that did not heed TERM: we ended them. */
  readonly reaped: number;
}

export type ProcessEvent =
  | { readonly type: 'started'; readonly pid: number; readonly startTime: string; readonly host: string }
  | OutputEvent
  | ProcessExit;

const queuedCharsMax = 262_144;
const timerMsMax = 2_147_483_647; // longer ones fire at once
const never: Omit<ProcessExit, 'type'> = { code: null, signal: null, timedOut: false, stoppedByUs: false, reaped: 0 };

/** Never throws; the last event is `exited`, and then nothing of it is alive. Leaving the iteration early kills it all. */
export async function* runProcess(order: ProcessOrder): AsyncGenerator<ProcessEvent, void, void> {
  if (order.stop.aborted) {
    yield { type: 'exited', ...never, stoppedByUs: true };
    return;
  }
  const wrapped = contained(order.command, order.args, order.containment);
  const launched = launch(wrapped, order);
  if (typeof launched === 'string' || launched.pid === undefined) {
    const problem = typeof launched === 'string' ? launched : await spawnProblem(launched);
    yield { type: 'exited', ...never, spawnError: explain(problem, order) };
    return;
  }
  const live = follow(launched, launched.pid, order, wrapped.containment);
  try {
    for (let event = await live.queue.take(); event !== undefined; event = await live.queue.take()) yield event;
  } finally {
    await live.abandon();
  }
}

function launch({ command, args }: Contained, order: ProcessOrder): ChildProcess | string {
  try {
    return spawn(command, args, {
      cwd: order.directory,
      env: order.environment,
      detached: true, // a session of its own: no terminal to ask at, and Ctrl-C reaches only us
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
  } catch (error) {
    return (error as Error).message; // E2BIG and NUL bytes are thrown, the others come as an event
  }
}

function spawnProblem(child: ChildProcess): Promise<string> {
  return new Promise(resolve => child.once('error', error => resolve(error.message)));
}

function explain(problem: string, order: ProcessOrder): string {
  if (problem.includes('ENOENT') && !existsSync(order.directory)) return `no such directory: ${order.directory}`;
  return problem;
}

interface Live {
  readonly queue: Queue<ProcessEvent>;
  abandon(): Promise<void>;
}

function follow(child: ChildProcess, pid: number, order: ProcessOrder, how: Containment): Live {
  const streams = child.stdio as unknown as [Socket, Socket, Socket, Socket];
  const [input, output, errors, control] = streams;
  const startTime = startTimeOf(pid) ?? 'unknown';
  const territory = territoryOf({ pid, startTime }, how);
  const ending = endingOf(territory, order.graceMs ?? 10_000, () => child.kill('SIGKILL'));
  const queue = openQueue<ProcessEvent>(queuedCharsMax);
  queue.push({ type: 'started', pid, startTime, host: thisHost().host }, weightOfEvent);

  for (const stream of streams) stream.on('error', () => {}); // it ended without reading: EPIPE
  input.end(order.input);
  const lineBytesMax = order.lineBytesMax ?? 1_000_000;
  const flushes = [readText(output, 'output', lineBytesMax, queue), readText(errors, 'errors', lineBytesMax, queue)];
  const hasStarted = obeyInit(control, ending, territory);
  const whyEnded = endWhenTold(order, ending);

  const over = new Promise<void>(resolve => {
    child.once('exit', async (code, signal) => {
      const why = whyEnded();
      const reaped = await ending.finish();
      await drained([output, errors, control], queue);
      for (const flush of flushes) flush();
      for (const stream of streams) stream.destroy();
      const ranAtAll = hasStarted() || why.stoppedByUs || why.timedOut;
      const lost = ranAtAll ? {} : { spawnError: 'its container did not start' };
      queue.push({ type: 'exited', ...outcomeOf(code, signal), ...why, ...lost, reaped }, 0);
      queue.close();
      resolve();
    });
  });

  return {
    queue,
    async abandon() {
      queue.close(); // nobody listens any more, so nothing may wait for it
      ending.kill();
      await over;
    },
  };
}

/** Listens to the first process of the container; see contain.ts for what it says. */
function obeyInit(control: Socket, ending: Ending, territory: Territory): () => boolean {
  let heard = '';
  let answered = false;
  control.on('data', (bytes: Buffer) => {
    if (heard.length > 1_000) return;
    heard += bytes.toString('latin1');
    const watcher = /^started (\d+)\n/.exec(heard)?.[1];
    if (watcher) territory.exempt(Number(watcher));
    if (answered || !heard.endsWith('left\n')) return;
    answered = true;
    ending.left(() => control.end('close\n'));
  });
  return () => heard.startsWith('started');
}

/** Returns how to disarm both reasons and learn which of them, if any, came first. */
function endWhenTold(order: ProcessOrder, ending: Ending): () => Pick<ProcessExit, 'timedOut' | 'stoppedByUs'> {
  let reason: 'stop' | 'time' | undefined;
  const end = (why: 'stop' | 'time'): void => {
    reason ??= why;
    ending.begin();
  };
  const stop = (): void => end('stop');
  const timer = setTimeout(end, Math.min(order.timeMsMax, timerMsMax), 'time');
  order.stop.addEventListener('abort', stop, { once: true });
  return () => {
    clearTimeout(timer);
    order.stop.removeEventListener('abort', stop);
    return { timedOut: reason === 'time', stoppedByUs: reason === 'stop' };
  };
}

/** A shell says 128 + n where the system says a signal: both forms are given, so that no reader needs to know. */
function outcomeOf(code: number | null, signal: NodeJS.Signals | null): Pick<ProcessExit, 'code' | 'signal'> {
  if (signal !== null) return { code: 128 + constants.signals[signal], signal };
  const named = Object.entries(constants.signals).find(([, number]) => code === 128 + number);
  return { code, signal: (named?.[0] as NodeJS.Signals | undefined) ?? null };
}
