// What the document says, as an input: its tasks, its hash, and the hash of what a person approves.
import type { InputOf } from '../core/input.ts';
import type { Loaded } from '../ports/source.ts';
import { sha256Of } from './records.ts';

export function documentInput(loaded: Extract<Loaded, { type: 'loaded' }>, during?: number): InputOf<'document'> {
  const { document, hash } = loaded;
  const { approval } = document;
  return {
    type: 'document',
    tasks: document.tasks,
    hash,
    ...(approval === undefined ? {} : { substance: sha256Of(approval.substance) }),
    ...(during === undefined ? {} : { during }),
  };
}
