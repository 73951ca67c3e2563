// A check that a program brings along, held to the contract of its port: only a plain yes within its time proves anything.
import { formatDuration } from '../../text/format.ts';
import { stripControls, takeLastCharacters } from '../../text/text.ts';
import type { Check, CheckResult } from '../../checks/check.ts';
import { readUsage } from './library-activity.ts';
import { reasonOf } from './library-callbacks.ts';

const detailCharsMax = 2_000;
/** Control sequences can be longer than what they leave. */
const rawCharsMax = 4 * detailCharsMax;
const timerMsMax = 2_147_483_647; // longer ones fire at once
/** From its stop to its end, as for a process. */
const endsWithinMs = 10_000;

type Answered = Omit<CheckResult, 'name' | 'durationMs'>;

const no = (detail: string): Answered => ({ passed: false, detail });

const clean = (text: string): string =>
  takeLastCharacters(stripControls(takeLastCharacters(text, rawCharsMax)).trim(), detailCharsMax);

function answerOf(value: unknown): Answered {
  const { passed, detail, flaky, usage, performer } = (value ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof passed !== 'boolean') return no('The check gave no answer: passed is neither true nor false.');
  const read = usage === undefined ? undefined : readUsage(usage);
  if (read?.ok === false) return no(`The check cannot say what it used: ${read.problem}.`);
  return {
    passed,
    detail: typeof detail === 'string' ? clean(detail) : '',
    flaky: flaky === true || undefined,
    usage: read?.value,
    performer: typeof performer === 'string' ? performer : undefined,
  };
}

/** One that neither answers nor ends is not waited for. */
function answered(check: Check, given: Parameters<Check['run']>, timeMsMax: number): Promise<Answered> {
  const [directory, stop, task] = given;
  if (stop.aborted) return Promise.resolve(no('Stopped before it began.'));
  const controller = new AbortController();
  return new Promise(done => {
    let why = '';
    let time: NodeJS.Timeout;
    const settle = (answer: Answered): void => {
      clearTimeout(time);
      stop.removeEventListener('abort', onStop);
      // Out of time is never a pass.
      done(why === '' ? answer : no(answer.passed ? why : `${why} ${answer.detail}`));
    };
    const halt = (reason: string): void => {
      why = reason;
      clearTimeout(time);
      time = setTimeout(settle, endsWithinMs, no('It did not end then, and is left behind.'));
      controller.abort(stop.reason);
    };
    const onStop = (): void => halt('Stopped before it ended.');
    const late = `Not done after ${formatDuration(timeMsMax)}.`;
    time = setTimeout(halt, Math.min(timeMsMax, timerMsMax), late);
    stop.addEventListener('abort', onStop, { once: true });
    Promise.resolve()
      .then(() => check.run(directory, controller.signal, task))
      .then(answerOf)
      .catch((error: unknown) => no(`The check threw: ${reasonOf(error)}`))
      .then(settle);
  });
}

export function proving(check: Check, timeMsMax: number): Check {
  const { name } = check;
  return {
    name,
    async run(...given): Promise<CheckResult> {
      const startedMs = performance.now();
      const answer = await answered(check, given, timeMsMax);
      return { name, ...answer, durationMs: Math.round(performance.now() - startedMs) };
    },
  };
}
