// Takeover of a loop by a process: what it says first, and the lease that it renews until it ends.
import type { Input } from '../core/input.ts';
import { isBusy, type State } from '../core/state.ts';
import type { Problem } from '../documents/document.ts';
import type { Lease, StoreFailure } from '../ledger/ledger.ts';
import { documentInput } from './document.ts';
import type { Engine } from './engine.ts';

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
