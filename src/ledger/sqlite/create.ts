// Creates new databases: the schema in one batch, put in place whole.
import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, linkSync, mkdirSync, openSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Migration } from 'kysely/migration';
import { failure, openDatabase, StoreFailed } from './connection.ts';
import { sync } from './files.ts';
import type { Liveness } from './leases.ts';

export interface Schema {
  readonly version: number;
  /** The oldest version whose tables can be read as they are. */
  readonly readableFrom: number;
  /** By name, in order; as many as `version` says. */
  migrations(): Promise<Readonly<Record<string, Migration>>>;
  /** All of it at once, for a database that is new: the same that the migrations lead to. Absent: they are run. */
  readonly batch?: string;
}

/** The database that is to be there, and how to tell who uses it. */
export interface Target {
  readonly path: string;
  readonly schema: Schema;
  readonly liveness: Liveness;
}

/** Made beside its path and put there whole, so that a half-made one is never seen. */
export async function createDatabase(target: Target): Promise<void> {
  const { path } = target;
  const draft = `${path}.new-${randomUUID()}`;
  makeFolder(dirname(path));
  try {
    await writeDatabase({ ...target, path: draft });
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
  const there = statSync(folder, { throwIfNoEntry: false });
  if (there?.isDirectory() === false) {
    const hint = 'Set RALPH_HOME to a folder of yours, or unset it.';
    throw new StoreFailed({ kind: 'readonly', detail: `${folder} is a file, not a folder`, hint });
  }
  if (there !== undefined) return;
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
export async function writeDatabase(target: Target): Promise<void> {
  const { path, schema } = target;
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  if (schema.batch === undefined) await migrateEmpty(target);
  else runBatch(path, schema.batch, schema.version);
  sync(path);
}

/** Nobody sees the file before it is complete and synced, so nothing of it need survive a crash on the way. */
function runBatch(path: string, batch: string, version: number): void {
  const database = new DatabaseSync(path);
  try {
    database.exec('PRAGMA journal_mode = MEMORY; PRAGMA synchronous = OFF');
    database.exec(`BEGIN;${batch}; PRAGMA user_version = ${version}; COMMIT`);
    database.exec('PRAGMA journal_mode = WAL');
  } finally {
    database.close();
  }
}

async function migrateEmpty(target: Target): Promise<void> {
  const { migrate } = await import('./migrate.ts');
  const database = openDatabase(target.path, false);
  try {
    await migrate(database, target);
  } finally {
    database.close();
  }
}

/** Of a database that is put beside ours. */
export function freeName(wanted: string): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!existsSync(name) && !existsSync(`${name}-wal`)) return name;
  }
}
