// `ralph review FILE`: the same loop as `ralph run`, told that the document itself is the work.

import { execute as run } from '../../cli/commands/run.ts';
import type { Context, Flags, Words } from '../../cli/context.ts';
import { UsageError } from '../../text/errors.ts';
import { reviewNotices } from './session.ts';

export async function execute(context: Context, [file]: Words, flags: Flags): Promise<number> {
  if (flags['parallel'] !== undefined)
    throw new UsageError(
      '--parallel has no effect here: reviewers look side by side anyway.',
      'Leave it out; how many there are is said by --reviewer.',
    );
  const section = typeof flags['section'] === 'string' ? flags['section'] : undefined;
  for (const notice of await reviewNotices(context.directory, file ?? '', section)) context.say(`note: ${notice}`);
  return run(context, [file], { ...flags, mode: 'review' });
}
