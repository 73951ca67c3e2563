// Finding loops: which one a person means, the newest of a document, its events, and its lease.
import { dirname, sep } from 'node:path';
import type { Replayed } from '../../engine/replay.ts';
import type { Lease, Ledger, LoopRow, Recorded } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import { freshHolder, ledgerEvents, noLoopYet, stateOf } from '../app.ts';

/** How much of the path to this folder belongs to the loop: its folder of work, or the folder of its document. */
function nearness(row: LoopRow, directory: string): number {
  const folders = [row.directory, dirname(row.document)];
  const around = folders.filter(folder => directory === folder || directory.startsWith(`${folder}${sep}`));
  return Math.max(0, ...around.map(folder => folder.length));
}

/** The nearest ones, in their order; none where no loop is of this folder. */
export function ofThisFolder(rows: readonly LoopRow[], directory: string): readonly LoopRow[] {
  const near = rows.map(row => nearness(row, directory));
  const nearest = Math.max(
    1,
    near.reduce((most, one) => Math.max(most, one), 0),
  );
  return rows.filter((_row, at) => near[at] === nearest);
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
    const row = ofThisFolder(rows, directory)[0] ?? (changes ? undefined : rows[0]);
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
    throw new UsageError(
      `No loop is called ${JSON.stringify(wanted)}.`,
      'See them all: ralph loops list',
      2,
      'no-such-loop',
    );
  if (second !== undefined && exact.length === 0) {
    const shown = matches.slice(0, 5).map(row => row.name);
    const names = `${shown.join(', ')}${matches.length > shown.length ? ', …' : ''}`;
    throw new UsageError(`Several loops begin with ${JSON.stringify(wanted)}: ${names}.`, 'Give more of the name.');
  }
  return only;
}

/** A living process holds the loop. */
export const isRunning = async ({ store }: Ledger, loop: string): Promise<boolean> =>
  (await store.holder(loop))?.alive === true;

/** The newest loop of a document, with its state. */
export async function newestLoop(
  ledger: Ledger | undefined,
  document: string,
): Promise<(Replayed & { readonly row: LoopRow }) | undefined> {
  const [row] = (await ledger?.store.loops({ document })) ?? [];
  return ledger === undefined || row === undefined ? undefined : { row, ...(await stateOf(ledger, row.loop)) };
}

/** Every event of a loop, in order. */
export async function* eventsIn(ledger: Ledger, loop: string): AsyncGenerator<Recorded> {
  for await (const page of ledgerEvents(ledger, loop)) yield* page;
}

const renewEveryMs = 15_000;

/** Does what only one process at a time may: begin or resume the loop of a document, run a plan, work in a folder. */
export async function withLease<Result>(
  ledger: Ledger,
  key: string,
  refused: (held: Lease) => Result | Promise<Result>,
  work: () => Promise<Result>,
): Promise<Result> {
  const claimed = await ledger.store.lease(key, await freshHolder());
  if (!claimed.ok) return refused(claimed.held);
  const renewing = setInterval(() => void ledger.store.renew(claimed.lease).catch(() => false), renewEveryMs).unref();
  try {
    return await work();
  } finally {
    clearInterval(renewing);
    await ledger.store.release(claimed.lease);
  }
}
