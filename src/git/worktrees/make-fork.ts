// Making and dropping of forks. Nothing is thrown away that may hold work.
import { lstat, rename, rm } from 'node:fs/promises';
import { succeeds } from '../disk.ts';
import type { Forked } from '../forks.ts';
import { removeRef, setRef } from '../locks.ts';
import { type Done, refuse } from '../refusal.ts';
import { notesOf } from '../worktree-notes.ts';
import { type Fork, tipOf } from './fork.ts';
import { keepIndex } from './fork-tree.ts';
import { layAside, takeSpare } from './spare-fork.ts';
import { checkOutTree, dropTree } from './worktree.ts';

/** At the tip of the loop's branch. What stands in the way and may hold work is moved out of it. */
export async function makeFork(fork: Fork): Promise<Forked> {
  const { repository, options, directory } = fork;
  const record = await fork.record();
  const base = await tipOf(fork);
  if (base === '') return refuse(`The loop's branch ${options.branch} is gone.`);
  if (record?.state !== 'making' && (await succeeds(lstat(directory)))) {
    await rename(directory, `${directory}.aside-${Date.now()}`);
  }
  await fork.remember({ state: 'making', base });
  await Promise.all([fork.index, fork.seed].map(path => rm(path, { force: true })));
  const { loopDirectory: from, untracked } = options;
  const isNew = record === undefined || record.state === 'landed';
  if (!isNew || !(await takeSpare(fork, base))) {
    const made = await checkOutTree(repository, { path: directory, commit: base, from, untracked, isNew });
    if (!made.ok) return made;
    const notes = await notesOf(repository, directory);
    if (notes !== undefined) await keepIndex(fork, notes, base);
  }
  const set = await setRef(repository, fork.ref, base);
  if (!set.ok) return set;
  await fork.remember({ state: 'ready', base });
  return { ok: true, base };
}

/** Its folder, ref and index; the record stays. */
export async function dropFork(fork: Fork): Promise<Done> {
  const { repository, directory, ref, index, seed } = fork;
  const dropped: Done = (await layAside(fork)) ? { ok: true } : await dropTree(repository, directory);
  if (!dropped.ok) return dropped;
  await Promise.all([removeRef(repository, ref), rm(index, { force: true }), rm(seed, { force: true })]);
  return { ok: true };
}
