// Checkpoints of a few edits, which are made beside the private index: their trees are those that git itself makes.
import { chmodSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { GitCheckpoints } from '../../../src/git/git-checkpoints.ts';
import { makeRepo, type Repo, saved } from '../repo.ts';

const ran = vi.hoisted(() => [] as string[]);

vi.mock('../../../src/processes/shells.ts', async importOriginal => {
  const real = (await importOriginal()) as { collectInShell(order: { args: readonly string[] }): Promise<unknown> };
  const collectInShell = (order: { args: readonly string[] }) => {
    const [isScript, script = ''] = order.args;
    if (isScript === '-c' && script.includes('git '))
      for (const [, name] of script.matchAll(/\bgit ([a-z-]+)/g)) ran.push(name!);
    else ran.push(order.args.find((word, at) => !word.startsWith('-') && order.args[at - 1] !== '-c') ?? '');
    return real.collectInShell(order);
  };
  return { ...real, collectInShell };
});

let repo: Repo;
let checkpoints: GitCheckpoints;
beforeEach(async () => {
  repo = makeRepo();
  for (const name of ['a', 'b', 'in/c', 'in/deep/d']) repo.write(name, `${name}\n`);
  repo.git('add', '-A');
  repo.git('commit', '-qm', 'more');
  checkpoints = await repo.checkpoints();
  await saved(checkpoints, 1);
  ran.length = 0;
});
afterEach(() => repo.cleanUp());

/** What git makes of the files now, and what it was asked for the checkpoint. */
async function checkpoint(number: number) {
  ran.length = 0;
  const { tree } = await saved(checkpoints, number);
  const asked = [...ran];
  repo.git('add', '-A');
  expect(tree).toBe(repo.git('write-tree').trim());
  repo.git('reset', '-q');
  return asked;
}

it('edits, deletions and modes need one look, again and again', async () => {
  repo.write('a', 'edited\n');
  repo.write('in/deep/d', 'edited\n');
  expect(await checkpoint(2)).toEqual(['ls-files']);
  repo.remove('b');
  repo.remove('in/deep/d');
  chmodSync(join(repo.top, 'in/c'), 0o755);
  expect((await checkpoint(3)).filter(name => name !== 'ls-files')).toEqual([]);
  repo.write('a', 'a\n');
  repo.write('b', 'back\n');
  expect((await checkpoint(4)).filter(name => name !== 'ls-files')).toEqual([]);
});

it.each<[string, () => void]>([
  ['a new file', () => repo.write('new', 'x')],
  [
    'a link in the place of a file',
    () => {
      repo.remove('a');
      repo.link('a', 'b');
    },
  ],
  [
    'a folder in the place of a file',
    () => {
      repo.remove('a');
      repo.write('a/x', 'x');
    },
  ],
  ['a large file', () => repo.write('a', 'x'.repeat(300_000))],
])('%s goes through the index', async (_what, change) => {
  change();
  expect(await checkpoint(2)).toContain('write-tree');
  repo.write('b', 'edited\n');
  expect(await checkpoint(3)).not.toContain('update-index');
});

it('a new file stays in checkpoints when it is ignored later, also beside edits', async () => {
  repo.write('new', 'x\n');
  await saved(checkpoints, 2);
  repo.write('.gitignore', 'new\n');
  await saved(checkpoints, 3);
  repo.write('a', 'edited\n');
  const { commit } = await saved(checkpoints, 4);
  expect(repo.git('ls-tree', '--name-only', commit).split('\n')).toContain('new');
});

it('another process begins with what the index holds, and what was edited beside it is not lost', async () => {
  repo.write('a', 'edited\n');
  await checkpoint(2);
  checkpoints = await repo.checkpoints();
  expect(await checkpoint(3)).toContain('update-index');
});
