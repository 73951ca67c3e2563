// A run that is killed while it prepares its loop, at any step: the next start leaves nothing of it behind (F87).
import { existsSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { Repository } from '../../../src/git/repository.ts';
import { openForks } from '../../../src/git/worktrees/merge-fork.ts';
import { removeStaleWorktrees } from '../../../src/git/worktrees/stale-worktrees.ts';
import { makeWorktree } from '../../../src/git/worktrees/worktree.ts';
import { isAlive } from '../../../src/processes/identity.ts';
import { good } from '../parallel.ts';
import { type Scratch, scratch } from '../scratch.ts';

/** Steps that change files, and at which of them the process is gone: what it waits for never comes. */
const steps = vi.hoisted(() => ({ count: 0, last: Number.POSITIVE_INFINITY, killed: () => {} }));

vi.mock('node:fs/promises', async importOriginal => {
  const real = (await importOriginal()) as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const changing = ['mkdir', 'writeFile', 'rename', 'rm', 'copyFile', 'symlink'];
  const guarded = changing.map(name => [
    name,
    (...args: unknown[]) => {
      steps.count += 1;
      if (steps.count <= steps.last) return real[name]!(...args);
      steps.killed();
      return new Promise(() => {});
    },
  ]);
  return { ...real, ...Object.fromEntries(guarded) };
});

vi.mock('../../../src/processes/identity.ts', async importOriginal => ({
  ...((await importOriginal()) as object),
  isAlive: vi.fn(() => false),
}));

const loop = '01a1e04a-8fe4-777a-8a80-b41fdfd69869';

beforeEach(() => Object.assign(steps, { count: 0, last: Number.POSITIVE_INFINITY }));

const foldersOf = (one: Scratch) => ({ folder: join(one.root, 'worktrees'), path: join(one.root, 'worktrees', loop) });

/** As a start of `--parallel` does: the worktree of the loop, and a fork for its first checks. */
async function prepare(one: Scratch, repository: Repository): Promise<void> {
  const { folder, path } = foldersOf(one);
  good(await makeWorktree(repository, { path, branch: 'ralph/shop', untracked: ['c.txt'] }));
  const forks = openForks(repository, {
    ...{ loop, folder: join(folder, `${loop}-forks`), loopDirectory: path, branch: 'ralph/shop' },
    ...{ untracked: ['c.txt'], privateFolder: join(one.root, 'private') },
  });
  good(await forks.fork('first checks'));
}

/** What of it can be seen. */
const left = (one: Scratch) => ({
  worktrees: one.git('worktree', 'list', '--porcelain').match(/^worktree /gm)?.length,
  notes: existsSync(join(one.top, '.git/worktrees')) ? readdirSync(join(one.top, '.git/worktrees')) : [],
  branches: one.git('for-each-ref', '--format=%(refname)').trim(),
  folder: existsSync(foldersOf(one).folder)
    ? readdirSync(foldersOf(one).folder).filter(name => !isEmpty(one, name))
    : [],
});

/** Killed as it began to write down what it makes. */
const isEmpty = (one: Scratch, name: string): boolean =>
  name.endsWith('.json.new') && readFileSync(join(foldersOf(one).folder, name), 'utf8') === '';

const nothing = { worktrees: 1, notes: [], branches: 'refs/heads/main', folder: [] };

const sweep = (one: Scratch, repository: Repository, more: object = {}) =>
  removeStaleWorktrees({
    ...{ repository, folder: foldersOf(one).folder, isLoop: async () => false, now: Date.now() },
    ...more,
  });

async function prepared(): Promise<{ readonly one: Scratch; readonly repository: Repository }> {
  const one = scratch();
  one.write('c.txt', 'not in git\n');
  return { one, repository: await one.open() };
}

describe('a run that is killed while it prepares its loop', () => {
  it('leaves nothing behind after the next start, whichever step was its last; nor does that, when it is killed too', async () => {
    const whole = await prepared();
    await prepare(whole.one, whole.repository);
    const all = steps.count;
    expect(all).toBeGreaterThan(10);
    for (let last = 0; last < all; last += 1) {
      const { one, repository } = await prepared();
      for (const work of [prepare, sweep]) {
        const killed = new Promise<void>(resolve => Object.assign(steps, { count: 0, last, killed: resolve }));
        await Promise.race([work(one, repository), killed]);
      }
      steps.last = Number.POSITIVE_INFINITY;
      await sweep(one, repository);
      expect({ last, ...left(one) }).toEqual({ last, ...nothing });
      expect(readFileSync(join(one.top, 'c.txt'), 'utf8')).toBe('not in git\n');
    }
  });

  it('is left alone while it lives, when its loop began after all, and in another repository', async () => {
    const { one, repository } = await prepared();
    await prepare(one, repository);
    vi.mocked(isAlive).mockReturnValueOnce(true);
    expect(await sweep(one, repository)).toEqual([]);
    expect(await sweep(one, repository, { isLoop: async () => true })).toEqual([]);
    expect(await sweep(one, { ...repository, commonDirectory: '/elsewhere' })).toEqual([]);
    expect(left(one).worktrees).toBe(3);
    expect(await sweep(one, repository)).toEqual([loop]);
    expect(left(one)).toEqual(nothing);
  });

  it('by an earlier release, which did not say who makes it, goes when it is old', async () => {
    const { one, repository } = await prepared();
    await prepare(one, repository);
    const record = `${foldersOf(one).path}.json`;
    const { maker: _maker, ...rest } = JSON.parse(readFileSync(record, 'utf8')) as { readonly maker: unknown };
    writeFileSync(record, JSON.stringify(rest));
    expect(await sweep(one, repository)).toEqual([]);
    utimesSync(record, 0, Date.now() / 1_000 - 7_200);
    expect(await sweep(one, repository)).toEqual([loop]);
    expect(left(one)).toEqual(nothing);
  });

  it('keeps a branch on which somebody committed', async () => {
    const { one, repository } = await prepared();
    await prepare(one, repository);
    one.gitIn(foldersOf(one).path, 'commit', '-q', '--allow-empty', '-m', 'mine');
    await sweep(one, repository);
    expect(left(one)).toEqual({ ...nothing, branches: 'refs/heads/main\nrefs/heads/ralph/shop' });
  });
});
