// A run that is killed after it made its worktree and before its loop began leaves nothing for ever.
import { existsSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { makeWorktree, removeStaleWorktrees } from '../../src/git/worktree.ts';
import { makeRepo, type Repo } from './repo.ts';

let made: Repo | undefined;
afterEach(() => made?.cleanUp());

const loop = '01a1e04a-8fe4-777a-8a80-b41fdfd69869';
const hour = 3_600_000;

it('given a worktree without a loop, then it goes with its branch once it is old; one of a known loop, or a young one, stays', async () => {
  made = makeRepo();
  const repository = await made.open();
  const folder = join(made.root, 'worktrees');
  const path = join(folder, loop);
  const worktree = await makeWorktree(repository, { path, branch: 'ralph/shop', untracked: [] });
  expect(worktree.ok).toBe(true);
  const now = Date.now();
  expect(await removeStaleWorktrees(repository, folder, () => false, now)).toEqual([]);
  utimesSync(`${path}.json`, 0, (now - 2 * hour) / 1_000);
  expect(await removeStaleWorktrees(repository, folder, id => id === loop, now)).toEqual([]);
  expect(existsSync(path)).toBe(true);
  expect(await removeStaleWorktrees(repository, folder, () => false, now)).toEqual(['ralph/shop']);
  expect(existsSync(path)).toBe(false);
  expect(made.git('branch', '--list', 'ralph/*').trim()).toBe('');
});
