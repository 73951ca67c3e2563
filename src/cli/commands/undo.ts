// `ralph undo`: takes the last act back: the last iteration, or the last restore.

import { findTask } from '../../core/task.ts';
import { UsageError } from '../../text/errors.ts';
import { onlyLooked, standingCount, undoTarget } from '../../views/checkpoints.ts';
import { countOf, keptOf, wholeRow } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { carryOut, stepsHint } from '../restore.ts';

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const kept = await keptOf(context, name, { writes: flags['dryRun'] !== true });
  const { list, row } = kept.history;
  const count = standingCount(list);
  const { tasks } = kept.history.state;
  const isIdle = onlyLooked(list, task => findTask(tasks, task)?.reads === true);
  const target = undoTarget(list, countOf(flags, 'steps', count, stepsHint(count)), isIdle);
  if (target === undefined)
    throw new UsageError(
      count === 0
        ? `There is nothing to undo in loop ${row.name}: no iteration stands in these files.`
        : `There is nothing to undo in loop ${row.name}: its iterations only looked, and changed no file.`,
      `All its checkpoints: ralph checkpoint list ${row.name}`,
    );
  const to = await wholeRow(kept.history, target.number, false);
  const title = `Undo in loop ${row.name}: takes back ${target.what}`;
  const because = `undo: takes back ${target.what}`;
  const wish = { to, because, title, codeOnly: false, overwrite: flags['overwrite'] === true };
  return carryOut(context, kept, wish, flags);
}
