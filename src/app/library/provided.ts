// Performers and checks that a program brings along: what they are called, and that they are what they should be.

import { type Performer, stopReasonOf } from '../../agents/performer.ts';
import type { Check, CheckResult } from '../../checks/check.ts';
import { UsageError } from '../../text/errors.ts';
import { formatDuration } from '../../text/format.ts';
import { stripControls, takeLastCharacters } from '../../text/text.ts';
import type { Prepared, Provided } from '../session/prepare.ts';
import { providedCheckName } from '../session/resume-rules.ts';
import { chainOf, type LoopOptions } from './options.ts';
import { performerToContract, readUsage, reasonOf } from './performer.ts';

const nameCharsMax = 200;

/** Names stand in the ledger, in tables and in lines of text; `constructor` would be found where nothing was put. */
const isName = (name: unknown): boolean =>
  typeof name === 'string' &&
  name.trim() !== '' &&
  name.length <= nameCharsMax &&
  !/\p{C}/u.test(name) &&
  !(name in Object.prototype);

function refuseNames(what: string, names: readonly unknown[]): void {
  const bad = names.find(name => !isName(name));
  if (names.some(name => !isName(name)))
    throw new UsageError(
      `A ${what} has no name that can be recorded${typeof bad === 'string' ? `: ${JSON.stringify(bad.slice(0, 50))}` : ''}.`,
      `Give it one: a line of at most ${nameCharsMax} characters.`,
    );
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`Two ${what}s are called ${JSON.stringify(twice)}.`);
}

const abilities = ['steer', 'resume', 'interactive', 'usage'] as const;

function refuseStrange(performers: readonly Performer[], checks: readonly Check[]): void {
  for (const { name, can, perform } of performers) {
    if (typeof perform !== 'function')
      throw new UsageError(`The performer ${name} has no perform.`, 'Give it an async generator of activities.');
    const missing = abilities.find(one => typeof can?.[one] !== 'boolean');
    if (missing !== undefined)
      throw new UsageError(
        `The performer ${name} does not say whether it can ${missing}.`,
        `Say can: { ${abilities.map(one => `${one}: false`).join(', ')} }.`,
      );
  }
  for (const { name, run } of checks)
    if (typeof run !== 'function')
      throw new UsageError(`The check ${name} has no run.`, 'Give it a function that answers with { passed, detail }.');
}

export function providedBy(options: LoopOptions): Provided {
  const given = chainOf(options);
  const performers = given.filter(one => typeof one !== 'string');
  const checks = options.checks?.filter(one => typeof one !== 'string') ?? [];
  const chain = given.map(one => (typeof one === 'string' ? one : one.name));
  refuseNames('performer', chain);
  refuseNames(
    'check',
    checks.map(one => one.name),
  );
  refuseStrange(performers, checks);
  // Agents alone are named as on the command line, with what goes with that (a model, a fallback).
  return {
    chain: performers.length === 0 ? [] : chain,
    performers: performers.map(performerToContract),
    checks: checks.map(check => ({
      name: providedCheckName(check.name),
      run: (directory, stop, task) => check.run(directory, stop, task),
    })),
  };
}

/** Held to the time that the settings give a check. */
export function withCheckedContract(prepared: Prepared): Prepared {
  const { provided: own, checks, run } = prepared;
  const trusted = new Map(own.checks.map(one => [one, checkToContract(one, run.config.verifyTimeout)]));
  const proven = (one: Check): Check => trusted.get(one) ?? one;
  return { ...prepared, checks: checks.map(proven), provided: { ...own, checks: own.checks.map(proven) } };
}

// A check that a program brings along, held to the contract of its port: only a plain yes within its time proves anything.

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
      controller.abort(stopReasonOf(stop)?.because ?? stop.reason);
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

export function checkToContract(check: Check, timeMsMax: number): Check {
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
