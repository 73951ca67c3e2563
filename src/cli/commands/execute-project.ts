// `ralph execute NAME [--iterations N]`: the tasks of a project, by the seed's own words.
import { existsSync } from 'node:fs';
import { refuseProblems } from '../../app/problems.ts';
import { projectPaths, readOwnPrompt } from '../../modes/project/session.ts';
import { UsageError } from '../../text/errors.ts';
import type { Context, Flags, Words } from '../context.ts';
import { execute as run } from './run.ts';

export async function execute(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const paths = projectPaths(context.directory, name);
  if (!existsSync(paths.tasks)) {
    const isBegun = existsSync(paths.spec);
    throw new UsageError(
      isBegun ? `The project ${name} has no tasks.json yet.` : `There is no project ${name} in this folder.`,
      isBegun ? `Let agents work it out with you: ralph interview ${name}` : `Begin it: ralph init ${name}`,
    );
  }
  const { problems } = await readOwnPrompt(context.directory, 'execute');
  if (problems.length > 0) refuseProblems(problems);
  const { iterations, maxIterations } = flags;
  if (iterations !== undefined && maxIterations !== undefined)
    throw new UsageError('--iterations and --max-iterations say the same.', 'Leave one of them out.');
  const { iterations: _said, ...rest } = flags;
  const limit = iterations === undefined ? {} : { maxIterations: iterations };
  return run(context, [paths.tasks], { ...rest, ...limit, mode: 'project' });
}
