// Lets old checkpoints go: their refs and notes; git frees the space when the user's git next tidies up.
import type { Refusal } from '../workspace.ts';
import { complaint, type GitPlace, git } from '../call.ts';
import { checkpointRefs, identity, noteRefOf, refOf } from './refs.ts';
import { refuse } from '../repository.ts';

export interface PruneOrder {
  /** So many of the newest stay. */
  readonly keep: number;
  /** These stay too: the last good one, and what the caller still needs. */
  readonly good?: readonly number[];
}

export type Pruned = { readonly ok: true; readonly removed: readonly number[] } | Refusal;

/** The first and the newest always stay. */
export async function prune(place: GitPlace, loop: string, { keep, good = [] }: PruneOrder): Promise<Pruned> {
  const refs = await checkpointRefs(place, loop);
  const numbers = [...refs.keys()].sort((one, other) => one - other);
  const stays = new Set([...numbers.slice(0, 1), ...numbers.slice(-Math.max(1, keep)), ...good]);
  const removed = numbers.filter(number => !stays.has(number));
  if (removed.length === 0) return { ok: true, removed };
  const orders = removed.map(number => `delete ${refOf(loop, number)} ${refs.get(number)}\n`).join('');
  const done = await git(place, ['update-ref', '--stdin'], { input: orders });
  if (done.code !== 0) return refuse(`The checkpoints cannot be removed: ${complaint(done)}.`);
  const commits = removed.map(number => `${refs.get(number)}\n`).join('');
  // A note without its commit is only a little waste, so this may fail.
  await git(place, ['notes', `--ref=${noteRefOf(loop)}`, 'remove', '--ignore-missing', '--stdin'], {
    input: commits,
    variables: identity,
  });
  return { ok: true, removed };
}
