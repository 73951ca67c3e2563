// Work in a git repository keeps the contract of the port, and its source never says what could destroy a user's work.
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

/** As a person would type it: nowhere. */
const phrases: readonly RegExp[] = [
  /reset['"`,\s]+--hard/,
  /clean['"`,\s]+-[a-z]*f/,
  /(?<!no-)checkout['"`,\s]+(-f|--[\s'"`]|\.)/,
  /\bstash\s+(push|pop|drop|clear|apply|create|store)/,
  /push['"`,\s]+(-f\b|--force)/,
  /git\s+gc\b/,
];

/** As an argument of ours: not in any file that calls git. */
const words = /['"`](reset|clean|checkout|stash|push|pull|gc|prune|repack|reflog|filter-branch)['"`]/;

describe('the source', () => {
  const files = readdirSync('src', { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && entry.name.endsWith('.ts'))
    .map(entry => join(entry.parentPath, entry.name));

  it('never says what could destroy work: reset, clean, checkout, stash, push by force, gc', () => {
    const said = files.flatMap(file => {
      const patterns = file.startsWith('src/workspaces/') ? [...phrases, words] : phrases;
      const text = readFileSync(file, 'utf8');
      return patterns.flatMap(
        pattern =>
          pattern
            .exec(text)
            ?.slice(0, 1)
            .map(found => `${file}: ${found}`) ?? [],
      );
    });
    expect(said).toEqual([]);
  });

  it('starts git in one place only', () => {
    const starting = files.filter(file =>
      /['"`]git['"`]\s*,\s*(\[|args|settings)|command: ['"`]git['"`]/.test(readFileSync(file, 'utf8')),
    );
    expect(starting).toEqual(['src/workspaces/git/call.ts']);
  });
});
