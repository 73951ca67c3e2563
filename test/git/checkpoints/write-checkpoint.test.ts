// A checkpoint holds the user's whole tree as it is on disk, and nothing of the user's changes by it.
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, statSync, truncateSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { changesAtStart } from '../../../src/git/checkpoints/user-edits.ts';
import { openForks } from '../../../src/git/worktrees/merge-fork.ts';
import { makeRepo, type Repo, repoAt, saved } from '../repo.ts';

let repo: Repo;
afterEach(() => repo.cleanUp());

/** Every path of a checkpoint with its content, as git stores it. */
function held(commit: string): Readonly<Record<string, string>> {
  const rows = repo.git('ls-tree', '-r', '-z', commit).split('\0').filter(Boolean);
  return Object.fromEntries(
    rows.map(row => {
      const [head = '', path = ''] = row.split('\t');
      const [mode, , object = ''] = head.split(' ');
      return [path, `${mode} ${mode === '160000' ? object : repo.git('cat-file', 'blob', object)}`];
    }),
  );
}

const oddNames = [
  'new\nline',
  '-dash',
  'quo"te\'s',
  'back\\slash',
  '\xff\xfe bytes',
  Buffer.from('⚡️ emoji').toString('latin1'),
  ' space ',
  'x'.repeat(200),
  'glob*[a]?',
  ':colon',
];

describe('a checkpoint', () => {
  it("holds staged, unstaged, untracked, deleted and renamed work, and leaves all that is the user's as it is", async () => {
    repo = makeRepo();
    for (const name of ['staged', 'unstaged', 'both', 'gone', 'old', 'script']) repo.write(name, `${name} 1\n`);
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'second');
    repo.write('staged', 'staged 2\n');
    repo.write('both', 'both 2\n');
    repo.git('add', 'staged', 'both');
    repo.write('both', 'both 3\n');
    repo.write('unstaged', 'unstaged 2\n');
    repo.write('script', 'script 1\n', 0o755);
    repo.remove('gone');
    repo.git('mv', 'old', 'new');
    repo.write('folder/untracked', 'untracked\n');
    repo.link('link', '/nowhere/at/all');
    repo.write('later', 'later\n');
    repo.git('add', '-N', 'later');
    repo.write('empty', '');
    repo.git('add', '-N', 'empty');
    const [tree, theirs] = [repo.tree(), repo.theirs()];
    const { commit } = await saved(await repo.checkpoints(), 1);
    expect(held(commit)).toEqual({
      'README.md': '100644 one\ntwo\nthree\n',
      staged: '100644 staged 2\n',
      unstaged: '100644 unstaged 2\n',
      both: '100644 both 3\n',
      script: '100755 script 1\n',
      new: '100644 old 1\n',
      'folder/untracked': '100644 untracked\n',
      link: '120000 /nowhere/at/all',
      later: '100644 later\n',
      empty: '100644 ',
    });
    expect(repo.tree()).toEqual(tree);
    expect(repo.theirs()).toEqual(theirs);
  });

  it('is a commit on HEAD with trailers, a ref of its number, and the ledger anchored in it', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints();
    const made = await checkpoints.save({
      number: 3,
      iteration: 2,
      task: 'T-1\nx',
      kind: 'iteration',
      label: 'after\titeration 2',
      anchor: '41 abcdef',
    });
    expect(made).toMatchObject({ ok: true, ref: 'refs/ralph/loop-1/3' });
    const shown = repo.git('show', '-s', '--format=%P|%an|%ce|%B', 'refs/ralph/loop-1/3');
    const head = repo.git('rev-parse', 'HEAD').trim();
    const trailers =
      'Ralph-Loop: loop-1\nRalph-Checkpoint: 3\nRalph-Iteration: 2\nRalph-Task: T-1 x\nRalph-Ledger: 41 abcdef';
    expect(shown.trim()).toBe(`${head}|Ralph|ralph@localhost|after iteration 2\n\n${trailers}`);
  });

  it('F06: made again under the same number takes the place of the first', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints();
    await saved(checkpoints, 1);
    repo.write('more', 'more');
    const second = await saved(checkpoints, 1);
    expect(repo.git('for-each-ref', '--format=%(refname) %(objectname)', 'refs/ralph')).toBe(
      `refs/ralph/loop-1/1 ${second.commit}\n`,
    );
    expect(held(second.commit)).toHaveProperty('more');
  });

  it('holds any name that a file can have', async () => {
    repo = makeRepo();
    for (const name of oddNames) repo.write(name, Buffer.from(name, 'latin1'));
    const { commit } = await saved(await repo.checkpoints(), 1);
    expect(held(commit)).toEqual({
      'README.md': '100644 one\ntwo\nthree\n',
      ...Object.fromEntries(oddNames.map(name => [name, `100644 ${name}`])),
    });
  });

  it('B91, B88: holds the bytes on disk whatever line ends, encodings and filters are set, and runs no filter', async () => {
    repo = makeRepo();
    const ran = join(repo.root, 'ran');
    repo.write('tracked.e', 'old');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'tracked');
    repo.git('config', 'core.autocrlf', 'true');
    repo.git('config', 'filter.evil=one.clean', `touch ${ran}; cat`);
    repo.git('config', 'filter.evil=one.process', `touch ${ran}`);
    repo.git('config', 'filter.evil=one.required', 'true');
    repo.git('config', 'core.fsmonitor', `touch ${ran}; false`);
    repo.write(
      '.gitattributes',
      '* text=auto\n*.u16 text working-tree-encoding=UTF-16LE\n*.e filter=evil=one\n*.i ident\n*.h -diff\n',
    );
    const contents = {
      'a.txt': 'a\r\nb\nc\r\n',
      'b.u16': 'h\0i\0\r\0\n\0',
      'c.e': 'raw',
      'd.i': '$Id$ $Id: x $\n',
      'f.h': 'shown\n',
    };
    for (const [path, content] of Object.entries(contents)) repo.write(path, content);
    writeFileSync(join(repo.top, '.git/hooks/reference-transaction'), `#!/bin/sh\ntouch ${ran}\n`, { mode: 0o755 });
    const checkpoints = await repo.checkpoints();
    const { commit, tree } = await saved(checkpoints, 1);
    repo.write('tracked.e', 'new');
    repo.write('c.e', 'raw 2');
    repo.write('f.h', 'shown 2\n');
    const second = await saved(checkpoints, 2);
    expect(held(commit)).toMatchObject(
      Object.fromEntries(Object.entries(contents).map(([path, text]) => [path, `100644 ${text}`])),
    );
    expect((await checkpoints.patch({ from: tree, to: second.tree }, 10_000)).text).toContain('+shown 2');
    expect(existsSync(ran)).toBe(false);
  });

  it('covers tracked files that are ignored, also those which were added later, and leaves the ignored ones out', async () => {
    repo = makeRepo();
    repo.write('.gitignore', '*.log\nbuild/\n');
    repo.write('kept.log', '1');
    repo.git('add', '-f', 'kept.log');
    repo.write('build/out', 'x');
    writeFileSync(join(repo.top, '.git/info/exclude'), 'private\n');
    writeFileSync(join(repo.environment['HOME']!, 'ignored'), 'everywhere\n');
    repo.git('config', '--global', 'core.excludesFile', '~/ignored');
    for (const name of ['private', 'everywhere', 'other.log']) repo.write(name, 'x');
    const checkpoints = await repo.checkpoints();
    expect(Object.keys(held((await saved(checkpoints, 1)).commit))).toEqual(['.gitignore', 'README.md', 'kept.log']);
    repo.write('kept.log', '2');
    repo.git('add', '-f', 'other.log');
    const later = held((await saved(checkpoints, 2)).commit);
    expect(Object.keys(later)).toEqual(['.gitignore', 'README.md', 'kept.log', 'other.log']);
    expect(later['kept.log']).toBe('100644 2');
  });

  it('follows a file that became a folder, a folder that became a link, and back', async () => {
    repo = makeRepo();
    repo.write('a', 'file');
    repo.write('d/x', 'x');
    const checkpoints = await repo.checkpoints();
    const first = held((await saved(checkpoints, 1)).commit);
    repo.remove('a');
    repo.write('a/b/c', 'deep');
    repo.remove('d');
    repo.link('d', 'a');
    repo.write('a/x', 'not the x of d');
    const { commit, skipped } = await saved(checkpoints, 2);
    expect(held(commit)).toEqual({
      'README.md': '100644 one\ntwo\nthree\n',
      'a/b/c': '100644 deep',
      'a/x': '100644 not the x of d',
      d: '120000 a',
    });
    expect(skipped).toEqual([]);
    repo.remove('a');
    repo.write('a', 'file');
    repo.remove('d');
    repo.write('d/x', 'x');
    expect(held((await saved(checkpoints, 3)).commit)).toEqual(first);
  });

  it('B90, B91: leaves out large files, sparse ones, pipes, sockets and other repositories, and says so', async () => {
    repo = makeRepo();
    repo.write('big', 'x'.repeat(2_001));
    repo.write('grows', 'small');
    repo.write('folder/terabyte', '');
    truncateSync(join(repo.top, 'folder/terabyte'), 1e12);
    execFileSync('mkfifo', [join(repo.top, 'folder/pipe'), join(repo.top, 'becomes')]);
    repo.write('nested/file', 'x');
    execFileSync('git', ['init', '-q', join(repo.top, 'nested')], { env: repo.environment });
    const checkpoints = await repo.checkpoints({ fileBytesMax: 2_000 });
    const first = await saved(checkpoints, 1);
    expect(Object.keys(held(first.commit))).toEqual(['README.md', 'grows']);
    expect(first.skipped).toEqual(
      expect.arrayContaining([
        { path: 'big', why: 'larger than 0 MB' },
        { path: 'folder/terabyte', why: 'larger than 0 MB' },
        { path: 'folder/pipe', why: 'a pipe' },
        { path: 'becomes', why: 'a pipe' },
        { path: 'nested', why: 'a repository of its own' },
      ]),
    );
    repo.write('grows', 'x'.repeat(3_000));
    const second = await saved(checkpoints, 2);
    expect(Object.keys(held(second.commit))).toEqual(['README.md']);
    expect(second.skipped).toContainEqual({ path: 'grows', why: 'larger than 0 MB' });
  });

  it('a tracked file that became a pipe is left out and named, and nothing hangs', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints();
    await saved(checkpoints, 1);
    repo.remove('README.md');
    execFileSync('mkfifo', [join(repo.top, 'README.md')]);
    const { commit, skipped } = await saved(checkpoints, 2);
    expect(held(commit)).toEqual({});
    expect(skipped).toEqual([{ path: 'README.md', why: 'a pipe' }]);
  });

  it('does not hold the new bytes of a file that Ralph is just about to replace', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints({ replaced: [join(repo.top, 'PRD [1].json')] });
    repo.write('PRD [1].json', '{}');
    repo.write('PRD [1].json.1372000957', '{');
    repo.write('.artefacts/shop/state.json.137200095', '[');
    repo.write('other.json.1372000957', 'of the user');
    const names = Object.keys(held((await saved(checkpoints, 1)).commit));
    expect(names).toEqual(['PRD [1].json', 'README.md', 'other.json.1372000957']);
  });

  it("does not hold the loop's own folder, nor what is named as uncovered, when they lie in the tree", async () => {
    repo = makeRepo();
    for (const name of ['home [1]', 'ends ', 'br\nk']) repo.write(`${name}/ledger`, 'x');
    const checkpoints = await repo.checkpoints({
      folder: join(repo.top, 'loops/one'),
      excluded: ['home [1]', 'ends ', 'br\nk'].map(name => join(repo.top, name)),
    });
    expect(Object.keys(held((await saved(checkpoints, 1)).commit))).toEqual(['README.md']);
  });

  it('remembers what was dirty at the first checkpoint, and only then', async () => {
    repo = makeRepo();
    repo.write('clean', 'x');
    repo.git('add', 'clean');
    repo.git('commit', '-qm', 'clean');
    repo.write('README.md', 'mine');
    repo.write('st aged', 'x');
    repo.git('add', 'st aged');
    repo.write('\xff untracked\n', 'x');
    const checkpoints = await repo.checkpoints();
    expect(await changesAtStart(repo.folder)).toBeUndefined();
    await saved(checkpoints, 1);
    repo.write('clean', 'the loop');
    await saved(checkpoints, 2);
    await saved(await repo.checkpoints(), 1);
    expect([...(await changesAtStart(repo.folder))!].sort()).toEqual(
      ['README.md', 'st aged', '\xff untracked\n'].sort(),
    );
  });

  it('sees a change that keeps size and time, once the file was there before the last look', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints();
    await saved(checkpoints, 1);
    const file = join(repo.top, 'README.md');
    const { atime, mtime } = statSync(file);
    repo.write('README.md', 'ONE\ntwo\nthree\n');
    utimesSync(file, atime, mtime);
    expect(held((await saved(checkpoints, 2)).commit)).toEqual({ 'README.md': '100644 ONE\ntwo\nthree\n' });
  });

  it('goes on after the lock of a dead git, a lost index and a lost folder', async () => {
    repo = makeRepo();
    const checkpoints = await repo.checkpoints();
    const first = await saved(checkpoints, 1);
    writeFileSync(join(repo.folder, 'index.lock'), '');
    expect((await saved(checkpoints, 2)).tree).toBe(first.tree);
    rmSync(join(repo.folder, 'index'));
    expect((await saved(checkpoints, 3)).tree).toBe(first.tree);
    writeFileSync(join(repo.folder, 'index'), 'broken');
    expect((await saved(checkpoints, 4)).tree).toBe(first.tree);
    rmSync(repo.folder, { recursive: true });
    expect((await saved(await repo.checkpoints(), 5)).tree).toBe(first.tree);
    expect(readFileSync(join(repo.folder, 'config'), 'utf8')).toContain('autocrlf = false');
  });

  it('writes objects anew that somebody removed', async () => {
    repo = makeRepo();
    repo.write('untracked', 'unique');
    const checkpoints = await repo.checkpoints();
    await saved(checkpoints, 1);
    const object = repo.git('hash-object', 'untracked').trim();
    repo.remove(`.git/objects/${object.slice(0, 2)}/${object.slice(2)}`);
    repo.write('other', 'x');
    expect(held((await saved(checkpoints, 2)).commit)).toMatchObject({ untracked: '100644 unique' });
  });

  it('of a task that has a fork is one of its fork', async () => {
    repo = makeRepo();
    const loopDirectory = join(repo.root, 'worktree');
    repo.git('worktree', 'add', '-q', '-b', 'ralph/x', loopDirectory);
    const own = repoAt(repo.root, loopDirectory, repo.environment);
    const privateFolder = join(repo.root, 'private');
    const forks = openForks(await own.open(), {
      loop: 'loop-1',
      folder: join(repo.root, 'forks'),
      loopDirectory,
      branch: 'ralph/x',
      untracked: [],
      privateFolder,
    });
    const checkpoints = await own.checkpoints({ forks });
    expect(await forks.fork('T 1')).toMatchObject({ ok: true });
    writeFileSync(join(forks.directory('T 1'), 'made'), 'x');
    const save = (number: number, task?: string) =>
      checkpoints.save({
        number,
        iteration: 1,
        kind: 'iteration',
        label: 'x',
        anchor: '1 a',
        ...(task === undefined ? {} : { task }),
      });
    const [whole, fork, none] = [await save(1), await save(2, 'T 1'), await save(3, 'T 2')];
    const paths = [whole, fork, none].map(made => (made.ok ? Object.keys(held(made.commit)) : made.problem));
    expect(paths).toEqual([['README.md'], ['README.md', 'made'], ['README.md']]);
  });

  it('is not pushed by a plain push, nor are its notes', async () => {
    repo = makeRepo();
    await saved(await repo.checkpoints(), 1);
    const remote = join(repo.root, 'remote.git');
    execFileSync('git', ['init', '-q', '--bare', remote], { env: repo.environment });
    repo.git('remote', 'add', 'origin', remote);
    repo.git('push', '-q', '--set-upstream', 'origin', 'main');
    repo.git('-c', 'push.default=matching', 'push', '-q');
    repo.git('push', '-q', '--tags');
    expect(repo.git('ls-remote', 'origin').split('\n').filter(Boolean)).toHaveLength(2);
  });
});
