// `ralph plan lint`: everything that is wrong with a plan, at once.
import { basename } from 'node:path';
import type { Context, Flags, Words } from '../../../cli/context.ts';
import { plural } from '../../../text/format.ts';
import { planCares } from '../session/changes.ts';
import { readPlan, shownText, withRecord } from '../session/files.ts';
import { loopOfPlan } from '../session/loops.ts';
import { lintPlanFile } from '../session/vault.ts';
import { type NamedPlan, namedPlan } from './words.ts';

interface Notices {
  readonly cares: readonly string[];
  readonly others: readonly string[];
}

/** With what could not be done here today; boxes that a loop has a record of are no news. */
async function noticesOf(context: Context, { root, path }: NamedPlan): Promise<Notices | undefined> {
  const read = await readPlan(path);
  if (read.type !== 'plan') return undefined;
  const { env, directory } = context;
  const cares = await planCares(read.plan.document.tasks, { env, directory, root, flags: {} });
  if (!context.hasLedger()) return { cares, others: read.plan.document.notices };
  const loop = await loopOfPlan(await context.ledger(), read.plan);
  const plan = loop?.state.loaded === true ? withRecord(read.plan) : read.plan;
  return { cares, others: plan.document.notices };
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const named = await namedPlan(context, word, flags);
  const { path } = named;
  const { problems, notices: all } = await lintPlanFile(path);
  const { cares, others } = (await noticesOf(context, named)) ?? { cares: [], others: all };
  const notices = [...cares, ...others];
  if (flags['json'] === true) {
    context.out(JSON.stringify({ version: 1, file: path, ok: problems.length === 0, problems, notices }, null, 2));
    return problems.length === 0 ? 0 : 2;
  }
  for (const { message, line, column, fix } of problems) {
    const place = line === undefined ? '' : `:${line}${column === undefined ? '' : `:${column}`}`;
    context.print(shownText(`${basename(path)}${place}: ${message}${fix === undefined ? '' : ` ${fix}`}`));
  }
  for (const notice of notices) context.say(`note: ${shownText(notice)}`);
  if (problems.length > 0) {
    context.say(`${plural(problems.length, 'problem')}: this plan cannot run.`);
    return 2;
  }
  context.say(`${basename(path)} can run${cares.length === 0 ? '' : ' as soon as what is missing is there'}.`);
  return 0;
}
