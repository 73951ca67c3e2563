// Any agent that speaks the Agent Client Protocol (ACP) on its stdin and stdout as a performer.

import { openStdin, type ProcessExit, type ProcessOrder } from '../../processes/spawn.ts';
import { tailOf } from '../../processes/streams.ts';
import { timerMsMax } from '../../processes/timers.ts';
import type { AgentResult, StreamProblem } from '../agent.ts';
import { type AgentOptions, usualTimers } from '../driver.ts';
import { failureOf } from '../failures.ts';
import { fullPrompt, iterationEnvironment } from '../launch.ts';
import type { Assignment, Performer } from '../performer.ts';
import { type AgentProcess, type Push, performProcess, reportProblems } from '../process-run.ts';
import { openConnection } from './connection.ts';
import { openSessionListener } from './listener.ts';
import { type Session, type SessionEnd, startSession } from './session.ts';

export interface AcpAgentOptions extends AgentOptions {
  /** The program and its arguments, already split. */
  readonly command: readonly [string, ...string[]];
  /** How every request for a permission is answered. */
  readonly permission: 'allow' | 'deny';
  /** How long a cancelled turn may take to say so before it is ended by signals. */
  readonly cancelMs?: number;
}

export function acpAgent(options: AcpAgentOptions): Performer {
  return {
    name: options.name,
    can: { steer: true, resume: false, interactive: false, usage: true },
    perform: (assignment, stop) => performProcess('ACP agents', push => startAcpRun(options, assignment, stop, push)),
  };
}

const cancelMsUsual = 5_000;
const lineBytesMax = 8_000_000; // a request for a permission may hold a whole file twice, and is lost when it is cut
const errorsCharsMax = 4_000;
const unreadBytesMax = 8_000_000; // an answer has some hundred bytes, and takes five times its size while it waits
const readsNothing: StreamProblem = { kind: 'process', text: 'it asks without end and reads no answer' };

function startAcpRun(options: AcpAgentOptions, assignment: Assignment, stop: AbortSignal, push: Push): AgentProcess {
  const stdin = openStdin();
  const errors = tailOf(errorsCharsMax);
  const listener = openSessionListener(options.prices, push, stdin.busy, options.account);
  const onNoise = (line: string): void => errors.add(`${line}\n`);
  const connection = openConnection({ write: stdin.write, onUpdate: listener.update, onNoise });
  const order = processOrder(options, assignment);
  const ending = openEnding(stop, assignment.timeMsMax, options.cancelMs ?? cancelMsUsual);
  let session: Session | undefined;

  function onErrors(text: string): void {
    errors.add(text);
    push({ type: 'text', text, channel: 'errors' });
  }

  function onStart(): void {
    session = startSession({
      stream: connection,
      prompt: fullPrompt(assignment),
      directory: assignment.directory,
      model: options.model,
      permission: options.permission,
      listener,
      onRemark: text => onErrors(`[ralph] ${text}\n`),
    });
    assignment.notes?.listen(session.note);
    ending.watch(session, () => {
      stdin.end();
      stdin.finished();
    });
  }

  async function onExit(exit: ProcessExit): Promise<void> {
    connection.close();
    const result = resultOf(await session?.over, listener.message);
    listener.endLine();
    reportProblems(connection.problems, push);
    const { silenceMs, firstByteMs } = order.timers;
    const limits = { silenceMs, firstByteMs, timeMsMax: assignment.timeMsMax };
    const facts = interrupted(ending.over(), exit, result);
    const failure = failureOf({ ...facts, ...limits, isPlain: false, errors: errors.text(), nowMs: Date.now() });
    push({ type: 'ended', message: result.message(), reaped: exit.reaped, failure });
  }

  return {
    order: { ...order, stdin, stop: ending.halted, onSilence: () => session?.nudge() === true },
    halt: ending.halt,
    onEvent(event) {
      if (event.type === 'exited') return onExit(event);
      if (event.type === 'started') {
        push({ ...event, type: 'spawned' });
        onStart();
      } else if (event.channel === 'errors') onErrors(event.text);
      else {
        connection.push(event.text);
        if (stdin.unreadBytes() > unreadBytesMax) ending.giveUp(connection.close);
      }
    },
  };
}

function processOrder(options: AcpAgentOptions, assignment: Assignment) {
  const { limits, confinement, graceMs } = options;
  const [command, ...args] = options.command;
  return {
    command,
    args,
    directory: assignment.directory,
    environment: iterationEnvironment(options.environment, assignment),
    input: '',
    // Its time is kept by `openEnding`, which cancels first; this is for an agent on which that is lost.
    timeMsMax: assignment.timeMsMax + (options.cancelMs ?? cancelMsUsual),
    timers: { ...usualTimers, ...options.timers },
    limits,
    confinement,
    graceMs,
    lineBytesMax,
  } satisfies Omit<ProcessOrder, 'stop'>;
}

function resultOf(end: SessionEnd | undefined, message: () => string): AgentResult {
  if (end?.type === 'failed') return { message, finished: true, problem: end.problem };
  return { message, finished: end?.type === 'answered' };
}

/** What we ended before it had answered has no result of its own. */
function interrupted(why: Interruption, exit: ProcessExit, result: AgentResult) {
  if (why === undefined) return { exit, result, stopped: false };
  const problem = why === 'reads-nothing' ? readsNothing : undefined;
  return {
    exit: why === 'time' ? ({ ...exit, timedOut: true, cause: 'time' } as const) : exit,
    result: { message: result.message, finished: false, problem },
    stopped: why === 'stop',
  };
}

/** Why we ended it before it had answered: asked to stop, out of time, or it does not read what we write. */
type Interruption = 'stop' | 'time' | 'reads-nothing' | undefined;

/** Ends an agent when it must: by its own cancel first, since that ends its tools in order, and by signals then. */
function openEnding(stop: AbortSignal, timeMsMax: number, cancelMs: number) {
  const halting = new AbortController();
  const halt = (): void => halting.abort();
  let interruption: Interruption;
  let session: Session | undefined;
  let hasAnswered = false;
  let cancelTimer: NodeJS.Timeout | undefined;

  function windDown(why: 'stop' | 'time'): void {
    if (!hasAnswered) interruption ??= why;
    if (hasAnswered || session?.stop() !== true) halt();
    else cancelTimer ??= setTimeout(halt, cancelMs);
  }

  const stopped = (): void => windDown('stop');
  const timer = setTimeout(windDown, Math.min(timeMsMax, timerMsMax), 'time');
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  return {
    halt,
    halted: halting.signal,
    /** `close` is called when the session is over and the agent may go by itself. */
    watch(started: Session, close: () => void): void {
      session = started;
      void started.over.then(end => {
        hasAnswered = end.type !== 'lost';
        if (interruption !== undefined) halt();
        else close();
      });
    },
    /** It asks and asks, and reads no answer: it will not hear a cancel either. `close`: nothing of it is listened to. */
    giveUp(close: () => void): void {
      if (!hasAnswered) interruption ??= 'reads-nothing';
      close();
      halt();
    },
    over(): Interruption {
      clearTimeout(timer);
      clearTimeout(cancelTimer);
      stop.removeEventListener('abort', stopped);
      return interruption;
    },
  };
}
