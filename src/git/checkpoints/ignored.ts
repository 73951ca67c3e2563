// Remembers what git ignored when the loop began: whatever becomes of the rules, no checkpoint holds it and no restore takes it.
import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, git } from '../call.ts';
import { foldersAbove, pathsOf, toInput } from '../paths.ts';
import type { PrivateGit } from '../private.ts';

const fileOf = (folder: string): string => join(folder, 'ignored');

/** The files and folders (they end with a slash), one character per byte; or why they cannot be known. */
export async function ignoredAtStart(own: PrivateGit): Promise<ReadonlySet<string> | string> {
  const known = await readFile(fileOf(own.folder)).catch(() => undefined);
  if (known !== undefined) return new Set(pathsOf({ output: known }));
  // A folder only when a rule names it: new files in one whose files all happened to be ignored are work like any other.
  const asked = ['status', '--porcelain', '-z', '--ignored=matching', '--untracked-files=all', '--no-renames'];
  const found = await git(own.repository, [...asked, '--ignore-submodules=all'], { timeMsMax: 300_000 });
  if (found.code !== 0) return complaint(found);
  const paths = pathsOf(found).flatMap(line => (line.startsWith('!! ') ? [line.slice(3)] : []));
  await writeFile(`${fileOf(own.folder)}.new`, toInput(paths));
  await rename(`${fileOf(own.folder)}.new`, fileOf(own.folder));
  return new Set(paths);
}

/** The entry that covers a path: itself, or a folder above it. */
export const coveringEntry = (ignored: ReadonlySet<string>, path: string): string | undefined =>
  ignored.has(path) ? path : foldersAbove(path).find(folder => ignored.has(`${folder}/`));
