// What is kept of a protected file, and how such a file is read without being led astray.
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open } from 'node:fs/promises';

/** A file with its bytes kept as a copy, or a link on the way to one. */
export type Kept =
  | { readonly path: string; readonly mode: number; readonly sha256: string; readonly bytes: number }
  | { readonly path: string; readonly target: string };

export const fileBytesMax = 16 * 1024 * 1024;

export const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** NOFOLLOW and NONBLOCK: what was put there in between is neither followed nor waited for. */
export async function readPlain(path: string): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > fileBytesMax) throw new Error('is no file, or larger than 16 MB');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}
