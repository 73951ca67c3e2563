// `ralph plan lint`: everything that is wrong with a plan, at once.
import { basename } from 'node:path';
import { problemLine } from '../../../app/problems.ts';
import { type Context, type Flags, printJson, type Words } from '../../../cli/context.ts';
import { plural } from '../../../text/format.ts';
import { planRefusals, planWarnings } from '../session/changes.ts';
import { lintPlanFile, shownText } from '../session/files.ts';
import { findNamedPlan, openPlan } from './open-plan.ts';

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const { root, path } = await findNamedPlan(context, word, flags);
  const lint = await lintPlanFile(path);
  // Boxes that a loop has a record of are no news.
  const document = lint.problems.length === 0 ? (await openPlan(context, path, flags)).plan.document : undefined;
  const { env, directory } = context;
  const place = { env, directory, root, flags: {} };
  const refusals = document === undefined ? [] : await planRefusals(document.tasks, place);
  const problems = [...lint.problems, ...refusals.map(message => ({ message }))];
  const isGood = problems.length === 0;
  const warnings = document === undefined ? [] : await planWarnings(document.tasks, place);
  const notices = [...warnings, ...(document?.notices ?? lint.notices)];
  if (flags['json'] === true) {
    return printJson(context, { file: path, ok: isGood, problems, notices }, isGood ? 0 : 2);
  }
  for (const problem of problems) context.print(shownText(problemLine(basename(path), problem)));
  for (const notice of notices) context.say(`note: ${shownText(notice)}`);
  context.say(
    isGood
      ? `${basename(path)} is in order${warnings.length === 0 ? '' : '; it can run as soon as what is missing is there'}.`
      : `${plural(problems.length, 'problem')}: this plan cannot run.`,
  );
  return isGood ? 0 : 2;
}
