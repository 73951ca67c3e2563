// Checkpoints and restores when the disk is full, when files change meanwhile, when there is too much, and when we are killed.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ScanLimits } from '../../src/git/checkpoints/scan.ts';
import { save } from '../../src/git/checkpoints/write-checkpoint.ts';
import type { GitCheckpoints } from '../../src/git/git-checkpoints.ts';
import { openPrivate } from '../../src/git/private.ts';
import { makeRepo, type Repo, saved } from './repo.ts';

let repo: Repo;
let checkpoints: GitCheckpoints;
let mounted: string | undefined;
beforeEach(async () => {
  repo = makeRepo();
  checkpoints = await repo.checkpoints();
});
afterEach(() => {
  if (mounted !== undefined) execFileSync('sh', ['-c', 'umount "$1"', 'sh', mounted]);
  mounted = undefined;
  repo.cleanUp();
});

const order = (number: number) => ({ number, iteration: 1, kind: 'iteration' as const, label: 'x', anchor: '1 a' });
const refs = () => repo.git('for-each-ref', '--format=%(refname)', 'refs/ralph').trim();

/** The objects of the repository on a disk of their own, or why there is none. */
function smallDisk(): string | undefined {
  const objects = join(repo.top, '.git/objects');
  renameSync(objects, `${objects}.old`);
  mkdirSync(objects);
  const why = mount(objects);
  cpSync(`${objects}.old`, objects, { recursive: true });
  return why;
}

function mount(folder: string): string | undefined {
  const done = spawnSync('sh', ['-c', 'mount -t tmpfs -o size=1m ralph-test "$1"', 'sh', folder], { encoding: 'utf8' });
  if (done.status !== 0) return `mount: ${done.stderr}`;
  mounted = folder;
  return undefined;
}

describe('F39: on a full disk', () => {
  it('a checkpoint is refused without a ref, and works again when there is room', async ({ skip }) => {
    await saved(checkpoints, 1);
    const why = smallDisk();
    if (why !== undefined) skip(why);
    spawnSync('sh', ['-c', 'cat /dev/zero >filler'], { cwd: mounted });
    repo.write('a', 'new content');
    expect(await checkpoints.save(order(2))).toMatchObject({
      ok: false,
      problem: expect.stringMatching(/^The disk is full/),
    });
    expect(refs()).toBe('refs/ralph/loop-1/1');
    rmSync(join(mounted!, 'filler'));
    const { commit } = await saved(checkpoints, 2);
    expect(repo.git('cat-file', 'blob', `${commit}:a`)).toBe('new content');
  });
});

describe('F39: where RALPH_HOME cannot be written', () => {
  it('everything is refused in a sentence, and nothing is thrown', async () => {
    const file = join(repo.root, 'a-file');
    writeFileSync(file, '');
    const closed = await repo.checkpoints({ folder: join(file, 'git') });
    const head = repo.git('rev-parse', 'HEAD').trim();
    const problem = expect.stringMatching(/^The system refused it: ENOTDIR/);
    expect(await closed.save(order(1))).toMatchObject({ ok: false, problem });
    expect(await closed.restore({ to: head, base: head, now: head })).toMatchObject({
      ok: false,
      problem,
      conflicts: [],
    });
    expect((await closed.repair([])).did).toEqual([problem]);
  });
});

describe('a folder on another disk', () => {
  it('is restored like the rest, although nothing can be renamed into it', async ({ skip }) => {
    const folder = join(repo.top, 'disk');
    mkdirSync(folder);
    const why = mount(folder);
    if (why !== undefined) skip(why);
    repo.write('disk/deep/script', '1', 0o755);
    repo.write('disk/changed', '1');
    repo.link('disk/link', 'changed');
    const tree = repo.tree();
    const one = await saved(checkpoints, 1);
    for (const name of readdirSync(folder)) repo.remove(`disk/${name}`);
    repo.write('disk/changed', '2');
    repo.write('disk/link', 'a file');
    const now = (await saved(checkpoints, 2)).commit;
    expect(await checkpoints.restore({ to: one.commit, base: now, now })).toMatchObject({ ok: true, kept: [] });
    expect(repo.tree()).toEqual(tree);
  });
});

describe('B90: too much for a checkpoint', () => {
  const limited = async (limits: Partial<ScanLimits>) => {
    const own = await openPrivate(await repo.open(), repo.folder);
    return save({ loop: 'loop-1', own, limits, memory: {}, isFork: false }, order(1));
  };

  it.each([
    ['files', { filesMax: 3 }, 'A checkpoint would hold 5 untracked files, most of it in heap/ (3 of them).'],
    [
      'bytes',
      { bytesMax: 2_500_000 },
      'A checkpoint would hold 4 MB of new or changed files, most of it in heap/ (3 MB).',
    ],
  ])('is refused with the folder that is to blame: %s', async (_what, limits, problem) => {
    for (const path of ['heap/a', 'heap/b', 'heap/c']) repo.write(path, 'x'.repeat(1_000_000));
    repo.write('other/a', 'x'.repeat(1_000_000));
    repo.write('top', 'x');
    expect(await limited(limits)).toEqual({
      ok: false,
      problem,
      fix: 'Put heap/ into .gitignore, or say --no-checkpoints.',
    });
    expect(refs()).toBe('');
    repo.write('.gitignore', 'heap/\n');
    expect(await limited(limits)).toMatchObject({ ok: true });
  });
});

describe('files that change while a checkpoint is made', () => {
  /** A git that cannot add a file of that name, so many times. */
  async function stubborn(name: string, times: number): Promise<GitCheckpoints> {
    const folder = join(repo.root, 'bin');
    mkdirSync(folder);
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const script = `#!/bin/sh
case "$*" in *--add*) ;; *) exec ${real} "$@" ;; esac
cat >${folder}/input
if grep -q ${name} ${folder}/input && [ "$(ls ${folder} | grep -c failed)" -lt ${times} ]; then
  mktemp ${folder}/failed-XXXXXX >/dev/null
  echo "error: open(\\"${name}\\"): No such file or directory" >&2
  echo "fatal: Unable to process path ${name}" >&2
  exit 128
fi
exec ${real} "$@" <${folder}/input
`;
    writeFileSync(join(folder, 'git'), script, { mode: 0o755 });
    const { PATH = '', ...environment } = repo.environment;
    return repo.checkpoints({
      repository: { ...(await repo.open()), environment: { ...environment, PATH: `${folder}:${PATH}` } },
    });
  }

  it('are looked at again', async () => {
    repo.write('wild', 'x');
    const { commit, skipped } = await saved(await stubborn('wild', 1), 1);
    expect([skipped, repo.git('cat-file', 'blob', `${commit}:wild`)]).toEqual([[], 'x']);
  });

  it('are left out and listed when that does not help', async () => {
    repo.write('wild', 'x');
    repo.write('tame', 'x');
    const { commit, skipped } = await saved(await stubborn('wild', 100), 1);
    expect(skipped).toEqual([{ path: 'wild', why: 'changed while it was read' }]);
    expect(repo.git('ls-tree', '--name-only', commit)).toBe('README.md\ntame\n');
  });
});

describe('F07: killed in the middle of a restore', () => {
  /** Restores, and kills itself as soon as this file is there. */
  const program = (to: string, base: string, now: string, file: string) => `
    import { existsSync } from 'node:fs';
    import { gitCheckpoints } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src/git/git-checkpoints.ts')).href)};
    import { openRepository } from ${JSON.stringify(pathToFileURL(join(import.meta.dirname, '../../src/git/repository.ts')).href)};
    const directory = ${JSON.stringify(repo.top)};
    const { repository } = await openRepository({ directory, environment: ${JSON.stringify(repo.environment)} });
    const checkpoints = gitCheckpoints({ loop: 'loop-1', repository, folder: ${JSON.stringify(repo.folder)} });
    const look = () => existsSync(${JSON.stringify(file)}) ? process.kill(process.pid, 'SIGKILL') : setImmediate(look);
    look();
    await checkpoints.restore(${JSON.stringify({ to, base, now })});
    process.exit(); // too late: it was never seen
  `;

  it.each(['restore.json.new', 'restore.json', 'restore.json.lock'])(
    'when %s is there: old or new, and again completes it',
    async file => {
      for (let index = 0; index < 60; index += 1) repo.write(`folder-${index % 7}/file-${index}`, `old ${index}`);
      const old = repo.tree();
      const one = await saved(checkpoints, 1);
      for (let index = 0; index < 60; index += 1) {
        if (index % 3 === 0) repo.remove(`folder-${index % 7}/file-${index}`);
        else repo.write(`folder-${index % 7}/file-${index}`, `new ${index}`);
      }
      const two = await saved(checkpoints, 2);
      const now = (await saved(checkpoints, 3)).commit;
      const text = program(one.commit, two.commit, now, join(repo.folder, file));
      const child = spawn(process.execPath, ['--input-type=module', '-e', text], {
        env: { ...repo.environment, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] },
        stdio: 'ignore',
      });
      const [code, signal] = await once(child, 'exit');
      expect([code, signal]).toEqual(signal === null ? [0, null] : [null, 'SIGKILL']); // prove -- restore chooses its moments
      const again = await repo.checkpoints();
      await again.repair([]);
      const current = await saved(again, 4);
      await again.restore({ to: one.commit, base: current.commit, now: current.commit });
      expect(repo.tree()).toEqual(old);
      expect(readdirSync(repo.folder).filter(name => name.startsWith('restore'))).toEqual([]);
      expect(existsSync(join(repo.top, '.git/ralph/loop-1/restore'))).toBe(false);
    },
  );
});
