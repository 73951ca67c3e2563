// What lies at a path of the repository, seen without ever going through a symbolic link.
import type { Stats } from 'node:fs';
import { lstat } from 'node:fs/promises';
import { foldersAbove, onDisk } from './paths.ts';

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

async function look(top: string, path: string): Promise<Stats | 'unreadable' | undefined> {
  try {
    return await lstat(onDisk(top, path));
  } catch (error) {
    return gone.includes((error as NodeJS.ErrnoException).code ?? '') ? undefined : 'unreadable';
  }
}
