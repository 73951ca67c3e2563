// `ralph tell`: guidance that stands at the top of the next iteration's prompt.

import { stateOf } from '../../app.ts';
import { UsageError } from '../../core/errors.ts';
import { findTask } from '../../core/task.ts';
import { type Context, loopOf, outcomeWords, sendCommand } from './context.ts';
import { givenText } from './text-input.ts';

export async function execute(
  context: Context,
  [first, second]: readonly (string | undefined)[],
  flags: Readonly<Record<string, unknown>>,
): Promise<number> {
  if (first === undefined)
    throw new UsageError('There is nothing to tell.', 'ralph tell "keep the public API as it is"');
  const [name, words] = second === undefined ? [undefined, first] : [first, second];
  const text = await givenText(words, 'guidance', context.say);
  const { ledger, row } = await loopOf(context, name, true);
  if (row.reason !== null)
    throw new UsageError(
      `Loop ${row.name} has ended: ${row.reason}.`,
      'Guidance needs a loop that goes on: ralph loops list',
    );
  const task = flags['task'];
  if (typeof task === 'string') {
    const { state } = await stateOf(ledger, row.loop);
    if (findTask(state.tasks, task) === undefined)
      throw new UsageError(
        `Loop ${row.name} has no task ${JSON.stringify(task)}.`,
        `See them: ralph loops show ${row.name}`,
      );
  }
  const outcome = await sendCommand(context, row, [
    { type: 'tell', text, ...(typeof task === 'string' ? { task } : {}) },
  ]);
  context.say(`Guidance for ${row.name}: ${outcomeWords[outcome]}. It stands in the prompt of the next iteration.`);
  return 0;
}
