// A restore goes forward: the loop's own work gives way, a person's edits stay, and nothing outside of the tree is touched.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Restored } from '../../../src/git/checkpoints.ts';
import type { GitCheckpoints } from '../../../src/git/git-checkpoints.ts';
import { makeRepo, type Repo, saved } from '../repo.ts';

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  checkpoints = await repo.checkpoints();
});
afterEach(() => repo.cleanUp());

type Ok = Extract<Restored, { ok: true }>;

/** Checkpoint `base` is the loop's newest; what differs now is a person's. */
async function goTo(to: string, base: string, number: number, more: { readonly overwrite?: boolean } = {}) {
  const now = (await saved(checkpoints, number, 'before a restore')).commit;
  const planned = await checkpoints.plan({ to, base, now, ...more });
  const restored = await checkpoints.restore({ to, base, now, ...more });
  expect(planned).toEqual(restored);
  return { now, restored };
}

const nothing = { ok: true, written: [], deleted: [], merged: [], kept: [] };

describe('a restore of what the loop did', () => {
  it('gives every file back bit by bit, and can itself be undone', async () => {
    repo.write('script', 'x', 0o755);
    repo.write('secret', 'old', 0o600);
    repo.write('folder/deep/gone', 'gone');
    repo.write('odd\n"\xff', 'odd');
    repo.write('-rf', 'dash');
    repo.link('link', 'README.md');
    const first = repo.tree();
    const one = await saved(checkpoints, 1);
    repo.write('README.md', 'changed\r\n');
    repo.write('script', 'y', 0o644);
    repo.write('secret', 'new', 0o600);
    repo.remove('folder');
    repo.write('odd\n"\xff', 'even');
    repo.remove('-rf');
    repo.remove('link');
    repo.link('link', 'nowhere');
    repo.write('new/deep/file', 'new', 0o755);
    const second = repo.tree();
    const theirs = repo.theirs()['index'];
    const two = await saved(checkpoints, 2);
    const { now, restored } = await goTo(one.commit, two.commit, 3);
    expect(repo.tree()).toEqual(first);
    expect(restored).toMatchObject({ deleted: ['new/deep/file'], merged: [], kept: [] });
    expect((restored as Ok).written).toContain('folder/deep/gone');
    expect(existsSync(join(repo.top, 'new'))).toBe(false);
    expect((await saved(checkpoints, 4)).tree).toBe(one.tree);
    await goTo(now, one.commit, 5);
    expect(repo.tree()).toEqual(second);
    expect(repo.theirs()['index']).toBe(theirs);
    expect(existsSync(join(repo.folder, 'restore.json'))).toBe(false);
    expect(existsSync(join(repo.top, '.git/ralph/loop-1/restore'))).toBe(false);
  });

  it('changes files to folders, folders to files and links to folders, and back', async () => {
    repo.write('a', 'file');
    repo.write('b/x/y', 'y');
    repo.write('c/z', 'z');
    repo.write('outside', 'untouched');
    const first = repo.tree();
    const one = await saved(checkpoints, 1);
    for (const path of ['a', 'b', 'c']) repo.remove(path);
    repo.write('a/b/c', 'deep');
    repo.write('b', 'file');
    repo.link('c', '.');
    const second = repo.tree();
    const two = await saved(checkpoints, 2);
    const { now } = await goTo(one.commit, two.commit, 3);
    expect(repo.tree()).toEqual(first);
    await goTo(now, one.commit, 4);
    expect(repo.tree()).toEqual(second);
  });

  it('keeps the folder that loses one file and gets another, with its mode', async () => {
    repo.write('folder/one', '1');
    chmodSync(join(repo.top, 'folder'), 0o700);
    const one = await saved(checkpoints, 1);
    repo.write('folder/two', '2');
    repo.remove('folder/one');
    const two = await saved(checkpoints, 2);
    await goTo(one.commit, two.commit, 3);
    expect(readdirSync(join(repo.top, 'folder'))).toEqual(['one']);
    expect(lstatSync(join(repo.top, 'folder')).mode & 0o777).toBe(0o700);
  });

  it('writes bytes without any conversion or filter', async () => {
    const ran = join(repo.root, 'ran');
    repo.git('config', 'core.autocrlf', 'true');
    repo.git('config', 'filter.evil.smudge', `touch ${ran}; cat`);
    repo.write('.gitattributes', '* text=auto filter=evil\n');
    repo.write('unix', 'a\nb\n');
    repo.write('windows', 'a\r\nb\r\n');
    const first = repo.tree();
    const one = await saved(checkpoints, 1);
    for (const path of ['unix', 'windows', '.gitattributes']) repo.remove(path);
    await goTo(one.commit, (await saved(checkpoints, 2)).commit, 3);
    expect(repo.tree()).toEqual(first);
    expect(existsSync(ran)).toBe(false);
  });

  it('does nothing at all when the tree is what is asked for', async () => {
    const one = await saved(checkpoints, 1);
    expect((await goTo(one.commit, one.commit, 2)).restored).toEqual(nothing);
  });
});

describe("a restore with a person's edits", () => {
  it('keeps files that only the person changed, made or deleted', async () => {
    for (const name of ['loop', 'person', 'deleted']) repo.write(name, '1');
    const one = await saved(checkpoints, 1);
    repo.write('loop', '2');
    const two = await saved(checkpoints, 2);
    repo.write('person', 'mine');
    repo.write('made', 'mine');
    repo.remove('deleted');
    const { restored } = await goTo(one.commit, two.commit, 3);
    expect(restored).toEqual({ ...nothing, written: ['loop'], kept: ['deleted', 'made', 'person'] });
    expect([repo.read('loop'), repo.read('person'), repo.read('made')]).toEqual(['1', 'mine', 'mine']);
    expect(existsSync(join(repo.top, 'deleted'))).toBe(false);
  });

  it('puts lines of both together when they are apart', async () => {
    const text = (first: string, last: string) => [first, ...'abcdefgh', last, ''].join('\n');
    repo.write('both', text('1', '1'), 0o755);
    const one = await saved(checkpoints, 1);
    repo.write('both', text('loop', '1'));
    const two = await saved(checkpoints, 2);
    repo.write('both', text('loop', 'person'));
    const { restored } = await goTo(one.commit, two.commit, 3);
    expect(restored).toEqual({ ...nothing, merged: ['both'] });
    expect(repo.read('both')).toBe(text('1', 'person'));
    expect(lstatSync(join(repo.top, 'both')).mode & 0o111).not.toBe(0);
  });

  it('is refused with a list, and changes nothing, when the same lines were changed; unless it may overwrite', async () => {
    for (const name of ['same', 'gone', 'binary', 'other']) repo.write(name, '1\n');
    const one = await saved(checkpoints, 1);
    repo.write('same', 'loop\n');
    repo.write('gone', 'loop\n');
    repo.write('binary', '\0loop');
    repo.write('other', 'loop\n');
    const two = await saved(checkpoints, 2);
    repo.write('same', 'person\n');
    repo.remove('gone');
    repo.write('binary', '\0person');
    const before = repo.tree();
    const refused = await goTo(one.commit, two.commit, 3);
    expect(refused.restored).toMatchObject({ ok: false, conflicts: ['binary', 'gone', 'same'] });
    expect(repo.tree()).toEqual(before);
    const { restored, now } = await goTo(one.commit, two.commit, 4, { overwrite: true });
    expect(restored).toMatchObject({ ok: true, kept: [] });
    expect(['same', 'gone', 'binary', 'other'].map(repo.read)).toEqual(['1\n', '1\n', '1\n', '1\n']);
    await goTo(now, (await saved(checkpoints, 5)).commit, 6);
    expect(repo.tree()).toEqual(before);
  });

  it("is refused when a person's file stands where the target has a folder, or the other way round", async () => {
    repo.write('a/file', '1');
    repo.write('b', '1');
    const one = await saved(checkpoints, 1);
    repo.remove('a');
    repo.remove('b');
    const two = await saved(checkpoints, 2);
    repo.write('a', 'mine');
    repo.write('b/mine', 'mine');
    expect((await goTo(one.commit, two.commit, 3)).restored).toMatchObject({ ok: false, conflicts: ['a', 'b/mine'] });
    expect((await goTo(one.commit, two.commit, 4, { overwrite: true })).restored).toMatchObject({ ok: true });
    expect([repo.read('a/file'), repo.read('b')]).toEqual(['1', '1']);
  });

  it('leaves alone what no checkpoint holds: ignored files, large ones, pipes, other repositories', async () => {
    checkpoints = await repo.checkpoints({ fileBytesMax: 1_000 });
    for (const name of ['grows', 'ignored', 'pipe', 'nested']) repo.write(name, 'tracked');
    const one = await saved(checkpoints, 1);
    repo.write('grows', 'x'.repeat(2_000));
    repo.write('.gitignore', 'ignored\n');
    repo.remove('ignored');
    repo.remove('pipe');
    repo.remove('nested');
    const two = await saved(checkpoints, 2);
    repo.write('ignored', 'precious');
    execFileSync('mkfifo', [join(repo.top, 'pipe')]);
    repo.write('nested/file', 'precious');
    execFileSync('git', ['init', '-q', join(repo.top, 'nested')], { env: repo.environment });
    const { restored } = await goTo(one.commit, two.commit, 3);
    expect(restored).toMatchObject({ ok: true, deleted: ['.gitignore'], kept: ['grows', 'ignored', 'nested', 'pipe'] });
    expect([repo.read('grows').length, repo.read('ignored'), repo.read('nested/file')]).toEqual([
      2_000,
      'precious',
      'precious',
    ]);
  });
});

describe('a restore never goes through a link', () => {
  let outside: string;
  beforeEach(() => {
    outside = join(repo.root, 'outside');
    mkdirSync(outside);
    writeFileSync(join(outside, 'file'), 'outside');
    writeFileSync(join(outside, 'other'), 'outside');
  });
  const isUntouched = () => {
    expect(readdirSync(outside)).toEqual(['file', 'other']);
    expect(readFileSync(join(outside, 'file'), 'utf8')).toBe('outside');
  };

  it('B87: a folder that became a link to the outside is a folder again', async () => {
    repo.write('a/file', 'inside');
    repo.write('a/new', 'inside');
    const one = await saved(checkpoints, 1);
    repo.remove('a');
    repo.link('a', outside);
    const two = await saved(checkpoints, 2);
    const { now } = await goTo(one.commit, two.commit, 3);
    isUntouched();
    expect(lstatSync(join(repo.top, 'a')).isDirectory()).toBe(true);
    expect(repo.read('a/file')).toBe('inside');
    await goTo(now, one.commit, 4);
    isUntouched();
    expect(lstatSync(join(repo.top, 'a')).isSymbolicLink()).toBe(true);
  });

  it('a link that was put there after the last checkpoint is not followed either', async () => {
    repo.write('a/b/file', 'inside');
    repo.write('README.md', 'loop');
    const one = await saved(checkpoints, 1);
    repo.remove('a');
    const two = await saved(checkpoints, 2);
    const now = (await saved(checkpoints, 3)).commit;
    mkdirSync(join(repo.top, 'a'));
    repo.link('a/b', outside);
    expect(await checkpoints.restore({ to: one.commit, base: two.commit, now })).toMatchObject({ ok: true });
    isUntouched();
    expect(repo.read('a/b/file')).toBe('inside');
  });

  it('does not delete through a link', async () => {
    const one = await saved(checkpoints, 1);
    repo.write('a/file', 'inside');
    const two = await saved(checkpoints, 2);
    const now = (await saved(checkpoints, 3)).commit;
    repo.remove('a');
    repo.link('a', outside);
    expect(await checkpoints.restore({ to: one.commit, base: two.commit, now })).toMatchObject({
      ok: false,
      conflicts: ['a/file'],
    });
    isUntouched();
  });

  it('writes a file where a link to an outside file was, and leaves that file', async () => {
    repo.write('a', 'inside');
    const one = await saved(checkpoints, 1);
    repo.remove('a');
    repo.link('a', join(outside, 'file'));
    const two = await saved(checkpoints, 2);
    await goTo(one.commit, two.commit, 3);
    isUntouched();
    expect(repo.read('a')).toBe('inside');
  });
});

describe('the same restore again, after a cut that nobody saw', () => {
  /** Kinds of change: gone, new, mode alone, file to folder, folder to file, link. */
  async function order() {
    repo.write('gone', 'x');
    repo.write('changed', '1');
    repo.write('script', 'x', 0o755);
    repo.write('file', 'x');
    repo.write('folder/deep', 'x');
    const to = (await saved(checkpoints, 1)).commit;
    for (const path of ['gone', 'file', 'folder']) repo.remove(path);
    repo.write('changed', '2');
    repo.write('script', 'x', 0o644);
    repo.write('file/inside', 'x');
    repo.link('folder', 'nowhere');
    repo.write('new/file', 'x');
    const base = (await saved(checkpoints, 2)).commit;
    return { to, base, now: (await saved(checkpoints, 3)).commit };
  }

  it('is done once more with the same answer and the same tree', async () => {
    const asked = await order();
    const first = await checkpoints.restore(asked);
    const tree = repo.tree();
    expect(first).toMatchObject({ ok: true, deleted: ['file/inside', 'folder', 'new/file'], kept: [] });
    expect(await checkpoints.restore(asked)).toEqual(first);
    expect(repo.tree()).toEqual(tree);
    await checkpoints.restore({ to: asked.now, base: asked.to, now: asked.to });
    await checkpoints.restore({ to: asked.now, base: asked.to, now: asked.to });
    expect((await saved(checkpoints, 4)).tree).toBe(repo.git('rev-parse', `${asked.now}^{tree}`).trim());
  });

  it('finishes what is half done, and leaves what a person wrote in between', async () => {
    const asked = await order();
    repo.remove('new');
    repo.write('gone', 'x');
    repo.write('changed', 'person');
    expect(await checkpoints.restore(asked)).toMatchObject({
      ok: true,
      deleted: ['file/inside', 'folder', 'new/file'],
      kept: ['changed'],
    });
    expect([repo.read('changed'), repo.read('file'), repo.read('folder/deep')]).toEqual(['person', 'x', 'x']);
  });
});

describe('what the target could not hold', () => {
  it('is never deleted, nor what lies below it', async () => {
    checkpoints = await repo.checkpoints({ fileBytesMax: 1_000 });
    repo.write('big', 'x'.repeat(2_000));
    repo.write('nested/file', 'precious');
    execFileSync('git', ['init', '-q', join(repo.top, 'nested')], { env: repo.environment });
    const one = await saved(checkpoints, 1);
    const left = one.skipped.map(({ path }) => path);
    repo.write('big', 'small');
    repo.remove('nested/.git');
    repo.write('agent', 'x');
    const two = await saved(checkpoints, 2);
    const now = (await saved(checkpoints, 3)).commit;
    const asked = { to: one.commit, base: two.commit, now, left, overwrite: true };
    expect(await checkpoints.restore(asked)).toMatchObject({ deleted: ['agent'], kept: ['big', 'nested/file'] });
    expect([repo.read('big'), repo.read('nested/file')]).toEqual(['small', 'precious']);
  });

  it('stays where it took the place of a folder, also with --overwrite', async () => {
    repo.write('folder/file', '1');
    const one = await saved(checkpoints, 1);
    repo.write('.gitignore', 'folder\n');
    repo.remove('folder');
    const two = await saved(checkpoints, 2);
    repo.write('folder', 'precious');
    const { restored } = await goTo(one.commit, two.commit, 3, { overwrite: true });
    expect(restored).toMatchObject({ ok: true, kept: ['folder/file'] });
    expect(repo.read('folder')).toBe('precious');
  });

  it('gives way only to --overwrite when it grew too large later, and never when it is ignored', async () => {
    checkpoints = await repo.checkpoints({ fileBytesMax: 1_000 });
    for (const name of ['grows', 'ignored']) repo.write(name, '1');
    const one = await saved(checkpoints, 1);
    repo.write('grows', 'x'.repeat(2_000));
    repo.remove('ignored');
    const two = await saved(checkpoints, 2);
    repo.write('.git/info/exclude', 'ignored\n');
    checkpoints = await repo.checkpoints({ fileBytesMax: 1_000 });
    repo.write('ignored', 'precious');
    expect((await goTo(one.commit, two.commit, 3)).restored).toMatchObject({ written: [], kept: ['grows', 'ignored'] });
    const { restored } = await goTo(one.commit, two.commit, 4, { overwrite: true });
    expect(restored).toMatchObject({ written: ['grows'], kept: ['ignored'] });
    expect([repo.read('grows'), repo.read('ignored')]).toEqual(['1', 'precious']);
  });
});

it('the document stays, also when its path goes through a link', async () => {
  repo.write('PRD.json', '1');
  const one = await saved(checkpoints, 1);
  repo.write('PRD.json', '2');
  const two = await saved(checkpoints, 2);
  symlinkSync(repo.top, join(repo.root, 'link'));
  const except = [join(repo.root, 'link', 'PRD.json')];
  await checkpoints.restore({ to: one.commit, base: two.commit, now: two.commit, except });
  expect(repo.read('PRD.json')).toBe('2');
});

describe('a restore in bad times', () => {
  it('is refused when somebody writes a file while it is prepared', async () => {
    repo.write('a', '1');
    const one = await saved(checkpoints, 1);
    repo.write('a', '2');
    const two = await saved(checkpoints, 2);
    const now = (await saved(checkpoints, 3)).commit;
    repo.write('a', 'person');
    expect(await checkpoints.restore({ to: one.commit, base: two.commit, now })).toMatchObject({
      ok: false,
      conflicts: ['a'],
    });
    expect(repo.read('a')).toBe('person');
  });

  it.skipIf(process.getuid?.() === 0)(
    'is refused before a file moves when a folder is closed [not to root]',
    async () => {
      repo.write('a', '1');
      repo.write('folder/b', '1');
      const one = await saved(checkpoints, 1);
      repo.write('a', '2');
      repo.write('folder/b', '2');
      const two = await saved(checkpoints, 2);
      chmodSync(join(repo.top, 'folder'), 0o500);
      const refused = await goTo2(one.commit, two.commit);
      chmodSync(join(repo.top, 'folder'), 0o700);
      expect(refused).toMatchObject({ ok: false, problem: 'The folder folder cannot be written to.' });
      expect([repo.read('a'), repo.read('folder/b')]).toEqual(['2', '2']);
    },
  );

  it('F39: is refused, and changes nothing, when an object is gone', async () => {
    repo.write('a', 'unique content');
    const one = await saved(checkpoints, 1);
    const object = repo.git('hash-object', 'a').trim();
    repo.write('a', '2');
    repo.write('b', '2');
    const two = await saved(checkpoints, 2);
    const before = repo.tree();
    repo.remove(`.git/objects/${object.slice(0, 2)}/${object.slice(2)}`);
    expect((await goTo2(one.commit, two.commit)).ok).toBe(false);
    expect(repo.tree()).toEqual(before);
  });

  it('is refused when a checkpoint is gone', async () => {
    const { commit } = await saved(checkpoints, 1);
    const order = { to: '1'.repeat(40), base: commit, now: commit };
    const refused = {
      ok: false,
      problem: 'The checkpoint is no longer in this repository. Nothing was changed.',
      conflicts: [],
    };
    expect([await checkpoints.restore(order), await checkpoints.plan(order)]).toEqual([refused, refused]);
  });

  it('never writes into .git, whatever a tree holds', async () => {
    const { commit: now } = await saved(checkpoints, 1);
    const blob = execFileSync('git', ['hash-object', '-w', '--stdin'], {
      cwd: repo.top,
      input: 'evil',
      encoding: 'utf8',
    }).trim();
    const tree = (line: string) =>
      execFileSync('git', ['mktree'], { cwd: repo.top, input: line, encoding: 'utf8' }).trim();
    const to = tree(`040000 tree ${tree(`100755 blob ${blob}\tpost-commit\n`)}\t.GIT\n`);
    expect(await checkpoints.restore({ to, base: now, now })).toMatchObject({
      ok: true,
      written: [],
      kept: ['.GIT/post-commit'],
    });
    expect(existsSync(join(repo.top, '.GIT'))).toBe(false);
  });

  const goTo2 = async (to: string, base: string) =>
    checkpoints.restore({ to, base, now: (await saved(checkpoints, 9)).commit });
});
