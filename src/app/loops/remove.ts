// Removal of a loop: its worktrees, its refs and its folder go, then its row in the list; what the ledger recorded stays.
import { existsSync, readdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { State } from '../../core/state.ts';
import type { Refusal } from '../../git/refusal.ts';
import type { Repository } from '../../git/repository.ts';
import type { Lease, Ledger, LoopRow } from '../../ledger/ledger.ts';
import { type Environment, loopFolder } from '../app.ts';
import { forksOf, gitEnvironment, refusalError, worktreeOf } from '../session/repository.ts';
import { withLease } from './find.ts';

export interface RemovalNeeds {
  readonly home: string;
  readonly env: Environment;
  readonly ledger: Ledger;
  readonly row: LoopRow;
  readonly state: State;
}

export type Removed =
  | { readonly type: 'held'; readonly lease: Lease }
  | { readonly type: 'removed'; readonly refs: number; readonly branch: 'none' | 'gone' | 'kept' };

/** The folders that would go. */
export function foldersOf({ home, row: { loop } }: Pick<RemovalNeeds, 'home' | 'row'>): readonly string[] {
  const forks = forksOf(home, loop);
  const inForks = existsSync(forks) ? readdirSync(forks).map(name => join(forks, name)) : [];
  return [loopFolder(home, loop), worktreeOf(home, loop), ...inForks].filter(one => existsSync(one));
}

/** Of the folder that it worked in, or of its document: its worktree may be gone. */
async function repositoryOf({ row, state, env }: RemovalNeeds): Promise<Repository | undefined> {
  const { openRepository } = await import('../../git/repository.ts');
  const own = state.loop.branch === undefined ? [row.directory] : [];
  for (const directory of [...own, dirname(row.document)]) {
    if (!existsSync(directory)) continue;
    const found = await openRepository({ directory, environment: gitEnvironment(env) });
    if (found.ok) return found.repository;
    if (found.kind !== 'not-a-repository') throw refusalError(found);
  }
  return undefined;
}

const refuseIf = (done: { readonly ok: true } | Refusal): void => {
  if (!done.ok) throw refusalError(done);
};

/** What git has of it first, its row last: cut in the middle, the same command finishes it. */
async function carryOut(needs: RemovalNeeds): Promise<Removed> {
  const { home, ledger, row, state } = needs;
  const repository = await repositoryOf(needs);
  const { branch } = state.loop;
  let refs = 0;
  let fate: 'none' | 'gone' | 'kept' = branch === undefined ? 'none' : 'kept';
  if (repository !== undefined) {
    const { removeMergedBranch, removeWorktree } = await import('../../git/worktrees/worktree.ts');
    const { removeRefs } = await import('../../git/checkpoints/refs.ts');
    const forks = forksOf(home, row.loop);
    const names = await readdir(forks).catch(() => []);
    for (const path of [...names.map(name => join(forks, name)), worktreeOf(home, row.loop)])
      refuseIf(await removeWorktree(repository, path));
    const removed = await removeRefs(repository, row.loop);
    if (!removed.ok) throw refusalError(removed);
    refs = removed.removed;
    if (branch !== undefined) fate = await removeMergedBranch(repository, branch);
  }
  for (const folder of [forksOf(home, row.loop), worktreeOf(home, row.loop), loopFolder(home, row.loop)])
    await rm(folder, { recursive: true, force: true });
  await ledger.store.forget(row.loop);
  return { type: 'removed', refs, branch: fate };
}

/** Never while somebody works on it: the lease is held meanwhile. */
export function removeLoop(needs: RemovalNeeds): Promise<Removed> {
  return withLease<Removed>(
    needs.ledger,
    needs.row.loop,
    lease => ({ type: 'held', lease }),
    () => carryOut(needs),
  );
}
