// `ralph checkpoint restore`: files, untracked files and task states as they were at a checkpoint.
import { type CheckpointedLoop, latestRow, wholeRow } from '../../app/restore.ts';
import { UsageError } from '../../text/errors.ts';
import type { CheckpointRow } from '../../views/checkpoints.ts';
import { checkpointsOf } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { carryOut } from '../restore.ts';

/** `--iteration 3`: as it was when that iteration had ended; 0: before the first. */
function afterIteration({ list, row, state }: CheckpointedLoop, text: string): number {
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  const found = number === 0 ? list.rows[0]?.number : list.iterations.get(number)?.after;
  if (found !== undefined) return found;
  throw new UsageError(
    `Loop ${row.name} has no checkpoint of iteration ${JSON.stringify(text.slice(0, 40))}.`,
    `Give a number from 0 (before the first) to ${state.iterations}.`,
  );
}

function wanted(loop: CheckpointedLoop, number: string | undefined, flags: Flags): Promise<CheckpointRow> {
  const codeOnly = flags['codeOnly'] === true;
  const { iteration } = flags;
  if (iteration !== undefined && number !== undefined)
    throw new UsageError('Give a checkpoint or --iteration, not both.', 'ralph help checkpoint restore');
  if (iteration !== undefined) return wholeRow(loop, afterIteration(loop, String(iteration)), codeOnly);
  return number === undefined ? latestRow(loop) : wholeRow(loop, number, codeOnly);
}

export async function execute(context: Context, [first, second]: Words, flags: Flags): Promise<number> {
  const isNumber = first !== undefined && (second !== undefined || /^\d+$/.test(first));
  const [number, name] = isNumber ? [first, second] : [undefined, first];
  const loop = await checkpointsOf(context, name, { writes: flags['dryRun'] !== true });
  const to = await wanted(loop, number === 'latest' ? undefined : number, flags);
  const request = {
    to,
    because: `ralph checkpoint restore ${to.number}`,
    title: `Restore in loop ${loop.row.name}`,
    codeOnly: flags['codeOnly'] === true,
    overwrite: flags['overwrite'] === true,
  };
  return carryOut(context, loop, request, flags);
}
