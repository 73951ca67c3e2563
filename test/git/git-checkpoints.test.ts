// Checkpoints in git keep the contract of their port: in a plain repository, in a linked worktree, before the first commit.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkpointsContract } from '../contracts/checkpoints.ts';
import { makeRepo, type Repo, repoAt } from './repo.ts';

function inWorktree(): Repo {
  const repo = makeRepo();
  const top = join(repo.root, 'worktree');
  repo.git('worktree', 'add', '-q', '-b', 'ralph/x', top);
  return repoAt(repo.root, top, repo.environment);
}

const places: Readonly<Record<string, () => Repo>> = {
  git: () => makeRepo(),
  'git in a linked worktree': inWorktree,
  'git before the first commit': () => makeRepo([], false),
};

for (const [name, make] of Object.entries(places)) {
  checkpointsContract(name, async () => {
    const repo = make();
    const { write, remove, tree, theirs, cleanUp } = repo;
    const again = () => repo.checkpoints();
    return { checkpoints: await again(), again, write, remove, tree, theirs, cleanUp };
  });
}

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
