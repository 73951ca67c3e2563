// Checkpoints in git keep the contract of their port: in a plain repository, in a linked worktree, before the first commit.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkpointsContract } from '../contracts/checkpoints.ts';
import { makeRepo, type Repo, repoAt, saved } from './repo.ts';

function inWorktree(): Repo {
  const repo = makeRepo();
  const top = join(repo.root, 'worktree');
  repo.git('worktree', 'add', '-q', '-b', 'ralph/x', top);
  return repoAt(repo.root, top, repo.environment);
}

const ahead = 'git that was made ready ahead';
const places: Readonly<Record<string, () => Repo>> = {
  git: () => makeRepo(),
  [ahead]: () => makeRepo(),
  'git in a linked worktree': inWorktree,
  'git before the first commit': () => makeRepo([], false),
};

for (const [name, make] of Object.entries(places)) {
  checkpointsContract(name, async () => {
    const repo = make();
    const { write, remove, tree, theirs, cleanUp } = repo;
    const again = async () => {
      const made = await repo.checkpoints();
      if (name === ahead) made.warm();
      return made;
    };
    return { checkpoints: await again(), again, write, remove, tree, theirs, cleanUp };
  });
}

describe('checkpoints that were made ready ahead', () => {
  it('hold what the files and the index are at the first one, whatever changed since', async () => {
    const repo = makeRepo();
    try {
      repo.write('.gitignore', 'out\n');
      repo.write('out', 'tracked although ignored\n');
      repo.git('add', '-f', '.');
      repo.git('commit', '-qm', 'second');
      const checkpoints = await repo.checkpoints();
      checkpoints.warm();
      await checkpoints.close?.();
      expect(existsSync(join(repo.folder, 'index'))).toBe(true);
      repo.git('rm', '-q', '--cached', 'out');
      repo.write('README.md', 'another\n');
      const { tree } = await saved(checkpoints, 1);
      expect(repo.git('ls-tree', '--name-only', tree).trim().split('\n')).toEqual(['.gitignore', 'README.md']);
      expect(repo.git('show', `${tree}:README.md`)).toBe('another\n');
    } finally {
      repo.cleanUp();
    }
  });
});

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
