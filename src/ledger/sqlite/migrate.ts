// Migrates an older database to our version in one transaction, with a backup beside it, and creates new ones.
import { randomUUID } from 'node:crypto';
import { chmodSync, closeSync, existsSync, linkSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import type { StoreFailure } from '../ledger.ts';
import { failure, openDatabase, StoreFailed, userVersion } from './connection.ts';
import { sync } from './files.ts';
import { heldLeases, type Liveness } from './leases.ts';

export interface Schema {
  readonly version: number;
  /** The oldest version whose tables can be read as they are. */
  readonly readableFrom: number;
  /** By name, in order; as many as `version` says. */
  migrations(): Promise<Readonly<Record<string, Migration>>>;
}

/** The database that is to be there, and how to tell who uses it. */
export interface Target {
  readonly path: string;
  readonly schema: Schema;
  readonly liveness: Liveness;
}

/** A loop that runs on the older version keeps it from being done: then nothing is changed, and the failure says which. */
export async function migrate(
  database: DatabaseSync,
  { path, schema, liveness }: Target,
): Promise<StoreFailure | undefined> {
  const migrations = await schema.migrations();
  const kysely = new Kysely<unknown>({ dialect: new NodeSqliteDialect(database) });
  const running = await kysely.transaction().execute(async transaction => {
    const version = userVersion(database);
    if (version >= schema.version) return undefined; // another process was faster
    const held = whoIsRunning(path, database, liveness);
    if (held !== undefined) return held;
    if (!isEmpty(database)) backUp(path, version);
    const migrator = new Migrator({ db: transaction, provider: { getMigrations: async () => migrations } });
    const { error } = await migrator.migrateToLatest();
    if (error !== undefined) throw error;
    database.exec(`PRAGMA user_version = ${schema.version}`);
    return undefined;
  });
  if (running !== undefined) return running;
  // Older versions look for the number in the file itself, not in its log.
  database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
  return undefined;
}

const isEmpty = (database: DatabaseSync): boolean =>
  database.prepare('SELECT 1 FROM sqlite_schema').get() === undefined;

/** F16: the process of the older version goes on undisturbed. */
function whoIsRunning(path: string, database: DatabaseSync, liveness: Liveness): StoreFailure | undefined {
  const hasLeases = database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'leases'").get();
  if (hasLeases === undefined) return undefined;
  const live = heldLeases(database).filter(liveness);
  const named = live.flatMap(({ lease }) => {
    const name = database.prepare('SELECT name FROM loops WHERE loop = ?').get(lease.loop)?.['name'];
    return name === undefined ? [] : [{ lease, name: String(name) }];
  });
  // Documents and folders are leased too: a loop says more, and can be stopped.
  const lease = named[0]?.lease ?? live[0]?.lease;
  if (lease === undefined) return undefined;
  const { loop, holder } = lease;
  const detail = `loop ${named[0]?.name ?? loop} is running on version ${holder.version} (process ${holder.pid} on ${holder.host}), and ${path} must be migrated for this version`;
  const hint = named[0] === undefined ? 'Wait for it.' : `Wait for it, or stop it: ralph stop ${named[0].name}`;
  return { ...failure('busy', path, detail), hint };
}

/** The write lock is ours while this runs, so the copy is exactly what is migrated. */
function backUp(path: string, version: number): void {
  const backup = freeName(`${path}.backup-v${version}`);
  const part = `${backup}.part`;
  rmSync(part, { force: true });
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    reader.prepare('VACUUM INTO ?').run(part);
  } finally {
    reader.close();
  }
  chmodSync(part, 0o600);
  sync(part);
  renameSync(part, backup);
  sync(dirname(path));
}

/** Of a database that is put beside ours. */
export function freeName(wanted: string): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? wanted : `${wanted}-${count}`;
    if (!existsSync(name) && !existsSync(`${name}-wal`)) return name;
  }
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
export async function writeDatabase(target: Target): Promise<void> {
  const { path } = target;
  rmSync(path, { force: true });
  closeSync(openSync(path, 'wx', 0o600));
  const database = openDatabase(path, false);
  try {
    await migrate(database, target);
  } finally {
    database.close();
  }
  sync(path);
}

// Kysely's migrator and schema builder speak to node:sqlite, with transactions round the schema changes.

class TransactionalAdapter extends SqliteAdapter {
  // SQLite undoes schema changes like any other; Kysely's own adapter does not rely on it.
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class ImmediateDriver extends SqliteDriver {
  override async beginTransaction(connection: DatabaseConnection): Promise<void> {
    await connection.executeQuery(CompiledQuery.raw('BEGIN IMMEDIATE'));
  }
}

function adapted(database: DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare: sql => {
      const statement = database.prepare(sql);
      return {
        reader: statement.columns().length > 0,
        all: values => statement.all(...(values as SQLInputValue[])),
        run: values => statement.run(...(values as SQLInputValue[])),
        iterate: values => statement.iterate(...(values as SQLInputValue[])),
      };
    },
  };
}

class NodeSqliteDialect implements Dialect {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  createAdapter = (): TransactionalAdapter => new TransactionalAdapter();
  createDriver = (): ImmediateDriver => new ImmediateDriver({ database: adapted(this.#database) });
  createQueryCompiler = (): SqliteQueryCompiler => new SqliteQueryCompiler();
  // biome-ignore lint/suspicious/noExplicitAny: Kysely's own signature
  createIntrospector = (database: Kysely<any>): SqliteIntrospector => new SqliteIntrospector(database);
}
