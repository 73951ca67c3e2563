// Hooks and settings that would run on the next git command of a person, if an agent could write them.
import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { ifReadable } from './disk.ts';

const foldersMax = 100; // three mounts each, and mounting slows with their square; beyond, all are protected as a whole

/**
 * Of the repository that the folder is in, and of those around it: a person's `git status` looks into submodules too.
 * May name what is not there yet: hooks, and config.worktree where git would read it. Empty outside of a repository.
 */
export function gitPathsToProtect(directory: string): readonly string[] {
  const found: string[] = [];
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const entry = join(folder, '.git');
    const target = /^gitdir: (.+)$/m.exec(textOf(entry))?.[1];
    if (target !== undefined) found.push(entry, ...repositoryPaths(resolve(folder, target)));
    else if (isFolder(entry)) found.push(...repositoryPaths(entry));
    if (dirname(folder) === folder) return [...new Set(found)];
  }
}

/** A worktree's own folder names another one, which it shares with the others. */
function repositoryPaths(gitFolder: string): readonly string[] {
  const pointer = join(gitFolder, 'commondir');
  const named = textOf(pointer).trim();
  const common = named === '' ? gitFolder : resolve(gitFolder, named);
  const own = named === '' ? [] : [pointer, ...worktreeConfig(gitFolder, common)];
  return [...settingsOf(common), ...own, ...moduleSettings(join(common, 'modules'))];
}

const settingsOf = (gitFolder: string): readonly string[] => [
  join(gitFolder, 'hooks'),
  join(gitFolder, 'config'),
  ...worktreeConfig(gitFolder, gitFolder),
];

/** Git reads this file only with an extension; where that is not even named, the file does nothing and is left alone. */
function worktreeConfig(gitFolder: string, common: string): readonly string[] {
  const path = join(gitFolder, 'config.worktree');
  return isFile(path) || /worktreeconfig/i.test(textOf(join(common, 'config'))) ? [path] : [];
}

/** A submodule's name may hold slashes, and a submodule may have its own: so these folders are walked, within a bound. */
function moduleSettings(modules: string): readonly string[] {
  const found: string[] = [];
  const folders = foldersIn(modules);
  for (let index = 0; index < folders.length; index += 1) {
    if (index >= foldersMax) return [modules];
    const folder = folders[index]!;
    const isModule = isFile(join(folder, 'config')) || isFile(join(folder, 'HEAD'));
    if (isModule) found.push(...settingsOf(folder));
    folders.push(...foldersIn(isModule ? join(folder, 'modules') : folder));
  }
  return found;
}

/** Most repositories have no submodules. */
function foldersIn(path: string): string[] {
  const entries = ifReadable(() => readdirSync(path, { withFileTypes: true })) ?? [];
  return entries.filter(entry => entry.isDirectory()).map(entry => join(path, entry.name));
}

const isFolder = (path: string): boolean => ifReadable(() => statSync(path))?.isDirectory() === true;
const isFile = (path: string): boolean => ifReadable(() => statSync(path))?.isFile() === true;

/** Only a file: a pipe of that name would never end. */
const textOf = (path: string): string => (isFile(path) && ifReadable(() => readFileSync(path, 'utf8'))) || '';

/** What all working trees of a repository share (its `.git`), without asking git; outside of one the folder itself. */
export function sharedFolder(directory: string): string {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    const entry = join(folder, '.git');
    const pointer = /^gitdir: (.+)$/m.exec(textOf(entry))?.[1];
    const own = pointer === undefined ? entry : resolve(folder, pointer);
    if (pointer !== undefined || isFolder(entry)) {
      const common = textOf(join(own, 'commondir')).trim();
      return realOf(common === '' ? own : resolve(own, common));
    }
    if (dirname(folder) === folder) return realOf(directory);
  }
}

const realOf = (path: string): string => ifReadable(() => realpathSync(path)) ?? path;
