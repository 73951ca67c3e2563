// Paths in a repository are bytes: inside they are strings with one character per byte, and only people get text.

import { createHash } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import { lstat, mkdir, open, readFile, readlink, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Collected } from '../processes/run-detached.ts';
import type { Entry } from './history.ts';
import type { Repository } from './repository.ts';

/** NUL-separated paths, one character per byte. */
export const pathsOf = ({ output }: Pick<Collected, 'output'>): string[] => {
  const all = output.toString('latin1').split('\0');
  if (all.at(-1) === '') all.pop();
  return all;
};

/** What goes to git's `-z --stdin`. */
export const toInput = (paths: readonly string[]): Buffer =>
  Buffer.from(paths.map(path => `${path}\0`).join(''), 'latin1');

/** For ports: UTF-8 text, with the replacement character for bytes that are not. */
export const toText = (path: string): string => Buffer.from(path, 'latin1').toString('utf8');

export const fromText = (path: string): string => Buffer.from(path, 'utf8').toString('latin1');

/** For sentences that people read: no control characters, not too long. */
export function shown(path: string): string {
  const text = toText(path).replace(/[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g, '?');
  return text.length > 100 ? `${text.slice(0, 99)}…` : text;
}

/** For calls of the file system. */
export const onDisk = (top: string, path: string): Buffer =>
  Buffer.concat([Buffer.from(`${top}/`, 'utf8'), Buffer.from(path, 'latin1')]);

/** `a`, `a/b` for `a/b/c`. */
export function foldersAbove(path: string): string[] {
  const found: string[] = [];
  for (let at = path.indexOf('/'); at !== -1; at = path.indexOf('/', at + 1)) found.push(path.slice(0, at));
  return found;
}

export const byPath = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

// What lies at a path of the repository, seen without ever going through a symbolic link.

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

// Small files in which we remember a step before we take it, so that a crash in it can be finished.

/** Undefined when there is none; half a record cannot be. */
export async function readRecord<Content>(path: string): Promise<Content | undefined> {
  const text = await readFile(path, 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Content);
}

export async function writeRecord(path: string, content: unknown): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const file = await open(`${path}.new`, 'w');
  try {
    await file.writeFile(`${JSON.stringify(content)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${path}.new`, path);
}
