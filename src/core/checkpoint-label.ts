// Label of a checkpoint: whose changes it holds, said only as far as it is known.

import type { CheckpointOrder } from './event.ts';
import type { InputOf } from './input.ts';
import type { State } from './state.ts';

/** What is kept as a person's edits is called so only where there are any; the document may be as Ralph wrote it last. */
export function madeLabel(
  { document, loop }: Pick<State, 'document' | 'loop'>,
  { kind, label }: Pick<CheckpointOrder, 'kind' | 'label'>,
  { files = [], documentHash }: Pick<InputOf<'checkpointed'>, 'files' | 'documentHash'>,
): string {
  if (kind !== 'user-edits') return label;
  if (files.length === 0) return 'before going on; nothing was changed meanwhile';
  const isOurs = documentHash !== undefined && documentHash === document.written;
  const isAll = isOurs && files.every(path => loop.document.endsWith(`/${path}`));
  return isAll ? 'before going on; only Ralph itself wrote meanwhile' : label;
}
