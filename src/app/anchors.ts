// Compares a ledger with the heads that were anchored in git while it grew (ADR 15).
import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import { loopFolder, stateOf } from './app.ts';
import { prunedIn } from './rewind.ts';
import { gitEnvironment } from './session/place.ts';

export interface Anchored {
  readonly anchors: number;
  /** One for every checkpoint that was not pruned; notes can be lost, and be deleted. */
  readonly anchors_expected: number;
  /** The first event whose hash is not the one that was anchored. */
  readonly differs?: number;
}

/** An anchor beyond the ledger's end differs too: events are missing. */
export async function comparedWithAnchors(
  ledger: Ledger,
  home: string,
  { loop }: LoopRow,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Anchored> {
  const { state } = await stateOf(ledger, loop);
  if (state.checkpointsMade === 0) return { anchors: 0, anchors_expected: 0 };
  const anchors_expected = state.checkpointsMade - prunedIn(loopFolder(home, loop)).size;
  const { anchorsIn } = await import('../git/checkpoints/refs.ts');
  const directory = existsSync(state.directory) ? state.directory : dirname(state.document);
  const anchors = await anchorsIn({ directory, environment: gitEnvironment(env) }, loop);
  for (const { sequence, hash } of anchors) {
    const [event] = await ledger.store.read(loop, sequence - 1);
    if (event?.seq !== sequence || event.hash !== hash)
      return { anchors: anchors.length, anchors_expected, differs: sequence };
  }
  return { anchors: anchors.length, anchors_expected };
}
