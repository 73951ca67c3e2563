// Killed before or after any call of git, every step is finished by doing it again, and no work is lost.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { commitProgress } from '../../src/git/progress/git-commits.ts';
import { makeWorktree } from '../../src/git/worktrees/worktree.ts';
import type { Collected } from '../../src/processes/run-detached.ts';
import { again, good, orderOf, type Parallel, parallel } from './parallel.ts';
import { type Scratch, scratch } from './scratch.ts';

interface Order {
  readonly args: readonly string[];
}
type Call = (order: Order) => Promise<unknown>;

const stage = vi.hoisted(() => ({
  call: undefined as ((real: Call, order: Order) => Promise<unknown>) | undefined,
}));

const staged = (real: Call, order: Order) => (stage.call === undefined ? real(order) : stage.call(real, order));

/** At the lowest place through which every call of git goes: a mock higher up would miss the calls of its own module. */
vi.mock('../../src/processes/shells.ts', async importOriginal => {
  const real = (await importOriginal()) as { collectInShell(order: Order): Promise<Collected> };
  return { ...real, collectInShell: (order: Order) => staged(real.collectInShell, order) };
});

/** Refs are moved by a git that stays open. */
vi.mock('../../src/git/objects.ts', async importOriginal => {
  const real = (await importOriginal()) as {
    writeRef(place: unknown, move: { readonly name: string }): Promise<unknown>;
  };
  const writeRef: typeof real.writeRef = (place, move) =>
    staged(() => real.writeRef(place, move), { args: ['update-ref', move.name] });
  return { ...real, writeRef };
});

afterEach(() => {
  stage.call = undefined;
});

const never = new Promise<never>(() => {});
const changing = /^(update-ref|read-tree|add|update-index|worktree|symbolic-ref|checkout-index)$/;
const isChanging = (args: readonly string[]): boolean => args.some(one => changing.test(one)) && !args.includes('list');
/** All moments take minutes; without this only those around calls that change something, by turns before and after. */
const isThorough = process.env['RALPH_TEST_THOROUGH'] === '1';

/** Runs until the call with this number, which happens only if the death comes after it; false when it came to its end. */
async function diesAt(number: number, isAfter: boolean, operation: () => Promise<unknown>): Promise<boolean> {
  let count = 0;
  const death = new Promise<'dead'>(die => {
    stage.call = async (real, order) => {
      if (count >= number) return never;
      if (isThorough || isChanging(order.args)) count += 1;
      if (count < number) return real(order);
      if (isAfter) await real(order);
      die('dead');
      return never;
    };
  });
  const end = await Promise.race([operation(), death]);
  stage.call = undefined;
  return end === 'dead';
}

async function diesBefore(word: string, operation: () => Promise<unknown>): Promise<void> {
  const death = new Promise<void>(die => {
    stage.call = async (real, order) => {
      if (!order.args.includes(word)) return real(order);
      die();
      return never;
    };
  });
  await Promise.race([operation(), death]);
  stage.call = undefined;
}

/** Every such moment, until the operation is not cut any more. */
async function atEveryCall(story: (dies: (operation: () => Promise<unknown>) => Promise<void>) => Promise<void>) {
  let isCut = true;
  for (let number = 1; isCut; number += 1) {
    for (const isAfter of isThorough ? [false, true] : [number % 2 === 0]) {
      await story(async operation => {
        isCut = await diesAt(number, isAfter, operation);
      });
    }
    if (number > 200) throw new Error('it never ends');
  }
}

describe('a progress commit', () => {
  function worked(one: Scratch, work: () => void) {
    const from = one.tree();
    work();
    return { ...orderOf('T1'), spans: [{ from, to: one.tree() }], document: '/nowhere' };
  }

  it('is there once, with a clean status, after being cut anywhere and done again', async () => {
    await atEveryCall(async dies => {
      const one = scratch();
      one.dirty('c.txt');
      const order = worked(one, () => {
        one.write('a.txt', 'work\n');
        one.write('c.txt', 'mine\n');
        rmSync(join(one.top, 'b.txt'));
      });
      const repository = await one.open();
      await dies(() => commitProgress(repository, { folder: one.folder }, order));
      good(await commitProgress(repository, { folder: one.folder }, order));
      expect(one.git('log', '--format=%s')).toBe('T1: Title of T1\nfirst\n');
      expect(one.git('status', '--porcelain')).toBe(' M c.txt\n');
    });
  });

  it('begins again when somebody moves HEAD meanwhile, and gives up the second time', async () => {
    const one = scratch();
    one.dirty();
    const order = worked(one, () => one.write('a.txt', 'work\n'));
    const repository = await one.open();
    const moveHead = (times: number): void => {
      let moved = 0;
      stage.call = async (real, call) => {
        if (call.args[0] === 'update-ref' && moved < times) {
          moved += 1;
          one.git('commit', '-q', '--allow-empty', '-m', `person ${moved}`);
        }
        return real(call);
      };
    };
    moveHead(2);
    const refused = await commitProgress(repository, { folder: one.folder }, order);
    expect(refused).toMatchObject({ ok: false, problem: 'Nothing was committed: the branch moved twice meanwhile.' });
    expect(one.git('status', '--porcelain')).toBe(' M a.txt\n');
    moveHead(1);
    good(await commitProgress(repository, { folder: one.folder }, order));
    expect(one.git('log', '--format=%s')).toBe('T1: Title of T1\nperson 1\nperson 2\nperson 1\nfirst\n');
    expect(one.git('status', '--porcelain')).toBe('');
  });

  it('that was cut before the index knew it leaves alone what a person committed since', async () => {
    const one = scratch();
    one.dirty();
    const order = worked(one, () => {
      one.write('a.txt', 'work\n');
      one.write('b.txt', 'work\n');
    });
    const repository = await one.open();
    await diesBefore('diff-index', () => commitProgress(repository, { folder: one.folder }, order));
    expect(one.git('log', '-1', '--format=%s')).toBe('T1: Title of T1\n');
    one.write('a.txt', 'a\n');
    one.git('commit', '-q', '-m', 'a person takes it back', 'a.txt');
    good(await commitProgress(repository, { folder: one.folder }, { ...order, spans: [] }));
    expect(one.git('show', ':a.txt', ':b.txt')).toBe('a\nwork\n');
    expect(one.git('status', '--porcelain')).toBe('');
  });
});

it('a worktree that was cut while it was made is finished, on one branch', async () => {
  await atEveryCall(async dies => {
    const one = scratch();
    one.write('.env', 'KEY=1\n');
    const options = { path: join(one.root, 'trees', 'loop'), branch: 'ralph/x', untracked: ['.env'] };
    const repository = await one.open();
    await dies(() => makeWorktree(repository, options));
    const made = good(await makeWorktree(repository, options));
    expect(made).toMatchObject({ branch: 'ralph/x', missing: [] });
    expect(one.git('for-each-ref', '--format=%(refname)')).toBe('refs/heads/main\nrefs/heads/ralph/x\n');
    expect(one.gitIn(made.directory, 'status', '--porcelain', '--branch')).toBe('## ralph/x\n?? .env\n');
  });
});

describe('forks', () => {
  let withT1: Promise<Parallel> | undefined;

  /** T1 is merged; T2 has work of its own, which conflicts if asked for. */
  async function behind({ isConflict }: { readonly isConflict: boolean }): Promise<Parallel> {
    withT1 ??= mergeOne();
    const all = await again(await withT1);
    all.write('T2', isConflict ? 'a.txt' : 'new.txt', 'by T2\n');
    all.write('T2', 'untracked.txt', 'by T2 too\n');
    return all;
  }

  async function mergeOne(): Promise<Parallel> {
    const all = await parallel();
    const forks = all.open();
    good(await forks.fork('T2'));
    good(await forks.fork('T1'));
    all.write('T1', 'a.txt', 'by T1\n');
    rmSync(join(forks.directory('T1'), 'c.txt'));
    good(await forks.mergeFork(orderOf('T1')));
    return all;
  }

  const recordOf = ({ options }: Parallel): string =>
    join(options.privateFolder, readdirSync(options.privateFolder).find(name => /^fork-T2-.*\.json$/.test(name))!);

  it('are made after being cut anywhere', async () => {
    await atEveryCall(async dies => {
      const all = await parallel();
      await dies(() => all.open().fork('T1'));
      good(await all.open().fork('T1'));
      expect(all.one.gitIn(all.open().directory('T1'), 'status', '--porcelain')).toBe('');
      expect(readdirSync(all.options.folder)).toHaveLength(1);
    });
  });

  it('are merged both ways once after being cut anywhere, and a changed tree is always said to be changed', async () => {
    await atEveryCall(async dies => {
      const all = await behind({ isConflict: false });
      let said: unknown;
      await dies(async () => {
        const forks = all.open();
        said = await forks.mergeIntoFork('T2');
        good(await forks.mergeFork(orderOf('T2', 2)));
      });
      const forks = all.open();
      const update = good(await forks.mergeIntoFork('T2'));
      if (update.isMerged) expect(said).toMatchObject({ ok: true, changed: true });
      else {
        expect(update).toEqual({ ok: true, changed: true, isMerged: false });
        expect(all.read('T2', 'a.txt')).toBe('by T1\n');
        expect(all.read('T2', 'untracked.txt')).toBe('by T2 too\n');
      }
      good(await forks.mergeFork(orderOf('T2', 2)));
      expect(all.one.git('log', '--format=%s', 'ralph/x')).toBe('T2: Title of T2\nT1: Title of T1\nfirst\n');
      expect(all.one.git('ls-tree', '--name-only', 'ralph/x')).toBe('a.txt\nb.txt\nnew.txt\nuntracked.txt\n');
      expect(all.loop.git('status', '--porcelain')).toBe('');
      expect(all.one.git('worktree', 'list').trim().split('\n')).toHaveLength(2);
    });
  });

  it('keep both sides of a conflict after being cut anywhere', async () => {
    await atEveryCall(async dies => {
      const all = await behind({ isConflict: true });
      await dies(() => all.open().mergeIntoFork('T2'));
      expect(await all.open().mergeIntoFork('T2')).toMatchObject({ ok: false, conflicts: ['a.txt'] });
      expect(all.read('T2', 'a.txt')).toMatch(/^<{7} .*\nby T1\n={7}\nby T2\n>{7} .*\n$/);
      expect(all.read('T2', 'untracked.txt')).toBe('by T2 too\n');
    });
  });

  it('are finished when git itself was cut while it wrote files', async () => {
    const all = await behind({ isConflict: false });
    const forks = all.open();
    await diesBefore('-u', () => forks.mergeIntoFork('T2'));
    expect(readFileSync(recordOf(all), 'utf8')).toContain('bringing');
    all.write('T2', 'a.txt', 'by T1'); // half a file
    rmSync(join(forks.directory('T2'), 'untracked.txt'));
    writeFileSync(recordOf(all).replace('.json', '.index.lock'), '');
    expect(await all.open().mergeIntoFork('T2')).toEqual({ ok: true, changed: true, isMerged: false });
    expect(all.read('T2', 'a.txt')).toBe('by T1\n');
    expect(all.read('T2', 'untracked.txt')).toBe('by T2 too\n');
    expect(existsSync(join(forks.directory('T2'), 'c.txt'))).toBe(false);
  });
});
