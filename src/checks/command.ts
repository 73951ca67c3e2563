// A command line as proof: exit code 0 passes, and nothing else does; a flaky one has to pass N of at most M runs.

import { type ProcessExit, type ProcessOrder, runProcess } from '../processes/spawn.ts';
import { tailOf } from '../processes/streams.ts';
import { TestCounter } from '../text/test-counts.ts';
import { stripControls, takeLastWhole } from '../text/text.ts';
import type { Check, CheckResult } from './check.ts';

/** Passed when `needed` of at most `most` runs pass. */
interface Runs {
  readonly needed: number;
  readonly most: number;
}

export interface CommandCheckOptions extends Pick<ProcessOrder, 'limits' | 'confinement' | 'channels'> {
  /** A command line for `sh -c`; also the check's name. */
  readonly command: string;
  /** Of each run. */
  readonly timeMsMax?: number;
  readonly runs?: Runs;
  readonly environment: Readonly<Record<string, string>>;
  /** Names of variables that it does not get: a failure that speaks of one says so. */
  readonly withheld?: readonly string[];
  readonly graceMs?: number;
}

interface Attempt {
  /** Empty when it passed. */
  readonly why: string;
  readonly said: string;
  readonly tests: number | undefined;
  /** Another run would not tell more, or would cost as much again: out of time, stopped, could not start. */
  readonly isFinal: boolean;
}

const tenMinutesMs = 600_000;
const detailCharsMax = 2_000;
/** Control sequences can be longer than what they leave. */
const rawCharsMax = 4 * detailCharsMax;

export function commandCheck(options: CommandCheckOptions): Check {
  const name = options.command;
  const { needed, most } = options.runs ?? { needed: 1, most: 1 };
  return {
    name,
    async run(directory, stop) {
      const startedAt = performance.now();
      const attempts: Attempt[] = [];
      const passes = (): number => attempts.filter(one => one.why === '').length;
      const isOpen = (): boolean => {
        const left = most - attempts.length;
        return passes() < needed && passes() + left >= needed && attempts.at(-1)?.isFinal !== true;
      };
      while (isOpen()) attempts.push(await attempt(options, directory, stop));
      const durationMs = Math.round(performance.now() - startedAt);
      const tests = attempts.at(-1)?.tests;
      return { name, passed: passes() >= needed, ...said(attempts, passes()), durationMs, tests };
    },
  };
}

async function attempt(options: CommandCheckOptions, directory: string, stop: AbortSignal): Promise<Attempt> {
  const timeMsMax = options.timeMsMax ?? tenMinutesMs;
  const output = tailOf(rawCharsMax);
  const tests = new TestCounter();
  let exit: ProcessExit | undefined;
  const run = runProcess({
    command: 'sh',
    args: ['-c', options.command],
    directory,
    environment: options.environment,
    input: '',
    timeMsMax,
    graceMs: options.graceMs,
    limits: options.limits,
    confinement: options.confinement,
    channels: options.channels,
    stop,
  });
  for await (const event of run) {
    if (event.type === 'output') {
      output.add(event.text);
      tests.add(event.text);
    }
    if (event.type === 'exited') exit = event;
  }
  const isFinal = exit === undefined || exit.stoppedByUs || exit.cause !== undefined || exit.spawnError !== undefined;
  const said = stripControls(output.text()).trim();
  const why = whyNot(exit, timeMsMax);
  const missed = why === '' ? undefined : options.withheld?.find(name => wordsOf(said).has(name));
  const missing = missed === undefined ? '' : ` It names ${missed}, which checks do not get: --check-env ${missed}`;
  return { why: `${why}${missing}`, said, tests: tests.count(), isFinal };
}

const wordsOf = (text: string): ReadonlySet<string> => new Set(text.match(/\w+/g));

/** Of several runs the last one that failed says most. */
function said(attempts: readonly Attempt[], passes: number): Pick<CheckResult, 'detail' | 'flaky' | 'silent'> {
  const told = attempts.findLast(one => one.why !== '') ?? attempts.at(-1);
  const isFlaky = passes > 0 && passes < attempts.length;
  const counted =
    attempts.length === 1
      ? ''
      : `${isFlaky ? 'flaky: ' : ''}${passes} of ${attempts.length} runs passed${attempts.at(-1)?.isFinal ? '; no more were tried' : ''}.`;
  const parts = [takeLastWhole(told?.said ?? '', detailCharsMax), told?.why ?? '', counted];
  const detail = takeLastWhole(parts.filter(part => part !== '').join('\n'), detailCharsMax);
  const silent = told !== undefined && told.why !== '' && told.said === '' ? (true as const) : undefined;
  return isFlaky ? { detail, silent, flaky: true } : { detail, silent };
}

/** Empty when the check passed. */
function whyNot(exit: ProcessExit | undefined, timeMsMax: number): string {
  if (exit === undefined) return 'It did not end.';
  if (exit.stoppedByUs) return 'Stopped before it ended.';
  if (exit.timedOut) return `Not done after ${timeMsMax / 1_000} s.`;
  if (exit.cause === 'memory') return 'It used more memory than it may (--max-memory).';
  if (exit.cause === 'processes') return 'It started more processes than it may (--max-processes).';
  if (exit.spawnError !== undefined) return `Could not start: ${exit.spawnError}.`;
  if (exit.signal !== null) return `Ended by ${exit.signal}.`;
  return exit.code === 0 ? '' : `Exit code ${exit.code}.`;
}
