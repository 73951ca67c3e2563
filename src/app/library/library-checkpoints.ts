// Checkpoints in a program's hands: one made by hand, and the newest that git and the ledger still vouch for.
import { type Environment, hasLedger, openLedger } from '../app.ts';
import { UsageError } from '../../text/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import type { CheckpointRecord } from '../../views/checkpoint-record.ts';
import { type History, newestWhole, openHistory, recordOf } from '../history.ts';
import { createCheckpoint as make } from '../rewind.ts';

export interface LoopPlace {
  /** RALPH_HOME. */
  readonly home: string;
  /** The loop's id or name. */
  readonly loop: string;
  readonly environment?: Environment;
  /** Your own ledger in place of the database in `home`. */
  readonly ledger?: Ledger;
}

async function within<Result>(
  place: LoopPlace,
  readOnly: boolean,
  work: (history: History) => Promise<Result>,
): Promise<Result> {
  const { home, loop, environment: env = {} } = place;
  if (place.ledger === undefined && !hasLedger(home)) throw new UsageError(`There is no loop in ${home} yet.`);
  const ledger = place.ledger ?? (await openLedger({ home, env, warn: () => {}, readOnly }));
  try {
    const row = (await ledger.store.loops()).find(one => one.loop === loop || one.name === loop);
    if (row === undefined) throw new UsageError(`No loop is called ${JSON.stringify(loop)}.`);
    return await work(await openHistory({ home, env, ledger, row }, !readOnly));
  } finally {
    if (place.ledger === undefined) await ledger.store.close();
  }
}

/** Keeps what is there now; undefined: a running loop was asked for it and has not made it yet. */
export async function createCheckpoint(
  place: LoopPlace,
  label = 'by a program',
): Promise<CheckpointRecord | undefined> {
  return within(place, false, async history => {
    const { workspace, state, row } = history;
    if (workspace === undefined || !state.settings.checkpoints)
      throw new UsageError(`Loop ${row.name} keeps no checkpoints.`, 'It needs a git repository, and checkpoints on.');
    const sender = { env: history.env, by: 'a program', warn: () => {} };
    const made = await make(history, sender, workspace, label);
    if (made.type === 'failed') throw new UsageError(`No checkpoint was made: ${made.problem}`, '', 5);
    if (made.type === 'asked') return undefined;
    return newest(await openHistory(history, false));
  });
}

async function newest(history: History): Promise<CheckpointRecord | undefined> {
  const number = await newestWhole(history);
  const row = history.list.rows.find(one => one.number === number);
  const read = row === undefined ? undefined : await recordOf(history, row);
  return read?.ok === true ? read.record : undefined;
}

/** Its record, verified by the hash in the ledger; older ones are taken where the newest is damaged. */
export async function latestCheckpoint(place: LoopPlace): Promise<CheckpointRecord | undefined> {
  return within(place, true, newest);
}
