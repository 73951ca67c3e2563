// One run of an agent CLI as activities: what it says is understood as it comes, what we say reaches it at any time.

import { nudgeWords } from '../core/handoff.ts';
import { type Feed, openFeed, type ProcessExit, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { type OutputEvent, openQueue, tailOf } from '../processes/streams.ts';
import type { Timers } from '../processes/timers.ts';
import type { AgentCli, AgentEvent, AgentResult, LaunchOrder, PriceBook, Reader, SteeringLines } from './agent.ts';
import { failureOf, plausibleReset, type RunFacts } from './failures.ts';
import type { Activity, Notes } from './performer.ts';
import { type ParseProblems, readJsonLines } from './stream.ts';
import { openUsageReporter } from './usage.ts';

export interface AgentRun {
  readonly cli: AgentCli;
  readonly launchOrder: LaunchOrder;
  readonly process: Omit<ProcessOrder, 'feed' | 'stop' | 'onSilence' | 'lineBytesMax'>;
  readonly timers: Required<Omit<Timers, 'nudgedMs'>>;
  readonly stop: AbortSignal;
  readonly notes?: Notes;
  readonly prices: PriceBook;
  readonly interruptMs: number;
  readonly now: () => number;
}

export interface Talk {
  /** Undefined after `ended`. */
  take(): Promise<Activity | undefined>;
  /** Ends it when it still runs; resolves when nothing of it is alive. */
  leave(): Promise<void>;
}

const lineBytesMax = 1_000_000;
const messageCharsMax = 1_000_000;
const errorCharsMax = 4_000;
const queuedCharsMax = 262_144;
const activityWeight = 256;
const wordsCharsMax = 8_192; // many small words that lived longer would make the collector let the heap grow

export function converse(order: AgentRun): Talk {
  const queue = openQueue<Activity>(queuedCharsMax);
  const halting = new AbortController();
  const feed = openFeed();
  const push = (activity: Activity): void =>
    queue.push(activity, activityWeight + (activity.type === 'text' ? activity.text.length : 0));
  const hearing = hearingOf(order, push, feed.busy);
  const helm = openSteering({
    feed,
    steering: order.cli.steering,
    notes: order.notes,
    stop: order.stop,
    halt: () => halting.abort(),
    told: note => push({ type: 'told', note }),
    interruptMs: order.interruptMs,
    failedMs: order.timers.afterResultMs,
  });
  let hasLeft = false;

  async function run(): Promise<void> {
    const onSilence = (): boolean => helm.nudge();
    const events = runProcess({ ...order.process, feed, stop: halting.signal, onSilence, lineBytesMax });
    for await (const event of events) {
      if (event.type === 'started') {
        push({ type: 'spawned', pid: event.pid, startTime: event.startTime, host: event.host });
        helm.started();
      } else if (event.type === 'exited') hearing.exited(event, helm.hadSucceeded());
      else {
        const { finished, problem } = hearing.said(event);
        if (finished) helm.finished(problem !== undefined);
        else helm.resumed(hearing.isBusy());
      }
      if (queue.isFull) await queue.room();
      if (hasLeft) return;
    }
  }

  const over = run()
    .catch((error: Error) => {
      const detail = `the adapter of ${order.cli.name} failed: ${error.message}`;
      push({ type: 'ended', message: '', failure: { kind: 'unknown', detail } });
    })
    .finally(() => {
      helm.release();
      queue.close();
    });

  return {
    take: () => queue.take(),
    async leave() {
      hasLeft = true;
      queue.close();
      halting.abort();
      await over;
    },
  };
}

interface Hearing {
  /** Says what is known of how it goes after that. */
  said(event: OutputEvent): AgentResult;
  exited(exit: ProcessExit, hadSucceeded: boolean): void;
  isBusy(): boolean;
}

/** Makes activities of what a process says. */
function hearingOf(order: AgentRun, push: (activity: Activity) => void, busy: (isBusy: boolean) => void): Hearing {
  const reader = order.cli.reader(order.launchOrder);
  const ear = openListener(order, reader, push, busy);
  const strayWords = tailOf(errorCharsMax);
  const lines = readJsonLines(reader, lineBytesMax, ear.onEvent, line => strayWords.add(`${line}\n`));
  const errors = tailOf(errorCharsMax);
  const complaints = reader.onErrorLine && wholeLines(line => reader.onErrorLine?.(line));

  return {
    isBusy: ear.isBusy,
    said({ text, channel }) {
      if (channel === 'errors') {
        errors.add(text);
        push({ type: 'text', text, channel });
        complaints?.(text);
      } else {
        lines.push(text);
        ear.flush();
      }
      return reader.result();
    },
    exited(exit, hadSucceeded) {
      lines.end();
      ear.end();
      const odd = problemWords(lines.problems);
      if (odd !== '') push({ type: 'text', text: `[ralph] ${odd}\n`, channel: 'errors' });
      const seen = { errors: errors.text(), strayLines: strayWords.text(), hadSucceeded };
      push(ended(order, reader, exit, seen, ear.isBusy()));
    },
  };
}

/** Gives whole lines of what comes in pieces; one that never ends is given in parts. */
function wholeLines(take: (line: string) => void): (text: string) => void {
  let held = '';
  return text => {
    const lines = (held + text).split('\n');
    held = lines.pop() ?? '';
    if (held.length > errorCharsMax) {
      lines.push(held);
      held = '';
    }
    for (const line of lines) take(line);
  };
}

interface Listener {
  onEvent(heard: AgentEvent): void;
  /** All that was said so far is told, without waiting for more. */
  flush(): void;
  /** Nothing more will be heard: the last line is ended, and what it used is told whatever the agent said about it. */
  end(): void;
  isBusy(): boolean;
}

export function openListener(
  order: Pick<AgentRun, 'cli' | 'prices' | 'launchOrder' | 'now'>,
  reader: Reader,
  push: (activity: Activity) => void,
  busy: (isBusy: boolean) => void,
): Listener {
  const spending = openUsageReporter(order, push);
  let words: string[] = [];
  let wordsChars = 0;
  let isLineOpen = false;
  let toolsOpen = 0;
  let session = '';

  function pause(): void {
    if (wordsChars === 0) return;
    const text = words.join('');
    isLineOpen = !text.endsWith('\n');
    push({ type: 'text', text, channel: 'output' });
    words = [];
    wordsChars = 0;
  }

  function tools(change: 1 | -1): void {
    const before = toolsOpen;
    toolsOpen = Math.max(0, before + change);
    if (before === 0 || toolsOpen === 0) busy(toolsOpen > 0 && !reader.result().finished);
  }

  function lineEnd(): void {
    pause();
    if (isLineOpen) push({ type: 'text', text: '\n', channel: 'output' });
    isLineOpen = false;
  }

  function end(): void {
    lineEnd();
    spending.end(reader.result().message);
  }

  function hear(heard: AgentEvent): void {
    if (heard.type === 'text') {
      words.push(heard.text);
      wordsChars += heard.text.length;
      if (wordsChars > wordsCharsMax) pause();
      spending.onEvent(heard);
      return;
    }
    pause();
    if (heard.type === 'tool') {
      tools(heard.phase === 'began' ? 1 : -1);
      if (heard.phase === 'ended') return;
      spending.onEvent(heard);
      lineEnd();
      push({ type: 'tool', name: heard.name, detail: heard.detail });
    } else if (heard.type === 'usage' || heard.type === 'context') spending.onEvent(heard);
    else if (heard.type === 'session') {
      if (heard.id !== session && heard.id !== '') push({ type: 'session', id: heard.id });
      session = heard.id;
    } else {
      const resetAtMs = plausibleReset(heard.resetAtMs, order.now());
      if (resetAtMs !== undefined) push({ type: 'limit', resetAtMs, detail: heard.detail });
    }
  }

  return { onEvent: hear, flush: pause, end, isBusy: () => toolsOpen > 0 };
}

function ended(
  order: AgentRun,
  reader: Reader,
  exit: ProcessExit,
  seen: Pick<RunFacts, 'errors' | 'strayLines' | 'hadSucceeded'>,
  isBusy: boolean,
): Extract<Activity, { type: 'ended' }> {
  const { timers, process } = order;
  const verdict = reader.result();
  const message = tailOf(messageCharsMax);
  message.add(verdict.message);
  const failure = failureOf({
    exit,
    verdict,
    isPlain: reader.readPlain !== undefined,
    stopped: order.stop.aborted,
    ...seen,
    loginMissing: order.cli.login.missing ?? [],
    silenceMs: isBusy ? timers.busySilenceMs : timers.silenceMs,
    firstByteMs: timers.firstByteMs,
    timeMsMax: process.timeMsMax,
    nowMs: order.now(),
  });
  return { type: 'ended', message: message.text(), failure, reaped: exit.reaped };
}

/** One line for all of it: an agent that babbles must not make us babble. */
export function problemWords({ notUnderstood, tooLong, unknownEvents }: Readonly<ParseProblems>): string {
  const said: string[] = [];
  const some = (count: number, one: string, many: string): void => {
    if (count > 0) said.push(count === 1 ? `1 ${one}` : `${count} ${many}`);
  };
  some(notUnderstood, 'line of the agent was not understood', 'lines of the agent were not understood');
  some(tooLong, 'line was too long', 'lines were too long');
  some(unknownEvents, 'event is of a kind that is new to us', 'events are of kinds that are new to us');
  return said.join(', ');
}

// What we say to a working agent besides its prompt: notes, a nudge, that no more will come, and, before signals, an interrupt.

export interface SteeringOrder {
  readonly feed: Feed;
  /** Absent: it hears nothing but its prompt. */
  readonly steering: SteeringLines | undefined;
  readonly notes: Notes | undefined;
  readonly stop: AbortSignal;
  /** Ends the process by signals. */
  readonly halt: () => void;
  readonly told: (note: string) => void;
  /** What its own interrupt gets before signals do. */
  readonly interruptMs: number;
  /** How long it may go on talking after it has ended in failure. */
  readonly failedMs: number;
}

export interface Steering {
  /** The process is there: what we say from now on reaches it. */
  started(): void;
  /** It has said its last word. May be called again: a later word counts. */
  finished(inFailure: boolean): void;
  /** That was not its last word: it works on, deaf, since its input has ended. Nothing happens to one that never finished. */
  resumed(isBusy: boolean): void;
  /** Its good last word was there before the stop came. */
  hadSucceeded(): boolean;
  /** True when it was nudged. */
  nudge(): boolean;
  release(): void;
}

export function openSteering(order: SteeringOrder): Steering {
  const { feed, steering, stop } = order;
  let phase: 'starting' | 'working' | 'finished' | 'deaf' | 'over' = 'starting';
  let isGood = false;
  let hadSucceeded = false;
  let timer: NodeJS.Timeout | undefined;
  const haltAfter = (waitMs: number): void => {
    timer ??= setTimeout(order.halt, waitMs);
  };
  const forgive = (): void => {
    if (stop.aborted) return;
    clearTimeout(timer);
    timer = undefined;
  };
  const onStop = (): void => {
    hadSucceeded = phase === 'finished' && isGood;
    if (steering === undefined || phase !== 'working') order.halt();
    else {
      feed.write(steering.interrupt());
      haltAfter(order.interruptMs);
    }
  };
  stop.addEventListener('abort', onStop, { once: true });
  if (steering === undefined) feed.end();

  return {
    started() {
      phase = 'working';
      order.notes?.listen(note => {
        if (steering === undefined || phase !== 'working' || stop.aborted) return;
        feed.write(steering.say(note.text));
        order.told(note.id);
      });
    },
    finished(inFailure) {
      if (phase === 'over') return;
      if (phase !== 'finished') {
        phase = 'finished';
        feed.busy(false);
        feed.end();
        feed.finished();
      }
      isGood = !inFailure;
      if (inFailure) haltAfter(order.failedMs);
      else forgive();
    },
    resumed(isBusy) {
      if (phase !== 'finished') return;
      phase = 'deaf';
      feed.resumed();
      feed.busy(isBusy);
      forgive();
    },
    hadSucceeded: () => hadSucceeded,
    nudge() {
      if (steering === undefined || phase !== 'working' || stop.aborted) return false;
      feed.write(steering.say(nudgeWords));
      return true;
    },
    release() {
      phase = 'over';
      clearTimeout(timer);
      stop.removeEventListener('abort', onStop);
    },
  };
}
