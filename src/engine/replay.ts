// Replay from the ledger to the state: the newest usable snapshot, then the events after it, page by page.
import { initialState, packState, type State, stateVersion, unpackState } from '../core/state.ts';
import type { Ledger, Recorded } from '../ledger/ledger.ts';
import { evolve } from '../modes/evolve.ts';

export interface Replayed {
  readonly state: State;
  readonly seq: number;
  readonly hash: string;
  /** Events folded after the snapshot. */
  readonly folded: number;
}

export const snapshotEvery = 1_000;

export async function* eventsOf(ledger: Ledger, loop: string, after = 0): AsyncGenerator<readonly Recorded[]> {
  let seq = after;
  for (;;) {
    const page = await ledger.store.read(loop, seq);
    const last = page.at(-1);
    if (last === undefined) return;
    yield page;
    seq = last.seq;
  }
}

export const beginning: Replayed = { state: initialState, seq: 0, hash: '', folded: 0 };

/** The newest snapshot that this version can use; without one, the beginning. */
export async function snapshotOf(ledger: Ledger, loop: string, version = stateVersion): Promise<Replayed> {
  const snapshot = await ledger.snapshots.latest(loop, version);
  if (snapshot === undefined) return beginning;
  const { seq, hash } = snapshot;
  return { state: unpackState(snapshot.state), seq, hash, folded: 0 };
}

export async function replay(ledger: Ledger, loop: string, version = stateVersion): Promise<Replayed> {
  let { state, seq, hash, folded } = await snapshotOf(ledger, loop, version);
  for await (const page of eventsOf(ledger, loop, seq)) {
    for (const recorded of page) {
      state = evolve(state, recorded.event);
      seq = recorded.seq;
      hash = recorded.hash;
      folded += 1;
    }
  }
  return { state, seq, hash, folded };
}

export async function saveSnapshot(ledger: Ledger, loop: string, at: Omit<Replayed, 'folded'>): Promise<void> {
  await ledger.snapshots.save(loop, { seq: at.seq, hash: at.hash, version: stateVersion, state: packState(at.state) });
}
