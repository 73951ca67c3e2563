// The document as an input: its tasks, its hash, and the hash of what a person approves.
import type { Input, InputOf } from '../core/input.ts';
import type { Loaded, ParsedDocument, TaskSource } from '../documents/document.ts';
import { sha256Of } from './checkpoints.ts';

export function documentInput(loaded: Extract<Loaded, { type: 'loaded' }>, during?: number): InputOf<'document'> {
  const { document, hash } = loaded;
  const { approval } = document;
  return {
    type: 'document',
    tasks: document.tasks,
    hash,
    substance: approval === undefined ? undefined : sha256Of(approval.substance),
    during,
    isDamaged: loaded.isDamaged || undefined,
  };
}

/** What an iteration or its checks made of the document, if anything; what may not stay so is put back at once. */
export async function documentAfter(
  source: TaskSource,
  iteration: number,
  post: (input: Input) => void,
): Promise<ParsedDocument | undefined> {
  const loaded = await source.load(true);
  if (loaded.type === 'loaded') post(documentInput(loaded, iteration));
  if (loaded.type === 'failed' || (loaded.type === 'loaded' && loaded.isDamaged)) {
    const saved = await source.save([]);
    if (saved.type === 'saved' && saved.restored !== undefined)
      post({ type: 'saved', marks: [], hash: saved.hash, restored: saved.restored });
  }
  return loaded.type === 'loaded' ? loaded.document : undefined;
}
