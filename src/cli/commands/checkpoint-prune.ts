// `ralph checkpoint prune`: lets old checkpoints go, so that git can free their space.
import { prunable, pruneHistory } from '../../app/rewind.ts';
import { refusalError } from '../../app/session/repository.ts';
import { plural } from '../../text/format.ts';
import { checkpointsOf, countOf } from '../checkpoints.ts';
import type { Context, Flags, Words } from '../context.ts';
import { confirmedByName } from '../questions/confirm-name.ts';

const keepByDefault = 20;
const keepMax = 999_999_999;

/** 2, 3, 4, 7 reads 2-4, 7. */
function ranges(numbers: readonly number[]): string {
  const spans: { from: number; to: number }[] = [];
  for (const number of numbers) {
    const last = spans.at(-1);
    if (last?.to === number - 1) last.to = number;
    else spans.push({ from: number, to: number });
  }
  return spans.map(({ from, to }) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
}

export async function execute(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const keep = countOf(flags, 'keep', keepMax, 'Give how many of the newest stay: 1 or more.') ?? keepByDefault;
  const loop = await checkpointsOf(context, name, { writes: flags['dryRun'] !== true });
  const { restoreDue } = loop.state.checkpoints;
  if (restoreDue !== undefined && flags['dryRun'] === true)
    context.say(`note: The restore of checkpoint ${restoreDue.to.number} was cut; ralph undo finishes it.`);
  const gone = prunable(loop, keep);
  if (gone.length === 0) {
    context.say(`Nothing to prune in ${loop.row.name}: ${plural(loop.list.rows.length, 'checkpoint')}, ${keep} stay.`);
    return 0;
  }
  context.say(`To be pruned in loop ${loop.row.name}: checkpoints ${ranges(gone)} (${gone.length}).`);
  context.say('  The first, the last good one and what undo needs always stay.');
  if (flags['dryRun'] === true) {
    context.say('Dry run: nothing was changed.');
    return 0;
  }
  const command = `ralph checkpoint prune ${loop.row.name}${flags['keep'] === undefined ? '' : ` --keep ${keep}`}`;
  if (!(await confirmedByName(context, loop.row.name, command, flags))) return 130;
  const pruned = await pruneHistory(loop, keep);
  if (!pruned.ok) throw refusalError(pruned);
  context.say(`${plural(pruned.removed.length, 'checkpoint')} pruned. Git frees the space when it next tidies up.`);
  return 0;
}
