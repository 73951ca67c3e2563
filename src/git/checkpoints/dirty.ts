// Remembers which paths were the user's unfinished work when the loop began: those are never committed by us.
import { existsSync } from 'node:fs';
import { open, readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, git } from '../call.ts';
import { kindOnDisk } from '../disk.ts';
import { pathsOf, toInput } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import type { Repository } from '../repository.ts';

const fileOf = (folder: string): string => join(folder, 'dirty');

/** Staged, unstaged or untracked at the loop's first checkpoint, one character per byte; undefined before that. */
export async function dirtyAtStart(folder: string): Promise<ReadonlySet<string> | undefined> {
  const output = await readFile(fileOf(folder)).catch(() => undefined);
  return output && new Set(pathsOf({ output }));
}

/** Once in the life of a loop. Undefined, or why it could not be done. */
export async function recordDirty({ repository, folder }: PrivateGit): Promise<string | undefined> {
  if (existsSync(fileOf(folder))) return undefined;
  // Git would look into a submodule by a git of its own, which takes the settings of that submodule (B88).
  const submodules = '--ignore-submodules=dirty';
  const asked = ['status', '--porcelain=v2', '-z', '--untracked-files=all', '--no-renames', submodules];
  const found = await git(repository, asked, { timeMsMax: 300_000 });
  if (found.code !== 0) return complaint(found);
  const hidden = await hiddenIn(repository);
  if (typeof hidden === 'string') return hidden;
  await put(folder, [...pathsOf(found).map(pathOf), ...hidden]);
  return undefined;
}

async function put(folder: string, paths: readonly string[]): Promise<void> {
  const file = await open(`${fileOf(folder)}.new`, 'w');
  try {
    await file.writeFile(toInput([...new Set(paths)]));
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${fileOf(folder)}.new`, fileOf(folder));
}

/** The user told git not to look at these files (assume-unchanged, skip-worktree), so it cannot say whether they changed. */
async function hiddenIn(repository: Repository): Promise<readonly string[] | string> {
  const listed = await git(repository, ['ls-files', '-v', '-z']);
  if (listed.code !== 0) return complaint(listed);
  const marked = pathsOf(listed).flatMap(line => (/^[a-zS]/.test(line) ? [line.slice(2)] : []));
  const hidden: string[] = [];
  for (const path of marked) if ((await kindOnDisk(repository.directory, path)) !== 'gone') hidden.push(path);
  return hidden;
}

/** Fields before the path: 8 for a changed one, 10 for a conflict, 1 for an untracked one. */
function pathOf(line: string): string {
  const fields = { '1': 8, u: 10, '?': 1 }[line.slice(0, 1)] ?? 0;
  let at = 0;
  for (let field = 0; field < fields; field += 1) at = line.indexOf(' ', at) + 1;
  return line.slice(at);
}
