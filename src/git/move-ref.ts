// Moves a ref by compare and swap, past a lock that a dead git left.
import type { Refusal } from './workspace.ts';
import { revision } from './ask.ts';
import { complaint, type GitPlace, git } from './call.ts';
import { ownLock, userLock, waitForLock } from './locks.ts';
import { shown } from './paths.ts';
import { refuse } from './repository.ts';

type Done = { readonly ok: true } | Refusal;

/** `moved` when it no longer is what it was. An empty `from`: it must not exist yet. */
export async function moveRef(
  place: GitPlace,
  name: string,
  { to, from, reason }: { readonly to: string; readonly from: string; readonly reason: string },
): Promise<Done | 'moved'> {
  const expected = from === '' ? '0'.repeat(to.length) : from;
  const moved = await updateRef(place, ['-m', reason, name, to, expected], name === 'HEAD');
  if (moved.ok) return moved;
  return (await revision(place, name)) === from ? moved : 'moved';
}

/** A ref that only we know. */
export const setRef = (place: GitPlace, name: string, to: string): Promise<Done> => updateRef(place, [name, to], false);

async function updateRef(place: GitPlace, args: readonly string[], isTheirs: boolean): Promise<Done> {
  for (let tries = 1; ; tries += 1) {
    const done = await git(place, ['update-ref', ...args]);
    if (done.code === 0) return { ok: true };
    const lock = /Unable to create '(.+\.lock)': File exists/.exec(done.errors)?.[1];
    const rules = isTheirs ? userLock([place.directory]) : ownLock;
    const isFree = lock !== undefined && tries === 1 && (await waitForLock(lock, rules)) !== 'held';
    if (!isFree) return refuse(`git update-ref failed: ${shown(Buffer.from(complaint(done)).toString('latin1'))}.`);
  }
}
