// Performers and checks that a program brings along: what they are called, and that they are what they should be.
import { UsageError } from '../../text/errors.ts';
import type { Check } from '../../checks/check.ts';
import type { Performer } from '../../agents/performer.ts';
import { ownCheckName } from '../session/carry-over.ts';
import { proving } from './library-check.ts';
import { chainOf, type LoopOptions } from './options.ts';
import { held } from './performer.ts';
import type { Own, Prepared } from '../session/prepare.ts';

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

export function ownOf(options: LoopOptions): Own {
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
    performers: performers.map(held),
    checks: checks.map(check => ({
      name: ownCheckName(check.name),
      run: (directory, stop, task) => check.run(directory, stop, task),
    })),
  };
}

/** Held to the time that the settings give a check. */
export function withProof(prepared: Prepared): Prepared {
  const { own, checks, run } = prepared;
  const trusted = new Map(own.checks.map(one => [one, proving(one, run.config.verifyTimeout)]));
  const proven = (one: Check): Check => trusted.get(one) ?? one;
  return { ...prepared, checks: checks.map(proven), own: { ...own, checks: own.checks.map(proven) } };
}
