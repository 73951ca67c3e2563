// The fork of a task: made at the tip of the loop's branch, taken up with its work, never thrown away.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { safeName } from '../../../src/git/paths.ts';
import { openForks } from '../../../src/git/worktrees/merge-fork.ts';
import { forksContract } from '../../contracts/forks.ts';
import { good, orderOf, parallel } from '../parallel.ts';

forksContract('git', async () => {
  const all = await parallel();
  const { open, write, read, one } = all;
  const log = () => one.git('log', '--format=%s', 'ralph/x').split('\n').filter(Boolean);
  return { forks: open(), again: open, write, read, log, shared: 'a.txt' };
});

describe('a fork', () => {
  it("stands on the tip of the loop's branch, with what is needed from the loop's own worktree", async () => {
    const all = await parallel({ untracked: ['node_modules'] }, one => {
      one.write('.gitignore', 'node_modules\n');
      one.write('node_modules/x.js', 'x\n');
      one.git('add', '.');
      one.git('commit', '-q', '-m', 'ignore');
    });
    writeFileSync(join(all.options.loopDirectory, 'node_modules/set-up.js'), 'by the set-up command\n');
    const forks = all.open();
    const { base } = good(await forks.fork('T1'));
    expect(base).toBe(all.one.git('rev-parse', 'ralph/x').trim());
    expect(forks.directory('T1')).toBe(join(all.options.folder, safeName('T1')));
    expect(readdirSync(join(forks.directory('T1'), 'node_modules'))).toEqual(['set-up.js', 'x.js']);
    expect(all.one.gitIn(forks.directory('T1'), 'status', '--porcelain', '--branch')).toBe('## HEAD (no branch)\n');
  });

  it('sees what was merged before it, and keeps its uncommitted work when it is taken up', async () => {
    const all = await parallel();
    const forks = all.open();
    const first = good(await forks.fork('T1'));
    all.write('T1', 'a.txt', 'half done\n');
    good(await forks.fork('T2'));
    all.write('T2', 'b.txt', 'done\n');
    good(await forks.mergeFork(orderOf('T2')));
    expect(await all.open().fork('T1')).toEqual(first);
    expect(all.read('T1', 'a.txt')).toBe('half done\n');
    good(await forks.fork('T3'));
    expect(all.read('T3', 'b.txt')).toBe('done\n');
  });

  it('of a new task is made while a merge waits for another git', async () => {
    const all = await parallel();
    const forks = all.open();
    good(await forks.fork('T1'));
    all.write('T1', 'a.txt', 'done\n');
    const lock = join(all.loop.git('rev-parse', '--absolute-git-dir').trim(), 'index.lock');
    const held = openSync(lock, 'wx');
    const merging = forks.mergeFork(orderOf('T1'));
    good(await forks.fork('T2'));
    expect(all.loop.read('a.txt')).toBe('a\n');
    closeSync(held);
    rmSync(lock);
    good(await merging);
    expect(all.loop.read('a.txt')).toBe('done\n');
  });

  it.each([
    ['by us', []],
    ['by git', ['config', 'extensions.worktreeConfig', 'true']],
  ])('is made beside others that are asked for in the same moment, %s', async (_by, prepared) => {
    const all = await parallel();
    if (prepared.length > 0) all.one.git(...prepared);
    const forks = all.open();
    const tasks = ['T1', 'T2', 'T3', 'T4', 'T5', 'T6'];
    for (const made of await Promise.all(tasks.map(task => forks.fork(task)))) good(made);
    for (const task of tasks) {
      expect(all.read(task, 'a.txt')).toBe('a\n');
      expect(all.one.gitIn(forks.directory(task), 'status', '--porcelain', '--branch')).toBe('## HEAD (no branch)\n');
    }
  });

  it('is made anew for a task that is reopened after it was merged', async () => {
    const all = await parallel();
    const forks = all.open();
    good(await forks.fork('T1'));
    all.write('T1', 'a.txt', 'first\n');
    good(await forks.mergeFork(orderOf('T1', 1)));
    good(await forks.fork('T1'));
    expect(all.read('T1', 'a.txt')).toBe('first\n');
    all.write('T1', 'a.txt', 'second\n');
    expect(await forks.mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: false });
    good(await forks.mergeFork(orderOf('T1', 2)));
    expect(all.loop.read('a.txt')).toBe('second\n');
  });

  it('moves aside, and does not delete, a folder that it cannot explain', async () => {
    const all = await parallel();
    const forks = all.open();
    mkdirSync(forks.directory('T1'), { recursive: true });
    writeFileSync(join(forks.directory('T1'), 'work'), 'unexplained');
    good(await forks.fork('T1'));
    const aside = readdirSync(all.options.folder).filter(name => name.includes('.aside-'));
    expect(readFileSync(join(all.options.folder, aside[0]!, 'work'), 'utf8')).toBe('unexplained');
    expect(all.read('T1', 'a.txt')).toBe('a\n');
  });

  it('that somebody deleted is refused at the merge and made anew at the next attempt', async () => {
    const all = await parallel();
    const forks = all.open();
    good(await forks.fork('T1'));
    rmSync(forks.directory('T1'), { recursive: true });
    expect(await forks.mergeIntoFork('T1')).toEqual({ ok: false, problem: 'The fork of T1 is gone.', conflicts: [] });
    expect(await forks.mergeFork(orderOf('T1'))).toMatchObject({ ok: false });
    good(await forks.fork('T1'));
    expect(all.read('T1', 'a.txt')).toBe('a\n');
  });

  it('needs a git that can merge without files', async () => {
    const all = await parallel();
    const bin = join(all.one.root, 'bin');
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    mkdirSync(bin);
    const old = `#!/bin/sh\nfor word; do [ "$word" = version ] && echo git version 2.37.9 && exit; done\nexec '${real}' "$@"\n`;
    writeFileSync(join(bin, 'git'), old);
    chmodSync(join(bin, 'git'), 0o755);
    const environment = { ...all.one.environment, PATH: `${bin}:${all.one.environment['PATH']}` };
    const refused = await openForks({ ...all.repository, environment }, all.options).fork('T1');
    expect(refused).toMatchObject({ ok: false, problem: 'Parallel tasks need git 2.38, and this is 2.37.' });
    expect(existsSync(all.open().directory('T1'))).toBe(false);
  });
});

describe('the name of a fork', () => {
  it.each(['T-1', '../../etc', '.git', 'a.lock', 'ä b/c', '-rf', '', 'x'.repeat(300)])('of %j is safe', name => {
    expect(safeName(name)).toMatch(/^[A-Za-z0-9][A-Za-z0-9-]{0,60}$/);
  });

  it('differs for tasks that differ only in case or odd characters', () => {
    expect(new Set(['t1', 'T1', 'T 1', 'T-1', 'T/1'].map(name => safeName(name).toLowerCase())).size).toBe(5);
  });
});
