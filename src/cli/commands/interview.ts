// `ralph interview NAME`: rounds at the terminal about a project's spec.md; the last one leaves tasks.json behind.
import { existsSync } from 'node:fs';
import { refuseProblems } from '../../app/problems.ts';
import { projectPaths, readOwnPrompt } from '../../modes/project/session.ts';
import { UsageError } from '../../text/errors.ts';
import type { Context, Flags, Words } from '../context.ts';
import { execute as run } from './run.ts';

export async function execute(context: Context, [name = '']: Words, flags: Flags): Promise<number> {
  const { spec } = projectPaths(context.directory, name);
  if (!existsSync(spec))
    throw new UsageError(`There is no project ${name} in this folder.`, `Begin it: ralph init ${name}`);
  const { problems } = await readOwnPrompt(context.directory, 'interview');
  if (problems.length > 0) refuseProblems(problems);
  return run(context, [spec], { ...flags, mode: 'project' });
}
