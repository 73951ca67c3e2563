// Both workspaces keep the contract of the port: with git, and without it, where there is no undo and every answer says so.
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plainWorkspace } from '../../src/git/git.ts';
import { workspaceContract } from '../contracts/workspace.ts';
import { makeRepo } from './repo.ts';

workspaceContract(
  'git',
  async () => {
    const repo = makeRepo();
    const { top: directory, write, remove, tree, theirs, cleanUp } = repo;
    const again = () => repo.workspace();
    return { workspace: await again(), again, directory, write, remove, tree, theirs, cleanUp };
  },
  { checkpoints: true },
);

it('a plain folder is worked in, and refuses in one sentence what needs git', async () => {
  const plain = plainWorkspace('/some/folder');
  const span = { from: 'x', to: 'y' };
  const order = { loop: 'l', task: 't', title: 'x', iteration: 1, spans: [span], document: '/some/folder/PRD.json' };
  const answers = [
    await plain.save({ number: 1, iteration: 1, kind: 'by-hand', label: 'by hand', anchor: '' }),
    await plain.restore({ to: 'x', base: 'x', now: 'x' }),
    await plain.commit(order),
    await plain.fork('t'),
    await plain.mergeIntoFork('t'),
    await plain.mergeFork(order),
  ];
  expect(plain.kind).toBe('plain');
  expect(plain.directory('t')).toBe('/some/folder');
  for (const answer of answers) {
    expect(answer).toMatchObject({ ok: false, problem: expect.stringContaining('not a git repository') });
    expect(answer).toMatchObject({ fix: expect.stringContaining('git init') });
  }
  expect(await plain.changes([span])).toEqual([]);
  expect(await plain.repair([])).toEqual({ did: [], missing: [] });
});

workspaceContract(
  'plain',
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'ralph-plain-'));
    const tree = (): Record<string, string> =>
      Object.fromEntries(readdirSync(directory).map(name => [name, readFileSync(join(directory, name), 'utf8')]));
    return {
      workspace: plainWorkspace(directory),
      again: async () => plainWorkspace(directory),
      directory,
      write: (path, content) => writeFileSync(join(directory, path), content),
      remove: path => rmSync(join(directory, path)),
      tree,
      theirs: () => ({}),
      cleanUp: () => rmSync(directory, { recursive: true, force: true }),
    };
  },
  { checkpoints: 'there is no git' },
);

describe('the source', () => {
  const files = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name));

  // That nothing says what could destroy work is the fence `git-words`: test/fences/text-rules.ts.
  it('starts git in one place only', () => {
    const starting = files.filter(file =>
      /['"`]git['"`]\s*,\s*(\[|args|settings)|command: ['"`]git['"`]/.test(readFileSync(file, 'utf8')),
    );
    expect(starting).toEqual(['src/git/call.ts']);
  });
});
