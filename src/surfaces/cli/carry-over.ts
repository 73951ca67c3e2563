// A loop that goes on keeps the checks it was started with unless a person names others: proof never goes away silently.
import { buildChecks, judgeNamed } from '../../app/checks.ts';
import { isInterview } from '../../app/modes.ts';
import type { Environment } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import type { State } from '../../core/state.ts';
import type { Prepared } from './prepare.ts';

export async function carriedOver(prepared: Prepared, state: State | undefined, env: Environment): Promise<Prepared> {
  if (state === undefined || prepared.run.isSet('verify') || isInterview(prepared.mode, prepared.path)) return prepared;
  if (state.settings.checks.some(command => command.includes('[redacted:'))) {
    throw new UsageError(
      'A check of this loop holds a secret, which is not kept.',
      'Give the checks again: --verify CMD',
    );
  }
  const { checks: names } = state.settings;
  const judge = names.flatMap(name => judgeNamed(name) ?? [])[0];
  const config = {
    ...prepared.run.config,
    verify: names.filter(name => judgeNamed(name) === undefined),
    ...(judge === undefined ? {} : { judge }),
  };
  const settings = { ...prepared.run.settings, checks: names };
  const checks = await buildChecks({ config, directory: prepared.directory, home: prepared.home, env });
  return { ...prepared, checks, run: { ...prepared.run, config, settings } };
}
