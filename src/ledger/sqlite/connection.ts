// One open database with the settings that durability needs, and the guard that it is still the file at its path.
import { accessSync, constants, type Stats, statSync, truncateSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import type { StoreFailure, StoreFailureKind } from '../ledger.ts';
import { frameHeaderBytes, walHeaderBytes } from './files.ts';

/** Long enough for ten writers in a row, short enough for a person (F43). */
const defaultBusyMsMax = 10_000;

/** An event as the table holds it. */
export interface EventRow {
  readonly cursor: number;
  readonly loop: string;
  readonly seq: number;
  readonly body: string;
  readonly hash: string;
}

const isWritable = (folder: string): boolean => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where nothing can be written SQLite cannot make the log that it reads with; a database without one is whole as it is. */
function readableAs(path: string, readOnly: boolean): string | URL {
  if (!readOnly || isWritable(dirname(path))) return path;
  const log = statSync(`${path}-wal`, { throwIfNoEntry: false });
  if ((log?.size ?? 0) > 0) return path;
  const url = pathToFileURL(path);
  url.searchParams.set('immutable', '1');
  return url;
}

export function openDatabase(path: string, readOnly: boolean, busyMsMax = defaultBusyMsMax): DatabaseSync {
  const database = new DatabaseSync(readableAs(path, readOnly), {
    readOnly,
    timeout: busyMsMax,
    enableForeignKeyConstraints: true,
  });
  try {
    if (!readOnly) {
      if (database.prepare('PRAGMA journal_mode').get()?.['journal_mode'] !== 'wal')
        database.exec('PRAGMA journal_mode = WAL');
      database.exec('PRAGMA synchronous = FULL');
    }
    // The cheapest read that notices a damaged schema, and the one that brings the log's file into being.
    database.prepare('SELECT count(*) FROM sqlite_schema').get();
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

export function userVersion(database: DatabaseSync): number {
  return Number(database.prepare('PRAGMA user_version').get()?.['user_version']);
}

const nameOf = (stat: Stats | undefined): string => (stat === undefined ? 'none' : `${stat.dev}:${stat.ino}`);

export const inodeOf = (path: string): string => nameOf(statSync(path, { throwIfNoEntry: false }));

export class Connection {
  readonly path: string;
  readonly readOnly: boolean;
  /** Why it is not migrated yet: a loop of an older version runs, and until it ends nothing but mail may be written. */
  readonly notMigrated: StoreFailure | undefined;
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();
  readonly #inode: string;
  readonly #logInode: string;
  /** Database, log and shared index as last seen: the log also begins anew, the others only grow. */
  #bytes = 0;
  #logBytes = 0;
  #indexBytes = 0;
  #broken: StoreFailure | undefined;

  constructor(path: string, database: DatabaseSync, readOnly: boolean, notMigrated?: StoreFailure) {
    this.path = path;
    this.database = database;
    this.readOnly = readOnly;
    this.notMigrated = notMigrated;
    this.#inode = inodeOf(path);
    this.#logInode = inodeOf(`${path}-wal`);
    this.unusable(); // what is there now is the measure
  }

  statement(sql: string): StatementSync {
    const known = this.#statements.get(sql) ?? this.database.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }

  /** `Row`: what the columns of the statement are. */
  all<Row>(sql: string, ...values: SQLInputValue[]): Row[] {
    return this.statement(sql).all(...values) as Row[];
  }

  get<Row>(sql: string, ...values: SQLInputValue[]): Row | undefined {
    return this.statement(sql).get(...values) as Row | undefined;
  }

  /** Says why nothing may be written any more: the file was deleted or replaced (F21), cut (F90), or a sync failed (F40). */
  unusable(): StoreFailure | undefined {
    if (this.#broken !== undefined) return this.#broken;
    const gone = (path: string) => failure('gone', this.path, `${path} was deleted or replaced while it was in use`);
    const cut = (path: string) => failure('corrupt', this.path, `${path} was cut while it was in use`);
    const database = statSync(this.path, { throwIfNoEntry: false });
    if (nameOf(database) !== this.#inode) return gone(this.path);
    const { size = 0 } = database ?? {};
    if (size < this.#bytes) this.#broken = cut(this.path);
    this.#bytes = size;
    const indexBytes = this.#sizeOf('-shm');
    if (indexBytes < this.#indexBytes) this.#broken = cut(`${this.path}-shm`);
    else this.#indexBytes = indexBytes;
    if (this.readOnly || this.#broken !== undefined) return this.#broken;
    const path = `${this.path}-wal`;
    const log = statSync(path, { throwIfNoEntry: false });
    if (nameOf(log) !== this.#logInode) return gone(path);
    const { size: logBytes = 0 } = log ?? {};
    if (logBytes < this.#logBytes && !this.#holdsFrames()) this.#broken = cut(path);
    this.#logBytes = logBytes;
    return this.#broken;
  }

  /** After a write of ours: what is shorter than this lacks it. */
  measure(): void {
    this.#logBytes = this.#sizeOf('-wal');
  }

  /** A log that another process emptied or began anew is as long as SQLite thinks it is; looked at until nobody wrote meanwhile. */
  #holdsFrames(): boolean {
    if (this.database.isTransaction) return true;
    try {
      const number = (pragma: string, column: string) => Number(this.database.prepare(pragma).get()?.[column]);
      const seen = () =>
        `${number('PRAGMA data_version', 'data_version')} ${number('PRAGMA wal_checkpoint(NOOP)', 'log')}`;
      const frameBytes = frameHeaderBytes + number('PRAGMA page_size', 'page_size');
      for (;;) {
        const before = seen();
        const frames = Number(before.split(' ')[1]);
        if (frames <= 0 || this.#sizeOf('-wal') >= walHeaderBytes + frames * frameBytes) return true;
        if (before === seen()) return false;
      }
    } catch (error) {
      const { kind } = failureOf(error, this.path) ?? {};
      return kind !== 'io' && kind !== 'corrupt'; // it cannot be read to where it ends
    }
  }

  #sizeOf = (end: '-wal' | '-shm'): number => statSync(`${this.path}${end}`, { throwIfNoEntry: false })?.size ?? 0;

  /** After an input/output error nobody knows what reached the disk, so the first one is the last word. */
  failure(error: unknown): StoreFailure {
    const known = failureOf(error, this.path);
    if (known === undefined) throw error;
    if (known.kind === 'io' || known.kind === 'corrupt') this.#broken = known;
    return known;
  }

  /** For methods whose result has no room for a failure. */
  orThrow<Result>(work: () => Result): Result {
    const unusable = this.unusable();
    if (unusable !== undefined) throw new StoreFailed(unusable);
    try {
      return work();
    } catch (error) {
      if (error instanceof StoreFailed) throw error;
      throw new StoreFailed(this.failure(error), error);
    }
  }

  /** All or nothing: what `work` wrote stays only when its result is ok and the commit is. */
  transaction<Result extends { readonly ok: boolean }>(work: () => Result): Result {
    this.statement('BEGIN IMMEDIATE').run();
    try {
      const result = work();
      this.statement(result.ok ? 'COMMIT' : 'ROLLBACK').run();
      return result;
    } finally {
      // The error that led here is the one to tell; SQLite undoes the rest when the log is next read.
      if (this.database.isTransaction) ignoringErrors(() => this.database.exec('ROLLBACK'));
    }
  }

  close(): void {
    if (!this.database.isOpen) return;
    if (!this.readOnly && this.unusable() === undefined) {
      // Everything is durable in the log already. A reader in the way must not hold up the exit: the log is emptied by
      // whoever closes last.
      ignoringErrors(() => {
        this.database.exec('PRAGMA busy_timeout = 0');
        this.database.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get();
      });
    }
    this.#statements.clear();
    this.#mendIndex();
    this.database.close();
  }

  /** SQLite has it mapped: to touch what was cut off would end this process by a signal. Zeros are an index to be made anew. */
  #mendIndex(): void {
    const bytes = this.#sizeOf('-shm');
    if (bytes < this.#indexBytes) ignoringErrors(() => truncateSync(`${this.path}-shm`, this.#indexBytes));
  }
}

function ignoringErrors(work: () => void): void {
  try {
    work();
  } catch {
    // Said at the call.
  }
}

/** For the few methods of the port that have no room for a failure; `failure` says the same as a value would. */
export class StoreFailed extends Error {
  readonly failure: StoreFailure;
  constructor(failure: StoreFailure, cause?: unknown) {
    super(`${failure.detail}. ${failure.hint}`, { cause });
    this.name = 'StoreFailed';
    this.failure = failure;
  }
}

/** Primary result codes of SQLite (sqlite.org/rescode.html) that mean something to a user. */
const kindByCode: Readonly<Record<number, StoreFailureKind>> = {
  3: 'readonly', // PERM
  5: 'busy',
  6: 'busy', // LOCKED
  8: 'readonly',
  10: 'io',
  11: 'corrupt',
  13: 'disk-full',
  14: 'io', // CANTOPEN
  15: 'busy', // PROTOCOL: the locks of the WAL were contended for too long
  26: 'corrupt', // NOTADB
};

const cannotOpen = 14;

const kindBySystemCode: Readonly<Record<string, StoreFailureKind>> = {
  EROFS: 'readonly',
  EACCES: 'readonly',
  EPERM: 'readonly',
  ENOSPC: 'disk-full',
  EDQUOT: 'disk-full',
  EBUSY: 'busy',
  ENOENT: 'gone',
};

const hints: Readonly<Record<StoreFailureKind, (path: string) => string>> = {
  conflict: () => 'Read what was added and decide again.',
  fenced: () => 'Another process holds this loop: stop, or send it a command.',
  'disk-full': path => `Free some space on the disk of ${dirname(path)} and run the same command again.`,
  io: () =>
    'The disk reported an error, or this process has no file descriptors left (ulimit -n). Check both, then run the same command again: the ledger is verified at the start.',
  gone: path => `Put ${path} back, or start again to make a new ledger.`,
  corrupt: () => 'Save what can still be read: ralph resume. The damaged file is kept beside the new one, unchanged.',
  newer: () => 'Use the newer version of ralph that wrote it.',
  readonly: path =>
    `Make ${path} and its folder writable by you (chown, chmod), or set RALPH_HOME to a folder of yours.`,
  busy: () => 'Another process is writing for too long. Run the same command again.',
  network: () => 'Set RALPH_HOME to a folder on a local disk.',
};

export function failure(kind: StoreFailureKind, path: string, detail: string): StoreFailure {
  return { kind, detail, hint: hints[kind](path) };
}

interface SqliteError extends Error {
  readonly errcode: number;
}

export function isSqliteError(error: unknown): error is SqliteError {
  return error instanceof Error && typeof (error as { errcode?: unknown }).errcode === 'number';
}

const uniqueViolations: readonly number[] = [2067, 1555]; // CONSTRAINT_UNIQUE, CONSTRAINT_PRIMARYKEY

export function isUniqueViolation(error: unknown): boolean {
  return isSqliteError(error) && uniqueViolations.includes(error.errcode);
}

/** Undefined when the error is none of the disk, the locks or the file, but a broken invariant of ours. */
export function failureOf(error: unknown, path: string): StoreFailure | undefined {
  if (error instanceof StoreFailed) return error.failure;
  if (isSqliteError(error)) {
    if (error.errcode === cannotOpen && !isWritable(dirname(path)))
      return failure('readonly', path, `${dirname(path)} cannot be written, and its log can only be read where it can`);
    const kind = kindByCode[error.errcode & 0xff];
    return kind && failure(kind, path, `${path}: ${error.message} (SQLite code ${error.errcode})`);
  }
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || (error as NodeJS.ErrnoException).errno === undefined) return undefined;
  return failure(kindBySystemCode[code] ?? 'io', path, `${path}: ${(error as Error).message}`);
}
