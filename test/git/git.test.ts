// Work in a git repository keeps the contract of the port, and git is started in one place.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
