// `ralph init`, `ralph interview` and `ralph execute`: the folder of a project, then its two loops, about its spec.md and over its tasks.json.
import { existsSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { refuseProblems } from '../../app/problems.ts';
import type { Context, Flags, Words } from '../../cli/context.ts';
import { UsageError } from '../../text/errors.ts';
import { shellWord } from '../../text/text.ts';
import { initProject, projectPaths, readOwnPrompt } from './session.ts';

/** Loaded late: `ralph init` runs nothing. */
const run = async (context: Context, words: Words, flags: Flags): Promise<number> =>
  (await import('../../cli/commands/run.ts')).execute(context, words, flags);

const noProject = (name: string): UsageError =>
  new UsageError(`There is no project ${name} in this folder.`, `Begin it: ralph init ${name}`);

async function refuseBrokenPrompt({ directory }: Context, kind: 'interview' | 'execute'): Promise<void> {
  const { problems } = await readOwnPrompt(directory, kind);
  if (problems.length > 0) refuseProblems(problems);
}

/** A spec.md that asks the right questions. */
export async function init(context: Context, [name]: Words): Promise<number> {
  if (name === undefined)
    throw new UsageError('ralph init needs the name of a project.', 'Name it: ralph init my-project');
  const { folder } = projectPaths(context.directory, name);
  const madeFolders = [folder, dirname(folder)].filter(one => !existsSync(one));
  const { spec } = await initProject(context.directory, name);
  const path = relative(context.directory, spec);
  context.say(`Wrote ${path}. Next:`);
  context.say(`  1. Fill it in; delete what says nothing.`);
  context.say(`  2. ralph interview ${name}   # agents ask you what is missing and write the tasks`);
  context.say(`  3. ralph execute ${name}     # agents do the tasks, one by one`);
  const folders = madeFolders.map(one => ` ${shellWord(relative(context.directory, one))}`).join('');
  context.say(`  Undo: rm ${shellWord(path)}${folders === '' ? '' : ` && rmdir${folders}`}`);
  return 0;
}

/** Rounds at the terminal about a project's spec.md; the last one leaves tasks.json behind. */
export async function interview(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const { spec } = projectPaths(context.directory, name);
  if (!existsSync(spec)) throw noProject(name);
  await refuseBrokenPrompt(context, 'interview');
  return run(context, [spec], { ...flags, mode: 'interview' });
}

/** What was typed as --iterations is named so when it is refused. */
function asTyped(error: unknown): unknown {
  if (!(error instanceof UsageError)) return error;
  const typed = (text: string): string => text.replaceAll('--max-iterations', '--iterations');
  return new UsageError(typed(error.message), typed(error.hint), error.exitCode);
}

/** The tasks of a project: `ralph execute NAME [--iterations N]`. */
export async function execute(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const { spec, tasks } = projectPaths(context.directory, name);
  if (!existsSync(spec) && !existsSync(tasks)) throw noProject(name);
  if (!existsSync(tasks))
    throw new UsageError(
      `The project ${name} has no tasks.json yet.`,
      `Let agents work it out with you: ralph interview ${name}   Or write it yourself: docs/formats/tasks.md`,
    );
  await refuseBrokenPrompt(context, 'execute');
  const { iterations, maxIterations, ...rest } = flags;
  if (iterations !== undefined && maxIterations !== undefined)
    throw new UsageError('--iterations and --max-iterations say the same.', 'Leave one of them out.');
  const given = { ...rest, maxIterations: iterations ?? maxIterations, mode: 'project' };
  return run(context, [tasks], given).catch((error: unknown) => {
    throw iterations === undefined ? error : asTyped(error);
  });
}
