// Copies into a new worktree what the work needs and git does not hold, such as node_modules and .env.
import { constants, type Stats } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { posix } from 'node:path';
import { foldersAbove, fromText, onDisk, toText } from './paths.ts';

interface Copy {
  readonly from: string;
  readonly to: string;
  /** What git holds came with the checkout, and stays as git has it. */
  readonly tracked: ReadonlySet<string>;
}

/** Never through a symbolic link, on either side; links are copied as links. Returns what could not be copied. */
export async function copyNeeded(copy: Copy, needed: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const one of needed) {
    const path = fromText(posix.normalize(one).replace(/\/+$/, ''));
    const isOne = isPath(path) && (await isReachable(copy.from, path)) && (await enter(copy.to, path));
    const failed = isOne ? await copyEntry(copy, path) : [path];
    missing.push(...(failed.includes(path) ? [one] : failed.map(toText)));
  }
  return missing;
}

const isPath = (path: string): boolean =>
  path !== '' &&
  path !== '.' &&
  !path.startsWith('/') &&
  !path.split('/').some(step => step === '..' || step === '.git');

const look = (top: string, path: string): Promise<Stats | undefined> => lstat(onDisk(top, path)).catch(() => undefined);

async function isReachable(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) if (!(await look(top, folder))?.isDirectory()) return false;
  return (await look(top, path)) !== undefined;
}

/** Makes the folders above; false where something else is in the way. */
async function enter(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const stats = await look(top, folder);
    if (stats === undefined) await mkdir(onDisk(top, folder));
    else if (!stats.isDirectory()) return false;
  }
  return true;
}

/** Returns the paths that failed. */
async function copyEntry(copy: Copy, path: string): Promise<readonly string[]> {
  const source = onDisk(copy.from, path);
  const target = onDisk(copy.to, path);
  if (copy.tracked.has(path)) return [];
  try {
    const stats = await lstat(source);
    if (stats.isDirectory()) return await copyFolder(copy, path, stats.mode);
    if (path.endsWith('/.git')) return []; // names another repository's folder, whose index a copy would share
    if (!stats.isFile() && !stats.isSymbolicLink()) return [path];
    await rm(target, { force: true });
    if (stats.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
    else await symlink(await readlink(source, { encoding: 'buffer' }), target);
    return [];
  } catch {
    return [path];
  }
}

async function copyFolder(copy: Copy, path: string, mode: number): Promise<readonly string[]> {
  const there = await look(copy.to, path);
  if (there === undefined) await mkdir(onDisk(copy.to, path), { mode: (mode & 0o777) | 0o700 });
  else if (!there.isDirectory()) return [path];
  const names = await readdir(onDisk(copy.from, path), { encoding: 'buffer' });
  const failed = await Promise.all(names.map(name => copyEntry(copy, `${path}/${name.toString('latin1')}`)));
  return failed.flat();
}
