// Puts one protected file back as it was: in one step, and through nothing that somebody put in its way.
import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, lstat, mkdir, open, readlink, rename, rm, rmdir, symlink, unlink } from 'node:fs/promises';
import { dirname, join, posix } from 'node:path';
import type { PutBack } from './guard.ts';
import { type Kept, readPlain, sha256 } from './kept.ts';

/** Every folder above it, outermost first: `a/b/c` -> `a`, `a/b`. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

export async function stateOf(directory: string, kept: Kept): Promise<PutBack['how'] | 'good'> {
  for (const folder of foldersOf(kept.path)) {
    const stats = await lstat(join(directory, folder)).catch(() => undefined);
    if (stats === undefined) return 'deleted';
    if (!stats.isDirectory()) return 'its folder was replaced';
  }
  const path = join(directory, kept.path);
  const stats = await lstat(path).catch(() => undefined);
  if (stats === undefined) return 'deleted';
  if (stats.isDirectory()) return 'replaced by a folder';
  if ('target' in kept) {
    if (!stats.isSymbolicLink()) return 'replaced by something else';
    return (await readlink(path).catch(() => '')) === kept.target ? 'good' : 'edited';
  }
  if (stats.isSymbolicLink()) return 'replaced by a link';
  if (!stats.isFile()) return 'replaced by something else';
  const isSame = stats.size === kept.bytes && sha256(await readPlain(path).catch(() => '')) === kept.sha256;
  if (!isSame) return 'edited';
  return (stats.mode & 0o777) === kept.mode ? 'good' : 'mode changed';
}

/** Undefined when it is back. */
export async function putBack(directory: string, kept: Kept, bytes: Buffer | undefined): Promise<string | undefined> {
  try {
    await clearWay(directory, kept.path);
    await withWritable(dirname(join(directory, kept.path)), () => place(directory, kept, bytes));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/** Real folders all the way down: a link is taken away (never what it points to), a file in the way is set aside. */
async function clearWay(directory: string, path: string): Promise<void> {
  for (const folder of foldersOf(path)) {
    const place = join(directory, folder);
    const stats = await lstat(place).catch(() => undefined);
    if (stats?.isDirectory()) continue;
    await withWritable(dirname(place), async () => {
      if (stats?.isSymbolicLink()) await unlink(place);
      else if (stats !== undefined) await rename(place, asideOf(place));
      await mkdir(place);
    });
  }
}

const asideOf = (path: string): string => `${path}.set-aside-${randomBytes(4).toString('hex')}`;

async function place(directory: string, kept: Kept, bytes: Buffer | undefined): Promise<void> {
  const path = join(directory, kept.path);
  const temporary = join(directory, posix.dirname(kept.path), `.ralph-${randomBytes(6).toString('hex')}`);
  try {
    if ('target' in kept) await symlink(kept.target, temporary);
    else await writeSynced(temporary, bytes ?? Buffer.alloc(0), kept.mode);
    await setFolderAside(path);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeSynced(path: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file cannot take the place of a folder. What is in it may be somebody's work, so it is kept. */
async function setFolderAside(path: string): Promise<void> {
  const stats = await lstat(path).catch(() => undefined);
  if (!stats?.isDirectory()) return;
  await rmdir(path).catch(() => rename(path, asideOf(path)));
}

/** A folder that was made read-only to keep us out is opened for this one step. */
async function withWritable(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    const { mode } = await lstat(folder);
    await chmod(folder, (mode & 0o777) | 0o700);
    await work();
  }
}
