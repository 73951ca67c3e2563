// The ledger in one SQLite file: what could go wrong is looked at before SQLite touches a byte; then it is opened, or one sentence says why not.
import { accessSync, chmodSync, constants, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout } from 'node:timers/promises';
import type { Holder, Ledger, Store, StoreFailure } from './ledger.ts';
import { schemaBatch } from './schema.ts';
import { Appender, forget } from './sqlite/append.ts';
import { Connection, failure, failureOf, openDatabase, StoreFailed, userVersion } from './sqlite/connection.ts';
import { createDatabase, type Schema, type Target } from './sqlite/create.ts';
import { type Glance, glance, lostCommits, networkFileSystem } from './sqlite/files.ts';
import { follow, mailboxOf, Pulse } from './sqlite/follow.ts';
import { Leases, livenessOf } from './sqlite/leases.ts';
import { lastCursor, loops, read, snapshotsOf, verify } from './sqlite/read.ts';

/** What this code reads and writes, known without loading the migrations. */
export const currentSchema: Schema = {
  version: 5,
  readableFrom: 1,
  migrations: async () => (await import('./migrations.ts')).migrations,
  batch: schemaBatch,
};

export interface SqliteLedgerOptions {
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
  /** Boot id and pid namespace of this process: only holders of the same can be looked at. */
  readonly boot: string;
  readonly isAlive: (holder: Holder) => boolean;
  readonly now: () => number;
  readonly warn: (sentence: string) => void;
}

type Opening = SqliteLedgerOptions & Target;

export type Opened =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly failure: StoreFailure };

export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Opened> {
  const opening: Opening = { ...options, schema: options.schema ?? currentSchema, liveness: livenessOf(options) };
  try {
    return { ok: true, ledger: ledgerOf(await openConnection(opening), opening) };
  } catch (error) {
    const known = failureOf(error, options.path);
    if (known === undefined) throw error;
    return { ok: false, failure: known };
  }
}

function ledgerOf(connection: Connection, { liveness, now, warn }: Opening): Ledger {
  const pulse = new Pulse(connection);
  const store = storeOf(connection, new Leases(connection, liveness, now), pulse);
  return { store, mailbox: mailboxOf(connection, pulse), snapshots: snapshotsOf(connection, warn) };
}

function storeOf(connection: Connection, leases: Leases, pulse: Pulse): Store {
  const appender = new Appender(connection, leases);
  const closed = new AbortController();
  return {
    append: async (loop, expectedSeq, events, options) => {
      const appended = appender.append(loop, expectedSeq, events, options);
      if (appended.ok) pulse.beat('appended');
      return appended;
    },
    read: async (loop, after, most) => read(connection, loop, after, most),
    loops: async filter => loops(connection, filter),
    follow: (from, stop) => follow(connection, pulse, from, AbortSignal.any([stop, closed.signal])),
    cursor: async () => lastCursor(connection),
    lease: async (loop, holder) => leases.take(loop, holder),
    renew: async lease => leases.renew(lease),
    release: async lease => leases.release(lease),
    holder: async loop => leases.holder(loop),
    forget: async loop => forget(connection, loop),
    verify: async (loop, each) => verify(connection, loop, each),
    close: async () => {
      closed.abort();
      pulse.stop();
      connection.close();
    },
  };
}

async function openConnection(opening: Opening): Promise<Connection> {
  const { path, readOnly } = opening;
  const network = opening.allowNetwork ? undefined : networkFileSystem(path);
  if (network !== undefined) {
    const detail = `${path} lies on a network file system (${network}), where it is not safe`;
    throw new StoreFailed(failure('network', path, detail));
  }
  let seen = await look(path);
  if (seen.type === 'missing') {
    if (readOnly) throw new StoreFailed(failure('gone', path, `there is no ledger at ${path} yet`));
    await createDatabase(opening);
    seen = await look(path);
  }
  try {
    refuseDamaged(seen, opening);
    refuseNewer(seen.type === 'database' ? seen.userVersion : 0, opening);
    if (seen.type === 'database' && seen.walBytes > 0) refuseNewer(loggedVersion(path), opening);
    if (!readOnly) claim(path);
    return await connect(opening);
  } catch (error) {
    const known = failureOf(error, path);
    if (known?.kind !== 'corrupt' || readOnly) throw error;
    const { salvage } = await import('./sqlite/salvage.ts');
    throw new StoreFailed(await salvage(opening, known.detail, opening.now()));
  }
}

const secondLookMs = 50;

/** What looks damaged may be a write of another process that was half seen: then it is gone a moment later. */
async function look(path: string): Promise<Glance> {
  const seen = glance(path);
  if (seen.type !== 'damaged') return seen;
  await setTimeout(secondLookMs);
  return glance(path);
}

const damaged = (path: string, detail: string): StoreFailed =>
  new StoreFailed(failure('corrupt', path, `${path} is damaged: ${detail}`));

function refuseDamaged(seen: Glance, { path, quickCheck }: Opening): void {
  if (seen.type === 'damaged') throw damaged(path, seen.detail);
  const lost = quickCheck ? lostCommits(path) : 0;
  if (lost > 0) throw damaged(path, `the write-ahead log is damaged before its last ${lost} commits`);
}

function refuseNewer(found: number, { path, version, schema }: Opening): void {
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
  const { path, readOnly = false, quickCheck, schema } = opening;
  const database = openDatabase(path, readOnly, opening.busyMsMax);
  try {
    const said = quickCheck ? database.prepare('PRAGMA quick_check(1)').get()?.['quick_check'] : 'ok';
    if (said !== 'ok') throw damaged(path, String(said));
    const found = userVersion(database);
    const isReadable = found >= schema.readableFrom;
    if (found >= schema.version || (readOnly && isReadable)) return new Connection(path, database, readOnly);
    const detail = `${path} must be migrated from version ${found} to ${schema.version} first`;
    if (readOnly) throw new StoreFailed(failure('readonly', path, detail));
    const { migrate } = await import('./sqlite/migrate.ts');
    const running = await migrate(database, opening);
    if (running !== undefined && !(opening.mailToOlder && isReadable)) throw new StoreFailed(running);
    return new Connection(path, database, readOnly, running);
  } catch (error) {
    database.close();
    throw error;
  }
}
