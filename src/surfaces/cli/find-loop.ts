// Which loop a person means by a name, an id, the start of either, or nothing at all.
import { UsageError } from '../../core/errors.ts';
import type { Ledger, LoopRow } from '../../ports/store.ts';

export const noLoopYet = (): UsageError => new UsageError('There is no loop yet.', 'Start one: ralph run PRD.json');

/** A loop by name, id or the start of either; without one, the newest of this folder, else the newest of all. */
export async function findLoop(ledger: Ledger, wanted: string | undefined, directory: string): Promise<LoopRow> {
  const rows = await ledger.store.loops();
  if (wanted === undefined) {
    const row = rows.find(one => one.directory === directory) ?? rows[0];
    if (row === undefined) throw noLoopYet();
    return row;
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
