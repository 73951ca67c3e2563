// Opens the database: what could go wrong is looked at before SQLite touches a byte.
import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { StoreFailure } from '../ledger.ts';
import { Connection, failure, failureOf, openDatabase, StoreFailed, userVersion } from './connection.ts';
import { type Glance, glance, lostCommits, networkFileSystem } from './files.ts';
import type { Liveness } from './leases.ts';
import { currentSchema, type Schema } from './schema.ts';

const secondLookMs = 50;

export interface Opening {
  readonly path: string;
  readonly readOnly?: boolean;
  /** Of the code, for messages. */
  readonly version: string;
  /** Reads every page before it trusts the file (F46). */
  readonly quickCheck?: boolean;
  /** How long to wait for other writers; ten seconds unless told. */
  readonly busyMsMax?: number;
  /** Opens even on a file system where a write-ahead log is unsafe (F45). */
  readonly allowNetwork?: boolean;
  /** Opens although a loop of an older version runs, and writes nothing but mail until the next opening. */
  readonly mailToOlder?: boolean;
  /** Another schema than ours, to test migrations. */
  readonly schema?: Schema;
  readonly liveness: Liveness;
  readonly now: () => number;
}

type Connected =
  | { readonly ok: true; readonly connection: Connection }
  | { readonly ok: false; readonly failure: StoreFailure };

export async function openConnection(opening: Opening): Promise<Connected> {
  const { path, readOnly = false, schema = currentSchema, liveness } = opening;
  const network = opening.allowNetwork ? undefined : networkFileSystem(path);
  if (network !== undefined) {
    const detail = `${path} lies on a network file system (${network}), where it is not safe`;
    return { ok: false, failure: failure('network', path, detail) };
  }
  let seen = await look(path);
  if (seen.type === 'missing') {
    if (readOnly) return { ok: false, failure: failure('gone', path, `there is no ledger at ${path} yet`) };
    const { createDatabase } = await import('./migrate.ts');
    await createDatabase(path, schema, liveness);
    seen = await look(path);
  }
  try {
    refuseDamaged(seen, opening);
    refuseNewer(seen.type === 'database' ? seen.userVersion : 0, opening);
    if (seen.type === 'database' && seen.walBytes > 0) refuseNewer(loggedVersion(path), opening);
    if (!readOnly) claim(path);
    return { ok: true, connection: await connect(opening) };
  } catch (error) {
    const known = failureOf(error, path);
    if (known?.kind !== 'corrupt' || readOnly) throw error;
    const { salvage } = await import('./salvage.ts');
    return { ok: false, failure: await salvage({ path, detail: known.detail, schema, liveness, now: opening.now }) };
  }
}

/** What looks damaged may be a write of another process that was half seen: then it is gone a moment later. */
async function look(path: string): Promise<Glance> {
  const seen = glance(path);
  if (seen.type !== 'damaged') return seen;
  await setTimeout(secondLookMs);
  return glance(path);
}

function refuseDamaged(seen: Glance, { path, quickCheck }: Opening): void {
  if (seen.type === 'damaged') throw new StoreFailed(failure('corrupt', path, seen.detail));
  const lost = quickCheck ? lostCommits(path) : 0;
  if (lost > 0)
    throw new StoreFailed(failure('corrupt', path, `the write-ahead log is damaged before its last ${lost} commits`));
}

function refuseNewer(found: number, { path, version, schema = currentSchema }: Opening): void {
  if (found <= schema.version) return;
  const detail = `${path} has schema version ${found}, written by a newer ralph; this one (${version}) knows version ${schema.version}`;
  throw new StoreFailed(failure('newer', path, detail));
}

/** A version that was written, but lies in the log still. Read-only, because a writer would empty the log at its close. */
function loggedVersion(path: string): number {
  const reader = new DatabaseSync(path, { readOnly: true, timeout: 10_000 });
  try {
    return userVersion(reader);
  } finally {
    reader.close();
  }
}

/** SQLite would open what it cannot write as read-only, and only the first append would say so (F41). */
function claim(path: string): void {
  accessSync(path, constants.R_OK | constants.W_OK);
  accessSync(dirname(path), constants.R_OK | constants.W_OK | constants.X_OK);
  if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
}

async function connect(opening: Opening): Promise<Connection> {
  const { path, readOnly = false, quickCheck = false, schema = currentSchema, liveness } = opening;
  const database = openDatabase(path, readOnly, opening.busyMsMax);
  try {
    if (quickCheck) {
      const said = database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'];
      if (said !== 'ok') throw new StoreFailed(failure('corrupt', path, String(said)));
    }
    const found = userVersion(database);
    if (found < schema.version && !(readOnly && found >= schema.readableFrom)) {
      const detail = `${path} must be migrated from version ${found} to ${schema.version} first`;
      if (readOnly) throw new StoreFailed(failure('readonly', path, detail));
      const { migrate } = await import('./migrate.ts');
      const running = await migrate({ path, database, schema, liveness });
      if (running !== undefined && !(opening.mailToOlder && found >= schema.readableFrom))
        throw new StoreFailed(running);
      return new Connection(path, database, readOnly, running);
    }
    return new Connection(path, database, readOnly);
  } catch (error) {
    database.close();
    throw error;
  }
}
