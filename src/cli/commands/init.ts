// `ralph init NAME`: the folder of a project and a spec.md that asks the right questions.
import { relative } from 'node:path';
import { initProject } from '../../modes/project/session.ts';
import { UsageError } from '../../text/errors.ts';
import type { Context, Words } from '../context.ts';

export async function execute(context: Context, [name]: Words): Promise<number> {
  if (name === undefined)
    throw new UsageError('ralph init without a name is not there yet.', 'Name the project: ralph init my-project');
  const { spec } = await initProject(context.directory, name);
  const path = relative(context.directory, spec);
  context.say(`Wrote ${path}. Next:`);
  context.say(`  1. Fill it in; delete what says nothing.`);
  context.say(`  2. ralph interview ${name}   # agents ask you what is missing and write the tasks`);
  context.say(`  3. ralph execute ${name}     # agents do the tasks, one by one`);
  context.say(`  Undo: delete ${relative(context.directory, spec.replace(/spec\.md$/, ''))}`);
  return 0;
}
