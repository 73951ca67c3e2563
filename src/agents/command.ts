// Any program as an agent: the prompt comes on its stdin, what it prints is its message, its exit code is the outcome.
import { classifyFailure } from '../core/failure.ts';
import { type ProcessExit, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { tailOf } from '../processes/streams.ts';
import { fullPrompt } from './launch.ts';
import type { Activity, Assignment, Performer } from './performer.ts';

export interface CommandAgentOptions extends Pick<ProcessOrder, 'timers' | 'limits' | 'confinement'> {
  /** A command line for `sh -c`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly graceMs?: number;
}

const messageCharsMax = 1_000_000;
const reasonCharsMax = 4_000;

export function commandAgent(options: CommandAgentOptions): Performer {
  return {
    name: 'command',
    can: { steer: false, resume: false, interactive: false, usage: false },
    perform: (assignment, stop) => perform(options, assignment, stop),
  };
}

async function* perform(
  options: CommandAgentOptions,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const message = tailOf(messageCharsMax);
  const errors = tailOf(reasonCharsMax);
  const run = runProcess({
    command: 'sh',
    args: ['-c', options.command],
    directory: assignment.directory,
    environment: environmentFor(options, assignment),
    input: fullPrompt(assignment),
    timeMsMax: assignment.timeMsMax,
    graceMs: options.graceMs,
    timers: options.timers,
    limits: options.limits,
    confinement: options.confinement,
    stop,
  });
  for await (const event of run) {
    if (event.type === 'started') {
      yield { type: 'spawned', pid: event.pid, startTime: event.startTime, host: event.host };
    } else if (event.type === 'output') {
      (event.channel === 'output' ? message : errors).add(event.text);
      yield { type: 'text', text: event.text, channel: event.channel };
    } else {
      yield endedBy(event, message.text(), errors.text());
    }
  }
}

function environmentFor(options: CommandAgentOptions, assignment: Assignment): Record<string, string> {
  return {
    ...options.environment,
    ...assignment.environment,
    RALPH_LOOP: assignment.loop,
    RALPH_TASK: assignment.task,
    RALPH_ITERATION: String(assignment.iteration),
  };
}

function endedBy(exit: ProcessExit, message: string, errors: string): Activity {
  const ended = { type: 'ended', message, reaped: exit.reaped } as const;
  const wasEnded = exit.stoppedByUs || exit.timedOut || exit.cause !== undefined;
  if (exit.code === 0 && !wasEnded && exit.spawnError === undefined) return ended;
  const text = errors.trim() === '' ? message.slice(-reasonCharsMax) : errors;
  const { code: exitCode, signal, timedOut, stoppedByUs, spawnError } = exit;
  const why = {
    neverSpoke: exit.cause === 'first-byte',
    overLimit: exit.cause === 'memory' || exit.cause === 'processes',
    spawnError,
  };
  return { ...ended, failure: classifyFailure({ exitCode, signal, timedOut, stoppedByUs, ...why, text }) };
}
