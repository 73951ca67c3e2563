// Any agent that speaks the Agent Client Protocol (ACP) on its stdin and stdout as a performer.

import { openFeed, type ProcessEvent, type ProcessExit, type ProcessOrder, runProcess } from '../../processes/spawn.ts';
import { openQueue, type Queue, tailOf } from '../../processes/streams.ts';
import type { Timers } from '../../processes/timers.ts';
import type { AgentResult, PriceBook, StreamProblem } from '../agent.ts';
import { problemWords } from '../conversation.ts';
import { usualTimers } from '../driver.ts';
import { failureOf } from '../failures.ts';
import { fullPrompt } from '../launch.ts';
import type { Activity, Assignment, Performer } from '../performer.ts';
import { openSessionListener } from './listening.ts';
import { openConnection } from './session.ts';
import { type Session, type SessionEnd, startSession } from './talk.ts';

export interface AcpAgentOptions {
  readonly name: string;
  /** The program and its arguments, already split. */
  readonly command: readonly [string, ...string[]];
  /** All of it: nothing of our own environment is added. */
  readonly environment: Readonly<Record<string, string>>;
  readonly model?: string;
  readonly prices: PriceBook;
  /** How every request for a permission is answered. */
  readonly permission: 'allow' | 'deny';
  /** Instead of some of `usualTimers`. */
  readonly timers?: Partial<Timers>;
  readonly limits?: ProcessOrder['limits'];
  readonly confinement?: ProcessOrder['confinement'];
  /** How long it may take from TERM to its end. */
  readonly graceMs?: number;
  /** How long a cancelled turn may take to say so before it is ended by signals. */
  readonly cancelMs?: number;
}

export function acpAgent(options: AcpAgentOptions): Performer {
  return {
    name: options.name,
    can: { steer: true, resume: false, interactive: false, usage: true },
    perform: (assignment, stop) => perform(options, assignment, stop),
  };
}

const cancelMsUsual = 5_000;
const lineBytesMax = 8_000_000; // a request for a permission may hold a whole file twice, and is lost when it is cut
const queuedCharsMax = 262_144;
const activityWeight = 256;
const errorsCharsMax = 4_000;
const unreadBytesMax = 8_000_000; // an answer has some hundred bytes, and takes five times its size while it waits
const deaf: StreamProblem = { kind: 'process', text: 'it asks without end and reads no answer' };

async function* perform(
  options: AcpAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const queue = openQueue<Activity>(queuedCharsMax);
  const life = begin(options, assignment, stop, activity => {
    queue.push(activity, activityWeight + (activity.type === 'text' ? activity.text.length : 0));
  });
  const pumping = pump(life, queue);
  try {
    for (let activity = await queue.take(); activity !== undefined; activity = await queue.take()) yield activity;
  } finally {
    queue.close(); // nobody listens any more, so nothing may wait for it
    life.abandon();
    await pumping;
  }
}

async function pump(life: Life, queue: Queue<Activity>): Promise<void> {
  try {
    for await (const event of runProcess(life.order)) {
      await life.hear(event);
      if (queue.isFull) await queue.room();
    }
  } catch (error) {
    const detail = `the adapter of ACP agents failed: ${(error as Error).message}`;
    queue.push({ type: 'ended', message: '', failure: { kind: 'unknown', detail } }, 0);
  } finally {
    queue.close();
  }
}

interface Life {
  readonly order: ProcessOrder;
  hear(event: ProcessEvent): Promise<void>;
  abandon(): void;
}

function begin(
  options: AcpAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
  tell: (activity: Activity) => void,
): Life {
  const feed = openFeed();
  const errors = tailOf(errorsCharsMax);
  const ear = openSessionListener(options.prices, tell, feed.busy);
  const complain = (text: string): void => {
    errors.add(text);
    tell({ type: 'text', text, channel: 'errors' });
  };
  const wire = openConnection({ write: feed.write, onUpdate: ear.update, onNoise: line => errors.add(`${line}\n`) });
  const ending = endingOf(stop, assignment.timeMsMax, options.cancelMs ?? cancelMsUsual);
  let talk: Session | undefined;

  function start(): void {
    talk = startSession({
      stream: wire,
      prompt: fullPrompt(assignment),
      directory: assignment.directory,
      model: options.model,
      permission: options.permission,
      onSession: ear.session,
      onPermission: ear.permission,
      onTurnBegan: ear.turnBegan,
      onTurnEnded: ear.turnEnded,
      onRemark: text => complain(`[ralph] ${text}\n`),
    });
    assignment.notes?.listen(talk.note);
    ending.watch(talk, () => {
      feed.end();
      feed.finished();
    });
  }

  async function end(exit: ProcessExit): Promise<void> {
    wire.close();
    const talked = await talk?.over;
    ear.lineEnd();
    const odd = problemWords(wire.problems);
    if (odd !== '') tell({ type: 'text', text: `[ralph] ${odd}\n`, channel: 'errors' });
    tell(endedBy(options, assignment, exit, ending.over(), verdictOf(talked, ear.message()), errors.text()));
  }

  function listen(text: string): void {
    wire.push(text);
    if (feed.unreadBytes() > unreadBytesMax) ending.giveUp(wire.close);
  }

  return {
    order: {
      ...orderOf(options, assignment),
      feed,
      stop: ending.halt,
      onSilence: () => talk?.nudge() === true,
    },
    abandon: ending.abandon,
    async hear(event) {
      if (event.type === 'exited') await end(event);
      else if (event.type === 'started') {
        tell({ type: 'spawned', pid: event.pid, startTime: event.startTime, host: event.host });
        start();
      } else if (event.channel === 'output') listen(event.text);
      else complain(event.text);
    },
  };
}

function timersOf(options: AcpAgentOptions): typeof usualTimers & Timers {
  return { ...usualTimers, ...options.timers } as typeof usualTimers;
}

function orderOf(options: AcpAgentOptions, assignment: Assignment): Omit<ProcessOrder, 'stop'> {
  const [command, ...args] = options.command;
  return {
    command,
    args,
    directory: assignment.directory,
    environment: {
      ...options.environment,
      ...assignment.environment,
      RALPH_LOOP: assignment.loop,
      RALPH_TASK: assignment.task,
      RALPH_ITERATION: String(assignment.iteration),
    },
    input: '',
    // Its time is kept by `endingOf`, which cancels first; this is for an agent on which that is lost.
    timeMsMax: assignment.timeMsMax + (options.cancelMs ?? cancelMsUsual),
    timers: timersOf(options),
    limits: options.limits,
    confinement: options.confinement,
    graceMs: options.graceMs,
    lineBytesMax,
  };
}

function verdictOf(talked: SessionEnd | undefined, message: string): AgentResult {
  if (talked?.type === 'failed') return { message, finished: true, problem: talked.problem };
  return { message, finished: talked?.type === 'answered' };
}

function endedBy(
  options: AcpAgentOptions,
  assignment: Assignment,
  exit: ProcessExit,
  wound: Wound,
  verdict: AgentResult,
  errors: string,
): Activity {
  const { message } = verdict;
  const { silenceMs, firstByteMs } = timersOf(options);
  const failure = failureOf({
    exit: wound === 'time' ? { ...exit, timedOut: true, cause: 'time' } : exit,
    verdict: wound === undefined ? verdict : { message, finished: false, problem: wound === 'deaf' ? deaf : undefined },
    isPlain: false,
    stopped: wound === 'stop',
    errors,
    silenceMs,
    firstByteMs,
    timeMsMax: assignment.timeMsMax,
    nowMs: Date.now(),
  });
  return { type: 'ended', message, reaped: exit.reaped, failure };
}

// Ends an ACP agent when it must: by its own cancel first, since that ends its tools in order, and by signals then.

const timerMsMax = 2_147_483_647; // longer ones fire at once

/** Why we broke it off before the agent had answered: asked to stop, out of time, or it does not hear us. */
type Wound = 'stop' | 'time' | 'deaf' | undefined;

export interface Ending {
  readonly halt: AbortSignal;
  /** `close` is called when the talk is over and the agent may go by itself. */
  watch(talk: Session, close: () => void): void;
  abandon(): void;
  /** It asks and asks, and reads no answer: it will not hear a cancel either. `close`: nothing of it is listened to. */
  giveUp(close: () => void): void;
  over(): Wound;
}

function endingOf(stop: AbortSignal, timeMsMax: number, cancelMs: number): Ending {
  const halting = new AbortController();
  const halt = (): void => halting.abort();
  let wound: Wound;
  let talk: Session | undefined;
  let hasAnswered = false;
  let patience: NodeJS.Timeout | undefined;

  function windDown(why: 'stop' | 'time'): void {
    if (!hasAnswered) wound ??= why;
    if (hasAnswered || talk?.stop() !== true) halt();
    else patience ??= setTimeout(halt, cancelMs);
  }

  const stopped = (): void => windDown('stop');
  const clock = setTimeout(windDown, Math.min(timeMsMax, timerMsMax), 'time');
  if (stop.aborted) stopped();
  else stop.addEventListener('abort', stopped, { once: true });
  return {
    halt: halting.signal,
    watch(begun, close) {
      talk = begun;
      void begun.over.then(end => {
        hasAnswered = end.type !== 'lost';
        if (wound !== undefined) halt();
        else close();
      });
    },
    abandon: halt,
    giveUp(close) {
      if (!hasAnswered) wound ??= 'deaf';
      close();
      halt();
    },
    over() {
      clearTimeout(clock);
      clearTimeout(patience);
      stop.removeEventListener('abort', stopped);
      return wound;
    },
  };
}
