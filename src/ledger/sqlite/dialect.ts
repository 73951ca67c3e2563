// Lets Kysely's migrator and schema builder speak to node:sqlite, with transactions round the schema changes.
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import {
  CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Kysely,
  SqliteAdapter,
  type SqliteDatabase,
  SqliteDriver,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';

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

export class NodeSqliteDialect implements Dialect {
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
