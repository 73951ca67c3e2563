// Files on disk: what lies at a path of the repository, never seen through a symbolic link, and small durable records.
// One look takes microseconds; handing it to another thread and back takes twenty times as long, so looks are made at once.
import { createHash } from 'node:crypto';
import {
  constants,
  type Dirent,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { mkdir, open, readlink, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Entry } from './call.ts';
import { foldersAbove, onDisk } from './paths.ts';

/** `gone`: nothing that git could hold is there under this name; `special`: something is, but we cannot read or keep it. */
export type Kind = 'file' | 'link' | 'gone' | 'special';

const gone = ['ENOENT', 'ENOTDIR', 'ELOOP'];

export async function kindOnDisk(top: string, path: string): Promise<Kind> {
  try {
    for (const folder of foldersAbove(path)) if (!lstatSync(onDisk(top, folder)).isDirectory()) return 'gone';
    const stats = lstatSync(onDisk(top, path));
    if (stats.isFile()) return 'file';
    if (stats.isSymbolicLink()) return 'link';
    return stats.isDirectory() ? 'gone' : 'special';
  } catch (error) {
    return gone.includes((error as NodeJS.ErrnoException).code ?? '') ? 'gone' : 'special';
  }
}

type Tree = { readonly directory: string; readonly objectFormat: string };

/** Whether content, kind and exec bit are those of an entry. */
export async function isOnDisk(tree: Tree, path: string, entry: Entry): Promise<boolean> {
  const kind = await kindOnDisk(tree.directory, path);
  if (kind !== (entry.mode === '120000' ? 'link' : 'file')) return false;
  const where = onDisk(tree.directory, path);
  const isProgram = (lstatSync(where).mode & 0o100) !== 0;
  if (kind === 'file' && isProgram !== (entry.mode === '100755')) return false;
  return (await objectOnDisk(tree, where, kind === 'link')) === entry.object;
}

/** What git would call it. */
export async function objectOnDisk({ objectFormat }: Tree, where: Buffer, isLink: boolean): Promise<string> {
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

/** Undefined where nothing is, or where we may not look. */
export const statsAt = async (top: string, path: string): Promise<Stats | undefined> =>
  ifReadable(() => lstatSync(onDisk(top, path)));

/** Tells whether a file is still the one that was looked at; empty when it is not there. */
export async function stampOf(path: string): Promise<string> {
  const stats = ifReadable(() => statSync(path, { bigint: true, throwIfNoEntry: false }));
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeNs].join(':');
}

/** It may be missing, or closed to us. */
export function ifReadable<Found>(read: () => Found): Found | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Of the index in this folder of git's. */
export const stampOfIndex = ({ gitDirectory }: { readonly gitDirectory: string }): Promise<string> =>
  stampOf(join(gitDirectory, 'index'));

export const succeeds = (work: Promise<unknown>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

/** Also of a path that is not there: of its nearest folder that is. */
export async function realOf(path: string): Promise<string> {
  const real = ifReadable(() => realpathSync.native(path));
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realOf(dirname(path)), basename(path));
}

/** A record of a step before we take it, so that a crash in it can be finished. Undefined when there is none. */
export async function readRecord<Content>(path: string): Promise<Content | undefined> {
  const text = ifReadable(() => readFileSync(path, 'utf8'));
  return text === undefined ? undefined : (JSON.parse(text) as Content);
}

export async function writeRecord(path: string, content: unknown, flush = true): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeDurably(path, `${JSON.stringify(content)}\n`, flush);
}

/** Whole or not at all, and on the disk before it takes its place; without `flush` a loss of power may lose it. */
export async function writeDurably(path: string, content: string | Buffer, flush = true): Promise<void> {
  await writeFile(`${path}.new`, content, { flush });
  await rename(`${path}.new`, path);
}

/** Brings a file, or a folder's list of names, to the disk. */
export async function sync(path: string): Promise<void> {
  const file = await open(path, 'r');
  await file.sync().finally(() => file.close());
}

const foldersAtOnce = 10;

/** Ignored folders and other repositories are left out, as in the checkpoint. Not one wait for each folder: a start would feel it. */
export async function* entriesBelow(
  top: string,
  ignored: ReadonlySet<string>,
): AsyncGenerator<readonly [path: string, entry: Dirent]> {
  const folders = [''];
  for (let count = 1; folders.length > 0; count += 1) {
    if (count % foldersAtOnce === 0) await setImmediate();
    const folder = folders.pop()!;
    const inside: string[] = [];
    for (const entry of entriesIn(onDisk(top, folder))) {
      const path = `${folder}${entry.name}`;
      if (path === '.git') continue;
      if (entry.name === '.git') {
        inside.length = 0;
        break;
      }
      yield [path, entry];
      if (entry.isDirectory() && !ignored.has(`${path}/`)) inside.push(`${path}/`);
    }
    folders.push(...inside);
  }
}

/** Nothing where it is gone, or closed to us. */
const entriesIn = (path: Buffer): readonly Dirent[] =>
  ifReadable(() => readdirSync(path, { encoding: 'latin1', withFileTypes: true })) ?? [];
