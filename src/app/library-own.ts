// Performers and checks that a program brings along, held to the contracts of their ports whatever they do.
import { UsageError } from '../core/errors.ts';
import type { Failure } from '../core/failure.ts';
import type { Check, CheckResult } from '../ports/check.ts';
import type { Activity, Assignment, Performer } from '../ports/performer.ts';
import { ownCheckName } from './carry-over.ts';
import { chainOf, type LoopOptions } from './library-options.ts';
import type { Own } from './prepare.ts';

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** One that throws has failed; one that ends without a last word too; what comes after the last word is not heard. */
function held(performer: Performer): Performer {
  const failed = (kind: Failure['kind'], detail: string): Activity => ({
    type: 'ended',
    message: '',
    failure: { kind, detail },
  });
  async function* perform(assignment: Assignment, stop: AbortSignal): AsyncGenerator<Activity, void, void> {
    try {
      for await (const activity of performer.perform(assignment, stop)) {
        yield activity;
        if (activity.type === 'ended') return;
      }
    } catch (error) {
      yield failed(stop.aborted ? 'stopped' : 'unknown', `the performer ${performer.name} threw: ${reasonOf(error)}`);
      return;
    }
    yield failed(stop.aborted ? 'stopped' : 'unknown', `the performer ${performer.name} ended without a last word`);
  }
  return { name: performer.name, can: performer.can, perform };
}

function proving(check: Check): Check {
  const name = ownCheckName(check.name);
  return {
    name,
    async run(directory, stop, task): Promise<CheckResult> {
      try {
        return { ...(await check.run(directory, stop, task)), name };
      } catch (error) {
        return { name, passed: false, detail: `the check threw: ${reasonOf(error)}`, durationMs: 0 };
      }
    },
  };
}

function refuseNames(what: string, names: readonly string[]): void {
  if (names.some(name => typeof name !== 'string' || name.trim() === ''))
    throw new UsageError(`A ${what} has no name.`, 'Give it one: it stands in the ledger.');
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined) throw new UsageError(`Two ${what}s are called ${JSON.stringify(twice)}.`);
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
  // Agents alone are named as on the command line, with what goes with that (a model, a fallback).
  return {
    chain: performers.length === 0 ? [] : chain,
    performers: performers.map(held),
    checks: checks.map(proving),
  };
}
