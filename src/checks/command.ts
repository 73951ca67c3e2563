// A command line as proof: exit code 0 passes, and nothing else does.
import { stripControls, takeLastCharacters } from '../core/text.ts';
import type { Check, CheckResult } from '../ports/check.ts';
import { type ProcessExit, type ProcessOrder, runProcess } from '../process/spawn.ts';
import { tailOf } from '../process/tail.ts';

export interface CommandCheckOptions extends Pick<ProcessOrder, 'limits' | 'confinement'> {
  /** A command line for `sh -c`; also the check's name. */
  readonly command: string;
  readonly timeMsMax?: number;
  readonly environment: Readonly<Record<string, string>>;
  readonly graceMs?: number;
}

const tenMinutesMs = 600_000;
const detailCharsMax = 2_000;
/** Control sequences can be longer than what they leave. */
const rawCharsMax = 4 * detailCharsMax;

export function commandCheck(options: CommandCheckOptions): Check {
  const timeMsMax = options.timeMsMax ?? tenMinutesMs;
  return {
    name: options.command,
    async run(directory, stop) {
      const startedAt = performance.now();
      const output = tailOf(rawCharsMax);
      let exit: ProcessExit | undefined;
      const run = runProcess({
        command: 'sh',
        args: ['-c', options.command],
        directory,
        environment: options.environment,
        input: '',
        timeMsMax,
        ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
        ...(options.limits === undefined ? {} : { limits: options.limits }),
        ...(options.confinement === undefined ? {} : { confinement: options.confinement }),
        stop,
      });
      for await (const event of run) {
        if (event.type === 'output') output.add(event.text);
        if (event.type === 'exited') exit = event;
      }
      const durationMs = Math.round(performance.now() - startedAt);
      return resultOf(options.command, timeMsMax, exit, output.text(), durationMs);
    },
  };
}

function resultOf(
  name: string,
  timeMsMax: number,
  exit: ProcessExit | undefined,
  output: string,
  durationMs: number,
): CheckResult {
  const why = whyNot(exit, timeMsMax);
  const said = takeLastCharacters(stripControls(output).trim(), detailCharsMax);
  const detail = [said, why].filter(part => part !== '').join('\n');
  return { name, passed: why === '', detail: takeLastCharacters(detail, detailCharsMax), durationMs };
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
