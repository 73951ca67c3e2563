// Tells a disk that failed under an iteration's record from a bug of ours: the first ends the run with its own words.
import type { StoreFailure, StoreFailureKind } from '../ledger/ledger.ts';

interface Row {
  readonly kind: StoreFailureKind;
  readonly what: string;
  readonly hint: string;
}

const full: Row = {
  kind: 'disk-full',
  what: 'the disk is full',
  hint: 'Free some space on the disk of RALPH_HOME and run the same command again.',
};
const gone: Row = {
  kind: 'gone',
  what: 'the folder of this loop was deleted or replaced while it was in use',
  hint: 'Put RALPH_HOME back, or start again to make a new ledger.',
};
const locked: Row = {
  kind: 'readonly',
  what: 'the folder of this loop cannot be written any more',
  hint: 'Make RALPH_HOME writable by you (chown, chmod, mount) and run the same command again.',
};
const broken: Row = {
  kind: 'io',
  what: 'the disk reported an error',
  hint: 'Check the disk of RALPH_HOME, then run the same command again.',
};

const rows: Readonly<Record<string, Row>> = {
  ENOSPC: full,
  EDQUOT: full,
  ENOENT: gone,
  EROFS: locked,
  EACCES: locked,
  EPERM: locked,
  EIO: broken,
};

/** Undefined for whatever the file system did not say: that is a bug, and crash-only means the process ends (F15). */
export function storageFailure(error: unknown): StoreFailure | undefined {
  const { failure, code, syscall, message } = (error ?? {}) as NodeJS.ErrnoException & { failure?: StoreFailure };
  if (failure !== undefined) return failure;
  const row = typeof syscall === 'string' ? rows[code ?? ''] : undefined;
  return row && { kind: row.kind, detail: `${row.what}: ${message}`, hint: row.hint };
}
