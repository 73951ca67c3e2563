// Makes a file that was not there, whole or not at all: a crash, a reader or a second writer never meets half of it.
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { type FileHandle, link, lstat, mkdir, open, realpath, unlink } from 'node:fs/promises';
import { join } from 'node:path';

export type Made =
  | { readonly type: 'made' }
  /** It was there before, with just this content. */
  | { readonly type: 'same' }
  /** Something else is there, and is as it was. */
  | { readonly type: 'other'; readonly what: 'content' | 'folder' | 'link' | 'special' }
  /** The folder was swapped while we looked. */
  | { readonly type: 'moved' };

/** `parent` must be real as far as it exists. Throws the system's error when it could not write. */
export async function makeFile(parent: string, path: string, content: string): Promise<Made> {
  const bytes = Buffer.from(content, 'utf8');
  await mkdir(parent, { recursive: true });
  if ((await realpath(parent)) !== parent) return { type: 'moved' };
  const before = await lookAt(path, bytes);
  if (before !== undefined) return before;
  const temporary = join(parent, `.ralph-${randomUUID()}.tmp`);
  try {
    await writeSynced(temporary, bytes);
    await put(temporary, path, bytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return (await lookAt(path, bytes)) ?? { type: 'moved' }; // somebody made it in the same moment
  } finally {
    await unlink(temporary).catch(() => {});
  }
  await syncFolder(parent);
  return { type: 'made' };
}

/** A hard link is made at once and never over a file that is there; where there are none, the file is made in place. */
async function put(temporary: string, path: string, bytes: Buffer): Promise<void> {
  try {
    await link(temporary, path);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EOPNOTSUPP' && code !== 'ENOSYS') throw error;
    await writeSynced(path, bytes);
  }
}

async function writeSynced(path: string, bytes: Buffer): Promise<void> {
  const handle = await open(path, 'wx');
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function syncFolder(path: string): Promise<void> {
  const handle = await open(path, 'r').catch(() => undefined);
  await handle?.sync().catch(() => {}); // not every file system can
  await handle?.close();
}

/** Undefined when nothing is there. */
async function lookAt(path: string, bytes: Buffer): Promise<Made | undefined> {
  const stats = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (stats === undefined) return undefined;
  if (stats.isSymbolicLink()) return { type: 'other', what: 'link' };
  if (stats.isDirectory()) return { type: 'other', what: 'folder' };
  if (!stats.isFile()) return { type: 'other', what: 'special' };
  if (stats.size !== bytes.length) return { type: 'other', what: 'content' };
  return (await contentOf(path, bytes.length)).equals(bytes) ? { type: 'same' } : { type: 'other', what: 'content' };
}

async function contentOf(path: string, length: number): Promise<Buffer> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length + 1), 0, length + 1, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle?.close();
  }
}
