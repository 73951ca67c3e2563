// The loop's own worktree: outside of the repository, on a branch of its own, with what git does not hold copied in.
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { abandonWorktree, makeWorktree } from '../../../src/git/worktrees/worktree.ts';
import { good } from '../parallel.ts';
import { type Scratch, scratch } from '../scratch.ts';

const optionsOf = (one: Scratch, untracked: readonly string[] = []) => ({
  path: join(one.root, 'home', 'worktrees', 'loop-1'),
  branch: 'ralph/x',
  untracked,
});

describe('the worktree of a loop', () => {
  it('is refused in one sentence where a branch has the name of its folder, and nothing is left behind', async () => {
    const one = scratch();
    const options = optionsOf(one);
    one.git('branch', 'ralph');
    const refused = {
      ok: false,
      problem: 'A branch is called ralph, so git cannot make the branch ralph/x.',
      fix: 'Rename it: git branch -m ralph ralph-old',
    };
    expect(await makeWorktree(await one.open(), options)).toEqual(refused);
    expect([existsSync(options.path), existsSync(`${options.path}.json`)]).toEqual([false, false]);
    expect(one.git('worktree', 'list').trim().split('\n')).toHaveLength(1);
    one.git('branch', '-m', 'ralph', 'ralph-old');
    good(await makeWorktree(await one.open(), options));
  });

  it("starts at the commit of HEAD, without the user's uncommitted work, and changes nothing of theirs", async () => {
    const one = scratch();
    one.write('a.txt', 'uncommitted\n');
    one.git('add', 'a.txt');
    one.write('b.txt', 'uncommitted too\n');
    const seen = () => ({ ...one.theirs(), refs: one.git('for-each-ref', 'refs/heads/main') });
    const before = seen();
    const made = good(await makeWorktree(await one.open(), optionsOf(one)));
    expect(made).toMatchObject({
      branch: 'ralph/x',
      missing: [],
      notices: [],
    });
    expect(readFileSync(join(made.directory, 'a.txt'), 'utf8')).toBe('a\n');
    expect(one.gitIn(made.directory, 'status', '--porcelain', '--branch')).toBe('## ralph/x\n');
    expect(seen()).toEqual(before);
  });

  it('copies what is needed as it is, and lists what is not there or not to be had', async () => {
    const one = scratch();
    one.write('.env', 'KEY=1\n');
    one.write('node_modules/x/index.js', 'x\n');
    writeFileSync(Buffer.from(`${one.top}/node_modules/\xe9`, 'latin1'), 'odd\n');
    symlinkSync('x/index.js', join(one.top, 'node_modules/link'));
    execFileSync('mkfifo', [join(one.top, 'node_modules/pipe')]);
    mkdirSync(join(one.root, 'outside'));
    writeFileSync(join(one.root, 'outside', 'secret'), 'secret');
    symlinkSync(join(one.root, 'outside'), join(one.top, 'way-out'));
    const untracked = [
      '.env',
      'node_modules/',
      'gone',
      'way-out/secret',
      '../outside',
      '/etc/hostname',
      '.git',
      'a.txt',
    ];
    one.write('a.txt', 'uncommitted\n');
    const made = good(await makeWorktree(await one.open(), optionsOf(one, untracked)));
    expect(made.missing).toEqual([
      'node_modules/pipe',
      'gone',
      'way-out/secret',
      '../outside',
      '/etc/hostname',
      '.git',
    ]);
    const at = (path: string) => join(made.directory, path);
    expect(readFileSync(at('.env'), 'utf8')).toBe('KEY=1\n');
    expect(readlinkSync(at('node_modules/link'))).toBe('x/index.js');
    expect(readFileSync(Buffer.from(`${made.directory}/node_modules/\xe9`, 'latin1'), 'utf8')).toBe('odd\n');
    expect(readFileSync(at('a.txt'), 'utf8')).toBe('a\n'); // git holds it
    expect(existsSync(at('way-out'))).toBe(false);
    expect(lstatSync(at('.git')).isFile()).toBe(true);
  });

  it('is taken up again with its work', async () => {
    const one = scratch();
    const repository = await one.open();
    const made = good(await makeWorktree(repository, optionsOf(one)));
    writeFileSync(join(made.directory, 'a.txt'), 'work\n');
    expect(await makeWorktree(repository, optionsOf(one))).toEqual(made);
    expect(readFileSync(join(made.directory, 'a.txt'), 'utf8')).toBe('work\n');
    one.gitIn(made.directory, 'checkout', '-q', '-b', 'elsewhere');
    expect(await makeWorktree(repository, optionsOf(one))).toMatchObject({
      ok: false,
      problem: 'The worktree of this loop is no longer on its branch ralph/x.',
    });
  });

  it('is made again at the tip of its branch when somebody deleted the folder', async () => {
    const one = scratch();
    const repository = await one.open();
    const made = good(await makeWorktree(repository, optionsOf(one)));
    writeFileSync(join(made.directory, 'a.txt'), 'work\n');
    one.gitIn(made.directory, 'commit', '-q', '-a', '-m', 'work');
    rmSync(made.directory, { recursive: true });
    expect(good(await makeWorktree(repository, optionsOf(one))).branch).toBe('ralph/x');
    expect(one.gitIn(made.directory, 'log', '--format=%s')).toBe('work\nfirst\n');
    expect(one.gitIn(made.directory, 'status', '--porcelain')).toBe('');
  });

  it('takes another name when the branch exists, and says so', async () => {
    const one = scratch();
    one.git('branch', 'ralph/x');
    one.git('branch', 'ralph/x-2');
    const made = good(await makeWorktree(await one.open(), optionsOf(one)));
    expect(made.branch).toBe('ralph/x-3');
    expect(made.notices).toEqual(['The branch ralph/x exists, so this is ralph/x-3.']);
  });

  it('leaves filters and submodules alone, and says so', async () => {
    const one = scratch();
    const ran = join(one.root, 'ran');
    one.write('.gitattributes', '*.bin filter=spy\n');
    one.write('x.bin', 'pointer\n');
    one.git('add', '.');
    one.git('update-index', '--add', '--cacheinfo', `160000,${one.git('rev-parse', 'HEAD').trim()},module`);
    one.git('commit', '-q', '-m', 'more');
    one.git('config', 'filter.spy.smudge', `touch '${ran}'; echo smudged`);
    one.git('config', 'filter.spy.required', 'true');
    writeFileSync(join(one.top, '.git/hooks/post-checkout'), `#!/bin/sh\ntouch '${ran}'\n`, { mode: 0o755 });
    const made = good(await makeWorktree(await one.open(), optionsOf(one)));
    expect(readFileSync(join(made.directory, 'x.bin'), 'utf8')).toBe('pointer\n');
    expect(made.notices).toEqual([
      '1 file behind a filter (such as LFS) is as git stores it.',
      '1 submodule is empty in the worktree.',
    ]);
    expect(existsSync(ran)).toBe(false);
  });

  it('is refused inside of the repository, also by way of a link, and of its other trees', async () => {
    const one = scratch();
    const repository = await one.open();
    symlinkSync(one.top, join(one.root, 'link'));
    one.git('worktree', 'add', '-q', join(one.root, 'other'));
    for (const folder of [one.top, join(one.root, 'link'), join(one.root, 'other'), join(one.top, '.git')]) {
      const path = join(folder, '.ralph', 'worktrees', 'loop-1');
      const refused = await makeWorktree(repository, { path, branch: 'ralph/x', untracked: [] });
      expect(refused).toMatchObject({ ok: false, problem: 'The worktree would lie inside of the repository.' });
      expect(existsSync(join(folder, '.ralph'))).toBe(false);
    }
  });

  it('is refused without a commit, with a name that git does not take, and where a folder of somebody else is', async () => {
    const unborn = scratch({ isUnborn: true });
    expect(await makeWorktree(await unborn.open(), optionsOf(unborn))).toMatchObject({
      ok: false,
      problem: 'A worktree needs a commit to start from, and there is none yet.',
    });
    const one = scratch();
    expect(await makeWorktree(await one.open(), { ...optionsOf(one), branch: 'ralph/a b..c' })).toMatchObject({
      ok: false,
      problem: 'A branch cannot be called "ralph/a b..c".',
    });
    mkdirSync(optionsOf(one).path, { recursive: true });
    writeFileSync(join(optionsOf(one).path, 'mine'), 'mine');
    expect((await makeWorktree(await one.open(), optionsOf(one))).ok).toBe(false);
    expect(existsSync(join(optionsOf(one).path, 'mine'))).toBe(true);
  });

  it('is removed only when it is ours and holds nothing uncommitted; a branch with work stays', async () => {
    const one = scratch();
    const repository = await one.open();
    one.git('worktree', 'add', '-q', join(one.root, 'other'));
    expect(await abandonWorktree(repository, join(one.root, 'other'))).toMatchObject({ ok: false });
    const { directory } = good(await makeWorktree(repository, optionsOf(one)));
    writeFileSync(join(directory, 'new.txt'), 'work\n');
    expect(await abandonWorktree(repository, directory)).toMatchObject({ ok: false });
    expect(existsSync(join(directory, 'new.txt'))).toBe(true);
    one.gitIn(directory, 'add', '-A');
    one.gitIn(directory, 'commit', '-q', '-m', 'work');
    expect(await abandonWorktree(repository, directory)).toEqual({ ok: true });
    expect(existsSync(directory)).toBe(false);
    expect(one.git('branch', '--list', 'ralph/x').trim()).toBe('ralph/x');
  });
});
