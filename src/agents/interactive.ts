// An iteration at the terminal: the agent has it to itself, and a file named done.md, its exit or our stop ends the round.

import { readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { classifyFailure, type Failure } from '../core/failure.ts';
import { type ProcessExit, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { rememberTerminal } from '../processes/terminal.ts';
import { takeCharacters } from '../text/text.ts';
import type { Activity } from './performer.ts';
import { messageCharsMax } from './reader.ts';

const lookEveryMs = 100;
const graceMs = 600; // with the look it stays below the second within which the person has the terminal back
const briefMs = 10_000; // nobody has talked with an agent that is over that soon

export interface TerminalOrder
  extends Omit<ProcessOrder, 'input' | 'stdin' | 'timers' | 'graceMs' | 'terminal' | 'stop'> {
  /** Absolute; done.md in `directory` unless told. */
  readonly doneFile?: string;
  /** Asked when it left early: what it still wants to know is what it was left at. */
  readonly firstQuestions?: ((directory: string) => readonly string[]) | undefined;
}

/** A message without a word means that the agent left without done.md. */
const emptyDone = 'It wrote an empty done.md.';

/** Nothing is read from its screen: its message is what it wrote into done.md, which is then removed. */
export async function* performAtTerminal(
  order: TerminalOrder,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const restore = rememberTerminal();
  if (restore === undefined) {
    const failure: Failure = { kind: 'permission', detail: 'an interactive iteration needs a terminal' };
    return yield { type: 'ended', message: '', failure };
  }
  const { doneFile, firstQuestions, ...launched } = order;
  const done = watchFor(doneFile ?? join(order.directory, 'done.md'));
  const stopOrDone = AbortSignal.any([stop, done.written]);
  const run = runProcess({ ...launched, input: '', terminal: true, graceMs, stop: stopOrDone });
  const startedMs = performance.now();
  let exit: ProcessExit | undefined;
  let lastedMs = 0;
  try {
    for await (const event of run) {
      if (event.type === 'started') yield { ...event, type: 'spawned' };
      else if (event.type === 'exited') {
        exit = event;
        lastedMs = performance.now() - startedMs;
      }
    }
  } finally {
    done.close();
    restore();
  }
  const message = done.take();
  const seen = exit && failureOf(exit, message !== undefined, stop.aborted, lastedMs);
  const failure = seen?.kind === 'process' ? (leftAtQuestions(firstQuestions?.(order.directory)) ?? seen) : seen;
  yield { type: 'ended', message: message ?? '', reaped: exit?.reaped, failure };
}

/**
 * A person's own exit is no failure, whatever its code, unless it comes so soon that the agent failed by itself: without a
 * login, say. Done.md and our stop are told apart by who was first.
 */
function failureOf(exit: ProcessExit, isDone: boolean, isStopped: boolean, lastedMs: number): Failure | undefined {
  const { code: exitCode, signal, spawnError, timedOut, cause } = exit;
  if (spawnError !== undefined) return classifyFailure({ spawnError, text: '' });
  if (cause === 'memory' || cause === 'processes') return classifyFailure({ overLimit: true, text: '' });
  if (isDone) return undefined;
  if (isStopped) return { kind: 'stopped', detail: 'stopped by Ralph' };
  if (timedOut) return classifyFailure({ timedOut: true, text: '' });
  if (exitCode === 126 || exitCode === 127) return classifyFailure({ exitCode, signal, text: '' });
  if (exitCode === 0 || lastedMs >= briefMs) return undefined;
  return classifyFailure({ exitCode, signal, kind: 'process', text: 'it was over within ten seconds' });
}

/** Nothing is wrong with the task: every round would end there until somebody answers. */
function leftAtQuestions(questions: readonly string[] = []): Failure | undefined {
  if (questions.length === 0) return undefined;
  const detail = `it was left within ten seconds, at what it asks when it is new here: ${questions.join(' ')}`;
  return { kind: 'permission', detail };
}

/** One that lay there before the round belongs to somebody else: it counts when it is written anew. */
function watchFor(path: string) {
  const before = stampOf(path);
  const written = new AbortController();
  const isNew = (): boolean => {
    const now = stampOf(path);
    return now !== undefined && now !== before;
  };
  const looking = setInterval(() => isNew() && written.abort(), lookEveryMs);
  return {
    written: written.signal,
    close: () => clearInterval(looking),
    /** What it says, once it was written in this round; then it is gone. */
    take(): string | undefined {
      if (!isNew()) return undefined;
      try {
        const text = takeCharacters(readFileSync(path, 'utf8'), messageCharsMax);
        rmSync(path);
        return text.trim() === '' ? emptyDone : text;
      } catch {
        return emptyDone;
      }
    },
  };
}

function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found?.isFile() ? `${found.ino} ${found.size} ${found.mtimeNs}` : undefined;
}
