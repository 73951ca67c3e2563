// `ralph plan lint`: everything that is wrong with a plan, at once.
import { basename } from 'node:path';
import { lintPlanFile } from '../../app/vault.ts';
import { readPlan, shownText, withRecord } from '../../app/vault-files.ts';
import { loopOfPlan } from '../../app/vault-loops.ts';
import { plural } from '../../core/format.ts';
import type { Context } from './context.ts';
import { type Flags, namedPlan } from './plan-place.ts';

/** Boxes that a loop has a record of are no news. */
async function noticesOfRecorded(context: Context, root: string, path: string): Promise<readonly string[] | undefined> {
  const read = await readPlan(path);
  if (read.type !== 'plan' || !context.hasLedger()) return undefined;
  const loop = await loopOfPlan(await context.ledger(), root, read.plan);
  return loop?.state.loaded === true ? withRecord(read.plan).document.notices : undefined;
}

export async function execute(
  context: Context,
  [word]: readonly (string | undefined)[],
  flags: Flags,
): Promise<number> {
  const { path, root } = await namedPlan(context, word, flags);
  const { problems, notices: all } = await lintPlanFile(path);
  const notices = (await noticesOfRecorded(context, root, path)) ?? all;
  if (flags['json'] === true) {
    context.out(JSON.stringify({ version: 1, file: path, ok: problems.length === 0, problems, notices }, null, 2));
    return problems.length === 0 ? 0 : 2;
  }
  for (const { message, line, column, fix } of problems) {
    const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
    context.out(shownText(`${basename(path)}${place}: ${message}${fix === undefined ? '' : ` ${fix}`}`));
  }
  for (const notice of notices) context.say(`note: ${shownText(notice)}`);
  if (problems.length > 0) {
    context.say(`${plural(problems.length, 'problem')}: this plan cannot run.`);
    return 2;
  }
  context.say(`${basename(path)} can run.`);
  return 0;
}
