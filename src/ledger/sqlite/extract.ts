// Copies, loop by loop, the longest run of events whose chain holds out of a database that may break at any read.
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import type { Event } from '../../core/event.ts';
import { ChainWalk } from '../chain.ts';
import { isLoopEvent } from '../loop-row.ts';
import { listLoop } from './append.ts';
import type { Row } from './connection.ts';

export interface Saved {
  readonly events: number;
  readonly loops: number;
  /** Nothing was unreadable and nothing failed to verify. */
  readonly isWhole: boolean;
}

export function extract(from: DatabaseSync, to: DatabaseSync): Saved {
  const walks = new Map<string, ChainWalk>();
  const statements = new Map<string, StatementSync>();
  const statement = (sql: string): StatementSync => {
    const known = statements.get(sql) ?? to.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  let isWhole = true;
  let events = 0;
  let kept = 0;
  const keep = (row: Row): void => {
    const cursor = Number(row['cursor']);
    if (!(cursor > kept)) {
      isWhole = false; // a damaged page can repeat itself
      return;
    }
    const loop = String(row['loop']);
    const walk = walks.get(loop) ?? new ChainWalk(loop);
    walks.set(loop, walk);
    const body = String(row['body']);
    if (!walk.step({ seq: Number(row['seq']), body, hash: String(row['hash']) })) {
      isWhole = false;
      return;
    }
    const event = JSON.parse(body) as Event;
    const sql = 'INSERT INTO events (cursor, loop, seq, at, type, body, hash) VALUES (?, ?, ?, ?, ?, ?, ?)';
    statement(sql).run(cursor, loop, walk.seq, event.at, event.type, body, walk.head);
    if (isLoopEvent(event)) listLoop({ statement }, loop, event);
    kept = cursor;
    events += 1;
  };
  to.exec('BEGIN');
  const hasHoles = readAround(from, keep);
  const lost = ['leases', 'mailbox'].filter(table => !copyTable(from, to, table));
  to.exec('COMMIT');
  const loops = [...walks.values()].filter(walk => walk.seq > 0).length;
  return { events, loops, isWhole: isWhole && !hasHoles && lost.length === 0 };
}

/** Ten times what one lost page of the tree's inner level can hide; behind a longer hole nobody looks. */
const holeEventsMax = 50_000;

/** Reads events in order and steps over the pages that cannot be read; true when there were any. */
function readAround(from: DatabaseSync, keep: (row: Row) => void): boolean {
  const scan = from.prepare(
    'SELECT cursor, loop, seq, body, hash FROM events WHERE cursor > ? ORDER BY cursor LIMIT 100',
  );
  const last = lastCursor(from);
  let hasHoles = false;
  let after = 0;
  while (after <= last) {
    let rows: Row[];
    try {
      rows = scan.all(after) as Row[];
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
      after = Math.max(after + 1, Number(row['cursor']));
    }
  }
  return hasHoles;
}

/** One by one through the page of hundred that failed: what can be read, and where reading works again. */
function stepOver(
  from: DatabaseSync,
  after: number,
  last: number,
): { readonly readable: readonly Row[]; readonly next: number | undefined } {
  const one = from.prepare('SELECT cursor, loop, seq, body, hash FROM events WHERE cursor = ?');
  const readable: Row[] = [];
  let hasFailed = false;
  for (let cursor = after + 1; cursor <= last && cursor <= after + holeEventsMax; cursor += 1) {
    try {
      const row = one.get(cursor) as Row | undefined;
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

function copyTable(from: DatabaseSync, to: DatabaseSync, table: string): boolean {
  try {
    for (const row of from.prepare(`SELECT * FROM ${table}`).all()) {
      const names = Object.keys(row).map(name => `"${name}"`);
      const marks = names.map(() => '?').join(', ');
      to.prepare(`INSERT INTO ${table} (${names.join(', ')}) VALUES (${marks})`).run(
        ...(Object.values(row) as SQLInputValue[]),
      );
    }
    return true;
  } catch {
    return false;
  }
}
