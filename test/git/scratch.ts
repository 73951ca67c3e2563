// A repository of our own to work on: real git, its own home, nothing of the machine's settings.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Repository } from '../../src/git/repository.ts';
import { openOnce, startFrom, untidied } from './template.ts';

export interface Scratch {
  /** Around everything of this scratch. */
  readonly root: string;
  readonly top: string;
  /** The loop's private folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  git(...args: readonly string[]): string;
  gitIn(directory: string, ...args: readonly string[]): string;
  write(path: string, text: string | Buffer): void;
  read(path: string): string;
  /** The working tree as a checkpoint holds it: raw bytes, untracked files too. */
  tree(): string;
  /** As the first checkpoint records it. */
  dirty(...paths: readonly string[]): void;
  open(): Promise<Repository>;
  /** What a person sees of their own: index, refs, stash, status. */
  theirs(): Readonly<Record<string, string>>;
}

function newRoot(): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-scratch-')));
  for (const one of ['work', 'private', 'home']) mkdirSync(join(root, one));
  return root;
}

export function scratch({ isUnborn = false } = {}): Scratch {
  const one = scratchIn(newRoot());
  if (isUnborn) one.git('init', '-q', '-b', 'main');
  else startFrom({ 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n' }, one.top);
  return one;
}

/** With its worktrees, which know by path where they and their repository are. */
export function copyOf({ root: from }: Scratch): Scratch {
  const root = newRoot();
  cpSync(from, root, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
  const rewrite = (path: string): string => {
    const text = readFileSync(path, 'utf8').replaceAll(from, root);
    writeFileSync(path, text);
    return text.trim();
  };
  const trees = join(root, 'work/.git/worktrees');
  for (const name of existsSync(trees) ? readdirSync(trees) : []) rewrite(rewrite(join(trees, name, 'gitdir')));
  return scratchIn(root);
}

function scratchIn(root: string): Scratch {
  const top = join(root, 'work');
  const folder = join(root, 'private');
  const environment = { PATH: process.env['PATH'] ?? '', HOME: join(root, 'home'), GIT_CONFIG_NOSYSTEM: '1' };
  const gitIn = (directory: string, ...args: readonly string[]): string =>
    execFileSync('git', args, {
      cwd: directory,
      env: { ...environment, ...untidied },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  const git = (...args: readonly string[]) => gitIn(top, ...args);
  const write = (path: string, text: string | Buffer): void => {
    mkdirSync(dirname(join(top, path)), { recursive: true });
    writeFileSync(join(top, path), text);
  };
  return {
    root,
    top,
    folder,
    environment,
    git,
    gitIn,
    write,
    read: path => readFileSync(join(top, path), 'latin1'),
    tree() {
      const variables = { ...environment, GIT_INDEX_FILE: join(root, 'raw-index') };
      const raw = { cwd: top, env: variables, encoding: 'utf8' as const, stdio: 'pipe' as const };
      rmSync(variables.GIT_INDEX_FILE, { force: true });
      execFileSync('git', ['-c', 'core.autocrlf=false', '-c', 'core.safecrlf=false', 'add', '-A'], raw);
      return execFileSync('git', ['write-tree'], raw).trim();
    },
    dirty: (...paths) => writeFileSync(join(folder, 'dirty'), paths.map(path => `${path}\0`).join(''), 'latin1'),
    open: () => openOnce(top, environment),
    theirs: () => ({
      index: git('ls-files', '--stage', '-z'),
      refs: git('for-each-ref'),
      stash: git('stash', 'list'),
      status: git('status', '--porcelain=v2', '-z'),
    }),
  };
}
