// One contained process, its life told as events: the only place from which agents and checks are started.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import type { Socket } from 'node:net';
import { constants } from 'node:os';
import { type Confinement, confined, confinementKind, tryAhead } from './confine.ts';
import { type Contained, contained, containment, type LesserContainment } from './contain.ts';
import { startTimeOf, thisHost } from './identity.ts';
import { launch, launchAhead, type Running } from './launcher.ts';
import { type ResourceCause, type ResourceLimits, watchResources } from './limits.ts';
import { type ProcessSet, processSetOf, type Shutdown, shutdownOf } from './process-set.ts';
import { drained, type OutputEvent, openQueue, type Queue, readText, weightOfEvent } from './streams.ts';
import { type RunningTimers, startTimers, type TimerCause, type TimerOrder } from './timers.ts';

export interface ProcessOrder extends TimerOrder {
  readonly command: string;
  readonly args: readonly string[];
  readonly directory: string;
  /** All of it: nothing of our own environment is added. */
  readonly environment: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed unless `stdin` is given. */
  readonly input: string;
  /** Made by `openStdin` for this one process: keeps stdin open. */
  readonly stdin?: OpenStdin;
  /** It waits in its namespace until this is true, and ends when it is false; elsewhere it runs at once (`holdsBack`). */
  readonly mayBegin?: Promise<boolean> | undefined;
  readonly stop: AbortSignal;
  /** Looked at about once a second; over one of them, all is killed without grace. */
  readonly limits?: ResourceLimits;
  readonly lineBytesMax?: number;
  readonly graceMs?: number;
  /** Less than the best that this host offers. */
  readonly containment?: LesserContainment;
  /** It gets our own terminal instead of pipes, and stays in our session: nothing of what it shows is read. */
  readonly terminal?: boolean;
  /** Kept only where `confinementKind` is not none. */
  readonly confinement?: Confinement;
  /** A folder that it must not see, for its pipes: with it a launcher starts it, where there are namespaces. */
  readonly channels?: string;
}

type EndCause = TimerCause | ResourceCause;

export interface ProcessExit {
  readonly type: 'exited';
  /** 128 + n when a signal ended it; null when it never ran. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly timedOut: boolean;
  readonly stoppedByUs: boolean;
  /** Which of our reasons, other than the order's own stop, ended it. */
  readonly cause?: EndCause;
  readonly spawnError?: string;
  /** Processes that it left behind or that did not heed TERM: we ended them. */
  readonly reaped: number;
}

export type ProcessEvent =
  | { readonly type: 'started'; readonly pid: number; readonly startTime: string; readonly host: string }
  | OutputEvent
  | ProcessExit;

const queuedCharsMax = 262_144;
const never: Omit<ProcessExit, 'type'> = { code: null, signal: null, timedOut: false, stoppedByUs: false, reaped: 0 };

let ahead: Promise<void> | undefined;
let tried: Promise<unknown> | undefined;

/** What the first confined process needs is made ready while others work: a launcher and its pipes. Over when it is known whether bubblewrap works. */
export async function readyAhead(channels: string): Promise<void> {
  ahead ??= launchAhead(channels, run => {
    const trial = tryAhead(run);
    tried = trial;
    return trial;
  }).catch(() => {}); // the first process finds out why
  await tried?.catch(() => {});
}

/** Whether such a process, without a terminal, heeds `mayBegin` here. */
export const holdsBack = ({ confinement }: Pick<ProcessOrder, 'confinement'>): boolean =>
  (confinement !== undefined && confinementKind() === 'bubblewrap') || containment() === 'namespace';

/** Never throws; the last event is `exited`, and then nothing of it is alive. Leaving the iteration early kills it all. */
export async function* runProcess(order: ProcessOrder): AsyncGenerator<ProcessEvent, void, void> {
  if (order.stop.aborted) {
    yield { type: 'exited', ...never, stoppedByUs: true };
    return;
  }
  await ahead;
  const wrapped = wrap(order);
  const running = await start(wrapped, order);
  if (typeof running === 'string') {
    yield { type: 'exited', ...never, spawnError: explain(running, order) };
    return;
  }
  const live = follow(running, order, wrapped.containment);
  try {
    for (let event = await live.queue.take(); event !== undefined; event = await live.queue.take()) yield event;
  } finally {
    await live.abandon();
  }
}

function wrap(order: ProcessOrder): Contained {
  const { command, args, containment: atMost, confinement, directory } = order;
  if (isBare(order)) return { containment: 'bare', command, args };
  const tight = confinement && atMost === undefined && confined(command, args, confinement, directory);
  return tight || contained(command, args, atMost);
}

/** At the terminal it shares our group, which the first process of a group would end with it: then there is none. */
const isBare = ({ terminal, containment: atMost }: ProcessOrder): boolean =>
  terminal === true && (atMost ?? containment()) !== 'namespace';

/** A text: why it could not be started. */
async function start({ command, args, wraps }: Contained, order: ProcessOrder): Promise<Running | string> {
  const { directory, environment, channels, terminal } = order;
  const isLaunched = channels !== undefined && terminal !== true && wraps !== undefined;
  const launched = isLaunched ? await launch({ command, args, wraps, directory, environment, channels }) : undefined;
  return launched ?? spawnHere(command, args, order);
}

async function spawnHere(command: string, args: readonly string[], order: ProcessOrder): Promise<Running | string> {
  try {
    const child = spawn(command, args, {
      cwd: order.directory,
      env: order.environment,
      detached: order.terminal !== true, // a session of its own: no terminal to ask at, and Ctrl-C reaches only us
      stdio: [...Array(3).fill(order.terminal ? 'inherit' : 'pipe'), 'pipe', 'pipe'],
    });
    if (child.pid === undefined) return await spawnProblem(child);
    const [input, output, errors, told, answers] = child.stdio as unknown as readonly (Socket | null)[];
    return {
      pid: child.pid,
      startTime: startTimeOf(child.pid) ?? 'unknown',
      ...{ input: input ?? undefined, output: output ?? undefined, errors: errors ?? undefined },
      ...{ told: told!, answers: answers! },
      go: 'go',
      heard() {},
      kill: () => void child.kill('SIGKILL'),
      exited: once(child, 'exit').then(([code, signal]) => ({ code, signal })),
      release() {},
    };
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

function follow(running: Running, order: ProcessOrder, how: Contained['containment']) {
  const { pid, startTime, input, output, errors, told, answers } = running;
  const spoken = [output, errors].filter(stream => stream !== undefined);
  const streams = [input, ...spoken, told, answers].filter(stream => stream !== undefined);
  const set = processSetOf({ pid, startTime }, how, line => void (answers.writable && answers.write(line)));
  const shutdown = shutdownOf(set, order.graceMs ?? 10_000, running.kill);
  const queue = openQueue<ProcessEvent>(queuedCharsMax);
  queue.push({ type: 'started', pid, startTime, host: thisHost().host }, weightOfEvent);

  for (const stream of streams) stream.on('error', () => {}); // it ended without reading: EPIPE
  const reasons = endOnReason(order, shutdown, set, queue);
  const { heard } = reasons.timers;
  const lineBytesMax = order.lineBytesMax ?? 1_000_000;
  const flushes = spoken.map(stream =>
    readText(stream, { channel: stream === output ? 'output' : 'errors', lineBytesMax, queue, heard }),
  );
  if (input !== undefined) connectStdin(order, input, reasons.timers);
  const hasStarted = listenToInit(running, { shutdown, set, mayBegin: order.mayBegin });

  const over = running.exited.then(async ({ code, signal }) => {
    order.stdin?.attach(undefined);
    const why = reasons.disarm();
    const reaped = await shutdown.finish();
    await drained([...spoken, told], queue);
    for (const flush of flushes) flush();
    running.release();
    for (const stream of streams) stream.destroy();
    const ranAtAll = hasStarted() || isBare(order) || why.stoppedByUs || why.cause !== undefined;
    const spawnError = ranAtAll ? undefined : 'its container did not start';
    const wasKilledForLimits = why.cause === 'processes' || why.cause === 'memory'; // a wrapper speaks for a dead pid 1
    const outcome = wasKilledForLimits ? outcomeOf(null, 'SIGKILL') : outcomeOf(code, signal);
    queue.push({ type: 'exited', ...outcome, ...why, spawnError, reaped }, 0);
    queue.close();
  });

  return {
    queue,
    async abandon(): Promise<void> {
      queue.close(); // nobody listens any more, so nothing may wait for it
      shutdown.kill();
      await over;
    },
  };
}

interface Listening extends Pick<ProcessOrder, 'mayBegin'> {
  readonly shutdown: Shutdown;
  readonly set: ProcessSet;
}

/** Listens to the first process of the container; see contain.ts for what it says. */
function listenToInit(running: Running, { shutdown, set, mayBegin }: Listening): () => boolean {
  const { told, answers } = running;
  const begin = (may: boolean): void => void (may ? answers.write(`${running.go}\n`) : answers.end());
  let heard = '';
  let answered = false;
  told.on('data', (bytes: Buffer) => {
    if (heard.length > 1_000) return;
    if (heard === '') {
      if (mayBegin === undefined) begin(true);
      else void mayBegin.then(begin);
      running.heard();
    }
    heard += bytes.toString('latin1');
    const watcher = /^started (\d+)\n/.exec(heard)?.[1];
    if (watcher) set.exclude(Number(watcher));
    if (answered || !heard.endsWith('left\n')) return;
    answered = true;
    shutdown.left(() => answers.end('close\n'));
  });
  told.resume();
  return () => heard.startsWith('started');
}

function connectStdin(order: ProcessOrder, input: Socket, timers: RunningTimers): void {
  if (!order.stdin) return void input.end(order.input);
  if (order.input !== '') input.write(order.input);
  order.stdin.attach({
    write: text => void (input.writable && input.write(text)),
    end: () => void input.end(),
    finished: timers.finished,
    resumed: timers.resumed,
    busy: timers.busy,
    waiting: timers.waiting,
    unreadBytes: () => input.writableLength,
  });
}

function endOnReason(order: ProcessOrder, shutdown: Shutdown, set: ProcessSet, queue: Queue<ProcessEvent>) {
  let reason: 'stop' | EndCause | undefined;
  const end = (why: 'stop' | EndCause): void => {
    reason ??= why;
    shutdown.begin();
  };
  const stop = (): void => end('stop');
  const timers = startTimers(order, () => queue.isFull, end);
  const stopLooking = watchResources(order.limits, set, (why, seen) => {
    reason ??= why;
    shutdown.killStorm(seen);
  });
  order.stop.addEventListener('abort', stop, { once: true });
  if (order.stop.aborted) stop(); // while it was started
  return {
    timers,
    /** Says which of them, if any, came first. */
    disarm(): Pick<ProcessExit, 'timedOut' | 'stoppedByUs' | 'cause'> {
      timers.disarm();
      stopLooking();
      order.stop.removeEventListener('abort', stop);
      const timedOut = reason === 'time' || reason === 'silence';
      const stoppedByUs = reason === 'stop';
      return { timedOut, stoppedByUs, cause: reason === 'stop' ? undefined : reason };
    },
  };
}

/** A shell says 128 + n where the system says a signal: both forms are given, so that no reader needs to know. */
function outcomeOf(code: number | null, signal: NodeJS.Signals | null): Pick<ProcessExit, 'code' | 'signal'> {
  if (signal !== null) return { code: 128 + constants.signals[signal], signal };
  const named = Object.entries(constants.signals).find(([, number]) => code === 128 + number);
  return { code, signal: (named?.[0] as NodeJS.Signals | undefined) ?? null };
}

/** The stdin of a living process, and what its adapter knows about it that a timer cannot. */
export interface Stdin extends Pick<RunningTimers, 'finished' | 'resumed' | 'busy' | 'waiting'> {
  /** Queued until it has started; lost after its end. */
  write(text: string): void;
  /** Closes its stdin. */
  end(): void;
  /** How many bytes of what was written lie there because it does not read them. */
  unreadBytes(): number;
}

/** For one process: the adapter writes, `runProcess` the other end. */
interface OpenStdin extends Stdin {
  /** Passes on what was said before and, from now on, everything; undefined once the process has ended. */
  attach(listener: Stdin | undefined): void;
}

export function openStdin(): OpenStdin {
  const early: ((listener: Stdin) => void)[] = [];
  let listener: Stdin | undefined;
  let wasAttached = false;
  function pass(say: (to: Stdin) => void): void {
    if (listener) say(listener);
    else if (!wasAttached) early.push(say);
  }
  return {
    write: text => pass(to => to.write(text)),
    end: () => pass(to => to.end()),
    finished: () => pass(to => to.finished()),
    resumed: () => pass(to => to.resumed()),
    busy: isBusy => pass(to => to.busy(isBusy)),
    waiting: isWaiting => pass(to => to.waiting(isWaiting)),
    unreadBytes: () => listener?.unreadBytes() ?? 0,
    attach(next) {
      listener = next;
      wasAttached = true;
      const said = early.splice(0);
      if (next) for (const say of said) say(next);
    },
  };
}
