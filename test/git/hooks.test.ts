// Proves which files git would run or obey, in repositories, worktrees and submodules.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { gitPathsToProtect } from '../../src/git/hooks.ts';
import { plainEnvironment, scratchDirectory } from '../processes/fixture.ts';

const names = {
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@b.c',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@b.c',
};
const environment = { ...plainEnvironment, ...names, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' };
const git = (directory: string, ...args: string[]): void =>
  void execFileSync('git', args, { cwd: directory, env: environment, stdio: 'ignore' });

function repository(): string {
  const project = join(scratchDirectory(), 'my project');
  mkdirSync(project);
  git(project, 'init');
  return project;
}

function module(gitFolder: string): readonly string[] {
  mkdirSync(gitFolder, { recursive: true });
  writeFileSync(join(gitFolder, 'config'), '');
  return settings(gitFolder);
}

const settings = (gitFolder: string): readonly string[] => [join(gitFolder, 'hooks'), join(gitFolder, 'config')];

describe('what of a repository is to be protected', () => {
  it('is nothing where there is none', () => {
    expect(gitPathsToProtect(scratchDirectory())).toEqual([]);
    expect(gitPathsToProtect('/no/such/folder')).toEqual([]);
  });

  it('is nothing where a pipe has its name: nobody waits for it', () => {
    const folder = scratchDirectory();
    execFileSync('mkfifo', [join(folder, '.git')]);
    const source = join(import.meta.dirname, '../../src/git/hooks.ts');
    const script = `import { gitPathsToProtect } from ${JSON.stringify(source)}; console.log(gitPathsToProtect(process.cwd()))`;
    const words = ['--input-type=module-typescript', '-e', script];
    const told = execFileSync(process.execPath, words, { cwd: folder, encoding: 'utf8', timeout: 20_000 });
    expect(told).toBe('[]\n');
  });

  it('is found from a folder deep inside', () => {
    const project = repository();
    const deep = join(project, 'a', 'b');
    mkdirSync(deep, { recursive: true });
    expect(gitPathsToProtect(deep)).toEqual(settings(join(project, '.git')));
  });

  it('is, for a worktree, what it shares with the others and what points there', () => {
    const project = repository();
    git(project, 'commit', '--allow-empty', '-m', 'first');
    git(project, 'worktree', 'add', '../tree');
    const tree = join(project, '..', 'tree');
    const common = join(project, '.git');
    const pointer = join(common, 'worktrees', 'tree', 'commondir');
    expect(gitPathsToProtect(tree)).toEqual([join(tree, '.git'), ...settings(common), pointer]);
  });

  it('is also the settings of a single worktree, once they are there or git would read them', () => {
    const project = repository();
    const own = join(project, '.git', 'config.worktree');
    expect(gitPathsToProtect(project)).not.toContain(own);
    writeFileSync(own, '');
    expect(gitPathsToProtect(project)).toContain(own);
    rmSync(own);
    git(project, 'config', 'extensions.WORKTREECONFIG', 'yes');
    expect(gitPathsToProtect(project)).toContain(own);
  });

  it('is, for a submodule, its own folder and all of the repository around it', () => {
    const project = repository();
    const inner = join(project, 'lib');
    mkdirSync(inner);
    writeFileSync(join(inner, '.git'), 'gitdir: ../.git/modules/lib\n');
    const own = module(join(project, '.git', 'modules', 'lib'));
    expect(gitPathsToProtect(inner)).toEqual([join(inner, '.git'), ...own, ...settings(join(project, '.git'))]);
  });

  it('is in every submodule, also with a slash in its name, and in those of submodules', () => {
    const project = repository();
    const modules = join(project, '.git', 'modules');
    const all = ['one', 'libs/two', 'libs/two/modules/three'].flatMap(name => module(join(modules, name)));
    writeFileSync(join(modules, 'libs', 'note'), '');
    const branches = join(modules, 'one', 'refs', 'heads');
    mkdirSync(branches, { recursive: true });
    writeFileSync(join(branches, 'config'), 'a branch of that name is no submodule');
    expect([...gitPathsToProtect(project)].sort()).toEqual([...settings(join(project, '.git')), ...all].sort());
  });

  it('is the folder of all submodules as a whole, when there are more than can be looked at', () => {
    const project = repository();
    const modules = join(project, '.git', 'modules');
    for (let index = 0; index <= 100; index += 1) mkdirSync(join(modules, `${index}`), { recursive: true });
    expect(gitPathsToProtect(project)).toEqual([...settings(join(project, '.git')), modules]);
  });
});
