// Puts a loop into its place: its own worktree if it has one, its checks run there once, its proof protected.
import { redStart } from '../../app/checks.ts';
import { buildPlaced, type Placed, setUp } from '../../app/placed.ts';
import { loopFolder } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import { makeRedactor, redactDeep } from '../../core/redact.ts';
import { secretValues } from '../../core/redact-environment.ts';
import type { State } from '../../core/state.ts';
import type { CheckResult } from '../../ports/check.ts';
import type { Chosen } from './choose.ts';
import { confirm } from './confirm.ts';
import type { Prepared } from './prepare.ts';
import { plain } from './style.ts';

export interface Started extends Placed {
  readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
}

/** A loop that exists: where its ledger says. */
export async function placeAgain(prepared: Prepared, loop: string, state: State): Promise<Placed> {
  return buildPlaced(prepared, { loop, state });
}

/** What a check prints may hold anything. */
function redWords({ name, detail }: CheckResult): string {
  const last = plain(detail).trim().split('\n').slice(-6);
  return [`red at the start: ${name}`, ...last.map(line => `    ${line}`)].join('\n');
}

/** Undefined: the person at the terminal does not want to begin. */
export async function placeNew(
  prepared: Prepared,
  { loop, name }: Chosen,
  say: (line: string) => void,
  interactive: boolean,
  isLoop: (id: string) => boolean = () => true,
): Promise<Started | undefined> {
  const placed = await setUp(prepared, { loop, name, folder: loopFolder(prepared.home, loop), isLoop }, say);
  if (placed.checks.length === 0) return placed;
  const ran = await redStart(placed.checks, placed.directory, new AbortController().signal);
  const outcomes = redactDeep(ran, makeRedactor(secretValues(prepared.env)));
  const baseline = outcomes.map(({ name: check, passed }) => ({ check, passed }));
  const red = outcomes.filter(one => !one.passed);
  for (const one of red) say(redWords(one));
  if (red.length === 0 || prepared.run.config.allowRedStart) return { ...placed, baseline };
  if (interactive && (await confirm('Nothing was done yet, and this fails. Press Enter to begin all the same '))) {
    return { ...placed, baseline };
  }
  await placed.leave();
  if (interactive) return undefined;
  throw new UsageError(
    `${red.length === 1 ? 'A check fails' : `${red.length} checks fail`} before any work was done: ${red.map(one => one.name).join(' ; ')}.`,
    'Mend it, or say --allow-red-start when the work is meant to turn it green.',
  );
}
