// Replay from the ledger to the state: the newest usable snapshot, then the events after it, page by page.
import { evolve } from '../core/evolve/evolve.ts';
import { initialState, packState, type State, stateVersion, unpackState } from '../core/state.ts';
import type { Ledger, Recorded } from '../ledger/ledger.ts';

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

export async function replay(ledger: Ledger, loop: string, version = stateVersion): Promise<Replayed> {
  const snapshot = await ledger.snapshots.latest(loop, version);
  let state = snapshot === undefined ? initialState : unpackState(snapshot.state);
  let seq = snapshot?.seq ?? 0;
  let hash = snapshot?.hash ?? '';
  let folded = 0;
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
