// Forks made of those that were merged: as new, whatever was done in them; and few programs for each task.
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { good, orderOf, type Parallel, parallel } from '../parallel.ts';

interface Order {
  readonly args: readonly string[];
}

const ran = vi.hoisted(() => [] as string[]);

vi.mock('../../../src/processes/shells.ts', async importOriginal => {
  const real = (await importOriginal()) as { collectInShell(order: Order): Promise<unknown> };
  const collectInShell = (order: Order) => {
    ran.push(order.args.find((word, at) => !word.startsWith('-') && order.args[at - 1] !== '-c') ?? '');
    return real.collectInShell(order);
  };
  return { ...real, collectInShell };
});

afterEach(() => {
  ran.length = 0;
});

const numberOf = (path: string): number => statSync(path).ino;
const spares = ({ options }: Parallel): readonly string[] =>
  [options.folder, options.privateFolder].flatMap(folder => readdirSync(folder).filter(name => name.startsWith('.')));

/** Merged, after something was done in it. */
async function merged(all: Parallel, task: string, work: (directory: string) => void) {
  const forks = all.open();
  good(await forks.fork(task));
  work(forks.directory(task));
  const before = numberOf(forks.directory(task));
  good(await forks.mergeFork(orderOf(task)));
  return { forks, before };
}

let all: Parallel;

describe('a fork in the folder of a merged one', () => {
  it('is as new: nothing is left of what was changed, staged, ignored, nested or under way', async () => {
    all = await parallel({ excluded: ['c.txt'] }, one => {
      one.write('.gitignore', 'build\n');
      one.git('add', '.');
      one.git('commit', '-q', '-m', 'ignore');
    });
    const { forks, before } = await merged(all, 'T1', directory => {
      all.write('T1', 'a.txt', 'by T1\n');
      all.write('T1', 'c.txt', 'ticked\n');
      all.write('T1', 'build/out.o', 'ignored');
      rmSync(join(directory, 'b.txt'));
      mkdirSync(join(directory, 'empty/folder'), { recursive: true });
      symlinkSync('nowhere', join(directory, 'build/link'));
      all.one.gitIn(directory, 'init', '-q', 'build/sub');
      all.one.gitIn(directory, 'checkout', '-q', '-b', 'feature');
      all.one.gitIn(directory, 'add', '-A');
    });
    good(await forks.fork('T2'));
    const directory = forks.directory('T2');
    expect(numberOf(directory)).toBe(before);
    const tracked = all.one.git('ls-tree', '--name-only', 'ralph/x').trim().split('\n');
    expect(readdirSync(directory).sort()).toEqual(['.git', ...tracked].sort());
    expect(all.read('T2', 'c.txt')).toBe(all.one.git('show', 'ralph/x:c.txt'));
    expect(all.read('T2', 'a.txt')).toBe('by T1\n');
    const status = all.one.gitIn(directory, 'status', '--porcelain', '--branch', '--ignored');
    expect(status).toBe('## HEAD (no branch)\n');
    const trees = all.one.git('worktree', 'list').trim().split('\n');
    expect(trees).toHaveLength(3);
    expect(trees.some(tree => tree.startsWith(`${directory} `))).toBe(true);
  });

  it.each<[string, (directory: string) => void]>([
    ['the mode of a file', directory => chmodSync(join(directory, 'a.txt'), 0o600)],
    ['the mode of a folder', directory => chmodSync(join(directory, 'src'), 0o700)],
    ['a second name of a file', directory => linkSync(join(directory, 'a.txt'), `${directory}-name`)],
    [
      'a file that only seems to be the same',
      directory => {
        const { atime, mtime } = statSync(join(directory, 'a.txt'));
        all.write('T1', 'a.txt', 'A\n');
        utimesSync(join(directory, 'a.txt'), atime, mtime);
      },
    ],
  ])('does not keep %s', async (_what, work) => {
    all = await parallel({ excluded: ['a.txt'] }, one => {
      one.write('src/x', 'x\n');
      one.git('add', '.');
      one.git('commit', '-q', '-m', 'a folder');
    });
    const { forks } = await merged(all, 'T1', work);
    good(await forks.fork('T2'));
    const directory = forks.directory('T2');
    const { mode, nlink } = statSync(join(directory, 'a.txt'));
    expect([mode & 0o777, nlink]).toEqual([0o666 & ~process.umask(), 1]);
    expect(statSync(join(directory, 'src')).mode & 0o777).toBe(0o777 & ~process.umask());
    expect(all.read('T2', 'a.txt')).toBe('a\n');
    expect(all.one.gitIn(directory, 'status', '--porcelain')).toBe('');
  });

  it('is removed when nothing more is asked for, and by the next process when this one was killed', async () => {
    all = await parallel();
    const { forks } = await merged(all, 'T1', () => all.write('T1', 'a.txt', 'by T1\n'));
    expect(spares(all)).toHaveLength(2);
    await all.open().mergeIntoFork('T1');
    expect(spares(all)).toEqual([]);
    await forks.close?.();
    const again = await merged(all, 'T2', () => all.write('T2', 'a.txt', 'by T2\n'));
    await again.forks.close?.();
    expect(spares(all)).toEqual([]);
    expect(existsSync(forks.directory('T2'))).toBe(false);
    expect(all.one.git('worktree', 'list').trim().split('\n')).toHaveLength(2);
  });
});

it('a parallel task needs few programs: two to make its fork, two to bring in what others did, three to merge it', async () => {
  all = await parallel();
  const forks = all.open();
  for (const task of ['T1', 'T2']) good(await forks.fork(task));
  all.write('T1', 'new/one', 'by T1\n');
  all.write('T2', 'new/two', 'by T2\n');
  good(await forks.mergeFork(orderOf('T1')));
  ran.length = 0;
  good(await forks.fork('T3'));
  expect(ran).toEqual(['read-tree', 'ls-files']);
  ran.length = 0;
  expect(await forks.mergeIntoFork('T2')).toEqual({ ok: true, changed: true, isMerged: false });
  expect(ran).toEqual(['ls-files', 'read-tree']);
  expect(all.one.gitIn(forks.directory('T2'), 'status', '--porcelain')).toBe('?? new/two\n');
  ran.length = 0;
  good(await forks.mergeFork(orderOf('T2', 2)));
  expect(ran).toEqual(['ls-files', 'read-tree', 'read-tree']);
  expect(all.one.git('show', 'ralph/x:new/one', 'ralph/x:new/two')).toBe('by T1\nby T2\n');
});
