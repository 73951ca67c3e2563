// What a process says first when it takes a loop up: that it did, what the document holds now, that old trouble is over.
import type { Input } from '../core/input.ts';
import { isBusy, type State } from '../core/state.ts';
import type { Problem } from '../documents/document.ts';
import { documentInput } from './document.ts';
import type { Engine } from './engine.ts';

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
