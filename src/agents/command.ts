// Any program as an agent: the prompt comes on its stdin, what it prints is its message, its exit code is the outcome.
import { classifyFailure } from '../core/failure.ts';
import { holdsBack, type ProcessExit, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { tailOf } from '../processes/streams.ts';
import { takeLastWhole } from '../text/text.ts';
import { resetFor, resetIn } from './failures.ts';
import { fullPrompt, iterationEnvironment } from './launch.ts';
import type { Activity, Assignment, Performer } from './performer.ts';
import { messageCharsMax } from './reader.ts';

export interface CommandAgentOptions
  extends Pick<ProcessOrder, 'timers' | 'limits' | 'confinement' | 'channels' | 'graceMs'> {
  /** A command line for `sh -c`. */
  readonly command: string;
  readonly environment: Readonly<Record<string, string>>;
}

const reasonCharsMax = 4_000;

export function commandAgent(options: CommandAgentOptions): Performer {
  return {
    name: 'command',
    can: { steer: false, resume: false, interactive: false, usage: false },
    holds: () => holdsBack(options),
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
  const { command, environment, ...process } = options;
  const run = runProcess({
    ...process,
    command: 'sh',
    args: ['-c', command],
    directory: assignment.directory,
    environment: iterationEnvironment(environment, assignment),
    input: fullPrompt(assignment),
    timeMsMax: assignment.timeMsMax,
    mayBegin: assignment.mayBegin,
    stop,
  });
  for await (const event of run) {
    if (event.type === 'started') yield { ...event, type: 'spawned' };
    else if (event.type === 'output') {
      (event.channel === 'output' ? message : errors).add(event.text);
      yield { type: 'text', text: event.text, channel: event.channel };
    } else {
      yield endOfCommand(event, { message: message.text(), errors: errors.text(), nowMs: Date.now() });
    }
  }
}

interface CommandOutput {
  readonly message: string;
  readonly errors: string;
  readonly nowMs: number;
}

/** The end of a program: its exit code is the outcome, and what it printed last says why it failed. */
export function endOfCommand(exit: ProcessExit, { message, errors, nowMs }: CommandOutput) {
  const ended = { type: 'ended', message, reaped: exit.reaped } as const;
  const wasEnded = exit.stoppedByUs || exit.timedOut || exit.cause !== undefined;
  if (exit.code === 0 && !wasEnded && exit.spawnError === undefined) return { ...ended, failure: undefined };
  const text = errors.trim() === '' ? takeLastWhole(message, reasonCharsMax) : errors;
  const { code: exitCode, signal, timedOut, stoppedByUs, spawnError, cause } = exit;
  const overLimit = cause === 'memory' || cause === 'processes';
  const why = { exitCode, signal, timedOut, stoppedByUs, neverSpoke: cause === 'first-byte', overLimit, spawnError };
  const failure = classifyFailure({ ...why, text, resetAtMs: resetIn(text, nowMs) });
  return { ...ended, failure: { ...failure, resetAtMs: resetFor(failure, nowMs) } };
}
