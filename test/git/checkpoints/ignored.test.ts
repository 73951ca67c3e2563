// What git ignored when the loop began stays out of checkpoints and out of the way of restores, whatever becomes of the rules.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitCheckpoints } from '../../../src/git/git-checkpoints.ts';
import { makeRepo, type Repo, saved } from '../repo.ts';

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  repo.write('.gitignore', 'secrets/\n*.env\n');
  repo.write('secrets/key', 'mine');
  repo.write('my.env', 'TOKEN=1\n');
  checkpoints = await repo.checkpoints();
});
afterEach(() => repo.cleanUp());

const heldBy = (commit: string): string[] => repo.git('ls-tree', '-r', '--name-only', commit).trim().split('\n');

describe('a loop whose agent takes the rules away', () => {
  it('never takes in what was ignored at its start, says so, and a rollback leaves it there', async () => {
    const one = await saved(checkpoints, 1);
    const start = repo.tree();
    repo.remove('.gitignore');
    repo.write('work.txt', 'by the agent');
    const two = await saved(checkpoints, 2);
    expect(heldBy(two.commit)).toEqual(['README.md', 'work.txt']);
    expect(two.skipped).toEqual([
      { path: 'my.env', why: 'ignored when the loop began' },
      { path: 'secrets', why: 'ignored when the loop began' },
    ]);
    const again = await repo.checkpoints(); // another process knows it too
    const three = await saved(again, 3);
    expect(heldBy(three.commit)).toEqual(['README.md', 'work.txt']);
    expect(await again.restore({ to: one.commit, base: three.commit, now: three.commit })).toMatchObject({ ok: true });
    expect(repo.tree()).toEqual(start);
  });

  it('takes in what its person adds to the index all the same', async () => {
    await saved(checkpoints, 1);
    repo.git('add', '-f', 'my.env');
    expect(heldBy((await saved(checkpoints, 2)).commit)).toContain('my.env');
  });
});

it('new work in a folder whose files all happened to be ignored is taken in', async () => {
  repo.write('src/only.env', 'x');
  await saved(checkpoints, 1);
  repo.write('src/new.txt', 'work');
  expect(heldBy((await saved(checkpoints, 2)).commit)).toContain('src/new.txt');
});

describe('a tracked file that rules ignore', () => {
  it('is in the checkpoint after it was deleted and came back', async () => {
    repo.git('add', '-f', 'my.env');
    await saved(checkpoints, 1);
    repo.remove('my.env');
    await saved(checkpoints, 2);
    repo.write('my.env', 'TOKEN=2\n');
    expect(heldBy((await saved(checkpoints, 3)).commit)).toContain('my.env');
  });

  it('is in it too when it came back after a restore of the rule', async () => {
    repo.git('add', '-f', 'my.env');
    await saved(checkpoints, 1);
    repo.remove('my.env');
    repo.write('new.txt', 'so that the index is written, and forgets it');
    const { commit: to } = await saved(checkpoints, 2);
    repo.remove('.gitignore');
    const { commit: now } = await saved(checkpoints, 3);
    expect(await checkpoints.restore({ to, base: now, now })).toMatchObject({ ok: true });
    repo.write('my.env', 'TOKEN=2\n');
    expect(heldBy((await saved(checkpoints, 4)).commit)).toContain('my.env');
  });

  it('is in it too when the rule came later than the file', async () => {
    repo.write('notes.md', 'x');
    repo.git('add', 'notes.md');
    await saved(checkpoints, 1);
    repo.write('.gitignore', '*.md\n');
    repo.remove('notes.md');
    await saved(checkpoints, 2);
    repo.write('notes.md', 'y');
    expect(heldBy((await saved(checkpoints, 3)).commit)).toContain('notes.md');
  });
});
