// Migrates an older database to our version in one transaction, with a backup beside it.
import { chmodSync, renameSync, rmSync } from 'node:fs';
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
import { Migrator } from 'kysely/migration';
import type { StoreFailure } from '../ledger.ts';
import { failure, userVersion } from './connection.ts';
import { freeName, type Target } from './create.ts';
import { sync } from './files.ts';
import { heldLeases, type Liveness } from './leases.ts';

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
