// Compares a ledger with the heads that were anchored in git while it grew (ADR 15).

import { stateOf } from '../app.ts';
import type { Ledger, LoopRow } from '../ports/store.ts';
import { gitEnvironment } from './place.ts';

export interface Anchored {
  readonly anchors: number;
  /** The first event whose hash is not the one that was anchored. */
  readonly differs?: number;
}

/** An anchor beyond the ledger's end differs too: events are missing. */
export async function comparedWithAnchors(
  ledger: Ledger,
  { loop }: LoopRow,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Anchored> {
  const { state } = await stateOf(ledger, loop);
  if (state.checkpointsMade === 0) return { anchors: 0 };
  const { anchorsIn } = await import('../workspaces/git/anchors.ts');
  const anchors = await anchorsIn({ directory: state.directory, environment: gitEnvironment(env) }, loop);
  for (const { sequence, hash } of anchors) {
    const [event] = await ledger.store.read(loop, sequence - 1);
    if (event?.seq !== sequence || event.hash !== hash) return { anchors: anchors.length, differs: sequence };
  }
  return { anchors: anchors.length };
}
