// What a loop leaves in a repository stays small, every checkpoint stays, and neither a kill nor the user's gc harms it.
import { execFile, execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { hostname, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { toCombine } from '../../../src/git/checkpoints/packs.ts';
import { anchorsIn } from '../../../src/git/checkpoints/refs.ts';
import { type Tidied, tidy } from '../../../src/git/checkpoints/tidy.ts';
import { openPrivate } from '../../../src/git/private.ts';
import { until } from '../../prove/stage.ts';
import { makeRepo, type Repo, repoAt, saved } from '../repo.ts';

const made = 26;
const kept = 12;

interface Template {
  readonly repo: Repo;
  /** By number. */
  readonly commits: ReadonlyMap<number, string>;
}

/** Checkpoints as 0.4 and this release leave them, loose, with a note each; made by one git, because saving takes its time. */
function work(repo: Repo, from: number, to: number): ReadonlyMap<number, string> {
  const data = (text: string) => `data ${text.length}\n${text}\n`;
  const file = (path: string, text: string) => `M 100644 inline ${path}\n${data(text)}`;
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const head = (ref: string, text: string) => `commit ${ref}\ncommitter Ralph <ralph@localhost> now\n${data(text)}`;
  const base = repo.git('for-each-ref', 'refs/heads/main') === '' ? '' : 'from refs/heads/main^0\n';
  const stream = numbers.map(number => {
    const ref = `refs/ralph/loop-1/${number}`;
    const files = file('src/deep/file', `work ${number}\n`) + file(`src/made-${number}`, `${number}\n`);
    const note = `${number === from && from > 1 ? 'from refs/notes/ralph/loop-1^0\n' : ''}N inline ${ref}\n${data('1 ab')}`;
    const checkpoint = `${head(ref, `after an iteration\n\nRalph-Ledger: ${number} ${'a'.repeat(64)}\n`)}${base}${files}`;
    return checkpoint + head('refs/notes/ralph/loop-1', 'note') + note;
  });
  execFileSync('git', ['-c', 'fastimport.unpackLimit=100000', 'fast-import', '--quiet', '--date-format=now'], {
    cwd: repo.top,
    env: repo.environment,
    input: stream.join(''),
    stdio: 'pipe',
  });
  const names = numbers.map(number => `refs/ralph/loop-1/${number}`);
  const commits = repo
    .git('rev-parse', ...names)
    .trim()
    .split('\n');
  return new Map(numbers.map((number, at) => [number, commits[at]!]));
}

function templateOf(init: readonly string[] = []): Template {
  const repo = makeRepo(init);
  return { repo, commits: work(repo, 1, made) };
}

/** Goes with all that the run of the tests wrote: ext4 without a journal looks for long where much was just deleted. */
function copyOf({ repo }: Template): Repo {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-tidy-')));
  cpSync(repo.root, root, { recursive: true });
  return repoAt(root, join(root, 'project'), { ...repo.environment, HOME: join(root, 'home') });
}

const never = new AbortController().signal;

const tidied = async (repo: Repo, environment = {}): Promise<Tidied> => {
  const repository = await repo.open();
  const place = { ...repository, environment: { ...repository.environment, ...environment } };
  return tidy(await openPrivate(place, repo.folder), 'loop-1', never);
};

const refs = (repo: Repo): string[] =>
  repo.git('for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph').trim().split('\n');

const looseObjects = (repo: Repo): number => Number(repo.git('count-objects').split(' ')[0]);

const packs = (repo: Repo): string[] =>
  readdirSync(join(repo.top, '.git/objects/pack')).filter(name => name.endsWith('.pack'));

const newest = (last: number): string[] =>
  Array.from({ length: kept }, (_, at) => String(last - at))
    .sort()
    .concat('archive');

/** Whole, and held: nothing of them goes even when the user throws away at once whatever git does not need. */
function expectAllThere(repo: Repo, commits: Iterable<string>): void {
  expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('');
  repo.git('gc', '-q', '--prune=now');
  repo.git('rev-list', '--objects', '--quiet', ...commits);
  expect(repo.git('count-objects', '-v')).toContain('garbage: 0');
}

let template: Template;
beforeAll(() => {
  template = templateOf();
});
afterAll(() => template.repo.cleanUp());

describe('a loop of many checkpoints', () => {
  it('given that it was tidied up, then a dozen refs are left, no object of it is loose, and all are there', async () => {
    const repo = copyOf(template);
    const theirs = repo.theirs();
    const before = looseObjects(repo);
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toEqual(newest(made));
    expect(before).toBeGreaterThan(200);
    expect(looseObjects(repo)).toBe(3); // the user's own first commit
    expect(packs(repo)).toHaveLength(1);
    expect(repo.theirs()).toEqual(theirs);
    expect(readdirSync(join(repo.top, '.git/ralph'))).toEqual(['packs']);
    expectAllThere(repo, template.commits.values());
  });

  it('then nothing is to be mended, and the very first comes back', async () => {
    const repo = copyOf(template);
    await tidied(repo);
    const checkpoints = await repo.checkpoints();
    const known = [...template.commits].map(([number, commit]) => ({ number, commit }));
    expect(await checkpoints.repair(known)).toEqual({ did: [], missing: [] });
    expect(await checkpoints.missing(known)).toEqual([]);
    expect(await anchorsIn(await repo.open(), 'loop-1')).toHaveLength(made);
    const now = (await saved(checkpoints, made + 1)).commit;
    const to = template.commits.get(1)!;
    expect(await checkpoints.restore({ to, base: now, now })).toMatchObject({ ok: true });
    expect([repo.read('src/deep/file'), repo.read('src/made-1')]).toEqual(['work 1\n', '1\n']);
    const holder = await checkpoints.holders();
    expect([holder(1), holder(made)]).toEqual(['refs/ralph/loop-1/archive', `refs/ralph/loop-1/${made}`]);
  });

  it('given that more work follows, then the archive grows, and the packs do not multiply', async () => {
    const repo = copyOf(template);
    const commits = new Map(template.commits);
    for (let last = made; last < made + 40; last += 8) {
      expect(await tidied(repo)).toEqual({ ok: true });
      for (const [number, commit] of work(repo, last + 1, last + 8)) commits.set(number, commit);
    }
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(packs(repo).length).toBeLessThanOrEqual(5);
    expect(refs(repo)).toEqual(newest(made + 40));
    expectAllThere(repo, commits.values());
  });

  it('given that some are pruned, then the archive is made anew without them, and gc frees them', async () => {
    const repo = copyOf(template);
    await tidied(repo);
    const checkpoints = await repo.checkpoints();
    const pruned = await checkpoints.prune({ keep: 10, good: [5] });
    const gone = [2, 3, 4, ...Array.from({ length: 11 }, (_, at) => at + 6)];
    expect(pruned).toEqual({ ok: true, removed: gone });
    const known = [...template.commits].map(([number, commit]) => ({ number, commit }));
    const stay = known.filter(({ number }) => !gone.includes(number));
    expect(await checkpoints.repair(stay)).toEqual({ did: [], missing: [] });
    expectAllThere(
      repo,
      stay.map(({ commit }) => commit),
    ); // throws away what nothing holds
    expect(await checkpoints.missing(known)).toEqual(gone);
    expect(await checkpoints.prune({ keep: 10, good: [5] })).toEqual({ ok: true, removed: [] });
  });

  it('given that the archive was lost, then each that the ledger knows gets its ref back', async () => {
    const repo = copyOf(template);
    await tidied(repo);
    repo.git('update-ref', '-d', 'refs/ralph/loop-1/archive');
    const known = [...template.commits].map(([number, commit]) => ({ number, commit }));
    const { did, missing } = await (await repo.checkpoints()).repair(known);
    expect([did, missing]).toEqual([[`made the refs of ${made - kept} checkpoints anew`], []]);
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toEqual(newest(made));
    expectAllThere(repo, template.commits.values());
  });

  it('given an archive that cannot be read, then nothing is let go, and it is said in a sentence', async () => {
    const repo = copyOf(template);
    await tidied(repo);
    const known = [...template.commits].map(([number, commit]) => ({ number, commit }));
    writeFileSync(join(repo.top, '.git/refs/ralph/loop-1/archive'), `${'1'.repeat(40)}\n`);
    const checkpoints = await repo.checkpoints();
    expect(await checkpoints.prune({ keep: 1 })).toMatchObject({ ok: false, problem: expect.stringMatching(/fsck/) });
    expect((await checkpoints.repair(known)).did).toEqual([`made the refs of ${made - kept} checkpoints anew`]);
    expect(await tidied(repo)).toMatchObject({ ok: false, problem: expect.stringMatching(/cannot be read/) });
    expect(refs(repo)).toHaveLength(made + 1);
  });

  it('that is short is left as it is', async () => {
    const repo = makeRepo();
    onTestFinished(() => repo.cleanUp());
    work(repo, 1, 3);
    const before = repo.git('count-objects', '-v');
    expect(await tidied(repo)).toEqual({ ok: true });
    expect([refs(repo), repo.git('count-objects', '-v')]).toEqual([['1', '2', '3'], before]);
  });
});

describe('a tidying that is cut', () => {
  /** Before a call of git that begins so, `script` is done; then it goes on, or ends as if it were killed. */
  const shim = (repo: Repo, call: string, script: string): Readonly<Record<string, string>> => {
    const [folder, path] = [join(repo.root, 'bin'), repo.environment['PATH']!];
    mkdirSync(folder);
    const cut = `(PATH=${path}; touch ${folder}/called; ${script}) || exit 137`;
    const program = `#!/bin/sh\nPATH=${path}\ncase "$*" in *"${call}"*) ${cut} ;; esac\nexec git "$@"\n`;
    writeFileSync(join(folder, 'git'), program, { mode: 0o755 });
    return { PATH: `${folder}:${path}` };
  };
  const steps = ['pack-objects', 'update-ref -m', 'update-ref --stdin', 'prune-packed'];
  const cutAt = async (call: string, script: (repo: Repo) => string): Promise<Repo> => {
    const repo = copyOf(template);
    await tidied(repo, shim(repo, call, script(repo)));
    expect(existsSync(join(repo.root, 'bin/called'))).toBe(true);
    const held = repo.git('rev-list', '--glob=refs/ralph').split('\n');
    expect([...template.commits.values()].filter(commit => !held.includes(commit))).toEqual([]);
    expect(repo.git('fsck', '--strict', '--no-dangling')).toBe('');
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toEqual(newest(made));
    repo.git('rev-list', '--objects', '--quiet', ...template.commits.values());
    return repo;
  };

  it.each(steps)('before its "git %s" leaves every checkpoint held, and the next one does it all', async step => {
    await cutAt(step, () => 'false');
  });

  it('in the middle of a pack leaves what git itself throws away', async () => {
    const repo = await cutAt('pack-objects', ({ top }) => `echo half > ${top}/.git/objects/pack/tmp_pack_half; false`);
    repo.git('gc', '-q', '--prune=now');
    expect(repo.git('count-objects', '-v')).toContain('garbage: 0');
  });

  it.each(['pack-objects', 'update-ref --stdin'])(
    'before its "git %s" by a gc that throws away at once what is not held: nothing is lost',
    async step => {
      await cutAt(step, ({ top }) => `git -C ${top} gc -q --prune=now`);
    },
  );

  it('leaves locks on refs: those of a dead git are in nobody’s way, and a held one means later', async () => {
    const repo = copyOf(template);
    const lock = join(repo.top, '.git/packed-refs.lock');
    writeFileSync(lock, '');
    expect(await tidied(repo)).toBe('later');
    expect(refs(repo)).toHaveLength(made + 1);
    for (const path of [
      lock,
      join(repo.top, '.git/refs/ralph/loop-1/3.lock'),
      join(repo.top, '.git/ralph/tidy.lock'),
    ]) {
      writeFileSync(path, '');
      utimesSync(path, 1, 1);
    }
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toEqual(newest(made));
  });

  it('waits for a gc that runs, but not for one that died', async () => {
    const repo = copyOf(template);
    const write = (pid: number) => writeFileSync(join(repo.top, '.git/gc.pid'), `${pid} ${hostname()}`);
    const before = repo.git('count-objects', '-v') + refs(repo);
    write(process.pid);
    expect(await tidied(repo)).toBe('later');
    expect(repo.git('count-objects', '-v') + refs(repo)).toBe(before);
    write(2 ** 30);
    expect(await tidied(repo)).toEqual({ ok: true });
  });

  it('at the moment when gc works: both do their work', async () => {
    const repo = copyOf(template);
    const gc = promisify(execFile)('git', ['gc', '-q', '--prune=now'], { cwd: repo.top, env: repo.environment });
    const [end] = await Promise.all([tidied(repo), gc]);
    expect(end === 'later' || end.ok).toBe(true);
    expect(await tidied(repo)).toEqual({ ok: true });
    expectAllThere(repo, template.commits.values());
  });
});

describe('other repositories', () => {
  it('one with SHA-256 stays small too', async () => {
    const { repo, commits } = templateOf(['--object-format=sha256']);
    onTestFinished(() => repo.cleanUp());
    expect(await tidied(repo)).toEqual({ ok: true });
    expect([refs(repo), looseObjects(repo)]).toEqual([newest(made), 3]);
    expectAllThere(repo, commits.values());
  });

  it('a worktree: the refs and objects of all of them are tidied up from there', async () => {
    const repo = copyOf(template);
    repo.git('worktree', 'add', '-q', '../tree');
    expect(await tidied(repoAt(repo.root, join(repo.root, 'tree'), repo.environment))).toEqual({ ok: true });
    expect([refs(repo), looseObjects(repo)]).toEqual([newest(made), 3]);
    expectAllThere(repo, template.commits.values());
  });

  it('one that borrows objects borrows them still', async () => {
    const { root, git, environment } = copyOf(template);
    git('repack', '-q', '-d');
    git('clone', '-q', '--shared', '.', '../borrower');
    const repo = repoAt(root, join(root, 'borrower'), environment);
    const commits = work(repo, 1, made);
    expect(await tidied(repo)).toEqual({ ok: true });
    expect([refs(repo), looseObjects(repo)]).toEqual([newest(made), 0]);
    expect(repo.git('verify-pack', '-v', ...packs(repo).map(name => `.git/objects/pack/${name}`))).not.toContain(
      repo.git('rev-parse', 'HEAD').trim(),
    );
    expectAllThere(repo, commits.values());
  });

  it('a partial clone fetches nothing, and its own objects are not mixed with those that can be fetched again', async () => {
    const { root, git, environment } = copyOf(template);
    git('config', 'uploadpack.allowFilter', 'true');
    git('clone', '-q', '--no-checkout', '--filter=blob:none', `file://${root}/project`, '../partial');
    const repo = repoAt(root, join(root, 'partial'), environment);
    const commits = work(repo, 1, made);
    const before = packs(repo);
    expect(await tidied(repo)).toEqual({ ok: true });
    expect([refs(repo), looseObjects(repo)]).toEqual([newest(made), 0]);
    expect(packs(repo)).toHaveLength(before.length + 1);
    rmSync(join(root, 'project'), { recursive: true }); // nothing more can be fetched
    repo.git('rev-list', '--objects', '--quiet', '--missing=allow-promisor', ...commits.values());
  });

  it('where we may not write, nothing is done and nothing is said', async () => {
    const repo = copyOf(template);
    rmSync(join(repo.top, '.git/ralph'), { recursive: true, force: true });
    writeFileSync(join(repo.top, '.git/ralph'), 'no folder');
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toHaveLength(made);
  });

  it('one whose packs a multi-pack index names keeps each of them', async () => {
    const repo = copyOf(template);
    let last = made;
    for (let round = 0; round < 5; round += 1) {
      expect(await tidied(repo)).toEqual({ ok: true });
      if (round === 0) repo.git('multi-pack-index', 'write');
      work(repo, last + 1, last + 8);
      last += 8;
    }
    expect(packs(repo)).toHaveLength(5);
    expect(repo.git('fsck', '--no-dangling')).toBe('');
  });
});

describe('a loop that saves', () => {
  it('is tidied up in the background from the twentieth checkpoint on, and what could not be done is told', async () => {
    const repo = makeRepo([], false); // no commit yet: the first checkpoint has no parent
    onTestFinished(() => repo.cleanUp());
    const commits = work(repo, 1, 19).values();
    const checkpoints = await repo.checkpoints();
    await saved(checkpoints, 20);
    await until('it is tidied up', () => refs(repo).includes('archive'));
    await checkpoints.close?.();
    expect(refs(repo)).toEqual(newest(20));
    expectAllThere(repo, commits);
    writeFileSync(join(repo.folder, 'untidy'), 'The disk is full.');
    const [told] = (await checkpoints.repair([])).did;
    expect(told).toBe('could not pack old checkpoints, and will try again: The disk is full.');
  });

  it('is at its end soon, whatever goes on in the background; the next process goes on with it', async () => {
    const repo = copyOf(template);
    const slow = join(repo.root, 'bin');
    mkdirSync(slow);
    const [path, begun] = [repo.environment['PATH']!, join(repo.root, 'begun')];
    const wait = `touch ${begun}; exec tail -f /dev/null`;
    const program = `#!/bin/sh\nPATH=${path}\ncase "$*" in *pack-objects*) ${wait} ;; esac\nexec git "$@"\n`;
    writeFileSync(join(slow, 'git'), program, { mode: 0o755 });
    const repository = await repo.open();
    const environment = { ...repository.environment, PATH: `${slow}:${path}` };
    const checkpoints = await repo.checkpoints({ repository: { ...repository, environment } });
    await saved(checkpoints, made + 1);
    await until('it packs', () => existsSync(begun));
    await checkpoints.close?.();
    expect(existsSync(join(repo.top, '.git/ralph/tidy.lock'))).toBe(false);
    expect((await checkpoints.repair([])).did).toEqual([]);
    expect(await tidied(repo)).toEqual({ ok: true });
    expect(refs(repo)).toEqual(newest(made + 1));
  });
});

describe('packs', () => {
  const combined = (...bytes: number[]) =>
    toCombine(bytes.map(one => ({ name: '', bytes: one }))).map(one => one.bytes);
  it('that are few stay; of many the small ones become one, and a large one is not copied for them', () => {
    expect(combined(1, 1, 1, 1)).toEqual([]);
    expect(combined(1, 1, 1, 1, 1)).toEqual([1, 1, 1, 1, 1]);
    expect(combined(100, 1, 1, 1, 1)).toEqual([1, 1, 1, 1]);
    expect(combined(1_000, 100, 10, 5, 3)).toEqual([3, 5, 10]);
    expect(combined(10_000, 1_000, 100, 10, 1)).toEqual([1, 10]);
  });
});
