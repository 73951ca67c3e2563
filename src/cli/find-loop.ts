// Which loop a person means by a name, an id, the start of either, or nothing at all.
import { dirname, sep } from 'node:path';
import { UsageError } from '../text/errors.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';

export const noLoopYet = (): UsageError => new UsageError('There is no loop yet.', 'Start one: ralph run PRD.json');

/** How much of the path to this folder belongs to the loop: its place of work, or the folder of its document. */
function nearness(row: LoopRow, directory: string): number {
  const folders = [row.directory, dirname(row.document)];
  const around = folders.filter(folder => directory === folder || directory.startsWith(`${folder}${sep}`));
  return Math.max(0, ...around.map(folder => folder.length));
}

/** Rows are newest first, and the first of the nearest ones is meant. */
function ofThisFolder(rows: readonly LoopRow[], directory: string): LoopRow | undefined {
  const nearest = Math.max(0, ...rows.map(row => nearness(row, directory)));
  return nearest === 0 ? undefined : rows.find(row => nearness(row, directory) === nearest);
}

/**
 * A loop by name, id or the start of either; without one, the newest of this folder. To look at, the newest of all will do
 * where this folder has none; what changes something must be named then.
 */
export async function findLoop(
  ledger: Ledger,
  wanted: string | undefined,
  directory: string,
  changes: boolean,
): Promise<LoopRow> {
  const rows = await ledger.store.loops();
  if (wanted === undefined) {
    const row = ofThisFolder(rows, directory) ?? (changes ? undefined : rows[0]);
    if (row !== undefined) return row;
    if (rows.length === 0) throw noLoopYet();
    throw new UsageError('No loop belongs to this folder.', 'Say which one: ralph loops list');
  }
  const slug = wanted.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const exact = rows.filter(row => row.name === wanted || row.loop === wanted || row.name === slug);
  const matches =
    exact.length > 0 ? exact : rows.filter(row => row.name.startsWith(wanted) || row.loop.startsWith(wanted));
  const [only, second] = matches;
  if (only === undefined)
    throw new UsageError(`No loop is called ${JSON.stringify(wanted)}.`, 'See them all: ralph loops list');
  if (second !== undefined && exact.length === 0) {
    const shown = matches.slice(0, 5).map(row => row.name);
    const names = `${shown.join(', ')}${matches.length > shown.length ? ', …' : ''}`;
    throw new UsageError(`Several loops begin with ${JSON.stringify(wanted)}: ${names}.`, 'Give more of the name.');
  }
  return only;
}
