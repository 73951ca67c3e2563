// Replay from the ledger to the state, and takeover of a loop: the newest usable snapshot, then the events after it, page by page.
import { evolve } from '../core/evolve/evolve.ts';
import type { Input } from '../core/input.ts';
import { initialState, isBusy, packState, type State, stateVersion, unpackState } from '../core/state.ts';
import type { Problem } from '../documents/document.ts';
import type { Lease, Ledger, Recorded, StoreFailure } from '../ledger/ledger.ts';
import { documentInput } from './document.ts';
import type { Engine } from './engine.ts';

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

export async function saveSnapshot(ledger: Ledger, loop: string, at: Replayed): Promise<void> {
  await ledger.snapshots.save(loop, { seq: at.seq, hash: at.hash, version: stateVersion, state: packState(at.state) });
}

/** What a process says first when it takes a loop up: that it did, what the document holds now, that old trouble is over. */
export type Opening = { readonly inputs: readonly Input[] } | { readonly problems: readonly Problem[] };

export async function openingInputs(
  engine: Engine,
  state: State,
  hasBegun: boolean,
  settleOnly: boolean,
): Promise<Opening> {
  const inputs: Input[] = [];
  if (hasBegun) await engine.workspace?.repair([state.newest, state.good].filter(mark => mark !== undefined));
  // A command to a loop that a process left in the middle of work must not count the time since as work.
  if (hasBegun && (!settleOnly || isBusy(state))) inputs.push({ type: 'taken-over', by: engine.by });
  const loaded = state.loaded && !settleOnly ? await engine.source.load() : undefined;
  if (loaded?.type === 'failed') return { problems: loaded.problems };
  if (loaded?.type === 'loaded') inputs.push(documentInput(loaded));
  for (const { id, kind } of state.escalations) {
    if (kind !== 'storage' || settleOnly) continue;
    inputs.push({
      type: 'command',
      by: 'ralph',
      command: { type: 'answer', escalation: id, answer: { kind: 'retry' } },
    });
  }
  return { inputs };
}

// Keeps the lease of a running loop alive, and notices when it is lost: then nothing more may be written.

const renewEveryMs = 15_000;
const fenced: StoreFailure = {
  kind: 'fenced',
  detail: 'another process took this loop over',
  hint: 'See who: ralph status',
};

/** Store methods without room for a failure reject with an error that carries it; anything else is a bug. */
export function failureIn(error: unknown): StoreFailure {
  const failure = (error as { failure?: StoreFailure } | undefined)?.failure;
  if (failure === undefined) throw error;
  return failure;
}

/** Returns how to stop. */
export function keepLease({ clock, ledger }: Engine, lease: Lease, lost: (failure: StoreFailure) => void): () => void {
  let cancel: () => void = () => {};
  let stopped = false;
  const arm = (): void => {
    cancel = clock.at(clock.now() + renewEveryMs, async () => {
      const failure = await ledger.store.renew(lease).then(
        ours => (ours ? undefined : fenced),
        (error: unknown) => failureIn(error),
      );
      if (stopped) return;
      if (failure === undefined) arm();
      else lost(failure);
    });
  };
  arm();
  return () => {
    stopped = true;
    cancel();
  };
}
