// Repair after a crash: the ledger's checkpoints get their refs back, a restore that was cut is finished, old locks go.
import { join } from 'node:path';
import { complaint, type GitPlace, git } from './call.ts';
import { checkpointRefs, refOf } from './checkpoints/refs.ts';
import { syncUserIndex } from './commits/sync-user-index.ts';
import { ownLock, waitForLock } from './locks.ts';
import type { PrivateGit } from './private.ts';
import { finishRestore } from './restore/restore.ts';
import type { KnownCheckpoint } from './workspace.ts';

export interface Repaired {
  readonly did: readonly string[];
  readonly missing: readonly number[];
}

export async function repair(own: PrivateGit, loop: string, known: readonly KnownCheckpoint[]): Promise<Repaired> {
  const did: string[] = [];
  const lock = await waitForLock(join(own.folder, 'index.lock'), ownLock);
  if (lock === 'reclaimed') did.push('removed the lock of a checkpoint that was cut');
  const restore = await finishRestore(own, loop);
  if (!restore.ok) did.push(restore.problem);
  else if (restore.found) {
    const left = restore.changed.length;
    did.push(`finished a restore that was cut${left === 0 ? '' : ` (${left} changed since then were left alone)`}`);
  }
  const synced = await syncUserIndex(own.repository, own.folder);
  if (!synced.ok) did.push(synced.problem);
  const refs = await repairRefs(own, loop, known);
  return { did: [...did, ...refs.did], missing: refs.missing };
}

/**
 * The ledger is the truth: a checkpoint that it knows gets its ref (F05). A ref that it does not know (F06) stays: the
 * next checkpoint has the same number, because numbers are counted by the ledger, and takes its place.
 */
async function repairRefs(
  { repository }: PrivateGit,
  loop: string,
  known: readonly KnownCheckpoint[],
): Promise<Repaired> {
  const refs = await checkpointRefs(repository, loop);
  const once = [...new Map(known.map(one => [one.number, one])).values()]; // git refuses to set a ref twice
  const lost = once.filter(({ number, commit }) => refs.get(number) !== commit);
  if (lost.length === 0) return { did: [], missing: [] };
  const missing = await missingOf(repository, lost);
  const found = lost.filter(({ number }) => !missing.includes(number));
  if (found.length === 0) return { did: [], missing };
  const orders = found.map(({ number, commit }) => `update ${refOf(loop, number)} ${commit}\n`).join('');
  const made = await git(repository, ['update-ref', '--stdin'], { input: orders });
  if (made.code !== 0) return { did: [`could not make refs anew: ${complaint(made)}`], missing };
  return { did: [`made the refs of ${found.length} checkpoints anew`], missing };
}

/** Their commits are gone: nothing can bring these back. */
export async function missingOf(place: GitPlace, known: readonly KnownCheckpoint[]): Promise<readonly number[]> {
  if (known.length === 0) return [];
  const input = known.map(({ commit }) => `${commit}^{commit}\n`).join('');
  const checked = await git(place, ['cat-file', '--batch-check=%(objectname)'], { input });
  const rows = checked.output.toString('latin1').split('\n');
  return known.filter(({ commit }, at) => rows[at] !== commit).map(({ number }) => number);
}
