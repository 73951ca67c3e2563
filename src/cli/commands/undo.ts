// `ralph undo`: takes the last act back: the last iteration, or the last restore.

import { wholeRow } from '../../app/restore.ts';
import { findTask } from '../../core/task.ts';
import { UsageError } from '../../text/errors.ts';
import { onlyLooked, standingCount, undoTarget } from '../../views/checkpoints.ts';
import { checkpointsOf, countOf } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { carryOut, stepsHint } from '../restore.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const loop = await checkpointsOf(context, name, { writes: flags['dryRun'] !== true });
  const { list, row, state } = loop;
  const count = standingCount(list);
  const isIdle = onlyLooked(list, task => findTask(state.tasks, task)?.readOnly === true);
  const target = undoTarget(list, countOf(flags, 'steps', count, stepsHint(count)), isIdle);
  if (target === undefined)
    throw new UsageError(
      count === 0
        ? `There is nothing to undo in loop ${row.name}: no iteration stands in these files.`
        : `There is nothing to undo in loop ${row.name}: its iterations only looked, and changed no file.`,
      `All its checkpoints: ralph checkpoint list ${row.name}`,
    );
  const to = await wholeRow(loop, target.number, false);
  const title = `Undo in loop ${row.name}: takes back ${target.what}`;
  const because = `undo: takes back ${target.what}`;
  const request = { to, because, title, codeOnly: false, overwrite: flags['overwrite'] === true };
  return carryOut(context, loop, request, flags);
}
