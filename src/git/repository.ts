// What we know about the repository that a loop works in, found out once.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Refusal } from './workspace.ts';
import { complaint, type GitPlace, git } from './call.ts';
import { shown } from './paths.ts';
import { filtersOff } from './settings.ts';

export interface Repository extends GitPlace {
  /** The top of the working tree. */
  readonly directory: string;
  /** Of this working tree: HEAD and index live here. */
  readonly gitDirectory: string;
  /** Of all its working trees: objects and refs live here. */
  readonly commonDirectory: string;
  readonly objectFormat: string;
}

/** `not-a-repository`: the caller may work without git. */
export type Opened =
  | { readonly ok: true; readonly repository: Repository }
  | (Refusal & { readonly kind: 'not-a-repository' | 'unusable' });

export const refuse = (problem: string, fix?: string): Refusal => ({
  ok: false,
  problem,
  fix,
});

const unusable = (problem: string, fix?: string): Opened => ({ ...refuse(problem, fix), kind: 'unusable' });

/** Refused in one sentence where we could not keep our promises (F72, B92). */
export async function openRepository(place: GitPlace): Promise<Opened> {
  const asked = ['--is-bare-repository', '--is-inside-git-dir', '--show-object-format'];
  const found = await git(place, ['rev-parse', ...asked, '--absolute-git-dir', '--git-common-dir', '--show-toplevel']);
  const text = found.output.toString('utf8');
  const [bare, inside, objectFormat = '', gitDirectory = '', common = '', directory = '', ...rest] = text.split('\n');
  if (found.code !== 0) return unopened(place, complaint(found), bare === 'true', inside === 'true');
  if (rest.length !== 1 || text.includes('\ufffd')) {
    return unusable('The path of this repository holds a line break or is not UTF-8.', 'Move it to a plainer path.');
  }
  const commonDirectory = resolve(place.directory, common);
  const settings = await filtersOff({ ...place, directory });
  return { ok: true, repository: { ...place, directory, gitDirectory, commonDirectory, objectFormat, settings } };
}

function unopened(place: GitPlace, said: string, bare: boolean, inside: boolean): Opened {
  if (/ENOENT/.test(said) && topAround(place.directory) !== undefined)
    return unusable('This folder is a git repository, and git is not installed.', 'Install git.');
  if (bare)
    return unusable('This repository is bare: it has no files to work on.', 'Run in a clone or a worktree of it.');
  if (inside) return unusable('This folder is inside of .git.', 'Run in the working tree.');
  if (/dubious ownership/.test(said)) {
    const fix = `If you trust it: git config --global --add safe.directory ${topAround(place.directory) ?? place.directory}`;
    return unusable('This repository belongs to another user, so git does not work in it.', fix);
  }
  if (topAround(place.directory) === undefined)
    return { ...refuse('This folder is not in a git repository.'), kind: 'not-a-repository' };
  return unusable(`git cannot work here: ${shown(Buffer.from(said).toString('latin1'))}.`);
}

function topAround(directory: string): string | undefined {
  for (let folder = resolve(directory); ; folder = dirname(folder)) {
    if (existsSync(join(folder, '.git'))) return folder;
    if (dirname(folder) === folder) return undefined;
  }
}
