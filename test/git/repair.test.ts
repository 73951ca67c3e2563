// After a crash a loop's checkpoints, restores and locks are put in order; pruning keeps what may still be needed.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { GitCheckpoints } from '../../src/git/git-checkpoints.ts';
import { type LockRules, ownLock, userLock, waitForLock } from '../../src/git/locks.ts';
import type { runDetached } from '../../src/processes/run-detached.ts';
import { makeRepo, type Repo, saved } from './repo.ts';

const detached = vi.hoisted(() => ({ isCut: false }));

/** The program that applies a restore dies before its first step. */
vi.mock('../../src/processes/run-detached.ts', async importOriginal => {
  const real = (await importOriginal()) as { runDetached: typeof runDetached };
  const run: typeof runDetached = async (program, journal) =>
    detached.isCut ? { code: null, output: Buffer.alloc(0), errors: 'killed' } : real.runDetached(program, journal);
  return { ...real, runDetached: run };
});

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  checkpoints = await repo.checkpoints();
});
afterEach(() => repo.cleanUp());

const numbers = () =>
  repo.git('for-each-ref', '--format=%(refname:lstrip=3)', 'refs/ralph').trim().split('\n').filter(Boolean).map(Number);

describe('repair', () => {
  it('F05: makes the ref of a known checkpoint anew, or says that it is lost', async () => {
    const one = await saved(checkpoints, 1);
    const two = await saved(checkpoints, 2);
    repo.git('update-ref', '-d', two.ref);
    repo.git('update-ref', one.ref, repo.git('rev-parse', 'HEAD').trim());
    const known = [
      { number: 1, commit: one.commit },
      { number: 2, commit: two.commit },
      { number: 3, commit: '1'.repeat(40) },
    ];
    expect(await checkpoints.repair(known)).toEqual({ did: ['made the refs of 2 checkpoints anew'], missing: [3] });
    expect([repo.git('rev-parse', one.ref).trim(), repo.git('rev-parse', two.ref).trim()]).toEqual([
      one.commit,
      two.commit,
    ]);
    expect(await checkpoints.repair(known.slice(0, 2))).toEqual({ did: [], missing: [] });
  });

  it('F06: leaves a ref that the ledger does not know to the next checkpoint of that number', async () => {
    const one = await saved(checkpoints, 1);
    await saved(checkpoints, 2);
    expect(await checkpoints.repair([{ number: 1, commit: one.commit }])).toEqual({ did: [], missing: [] });
    expect(numbers()).toEqual([1, 2]);
    const adopted = await saved(checkpoints, 2);
    expect(repo.git('rev-parse', 'refs/ralph/loop-1/2').trim()).toBe(adopted.commit);
  });

  /** A restore to checkpoint 1 that was prepared, and cut before its first step. */
  async function cutRestore() {
    repo.write('a', '1');
    repo.write('folder/b', '1');
    const tree = repo.tree();
    const one = await saved(checkpoints, 1);
    repo.write('a', '2');
    repo.remove('folder');
    repo.write('made', '2');
    const now = await saved(checkpoints, 2);
    detached.isCut = true;
    const cut = await checkpoints.restore({ to: one.commit, base: now.commit, now: now.commit });
    detached.isCut = false;
    expect(cut).toMatchObject({ ok: false, problem: 'The restore was cut: killed' });
    return { tree, staging: join(repo.top, '.git/ralph/loop-1/restore') };
  }

  it('F07: finishes a restore that was cut after its journal', async () => {
    const { tree, staging } = await cutRestore();
    expect(await checkpoints.repair([])).toEqual({ did: ['finished a restore that was cut'], missing: [] });
    expect(repo.tree()).toEqual(tree);
    expect([existsSync(staging), existsSync(join(repo.folder, 'restore.json'))]).toEqual([false, false]);
    expect(await checkpoints.repair([])).toEqual({ did: [], missing: [] });
  });

  it('F07: finishes one that was cut after some steps, and leaves alone what a person wrote since', async () => {
    const { tree, staging } = await cutRestore();
    const [first = ''] = readdirSync(staging);
    rmSync(join(repo.top, 'made'));
    execFileSync('mv', [join(staging, first), join(repo.top, 'a')]);
    repo.write('folder/b', 'a person');
    repo.write('made', 'a person');
    const { did } = await checkpoints.repair([]);
    expect(did).toEqual(['finished a restore that was cut (2 changed since then were left alone)']);
    expect([repo.read('folder/b'), repo.read('made')]).toEqual(['a person', 'a person']);
    repo.remove('made');
    repo.write('folder/b', '1');
    expect(repo.tree()).toEqual(tree);
  });

  it('F07: does not go through a link that was put there since', async () => {
    const { tree } = await cutRestore();
    const outside = join(repo.root, 'outside');
    mkdirSync(outside);
    repo.link('folder', outside);
    await checkpoints.repair([]);
    expect([readdirSync(outside), repo.tree()]).toEqual([[], tree]);
  });

  it('F07: a new restore finishes the cut one first', async () => {
    const { tree } = await cutRestore();
    const { commit } = await saved(checkpoints, 3);
    expect(await checkpoints.restore({ to: commit, base: commit, now: commit })).toMatchObject({
      ok: true,
      written: [],
    });
    expect(repo.tree()).toEqual(tree);
  });

  it('F07: two that finish the same restore at the same time do no harm', async () => {
    const { tree } = await cutRestore();
    const all = await Promise.all(
      [checkpoints, await repo.checkpoints(), await repo.checkpoints()].map(one => one.repair([])),
    );
    expect(repo.tree()).toEqual(tree);
    expect(all.flatMap(({ did }) => did).filter(text => text !== 'finished a restore that was cut')).toEqual([]);
  });

  it("brings the user's index to a commit of ours that was cut before it", async () => {
    await saved(checkpoints, 1);
    const before = repo.git('rev-parse', 'HEAD').trim();
    repo.write('README.md', 'work\n');
    repo.git('commit', '-qam', 'work');
    const commit = repo.git('rev-parse', 'HEAD').trim();
    repo.git('read-tree', before);
    writeFileSync(join(repo.folder, 'unsettled.json'), JSON.stringify({ before, commit }));
    expect(repo.git('status', '--porcelain')).not.toBe('');
    expect(await checkpoints.repair([])).toEqual({ did: [], missing: [] });
    expect(repo.git('status', '--porcelain')).toBe('');
  });

  it('a staging folder without a journal is only litter', async () => {
    const { staging } = await cutRestore();
    rmSync(join(repo.folder, 'restore.json'));
    const before = repo.tree();
    await checkpoints.repair([]);
    expect([repo.tree(), existsSync(staging)]).toEqual([before, false]);
  });

  it('takes away the lock of a checkpoint whose git is dead', async () => {
    await saved(checkpoints, 1);
    writeFileSync(join(repo.folder, 'index.lock'), '');
    expect((await checkpoints.repair([])).did).toEqual(['removed the lock of a checkpoint that was cut']);
  });
});

describe('prune', () => {
  it('keeps the first, the newest and the named ones, and takes notes that 0.4 made of the others along', async () => {
    for (let number = 1; number <= 6; number += 1) {
      repo.write('file', String(number));
      const { commit } = await saved(checkpoints, number);
      repo.git('notes', '--ref=refs/notes/ralph/loop-1', 'add', '-m', `${number} abcdef`, commit);
    }
    expect(await checkpoints.prune({ keep: 2, good: [3] })).toEqual({ ok: true, removed: [2, 4] });
    expect(numbers()).toEqual([1, 3, 5, 6]);
    expect(repo.git('notes', '--ref=refs/notes/ralph/loop-1', 'list').trim().split('\n')).toHaveLength(4);
    expect(await checkpoints.prune({ keep: 0 })).toEqual({ ok: true, removed: [3, 5] });
    expect(numbers()).toEqual([1, 6]);
    expect(await checkpoints.prune({ keep: 0 })).toEqual({ ok: true, removed: [] });
  });

  it('leaves other loops alone', async () => {
    const other = await repo.checkpoints({ loop: 'loop-10', folder: join(repo.root, 'other') });
    for (const number of [1, 2, 3]) await saved(other, number);
    expect(await checkpoints.prune({ keep: 0 })).toEqual({ ok: true, removed: [] });
    expect(numbers()).toHaveLength(3);
  });
});

describe('F71: a lock', () => {
  let lock: string;
  let holder: ChildProcess | undefined;
  const hour = 3_600;
  const rules = (more: Partial<LockRules> = {}): LockRules => ({ ...userLock([repo.top]), waitMsMax: 100, ...more });
  const made = (secondsOld: number) => {
    writeFileSync(lock, '');
    const then = Date.now() / 1_000 - secondsOld;
    utimesSync(lock, then, then);
  };
  beforeEach(() => {
    lock = join(repo.top, '.git/index.lock');
  });
  afterEach(async () => {
    const last = holder;
    holder = undefined;
    if (last === undefined || last.exitCode !== null) return;
    const ended = once(last, 'exit');
    last.kill('SIGKILL');
    await ended;
  });
  const started = async (command: string, args: readonly string[], cwd: string) => {
    holder = spawn(command, args, { cwd, env: repo.environment, stdio: ['pipe', 'pipe', 'ignore'] });
    await once(holder.stdout!, 'data');
  };

  it('that is not there is free', async () => {
    expect(await waitForLock(lock, rules())).toBe('free');
  });

  it('that is young is never taken away', async () => {
    made(0);
    expect(await waitForLock(lock, rules())).toBe('held');
    expect(existsSync(lock)).toBe(true);
  });

  it('that is old and nobody holds is taken away', async () => {
    made(hour);
    expect(await waitForLock(lock, rules())).toBe('reclaimed');
    expect(existsSync(lock)).toBe(false);
  });

  it('that a living process has open is waited for, however old', async () => {
    made(hour);
    await started('sh', ['-c', `exec 9<"${lock}"; echo ready; read wait`], repo.root);
    expect(await waitForLock(lock, rules())).toBe('held');
    expect(await waitForLock(lock, { ...ownLock, waitMsMax: 100 })).toBe('held');
    const waiting = waitForLock(lock, rules({ waitMsMax: 60_000 }));
    holder!.stdin!.end('\n');
    expect(await waiting).toBe('reclaimed');
  });

  it('is held while any git stands in the repository, as it does with an editor open', async () => {
    made(hour);
    mkdirSync(join(repo.top, 'deep'));
    const answered = started('git', ['cat-file', '--batch-check'], join(repo.top, 'deep'));
    holder!.stdin!.write('HEAD\n');
    await answered;
    expect(await waitForLock(lock, rules())).toBe('held');
  });
});
