// What only one at a time may do: begin or go on with the loop of a document, and work in a folder.
import { freshHolder } from '../app.ts';
import type { Lease, Ledger } from '../../ledger/ledger.ts';

const renewEveryMs = 15_000;

/** Nobody else does it at the same time. */
export async function holding<Result>(
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
