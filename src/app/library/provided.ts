// Performers and checks that a program provides: their names, and the contract that each is held to.

import type { Performer } from '../../agents/performer.ts';
import type { Check, CheckResult } from '../../checks/check.ts';
import { UsageError } from '../../text/errors.ts';
import type { Fields } from '../../text/fields.ts';
import { formatDuration } from '../../text/format.ts';
import { stripControls, takeLastWhole } from '../../text/text.ts';
import type { Provided } from '../session/prepare.ts';
import { providedCheckName } from '../session/resume-rules.ts';
import { chainOf, type LoopOptions } from './options.ts';
import { performerToContract, readUsage, reasonOf, watchdog } from './performer.ts';
import { isText, shown } from './shapes.ts';

const nameCharsMax = 200;

/** Names stand in the ledger, in tables and in lines of text; `constructor` would be found where nothing was put. */
const isName = (name: unknown): boolean =>
  isText(name) &&
  name.trim() !== '' &&
  name.length <= nameCharsMax &&
  !/\p{C}/u.test(name) &&
  !(name in Object.prototype);

function refuseNames(what: string, names: readonly unknown[]): void {
  const at = names.findIndex(name => !isName(name));
  if (at !== -1)
    throw new UsageError(
      `A ${what} has no name that can be recorded${isText(names[at]) ? `: ${shown(names[at])}` : ''}.`,
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
    checkNames: checks.map(({ name }) => providedCheckName(name)),
    checks: timeMsMax => checks.map(check => checkToContract(check, timeMsMax, providedCheckName(check.name))),
  };
}

const detailCharsMax = 2_000;
/** Control sequences can be longer than what they leave. */
const rawCharsMax = 4 * detailCharsMax;

type Answered = Omit<CheckResult, 'name' | 'durationMs'>;

const no = (detail: string): Answered => ({ passed: false, detail });

const clean = (text: string): string =>
  takeLastWhole(stripControls(takeLastWhole(text, rawCharsMax)).trim(), detailCharsMax);

function answerOf(value: unknown): Answered {
  const { passed, detail, flaky, usage, performer } = (value ?? {}) as Fields;
  if (typeof passed !== 'boolean') return no('The check gave no answer: passed is neither true nor false.');
  const read = usage === undefined ? undefined : readUsage(usage);
  if (read?.ok === false) return no(`The check cannot say what it used: ${read.problem}.`);
  return {
    passed,
    detail: isText(detail) ? clean(detail) : '',
    flaky: flaky === true || undefined,
    usage: read?.value,
    performer: isText(performer) ? performer : undefined,
  };
}

/** One that neither answers nor ends is not waited for. */
function answered(check: Check, given: Parameters<Check['run']>, timeMsMax: number): Promise<Answered> {
  const [directory, stop, task] = given;
  if (stop.aborted) return Promise.resolve(no('Stopped before it began.'));
  const watch = watchdog(stop, timeMsMax);
  return new Promise(done => {
    const settle = (answer: Answered): void => {
      watch.end();
      const why = watch.isLate() ? `Not done after ${formatDuration(timeMsMax)}.` : 'Stopped before it ended.';
      // Out of time is never a pass.
      done(watch.signal.aborted ? no(answer.passed ? why : `${why} ${answer.detail}`) : answer);
    };
    watch.onGivenUp(() => settle(no('It did not end then, and is left behind.')));
    Promise.resolve()
      .then(() => check.run(directory, watch.signal, task))
      .then(answerOf)
      .catch((error: unknown) => no(`The check threw: ${reasonOf(error)}`))
      .then(settle);
  });
}

/** Only a plain yes within its time, which the settings give a check, proves anything. */
export function checkToContract(check: Check, timeMsMax: number, name: string = check.name): Check {
  return {
    name,
    async run(...given): Promise<CheckResult> {
      const startedMs = performance.now();
      const answer = await answered(check, given, timeMsMax);
      return { name, ...answer, durationMs: Math.round(performance.now() - startedMs) };
    },
  };
}
