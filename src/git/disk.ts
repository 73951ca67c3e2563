// What lies at a path of the repository, seen without ever going through a symbolic link.
import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, open, readlink } from 'node:fs/promises';
import { foldersAbove, onDisk } from './paths.ts';
import type { Repository } from './repository.ts';
import type { Entry } from './trees.ts';

/** `gone`: nothing that git could hold is there under this name; `special`: something is, but we cannot read or keep it. */
export type Kind = 'file' | 'link' | 'gone' | 'special';

const gone = ['ENOENT', 'ENOTDIR', 'ELOOP'];

export async function kindOnDisk(top: string, path: string): Promise<Kind> {
  for (const folder of foldersAbove(path)) {
    const above = await look(top, folder);
    if (above === undefined || above === 'unreadable') return above === undefined ? 'gone' : 'special';
    if (!above.isDirectory()) return 'gone';
  }
  const stats = await look(top, path);
  if (stats === undefined) return 'gone';
  if (stats === 'unreadable') return 'special';
  if (stats.isFile()) return 'file';
  if (stats.isSymbolicLink()) return 'link';
  return stats.isDirectory() ? 'gone' : 'special';
}

/** Whether content, kind and exec bit are those of an entry. */
export async function isOnDisk(repository: Repository, path: string, entry: Entry): Promise<boolean> {
  const kind = await kindOnDisk(repository.directory, path);
  if (kind !== (entry.mode === '120000' ? 'link' : 'file')) return false;
  const where = onDisk(repository.directory, path);
  const isProgram = ((await lstat(where)).mode & 0o100) !== 0;
  if (kind === 'file' && isProgram !== (entry.mode === '100755')) return false;
  return (await objectOnDisk(repository, where, kind === 'link')) === entry.object;
}

/** What git would call it. */
export async function objectOnDisk({ objectFormat }: Repository, where: Buffer, isLink: boolean): Promise<string> {
  const hash = createHash(objectFormat);
  if (isLink) {
    const target = await readlink(where, 'buffer');
    return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
  }
  const file = await open(where, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    hash.update(`blob ${(await file.stat()).size}\0`);
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

async function look(top: string, path: string): Promise<Stats | 'unreadable' | undefined> {
  try {
    return await lstat(onDisk(top, path));
  } catch (error) {
    return gone.includes((error as NodeJS.ErrnoException).code ?? '') ? undefined : 'unreadable';
  }
}
