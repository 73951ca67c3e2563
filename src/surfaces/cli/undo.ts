// `ralph undo`: takes the last act back: the last iteration, or the last restore.
import { UsageError } from '../../core/errors.ts';
import { standingCount, undoTarget } from '../../views/checkpoints.ts';
import { countOf, type Flags, keptOf, wholeRow } from './checkpoints.ts';
import type { Context } from './context.ts';
import { carryOut, stepsHint } from './rewind.ts';

export async function execute(
  context: Context,
  [name]: readonly (string | undefined)[],
  flags: Flags,
): Promise<number> {
  const kept = await keptOf(context, name, { writes: flags['dryRun'] !== true });
  const { list, row } = kept.history;
  const count = standingCount(list);
  const target = undoTarget(list, countOf(flags, 'steps', count, stepsHint(count)));
  if (target === undefined)
    throw new UsageError(
      `There is nothing to undo in loop ${row.name}: no iteration stands in these files.`,
      `All its checkpoints: ralph checkpoint list ${row.name}`,
    );
  const to = await wholeRow(kept.history, target.number, false);
  const title = target.because.replace(/^undo:/, `Undo in loop ${row.name}:`);
  const wish = { to, because: target.because, title, codeOnly: false, overwrite: flags['overwrite'] === true };
  return carryOut(context, kept, wish, flags);
}
