// Keeps the lease of a running loop alive, and notices when it is lost: then nothing more may be written.
import type { Lease, StoreFailure } from '../ledger/ledger.ts';
import type { Engine } from './engine.ts';

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
