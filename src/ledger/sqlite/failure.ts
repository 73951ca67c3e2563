// Turns what SQLite and the file system throw into the failures that the port promises, each with a way out.
import { dirname } from 'node:path';
import type { StoreFailure, StoreFailureKind } from '../ledger.ts';

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
  corrupt: () => 'Run the same command again.',
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
    const kind = kindByCode[error.errcode & 0xff];
    return kind && failure(kind, path, `${path}: ${error.message} (SQLite code ${error.errcode})`);
  }
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  if (code === undefined || (error as NodeJS.ErrnoException).errno === undefined) return undefined;
  return failure(kindBySystemCode[code] ?? 'io', path, `${path}: ${(error as Error).message}`);
}
