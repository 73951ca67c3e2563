// Atomic replacement of a file: a reader, a crash or a full disk meets the old bytes or the new, never a mix.
import { lstat, open, readlink, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { errorCode, type FileIdentity, identify, identityOf } from './text-file.ts';

export type Replaced =
  /** Without an identity somebody wrote the file in the same moment, so it must be read again. */
  | { readonly type: 'replaced'; readonly identity: FileIdentity | undefined }
  /** The file was no longer the expected one, and is as it was. */
  | { readonly type: 'changed' };

export interface Replacement {
  readonly mode?: number | undefined;
  /** Replace only this version of the file. */
  readonly expected?: FileIdentity | undefined;
  /** No promise needs it after a power cut: it is not brought to the disk first. */
  readonly isPassing?: boolean;
}

/** Follows symbolic links, keeps the mode, syncs before the rename. Throws the system's error when it could not write. */
export async function replaceFile(
  path: string,
  bytes: Buffer,
  { mode, expected, isPassing = false }: Replacement = {},
): Promise<Replaced> {
  const target = (await danglingTarget(path)) ?? path;
  await refuseReadOnly(target);
  const changed = new Error('changed meanwhile');
  let written = '';
  try {
    await writeFileAtomic(target, '', {
      mode,
      fsync: false,
      // The bytes are written and synced here: write-file-atomic takes a short write on a full disk for a whole one,
      // and the last look at the old file must come after the slow part.
      async tmpfileCreated(temporary: string) {
        written = await write(temporary, bytes, !isPassing);
        if (expected !== undefined && identify(path) !== expected) throw changed;
      },
    });
  } catch (error) {
    if (error === changed) return { type: 'changed' };
    throw error;
  }
  const stats = await stat(target, { bigint: true }).catch(() => undefined);
  const isOurs = stats !== undefined && [stats.ino, stats.size, stats.mtimeNs].join(':') === written;
  return { type: 'replaced', identity: isOurs ? identityOf(stats) : undefined };
}

/** Gives what a rename does not change of the file's identity. */
async function write(path: string, bytes: Buffer, isSynced: boolean): Promise<string> {
  const handle = await open(path, 'r+');
  try {
    await handle.writeFile(bytes);
    if (isSynced) await handle.sync();
    const stats = await handle.stat({ bigint: true });
    return [stats.ino, stats.size, stats.mtimeNs].join(':');
  } finally {
    await handle.close();
  }
}

/** A rename would replace even a file that its owner made read-only. */
async function refuseReadOnly(path: string): Promise<void> {
  try {
    await (await open(path, 'r+')).close();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
  }
}

/** The file that a link points to although it is gone: it is put back there, and the link stays a link. */
async function danglingTarget(path: string): Promise<string | undefined> {
  const [link, target] = await Promise.all([lstat(path).catch(() => undefined), stat(path).catch(() => undefined)]);
  if (!link?.isSymbolicLink() || target) return undefined;
  return resolve(dirname(path), await readlink(path));
}
