// `ralph interview` and `ralph execute`: the two loops of a project, about its spec.md and over its tasks.json.
import { existsSync } from 'node:fs';
import { refuseProblems } from '../../app/problems.ts';
import { projectPaths, readOwnPrompt } from '../../modes/project/session.ts';
import { UsageError } from '../../text/errors.ts';
import type { Context, Flags, Words } from '../context.ts';
import { execute as run } from './run.ts';

const noProject = (name: string): UsageError =>
  new UsageError(`There is no project ${name} in this folder.`, `Begin it: ralph init ${name}`);

async function refuseBrokenPrompt({ directory }: Context, kind: 'interview' | 'execute'): Promise<void> {
  const { problems } = await readOwnPrompt(directory, kind);
  if (problems.length > 0) refuseProblems(problems);
}

/** Rounds at the terminal about a project's spec.md; the last one leaves tasks.json behind. */
export async function interview(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const { spec } = projectPaths(context.directory, name);
  if (!existsSync(spec)) throw noProject(name);
  await refuseBrokenPrompt(context, 'interview');
  return run(context, [spec], { ...flags, mode: 'project' });
}

/** The tasks of a project, by the seed's own words: `ralph execute NAME [--iterations N]`. */
export async function execute(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const { spec, tasks } = projectPaths(context.directory, name);
  if (!existsSync(spec) && !existsSync(tasks)) throw noProject(name);
  if (!existsSync(tasks))
    throw new UsageError(
      `The project ${name} has no tasks.json yet.`,
      `Let agents work it out with you: ralph interview ${name}`,
    );
  await refuseBrokenPrompt(context, 'execute');
  const { iterations, maxIterations, ...rest } = flags;
  if (iterations !== undefined && maxIterations !== undefined)
    throw new UsageError('--iterations and --max-iterations say the same.', 'Leave one of them out.');
  return run(context, [tasks], { ...rest, maxIterations: iterations ?? maxIterations, mode: 'project' });
}
