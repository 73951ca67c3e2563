// A loop that goes on keeps the checks it was started with unless a person names others: proof never goes away silently.

import type { Environment } from '../app.ts';
import { UsageError } from '../../text/errors.ts';
import type { State } from '../../core/state.ts';
import { buildChecks, judgeNamed } from '../checks.ts';
import { isInterview } from '../modes.ts';
import type { Prepared } from './prepare.ts';

const ownPrefix = 'own check: ';

/** As a check that a program brings along stands among the checks of a loop: nobody else can run it. */
export const ownCheckName = (name: string): string => `${ownPrefix}${name}`;

export async function carriedOver(prepared: Prepared, state: State | undefined, env: Environment): Promise<Prepared> {
  if (state === undefined || isSaid(prepared) || isInterview(prepared.mode, prepared.path)) return prepared;
  const { checks: names } = state.settings;
  if (names.some(command => command.includes('[redacted:'))) {
    throw new UsageError(
      'A check of this loop holds a secret, which is not kept.',
      'Give the checks again: --verify CMD',
    );
  }
  const lost = names.filter(name => name.startsWith(ownPrefix));
  if (lost.length > 0)
    throw new UsageError(
      `A program brought a check of this loop along: ${lost.map(name => name.slice(ownPrefix.length)).join(', ')}.`,
      'Go on with that program, or name other checks: --verify CMD',
    );
  const judge = names.flatMap(name => judgeNamed(name) ?? [])[0];
  const config = {
    ...prepared.run.config,
    verify: names.filter(name => judgeNamed(name) === undefined),
    judge: judge ?? prepared.run.config.judge,
  };
  const settings = { ...prepared.run.settings, checks: names };
  const checks = await buildChecks({ config, directory: prepared.directory, home: prepared.home, env });
  return { ...prepared, checks, run: { ...prepared.run, config, settings } };
}

const isSaid = ({ run, own }: Prepared): boolean => run.isSet('verify') || own.checks.length > 0;
