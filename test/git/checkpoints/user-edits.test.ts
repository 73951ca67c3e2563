// What a person changed while nobody worked stays theirs: not committed by us, and not taken away by going back.
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitCheckpoints } from '../../../src/git/git-checkpoints.ts';
import { gitCommits } from '../../../src/git/progress/git-commits.ts';
import { makeRepo, type Repo, saved } from '../repo.ts';

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  checkpoints = await repo.checkpoints();
});
afterEach(() => repo.cleanUp());

async function resumed(number: number, userEditsSince: string) {
  const kind = 'user-edits';
  const order = {
    number,
    iteration: number,
    kind,
    label: 'when work went on',
    anchor: `${number} f`,
    userEditsSince,
  } as const;
  const made = await checkpoints.save(order);
  if (!made.ok) throw new Error(made.problem);
  return made;
}

const commitOf = async (from: string, to: string) =>
  gitCommits(await repo.open(), { folder: repo.folder }).commit({
    loop: 'loop-1',
    task: 'T-1',
    title: 'x',
    iteration: 1,
    spans: [{ from, to }],
    document: join(repo.top, 'PRD.json'),
  });

describe('given edits of a person between two runs', () => {
  it('then no commit holds them, though the work touched them too; what they committed themselves may be', async () => {
    for (const name of ['theirs', 'committed', 'PRD.json']) repo.write(name, '1\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'second');
    const one = await saved(checkpoints, 1);
    repo.write('theirs', 'person\n');
    repo.write('made', 'person\n');
    repo.write('PRD.json', 'a status\n'); // by Ralph, after its last checkpoint
    repo.write('committed', 'person\n');
    repo.git('commit', '-qm', 'mine', 'committed');
    await resumed(2, one.tree);
    for (const name of ['theirs', 'made', 'committed', 'work']) repo.write(name, 'agent\n');
    const three = await saved(checkpoints, 3);
    const result = await commitOf(one.tree, three.tree);
    expect(result).toMatchObject({ ok: true, paths: ['PRD.json', 'committed', 'work'], left: ['made', 'theirs'] });
  });

  it('then going back to before them keeps them, time and again; to a later state does not; --overwrite takes all', async () => {
    repo.write('work', '1');
    const one = await saved(checkpoints, 1);
    repo.write('work', '2');
    const two = await saved(checkpoints, 2);
    repo.write('mine', 'person');
    repo.write('README.md', 'person');
    const three = await resumed(3, two.tree);
    const back = { to: one.commit, base: two.commit, now: three.commit };
    expect(await checkpoints.restore(back)).toMatchObject({ written: ['work'], kept: ['README.md', 'mine'] });
    const four = await saved(checkpoints, 4);
    const again = { to: one.commit, base: four.commit, now: four.commit };
    expect(await checkpoints.restore(again)).toMatchObject({ ok: true, deleted: [], kept: ['README.md', 'mine'] });
    expect([repo.read('mine'), repo.read('README.md')]).toEqual(['person', 'person']);
    repo.write('mine', 'agent');
    const five = await saved(checkpoints, 5);
    const rollback = { to: four.commit, base: five.commit, now: five.commit };
    expect(await checkpoints.restore(rollback)).toMatchObject({ written: ['mine'], kept: [] });
    expect(repo.read('mine')).toBe('person');
    expect(await checkpoints.plan({ ...again, overwrite: true })).toMatchObject({ deleted: ['mine'], kept: [] });
  });
});

describe('files that the user told git not to look at', () => {
  it('count as dirty at the start, so that their hidden edits are never committed', async () => {
    for (const name of ['assumed', 'skipped']) repo.write(name, '1\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'second');
    repo.git('update-index', '--assume-unchanged', 'assumed');
    repo.git('update-index', '--skip-worktree', 'skipped');
    for (const name of ['assumed', 'skipped']) repo.write(name, 'password\n');
    const one = await saved(checkpoints, 1);
    for (const name of ['assumed', 'skipped']) repo.write(name, 'password and agent\n');
    const two = await saved(checkpoints, 2);
    expect(await commitOf(one.tree, two.tree)).toMatchObject({ ok: true, commit: '', left: ['assumed', 'skipped'] });
  });

  it('are not deleted when they go from disk by a mark that came after the first checkpoint', async () => {
    repo.write('docs/a', '1\n');
    repo.write('src/a', '1\n');
    repo.git('add', '-A');
    repo.git('commit', '-qm', 'second');
    const one = await saved(checkpoints, 1);
    repo.git('sparse-checkout', 'set', 'src');
    expect((await saved(checkpoints, 2)).tree).toBe(one.tree);
    repo.git('update-index', '--no-skip-worktree', 'docs/a');
    expect(await checkpoints.changes([{ from: one.tree, to: (await saved(checkpoints, 3)).tree }])).toEqual([
      { path: 'docs/a', how: 'deleted' },
    ]);
  });
});

it('our own home in the tree is in no checkpoint, by whatever path it is named', async () => {
  symlinkSync(repo.top, join(repo.root, 'link'));
  checkpoints = await repo.checkpoints({ excluded: [join(repo.root, 'link', '.rh')] });
  repo.write('.rh/ledger', 'x');
  const { commit } = await saved(checkpoints, 1);
  expect(repo.git('ls-tree', '-r', '--name-only', commit)).toBe('README.md\n');
});
