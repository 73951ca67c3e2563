// Makes a new database beside its path and puts it there whole, so that a half-made one is never seen.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { failure, openDatabase, StoreFailed } from './connection.ts';
import { sync } from './files.ts';
import type { Liveness } from './leases.ts';
import type { Schema } from './schema.ts';

export async function createDatabase(path: string, schema: Schema, liveness: Liveness): Promise<void> {
  const draft = `${path}.new-${randomUUID()}`;
  makeFolder(dirname(path));
  try {
    await writeDatabase(draft, schema, liveness);
    linkSync(draft, path);
    sync(dirname(path));
  } catch (error) {
    // Another process made it first: its database is as good as ours.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    for (const end of ['', '-wal', '-shm']) rmSync(`${draft}${end}`, { force: true });
  }
}

/** Step by step, because Node's recursive mkdir tells a read-only file system as a missing folder. */
function makeFolder(folder: string): void {
  if (existsSync(folder)) return;
  makeFolder(dirname(folder));
  try {
    mkdirSync(folder, { mode: 0o700 });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    // Below a file or in /proc no folder can be made by anybody: the place is wrong, not the disk.
    if (code === 'ENOENT' || code === 'ENOTDIR')
      throw new StoreFailed(failure('readonly', folder, `${folder} cannot be made: ${message}`), error);
    if (code !== 'EEXIST') throw error;
  }
}

/** A complete database of our version in one file, without a log, on the disk. */
export async function writeDatabase(path: string, schema: Schema, liveness: Liveness): Promise<void> {
  const { migrate } = await import('./migrate.ts');
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  const database = openDatabase(path, false);
  try {
    await migrate({ path, database, schema, liveness });
  } finally {
    database.close();
  }
  sync(path);
}
