// Every kind of repository works or is refused in one sentence, and what a person should know beforehand is said.
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { fileSystemProblem, openRepository, preflight } from '../../src/git/repository.ts';
import { makeRepo, type Repo, repoAt, saved } from './repo.ts';

let repo: Repo;
afterEach(() => repo.cleanUp());

const outside = (...args: readonly string[]) =>
  execFileSync('git', args, { cwd: repo.root, env: repo.environment, stdio: 'pipe' });
const looked = async ({ top, environment } = repo) => {
  const found = await openRepository({ directory: top, environment });
  if (!found.ok) throw new Error(found.problem);
  return preflight(found.repository, top, found.names);
};
const noticesOf = async (of = repo) => {
  const found = await looked(of);
  return found.ok ? found.findings.notices : [`refused: ${found.problem}`];
};
const opened = (directory: string) => openRepository({ directory, environment: repo.environment });

/** Saves, changes a file, saves and goes back: the whole tree must be as before. */
async function worksIn(of: Repo): Promise<void> {
  const theirs = of.theirs();
  const checkpoints = await of.checkpoints();
  const before = of.tree();
  const one = await saved(checkpoints, 1);
  of.write('made-by-the-loop', 'x');
  const two = await saved(checkpoints, 2);
  const now = await saved(checkpoints, 3);
  expect(await checkpoints.restore({ to: one.commit, base: two.commit, now: now.commit })).toMatchObject({
    ok: true,
    deleted: ['made-by-the-loop'],
  });
  expect(of.tree()).toEqual(before);
  expect(of.theirs()).toEqual(theirs);
}

describe('F72: a loop works in', () => {
  it('a repository without commits and without files', async () => {
    repo = makeRepo([], false);
    await worksIn(repo);
    repo.write('a', 'x');
    repo.git('add', 'a');
    await worksIn(repo);
    expect(await noticesOf()).toEqual([]);
  });

  it('one with a detached HEAD, and in a worktree of a worktree', async () => {
    repo = makeRepo();
    repo.git('worktree', 'add', '-q', '--detach', join(repo.root, 'one'));
    const one = repoAt(repo.root, join(repo.root, 'one'), repo.environment);
    one.git('worktree', 'add', '-q', '-b', 'two', join(repo.root, 'two'));
    const two = repoAt(join(repo.root, 'home'), join(repo.root, 'two'), repo.environment);
    one.write('mine', 'x');
    await worksIn(one);
    await worksIn(two);
  });

  it('a shallow one', async () => {
    repo = makeRepo();
    repo.git('commit', '-q', '--allow-empty', '-m', 'second');
    outside('clone', '-q', '--depth=1', `file://${repo.top}`, 'shallow');
    await worksIn(repoAt(repo.root, join(repo.root, 'shallow'), repo.environment));
  });

  it('a partial one, whose absent objects are not fetched', async () => {
    repo = makeRepo();
    repo.write('there/b', '1');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'both');
    repo.git('config', 'uploadpack.allowFilter', 'true');
    outside('clone', '-q', '--filter=blob:none', '--sparse', `file://${repo.top}`, 'partial');
    const partial = repoAt(repo.root, join(repo.root, 'partial'), repo.environment);
    renameSync(repo.top, join(repo.root, 'away'));
    await worksIn(partial);
    renameSync(join(repo.root, 'away'), repo.top);
  });

  it('one with SHA-256 names', async () => {
    repo = makeRepo(['--object-format=sha256']);
    await worksIn(repo);
  });

  it('a sparse one, whose absent files are neither deleted nor made', async () => {
    repo = makeRepo();
    repo.write('here/a', '1');
    repo.write('there/b', '1');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'both');
    repo.git('sparse-checkout', 'set', 'here');
    const checkpoints = await repo.checkpoints();
    const one = await saved(checkpoints, 1);
    expect(repo.git('ls-tree', '-r', '--name-only', one.commit)).toBe('README.md\nhere/a\nthere/b\n');
    repo.write('here/a', '2');
    const two = await saved(checkpoints, 2);
    expect(await checkpoints.changes([{ from: one.commit, to: two.commit }])).toEqual([
      { path: 'here/a', how: 'changed' },
    ]);
    rmSync(join(repo.folder, 'index')); // made anew
    const { commit: now, tree } = await saved(checkpoints, 3);
    expect(tree).toBe(two.tree);
    await checkpoints.restore({ to: one.commit, base: two.commit, now });
    expect([repo.read('here/a'), existsSync(join(repo.top, 'there'))]).toEqual(['1', false]);
  });

  it('one in the middle of a merge, without progress commits', async () => {
    repo = makeRepo();
    repo.git('switch', '-q', '-c', 'other');
    repo.write('README.md', 'other\n');
    repo.git('commit', '-qam', 'other');
    repo.git('switch', '-q', 'main');
    repo.write('README.md', 'main\n');
    repo.git('commit', '-qam', 'main');
    expect(() => repo.git('merge', '-q', 'other')).toThrow();
    await worksIn(repo);
    expect(await looked()).toMatchObject({ ok: true, findings: { isMidway: true } });
    expect((await noticesOf())[0]).toMatch(/no progress commits/);
  });
});

describe('F72, B91: a person is told beforehand', () => {
  it('that submodules and other repositories inside are not covered', async () => {
    repo = makeRepo();
    outside('init', '-q', 'library');
    writeFileSync(join(repo.root, 'library/.gitattributes'), '* filter=evil\n');
    outside('-C', 'library', 'add', '-A');
    outside('-C', 'library', 'commit', '-q', '-m', 'x');
    repo.git(
      '-c',
      'protocol.file.allow=always',
      'submodule',
      '--quiet',
      'add',
      join(repo.root, 'library'),
      'sub\tmodule',
    );
    repo.git('commit', '-qm', 'submodule');
    repo.write('nested/file', 'x');
    outside('init', '-q', join(repo.top, 'nested'));
    expect(await noticesOf()).toEqual([
      'Checkpoints do not cover what is inside of submodules: sub?module.',
      'Checkpoints do not cover repositories inside of this one: nested/.',
    ]);
    repo.git('-C', 'sub\tmodule', 'config', 'filter.evil.clean', `touch ${join(repo.root, 'ran')}; cat`);
    repo.write('sub\tmodule/.gitattributes', '* filter=evil\n');
    const checkpoints = await repo.checkpoints();
    const one = await saved(checkpoints, 1);
    repo.write('sub\tmodule/inside', 'dirty');
    expect((await saved(checkpoints, 2)).tree).toBe(one.tree);
    expect(existsSync(join(repo.root, 'ran'))).toBe(false);
  });

  it('B88: which settings would run programs, by name alone, and that commits run filters alone', async () => {
    repo = makeRepo();
    repo.git('config', 'core.fsmonitor', 'secret-program');
    repo.git('config', 'filter.x.clean', 'secret-program');
    repo.git('config', 'core.sshCommand', 'secret-program');
    repo.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n# *.c filter=comment\n');
    writeFileSync(join(repo.top, '.git/hooks/post-commit'), '#!/bin/sh\n', { mode: 0o755 });
    const notices = await noticesOf();
    expect(notices).toEqual([
      'Files behind a filter are in checkpoints as they are on disk; commits run the filter, where one is configured: lfs.',
      expect.stringMatching(/: core\.fsmonitor, core\.sshcommand, filter\.x\.clean, hooks\/post-commit\.$/),
      'Commits of a loop are made without commit hooks: do that when you merge, as docs/guides/files.md says.',
    ]);
    expect(notices.join()).not.toContain('secret-program');
    expect(await looked()).toMatchObject({ findings: { filters: ['*.bin'] } });
  });
});

describe('refused in one sentence, with a fix:', () => {
  it('F72: a bare repository, the inside of .git, and a folder without git as such', async () => {
    repo = makeRepo();
    outside('init', '-q', '--bare', 'bare.git');
    expect(await opened(join(repo.root, 'bare.git'))).toMatchObject({
      ok: false,
      kind: 'unusable',
      problem: expect.stringMatching(/bare/),
      fix: expect.stringMatching(/clone/),
    });
    expect(await opened(join(repo.top, '.git'))).toMatchObject({
      ok: false,
      kind: 'unusable',
      problem: expect.stringMatching(/inside of \.git/),
    });
    expect(await opened(join(repo.root, 'home'))).toMatchObject({ ok: false, kind: 'not-a-repository' });
  });

  it.skipIf(process.getuid?.() !== 0)('B92: a repository of another user [only root can make one]', async () => {
    repo = makeRepo();
    for (const path of ['.git', '']) chownSync(join(repo.top, path), 12_345, 12_345);
    const refused = await opened(repo.top);
    expect(refused).toMatchObject({ ok: false, kind: 'unusable', problem: expect.stringMatching(/another user/) });
    expect(refused).toHaveProperty('fix', expect.stringContaining(`safe.directory ${repo.top}`));
  });

  it.skipIf(process.getuid?.() === 0)('B92: a read-only .git [root may write everywhere]', async () => {
    repo = makeRepo();
    chmodSync(join(repo.top, '.git/objects'), 0o500);
    expect(await looked()).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/read-only/),
    });
    chmodSync(join(repo.top, '.git/objects'), 0o700);
  });

  it('B92: file systems that keep neither links nor modes', async () => {
    repo = makeRepo();
    expect(fileSystemProblem(0x2011bab0)).toMatchObject({ ok: false, problem: expect.stringMatching(/exFAT/) });
    expect(fileSystemProblem(0xef53)).toBeUndefined();
  });

  it.each(['.ralph', '.ralph/worktrees'])('B87: %s as a link', async name => {
    repo = makeRepo();
    mkdirSync(join(repo.root, 'elsewhere'));
    repo.link(name, join(repo.root, 'elsewhere'));
    expect(await looked()).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/symbolic link/),
    });
  });
});
