// The merge queue: forks are merged one after the other as one commit each, and a conflict goes back with both sides in its files.
import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { good, orderOf, type Parallel, parallel } from '../parallel.ts';

const lines = (...changed: readonly [number, string][]): string =>
  Array.from({ length: 20 }, (_, at) => changed.find(([line]) => line === at)?.[1] ?? `line ${at}`).join('\n');

const withLines = () =>
  parallel({}, one => {
    one.write('long.txt', lines());
    one.git('add', '.');
    one.git('commit', '-q', '-m', 'long');
  });

async function forked(all: Parallel, ...tasks: readonly string[]) {
  const forks = all.open();
  for (const task of tasks) good(await forks.fork(task));
  return forks;
}

describe('the merge queue', () => {
  it('lands four tasks of which two conflict: three at once, the fourth after it is resolved', async () => {
    const all = await withLines();
    const forks = await forked(all, 'T1', 'T2', 'T3', 'T4');
    all.write('T1', 'long.txt', lines([2, 'by T1']));
    all.write('T2', 'long.txt', lines([15, 'by T2']));
    all.write('T3', 'new/three.txt', 'three\n');
    all.write('T4', 'long.txt', lines([2, 'by T4']));
    expect(await forks.mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: false });
    good(await forks.mergeFork(orderOf('T1', 1)));
    for (const [task, iteration] of [
      ['T2', 2],
      ['T3', 3],
    ] as const) {
      expect(await forks.mergeIntoFork(task)).toEqual({ ok: true, changed: true, isMerged: false });
      expect(all.read(task, 'long.txt')).toContain('by T1');
      good(await forks.mergeFork(orderOf(task, iteration)));
    }
    const refused = await forks.mergeIntoFork('T4');
    expect(refused).toEqual({
      ok: false,
      conflicts: ['long.txt'],
      others: ['T1', 'T2'],
      problem:
        'Others changed the same lines meanwhile: long.txt holds both sides with conflict markers; resolve them.',
    });
    expect(all.read('T4', 'long.txt')).toMatch(/^<<<<<<< refs\/heads\/ralph\/x\nby T1\n=======\nby T4\n>>>>>>> /m);
    expect(all.read('T4', 'new/three.txt')).toBe('three\n');
    good(await forks.fork('T4'));
    expect(await forks.mergeIntoFork('T4')).toEqual({ ok: true, changed: false, isMerged: false });
    expect(await forks.mergeFork(orderOf('T4', 4))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('markers'),
      conflicts: ['long.txt'],
      others: ['T1', 'T2'],
    });
    all.write('T4', 'long.txt', lines([2, 'by T1 and T4'], [15, 'by T2']));
    good(await forks.mergeFork(orderOf('T4', 4)));
    const log = all.one.git(
      'log',
      '--format=%s|%P|%(trailers:key=Ralph-Task,valueonly,separator=)',
      'ralph/x',
      '^main',
    );
    const rows = log
      .trim()
      .split('\n')
      .map(row => row.split('|'));
    expect(rows.map(([subject]) => subject)).toEqual(['T4', 'T3', 'T2', 'T1'].map(task => `${task}: Title of ${task}`));
    expect(rows.map(([, , task]) => task)).toEqual(['T4', 'T3', 'T2', 'T1']);
    expect(rows.every(([, parents]) => parents!.split(' ').length === 1)).toBe(true);
    expect(all.loop.git('status', '--porcelain')).toBe('');
    expect(all.loop.read('long.txt')).toBe(lines([2, 'by T1 and T4'], [15, 'by T2']));
    expect(all.one.git('worktree', 'list').trim().split('\n')).toHaveLength(2);
    expect(all.one.git('for-each-ref', 'refs/ralph')).toBe('');
  });

  it("never touches the user's own tree, index, branch and stash", async () => {
    const all = await parallel({}, one => {
      one.write('a.txt', 'staged\n');
      one.git('add', 'a.txt');
      one.git('stash', 'store', '-m', 'kept', one.git('stash', 'create').trim());
      one.write('a.txt', 'unstaged\n');
      one.write('untracked', 'mine\n');
    });
    const seen = () => ({ ...all.one.theirs(), refs: all.one.git('for-each-ref', 'refs/heads/main', 'refs/stash') });
    const before = seen();
    const forks = await forked(all, 'T1', 'T2');
    all.write('T1', 'a.txt', 'by T1\n');
    all.write('T2', 'a.txt', 'by T2\n');
    good(await forks.mergeFork(orderOf('T1')));
    expect((await forks.mergeIntoFork('T2')).ok).toBe(false);
    expect(seen()).toEqual(before);
    expect(all.one.read('a.txt')).toBe('unstaged\n');
  });

  it('says of a merged tree that it changed, until the fork is taken up for another attempt', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2', 'T3');
    all.write('T1', 'a.txt', 'by T1\n');
    all.write('T2', 'b.txt', 'by T2\n');
    all.write('T3', 'c.txt', 'by T3\n');
    good(await forks.mergeFork(orderOf('T1')));
    for (const opened of [forks, forks, all.open()]) {
      expect(await opened.mergeIntoFork('T3')).toEqual({ ok: true, changed: true, isMerged: false });
    }
    good(await forks.mergeIntoFork('T2'));
    good(await forks.mergeFork(orderOf('T2')));
    expect(await forks.mergeIntoFork('T3')).toEqual({ ok: true, changed: true, isMerged: false });
    expect(all.read('T3', 'b.txt')).toBe('by T2\n');
    good(await forks.fork('T3'));
    expect(await forks.mergeIntoFork('T3')).toEqual({ ok: true, changed: false, isMerged: false });
  });

  it('merges additions, deletions, links and modes, and shows the work as uncommitted', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2');
    all.write('T1', 'c.txt', 'c by T1\n');
    rmSync(join(forks.directory('T1'), 'b.txt'));
    good(await forks.mergeFork(orderOf('T1')));
    rmSync(join(forks.directory('T2'), 'a.txt'));
    all.write('T2', 'run.sh', '#!/bin/sh\n');
    chmodSync(join(forks.directory('T2'), 'run.sh'), 0o755);
    symlinkSync('run.sh', join(forks.directory('T2'), 'start'));
    all.one.gitIn(forks.directory('T2'), 'add', 'run.sh');
    expect(await forks.mergeIntoFork('T2')).toEqual({ ok: true, changed: true, isMerged: false });
    expect(existsSync(join(forks.directory('T2'), 'b.txt'))).toBe(false);
    expect(all.one.gitIn(forks.directory('T2'), 'status', '--porcelain')).toBe(' D a.txt\n?? run.sh\n?? start\n');
    good(await forks.mergeFork(orderOf('T2')));
    const entries = all.one.git('ls-tree', '--format=%(objectmode) %(path)', 'ralph/x').trim().split('\n');
    expect(entries).toEqual(['100644 c.txt', '100755 run.sh', '120000 start']);
    expect(all.loop.git('status', '--porcelain')).toBe('');
  });

  it('takes the work of an agent that committed by itself, on whatever branch', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2');
    all.write('T1', 'c.txt', 'c by T1\n');
    good(await forks.mergeFork(orderOf('T1')));
    all.write('T2', 'a.txt', 'a by T2\n');
    all.one.gitIn(forks.directory('T2'), 'checkout', '-q', '-b', 'feature');
    all.one.gitIn(forks.directory('T2'), 'commit', '-q', '-a', '-m', 'by the agent');
    expect(await forks.mergeIntoFork('T2')).toEqual({ ok: true, changed: true, isMerged: false });
    expect(all.one.git('log', '-1', '--format=%s', 'feature')).toBe('by the agent\n');
    good(await forks.mergeFork(orderOf('T2')));
    expect(all.one.git('show', 'ralph/x:a.txt', 'ralph/x:c.txt')).toBe('a by T2\nc by T1\n');
    expect(all.one.git('log', '--format=%s', 'ralph/x')).toBe('T2: Title of T2\nT1: Title of T1\nfirst\n');
  });

  it('says which files are as one side has them when lines cannot be merged', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2');
    rmSync(join(forks.directory('T1'), 'a.txt'));
    all.write('T1', 'logo.bin', 'one\0side');
    good(await forks.mergeFork(orderOf('T1')));
    all.write('T2', 'a.txt', 'changed by T2\n');
    all.write('T2', 'logo.bin', 'other\0side');
    const update = await forks.mergeIntoFork('T2');
    expect(update).toMatchObject({ ok: false, conflicts: ['a.txt', 'logo.bin'] });
    const ref = /git show (\S+):PATH/.exec((update as { problem: string }).problem)![1];
    expect(all.one.git('show', `${ref}:logo.bin`)).toBe('other\0side');
  });

  it('keeps a fork usable when its merge is not possible at all', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1');
    all.write('T1', 'a.txt', 'by T1\n');
    const other = all.one.git('commit-tree', 'main^{tree}', '-m', 'unrelated').trim();
    const tip = all.one.git('rev-parse', 'ralph/x').trim();
    all.one.git('update-ref', 'refs/heads/ralph/x', other);
    expect(await forks.mergeIntoFork('T1')).toMatchObject({ ok: false, conflicts: [] });
    good(await forks.fork('T1'));
    all.one.git('update-ref', 'refs/heads/ralph/x', tip);
    expect(all.read('T1', 'a.txt')).toBe('by T1\n');
    expect(await forks.mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: false });
    good(await forks.mergeFork(orderOf('T1')));
  });

  it('runs no merge program, no filter and no hook (B88)', async () => {
    const all = await withLines();
    const ran = join(all.one.root, 'ran');
    const forks = await forked(all, 'T1', 'T2');
    for (const hook of ['post-checkout', 'reference-transaction', 'post-index-change', 'post-merge']) {
      mkdirSync(join(all.one.top, '.git/hooks'), { recursive: true });
      writeFileSync(join(all.one.top, '.git/hooks', hook), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    }
    all.one.git('config', 'merge.spy.driver', `touch '${ran}'; exit 0`);
    all.one.git('config', 'filter.spy.clean', `touch '${ran}'; cat`);
    all.one.git('config', 'filter.spy.smudge', `touch '${ran}'; cat`);
    all.write('T1', '.gitattributes', '*.txt merge=spy filter=spy\n');
    all.write('T2', '.gitattributes', '*.txt merge=spy filter=spy\n');
    all.write('T1', 'long.txt', lines([2, 'by T1']));
    all.write('T2', 'long.txt', lines([15, 'by T2'], [2, 'by T2']));
    good(await forks.mergeFork(orderOf('T1')));
    expect(await forks.mergeIntoFork('T2')).toMatchObject({ ok: false, conflicts: ['long.txt'] });
    expect(all.read('T2', 'long.txt')).toMatch(/^<{7} .*\nby T1\n={7}\nby T2\n>{7} /m);
    expect(all.read('T2', 'long.txt')).toContain('by T2\nline 16');
    expect(existsSync(ran)).toBe(false);
  });
});

describe('merging a fork', () => {
  it('twice is once, also in another process', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1');
    all.write('T1', 'a.txt', 'x\n');
    const first = good(await forks.mergeFork(orderOf('T1', 7)));
    expect(await all.open().mergeFork(orderOf('T1', 7))).toEqual(first);
    expect(await all.open().mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: true });
    expect(all.one.git('rev-list', '--count', 'ralph/x', '^main').trim()).toBe('1');
  });

  it('makes no commit of a fork without changes', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1');
    expect(await forks.mergeFork(orderOf('T1'))).toEqual({ ok: true, commit: '' });
    expect(existsSync(forks.directory('T1'))).toBe(false);
    expect(all.one.git('rev-list', '--count', 'ralph/x', '^main').trim()).toBe('0');
  });

  it('is refused when the branch moved since the merge, and works after another one', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2');
    all.write('T1', 'a.txt', 'x\n');
    all.write('T2', 'b.txt', 'x\n');
    good(await forks.mergeFork(orderOf('T1')));
    expect(await forks.mergeFork(orderOf('T2'))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('moved'),
    });
    good(await forks.mergeIntoFork('T2'));
    good(await forks.mergeFork(orderOf('T2')));
  });

  it("is refused when somebody edited the same file in the loop's own worktree, and keeps an edit elsewhere", async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1');
    all.write('T1', 'a.txt', 'by T1\n');
    writeFileSync(join(all.options.loopDirectory, 'a.txt'), 'by a person\n');
    const tip = all.one.git('rev-parse', 'ralph/x');
    expect(await forks.mergeFork(orderOf('T1'))).toMatchObject({
      ok: false,
      problem: expect.stringContaining('Somebody'),
    });
    expect(all.one.git('rev-parse', 'ralph/x')).toBe(tip);
    expect(all.loop.read('a.txt')).toBe('by a person\n');
    writeFileSync(join(all.options.loopDirectory, 'a.txt'), 'a\n');
    writeFileSync(join(all.options.loopDirectory, 'b.txt'), 'elsewhere\n');
    good(await forks.mergeFork(orderOf('T1')));
    expect(all.loop.git('status', '--porcelain')).toBe(' M b.txt\n');
    expect(all.loop.read('a.txt')).toBe('by T1\n');
  });

  it('is not stopped by locks that a killed git left in our own worktrees', async () => {
    const all = await parallel();
    const forks = await forked(all, 'T1', 'T2');
    const lockIn = (directory: string) =>
      writeFileSync(join(all.one.gitIn(directory, 'rev-parse', '--absolute-git-dir').trim(), 'index.lock'), '');
    all.write('T1', 'a.txt', 'by T1\n');
    lockIn(all.options.loopDirectory);
    writeFileSync(join(all.one.top, '.git/refs/heads/ralph/x.lock'), '');
    good(await forks.mergeFork(orderOf('T1')));
    lockIn(forks.directory('T2'));
    expect(await forks.mergeIntoFork('T2')).toMatchObject({ ok: true, changed: true });
    expect(all.one.gitIn(forks.directory('T2'), 'status', '--porcelain')).toBe('');
  });

  it('leaves behind what was copied in, the document, and repositories that the agent made', async () => {
    const all = await parallel({ untracked: ['.env', 'vendor'], excluded: ['c.txt'] }, one => {
      one.write('.env', 'KEY=1\n');
      one.write('vendor/lib.js', 'lib\n');
    });
    const forks = await forked(all, 'T1');
    expect(all.read('T1', '.env')).toBe('KEY=1\n');
    all.write('T1', 'a.txt', 'work\n');
    all.write('T1', 'c.txt', 'ticked by the agent\n');
    all.write('T1', 'vendor/more.js', 'more\n');
    all.one.gitIn(forks.directory('T1'), 'init', '-q', 'sub');
    all.write('T1', 'sub/file', 'x');
    all.one.gitIn(join(forks.directory('T1'), 'sub'), 'add', '.');
    all.one.gitIn(
      join(forks.directory('T1'), 'sub'),
      '-c',
      'user.name=x',
      '-c',
      'user.email=x@y',
      'commit',
      '-qm',
      'x',
    );
    good(await forks.mergeFork(orderOf('T1')));
    expect(all.one.git('diff', '--name-only', 'main', 'ralph/x')).toBe('a.txt\n');
  });
});
