// Salvages what still verifies from a damaged database into a new one, and keeps the damaged files beside it untouched.
import {
  closeSync,
  copyFileSync,
  existsSync,
  fstatSync,
  ftruncateSync,
  linkSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import type { Event } from '../../core/event.ts';
import { ChainWalk, isLoopEvent } from '../chain.ts';
import type { StoreFailure } from '../ledger.ts';
import { listLoop } from './append.ts';
import { Connection, type EventRow, failure, inodeOf, isSqliteError, openDatabase } from './connection.ts';
import { freeName, type Target, writeDatabase } from './create.ts';
import { sync } from './files.ts';

/** How much of the first page is replaced by that of a fresh database: nothing, the file's header, all of it. */
const transplantBytes = [0, 100, 4_096];
const headerBytes = 100;

/** A length that the header claims is believed up to this many pages beyond the double of what is there. */
const growthPagesMax = 1_000_000;

export async function salvage(target: Target, detail: string, now: number): Promise<StoreFailure> {
  const { path } = target;
  const before = inodeOf(path);
  const scratch = mkdtempSync(`${path}.salvage-`);
  try {
    const fresh = join(scratch, 'fresh.db');
    await writeDatabase({ ...target, path: fresh });
    let best: { readonly file: string; readonly saved: Saved } | undefined;
    for (const bytes of transplantBytes) {
      const file = join(scratch, `saved-${bytes}.db`);
      copyFileSync(fresh, file);
      const saved = attempt(path, fresh, file, bytes);
      if (best === undefined || saved.events > best.saved.events) best = { file, saved };
      if (saved.isWhole) break;
    }
    if (best === undefined || inodeOf(path) !== before)
      return failure('busy', path, `${path} is being repaired by another process`);
    const damaged = replaceDamaged(path, best.file, new Date(now).toISOString().replaceAll(/[:.]/g, '-'));
    const { events, loops } = best.saved;
    const told = `${detail}. What was damaged lies unchanged in ${damaged}; ${events} events of ${loops} loops were saved from it`;
    return { ...failure('corrupt', path, told), hint: 'Run the same command again: it goes on with what was saved.' };
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Works on a copy, because already opening a damaged database may change it. */
function attempt(path: string, fresh: string, target: string, bytes: number): Saved {
  if (!existsSync(path)) return { events: 0, loops: 0, isWhole: true };
  const copy = `${target}.damaged`;
  copyFileSync(path, copy);
  if (existsSync(`${path}-wal`)) copyFileSync(`${path}-wal`, `${copy}-wal`);
  transplant(copy, fresh, bytes);
  const to = new Connection(target, openDatabase(target, false), false);
  try {
    const from = new DatabaseSync(copy);
    try {
      return extract(from, to);
    } finally {
      from.close();
    }
  } catch (error) {
    if (!isSqliteError(error)) throw error;
    return { events: 0, loops: 0, isWhole: false };
  } finally {
    to.close(); // empties its log, so that one file holds everything
  }
}

/**
 * Every ledger of one version begins alike but for the counts, so the beginning of a fresh one can stand in. What was
 * cut off is filled with zeros, because SQLite refuses every page of a file that is shorter than it says.
 */
function transplant(copy: string, fresh: string, bytes: number): void {
  const file = openSync(copy, 'r+');
  try {
    const { size } = fstatSync(file);
    const header = Buffer.alloc(headerBytes);
    readSync(file, header, 0, headerBytes, 0);
    const donor = readFileSync(fresh);
    const pageBytes = donor.readUInt16BE(16);
    const claimed = header.readUInt16BE(16) === pageBytes ? header.readUInt32BE(28) : 0;
    const here = Math.ceil(size / pageBytes);
    const pages = Math.max(here, donor.readUInt32BE(28), claimed <= 2 * here + growthPagesMax ? claimed : 0);
    ftruncateSync(file, pages * pageBytes);
    if (bytes === 0) return;
    donor.writeUInt32BE(pages, 28);
    donor.writeUInt32BE(0, 32); // no free pages: none will be written
    donor.writeUInt32BE(0, 36);
    writeSync(file, donor, 0, bytes, 0);
  } finally {
    closeSync(file);
  }
}

/** The log goes first: beside a new database it would be read as the new one's. */
function replaceDamaged(path: string, saved: string, stamp: string): string {
  const damaged = freeName(`${path}.corrupt-${stamp}`);
  for (const end of ['-wal', '-shm']) if (existsSync(`${path}${end}`)) renameSync(`${path}${end}`, `${damaged}${end}`);
  if (existsSync(path)) linkSync(path, damaged);
  sync(saved);
  renameSync(saved, path);
  sync(dirname(path));
  return damaged;
}

interface Saved {
  readonly events: number;
  readonly loops: number;
  /** Nothing was unreadable and nothing failed to verify. */
  readonly isWhole: boolean;
}

/** Copies, loop by loop, the longest run of events whose chain holds out of a database that may break at any read. */
function extract(from: DatabaseSync, to: Connection): Saved {
  const walks = new Map<string, ChainWalk>();
  let isWhole = true;
  let events = 0;
  let last = 0;
  const keep = ({ cursor, loop, seq, body, hash }: EventRow): void => {
    if (!(cursor > last)) {
      isWhole = false; // a damaged page can repeat itself
      return;
    }
    const walk = walks.get(loop) ?? new ChainWalk(loop);
    walks.set(loop, walk);
    if (!walk.step({ seq, body, hash })) {
      isWhole = false;
      return;
    }
    const event = JSON.parse(body) as Event;
    const sql = 'INSERT INTO events (cursor, loop, seq, at, type, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)';
    to.statement(sql).run(cursor, loop, walk.seq, event.at, event.type, body, walk.head);
    if (isLoopEvent(event)) listLoop(to, loop, event);
    last = cursor;
    events += 1;
  };
  to.statement('BEGIN').run();
  const hasHoles = readAround(from, keep);
  const lost = ['leases', 'mailbox'].filter(table => !copyTable(from, to, table));
  to.statement('COMMIT').run();
  const loops = [...walks.values()].filter(walk => walk.seq > 0).length;
  return { events, loops, isWhole: isWhole && !hasHoles && lost.length === 0 };
}

/** Ten times what one lost page of the tree's inner level can hide; behind a longer hole nobody looks. */
const holeEventsMax = 50_000;

/** Reads events in order and steps over the pages that cannot be read; true when there were any. */
function readAround(from: DatabaseSync, keep: (row: EventRow) => void): boolean {
  const scan = from.prepare(
    'SELECT cursor, loop, seq, body, hash FROM events WHERE cursor > ? ORDER BY cursor LIMIT 100',
  );
  const last = lastCursor(from);
  let hasHoles = false;
  let after = 0;
  while (after <= last) {
    let rows: EventRow[];
    try {
      rows = scan.all(after) as unknown as EventRow[];
    } catch {
      hasHoles = true;
      const { readable, next } = stepOver(from, after, last);
      for (const row of readable) keep(row);
      if (next === undefined) return true;
      after = next;
      continue;
    }
    if (rows.length === 0) break;
    for (const row of rows) {
      keep(row);
      after = Math.max(after + 1, row.cursor);
    }
  }
  return hasHoles;
}

/** One by one through the page of hundred that failed: what can be read, and where reading works again. */
function stepOver(
  from: DatabaseSync,
  after: number,
  last: number,
): { readonly readable: readonly EventRow[]; readonly next: number | undefined } {
  const one = from.prepare('SELECT cursor, loop, seq, body, hash FROM events WHERE cursor = ?');
  const readable: EventRow[] = [];
  let hasFailed = false;
  for (let cursor = after + 1; cursor <= last && cursor <= after + holeEventsMax; cursor += 1) {
    try {
      const row = one.get(cursor) as unknown as EventRow | undefined;
      if (row === undefined) continue;
      if (hasFailed) return { readable, next: cursor - 1 };
      readable.push(row);
    } catch {
      hasFailed = true;
    }
  }
  return { readable, next: undefined };
}

function lastCursor(from: DatabaseSync): number {
  for (const sql of [
    'SELECT max(cursor) AS last FROM events',
    "SELECT seq AS last FROM sqlite_sequence WHERE name = 'events'",
  ]) {
    try {
      const last = from.prepare(sql).get()?.['last'];
      if (typeof last === 'number') return last;
    } catch {
      // The other place may still be readable.
    }
  }
  return Number.MAX_SAFE_INTEGER;
}

function copyTable(from: DatabaseSync, to: Connection, table: string): boolean {
  try {
    for (const row of from.prepare(`SELECT * FROM ${table}`).all()) {
      const names = Object.keys(row).map(name => `"${name}"`);
      const marks = names.map(() => '?').join(', ');
      const sql = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`;
      to.statement(sql).run(...(Object.values(row) as SQLInputValue[]));
    }
    return true;
  } catch {
    return false;
  }
}
