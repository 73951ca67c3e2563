// One run of an agent CLI: what it says is read as it comes, what we say reaches it at any time.

import { openStdin, type ProcessExit, type ProcessOrder } from '../processes/spawn.ts';
import { type OutputEvent, tailOf } from '../processes/streams.ts';
import type { Timers } from '../processes/timers.ts';
import type { AgentEvent, Reader } from './agent.ts';
import { failureOf, plausibleReset } from './failures.ts';
import type { Notes } from './performer.ts';
import { type AgentProcess, gatherText, type Push, reportProblems } from './process-run.ts';
import { messageCharsMax } from './reader.ts';
import { openSteering } from './steering.ts';
import { readJsonLines, splitLines } from './stream.ts';
import { openUsageReporter, type UsageOrder } from './usage.ts';

export interface CliRun extends UsageOrder {
  readonly process: Omit<ProcessOrder, 'stdin' | 'stop' | 'onSilence' | 'lineBytesMax'>;
  readonly timers: Required<Omit<Timers, 'nudgedMs'>>;
  readonly stop: AbortSignal;
  readonly notes?: Notes;
  readonly interruptMs: number;
  readonly now: () => number;
}

const lineBytesMax = 1_000_000;
const errorCharsMax = 4_000;

export function startCliRun(run: CliRun, push: Push): AgentProcess {
  const { cli, timers, notes, stop, interruptMs } = run;
  const halting = new AbortController();
  const halt = (): void => halting.abort();
  const stdin = openStdin();
  const reader = cli.reader(run.launchOrder);
  const listener = openListener(run, reader, push, stdin.busy);
  const strayLines = tailOf(errorCharsMax);
  const lines = readJsonLines(reader, lineBytesMax, listener.onEvent, line => strayLines.add(`${line}\n`));
  const errors = tailOf(errorCharsMax);
  const errorLines = reader.onErrorLine && splitLines(line => reader.onErrorLine?.(line));
  const onTold = (note: string): void => push({ type: 'told', note });
  const times = { interruptMs, failedMs: timers.afterResultMs };
  const steering = openSteering({ stdin, lines: cli.steering, notes, stop, halt, onTold, ...times });

  function onOutput({ text, channel }: OutputEvent): void {
    if (channel === 'errors') {
      errors.add(text);
      push({ type: 'text', text, channel });
      errorLines?.push(text);
    } else {
      lines.push(text);
      listener.flush();
    }
    const { finished, problem } = reader.result();
    if (finished) steering.finished(problem !== undefined);
    else steering.resumed(listener.isBusy());
  }

  function onExit(exit: ProcessExit): void {
    lines.end();
    listener.end();
    reportProblems(lines.problems, push);
    const failure = failureOf({
      ...factsOf(run, reader, exit),
      hadSucceeded: steering.hadSucceeded(),
      errors: errors.text(),
      strayLines: strayLines.text(),
      silenceMs: listener.isBusy() ? timers.busySilenceMs : timers.silenceMs,
    });
    const message = tailOf(messageCharsMax);
    message.add(reader.result().message());
    push({ type: 'ended', message: message.text(), failure, reaped: exit.reaped });
  }

  return {
    order: { ...run.process, stdin, stop: halting.signal, onSilence: steering.nudge, lineBytesMax },
    onEvent(event) {
      if (event.type === 'output') onOutput(event);
      else if (event.type === 'exited') onExit(event);
      else {
        push({ ...event, type: 'spawned' });
        steering.started();
      }
    },
    halt,
    close: steering.release,
  };
}

/** What is known of a run that has ended, but for what it printed and how it was steered. */
function factsOf({ cli, timers, process, stop, now }: CliRun, reader: Reader, exit: ProcessExit) {
  return {
    exit,
    result: reader.result(),
    isPlain: reader.readPlain !== undefined,
    stopped: stop.aborted,
    loginMissing: cli.login.missing,
    firstByteMs: timers.firstByteMs,
    timeMsMax: process.timeMsMax,
    nowMs: now(),
  };
}

/** Makes activities of an agent's events. */
export function openListener(
  order: UsageOrder & Pick<CliRun, 'now'>,
  reader: Reader,
  push: Push,
  busy: (isBusy: boolean) => void,
) {
  const usage = openUsageReporter(order, push);
  const text = gatherText(push);
  let toolsOpen = 0;
  let session = '';

  function onTool(event: Extract<AgentEvent, { type: 'tool' }>): void {
    const before = toolsOpen;
    toolsOpen = Math.max(0, before + (event.phase === 'began' ? 1 : -1));
    if (before === 0 || toolsOpen === 0) busy(toolsOpen > 0 && !reader.result().finished);
    if (event.phase === 'ended') return;
    usage.onEvent(event);
    text.endLine();
    push({ type: 'tool', name: event.name, detail: event.detail });
  }

  function onSession(id: string): void {
    if (id !== session && id !== '') push({ type: 'session', id });
    session = id;
  }

  function onLimit({ resetAtMs, detail }: Extract<AgentEvent, { type: 'limit' }>): void {
    const at = plausibleReset(resetAtMs, order.now());
    if (at !== undefined) push({ type: 'limit', resetAtMs: at, detail });
  }

  return {
    onEvent(event: AgentEvent): void {
      if (event.type === 'text') {
        text.add(event.text);
        usage.onEvent(event);
        return;
      }
      text.flush();
      if (event.type === 'tool') onTool(event);
      else if (event.type === 'session') onSession(event.id);
      else if (event.type === 'limit') onLimit(event);
      else usage.onEvent(event);
    },
    flush: text.flush,
    /** Nothing more will come: the last line is ended, and what it used is told whatever the agent said about it. */
    end(): void {
      text.endLine();
      usage.end(reader.result().message());
    },
    /** A tool is at work. */
    isBusy: () => toolsOpen > 0,
  };
}
