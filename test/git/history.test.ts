// What lies between checkpoints can be listed, counted, shown and read, whatever the tree says about itself.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { GitCheckpoints } from '../../src/git/git-checkpoints.ts';
import { makeRepo, type Repo, saved } from './repo.ts';

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  checkpoints = await repo.checkpoints();
});
afterEach(() => repo.cleanUp());

describe('changes', () => {
  it('are one list in order, without renames, over commits and trees', async () => {
    repo.write('b', '1');
    const one = await saved(checkpoints, 1);
    repo.git('mv', 'README.md', 'Z\n');
    repo.write('b', '2');
    repo.write('\xc3\xa9', 'UTF-8');
    repo.write('\xe9', 'not UTF-8');
    const two = await saved(checkpoints, 2);
    expect(await checkpoints.changes([{ from: one.commit, to: two.commit }])).toEqual([
      { path: 'README.md', how: 'deleted' },
      { path: 'Z\n', how: 'added' },
      { path: 'b', how: 'changed' },
      { path: 'é', how: 'added' },
      { path: '\ufffd', how: 'added' },
    ]);
    expect(await checkpoints.changes([{ from: one.tree, to: two.commit }])).toHaveLength(5);
    expect(await checkpoints.changes([{ from: one.tree, to: one.commit }])).toEqual([]);
    expect(await checkpoints.changes([])).toEqual([]);
  });

  it('of several spans say what became of each path in the end', async () => {
    const trees: string[] = [(await saved(checkpoints, 1)).tree];
    const steps = [
      () => repo.write('passing', 'x'),
      () => repo.remove('passing'),
      () => repo.write('stays', '1'),
      () => repo.write('stays', '2'),
      () => repo.remove('README.md'),
      () => repo.write('README.md', 'again'),
    ];
    for (const [index, step] of steps.entries()) {
      step();
      trees.push((await saved(checkpoints, index + 2)).tree);
    }
    const spans = trees.slice(1).map((to, index) => ({ from: trees[index]!, to }));
    expect(await checkpoints.changes(spans)).toEqual([
      { path: 'README.md', how: 'changed' },
      { path: 'stays', how: 'added' },
    ]);
  });
});

it('B93: what lies between is shown also where files are called like its trees', async () => {
  const one = await saved(checkpoints, 1);
  repo.write('a', '1\n');
  const two = await saved(checkpoints, 2);
  for (const name of [one.tree, two.tree, 'HEAD']) repo.write(name, 'x\n');
  const span = { from: one.tree, to: two.tree };
  expect((await checkpoints.patch(span, 10_000)).text).toContain('+1\n');
  expect(await checkpoints.stat(span)).toEqual([{ path: 'a', added: 1, deleted: 0 }]);
});

it('what is asked of checkpoints that are gone is refused as a usage error', async () => {
  const { commit } = await saved(checkpoints, 1);
  const span = { from: commit, to: '1'.repeat(40) };
  const refused = { name: 'UsageError', message: expect.stringMatching(/^The checkpoints of this loop are gone/) };
  await expect(checkpoints.changes([span])).rejects.toMatchObject(refused);
  await expect(checkpoints.patch(span, 100)).rejects.toMatchObject(refused);
  await expect(checkpoints.stat(span)).rejects.toMatchObject(refused);
  await expect(checkpoints.content(span.to, ['a'])).rejects.toMatchObject(refused);
  const kind = 'user-edits' as const;
  const again = { number: 2, iteration: 1, kind, label: 'x', anchor: '1 a', userEditsSince: span.to };
  expect(await checkpoints.save(again)).toMatchObject({ ok: false, problem: refused.message });
});

describe('a patch', () => {
  it('shows text, names binaries, and no attribute in the tree can hide a file from it', async () => {
    repo.write('.gitattributes', '* diff=evil\n*.md -diff\n');
    repo.git('config', 'diff.evil.textconv', 'false');
    repo.git('config', 'diff.external', 'false');
    repo.write('image', '\0\x01');
    const one = await saved(checkpoints, 1);
    repo.write('README.md', 'one\nchanged\nthree\n');
    repo.write('image', '\0\x02');
    const two = await saved(checkpoints, 2);
    const span = { from: one.commit, to: two.commit };
    const { text, isCut } = await checkpoints.patch(span, 100_000);
    expect(text).toContain('@@ -1,3 +1,3 @@\n one\n-two\n+changed\n three\n');
    expect(text).toContain('Binary files a/image and b/image differ');
    expect(isCut).toBe(false);
    expect(await checkpoints.stat(span)).toEqual([
      { path: 'README.md', added: 1, deleted: 1 },
      { path: 'image', added: undefined, deleted: undefined },
    ]);
  });

  it('ends at a line when it is longer than it may be', async () => {
    const one = await saved(checkpoints, 1);
    repo.write('long', 'line\n'.repeat(1_000_000));
    const two = await saved(checkpoints, 2);
    const { text, isCut } = await checkpoints.patch({ from: one.commit, to: two.commit }, 1_000);
    expect(isCut).toBe(true);
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text.endsWith('+line\n')).toBe(true);
  });
});

describe('contents', () => {
  it('are read by path from a commit or a tree, in order, and within their bytes', async () => {
    repo.write('a\nb', 'odd\n');
    repo.write('empty', '');
    repo.write('large', 'x'.repeat(5_000));
    const { commit, tree } = await saved(checkpoints, 1);
    const read = async (of: string, paths: readonly string[], bytesMax?: number) =>
      (await checkpoints.content(of, paths, bytesMax)).map(({ path, bytes }) => [path, bytes.toString()]);
    expect(await read(commit, ['empty', 'nope', 'a\nb'])).toEqual([
      ['empty', ''],
      ['a\nb', 'odd\n'],
    ]);
    expect(await read(tree, ['large', 'a\nb'], 100)).toEqual([['a\nb', 'odd\n']]);
    expect(await read(tree, [])).toEqual([]);
  });
});
