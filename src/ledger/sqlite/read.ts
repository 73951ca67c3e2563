// Reads the ledger in pages, so that no reader keeps the write-ahead log from being emptied (F44); and snapshots.
import { ChainWalk } from '../chain.ts';
import type { LoopFilter, LoopRow, Recorded, Snapshot, Snapshots, StoredEvent, Verified } from '../ledger.ts';
import { upcast } from '../upcast.ts';
import { type Connection, type EventRow, failure, StoreFailed } from './connection.ts';

const pageRows = 1_000;

/** Of the loop's first event; one that is damaged is told by `verify`, and hides no other loop. */
const projectOf = `SELECT CASE WHEN json_valid(body) THEN json_extract(body, '$.projectId') END
  FROM events WHERE events.loop = loops.loop AND seq = 1`;

export function read(connection: Connection, loop: string, after = 0, most = pageRows): readonly Recorded[] {
  return connection.orThrow(() => rowsOf(connection, loop, after, most).map(row => recorded(connection, row)));
}

function rowsOf(connection: Connection, loop: string, after: number, most: number): EventRow[] {
  const sql = 'SELECT cursor, loop, seq, body, hash FROM events WHERE loop = ? AND seq > ? ORDER BY seq LIMIT ?';
  return connection.all(sql, loop, after, most);
}

function recorded({ path }: Connection, { loop, seq, hash, cursor, body }: EventRow): Recorded {
  try {
    return { loop, seq, hash, cursor, event: upcast(JSON.parse(body)) };
  } catch (error) {
    const known = failure('corrupt', path, `event ${seq} of loop ${loop} in ${path} is not readable`);
    throw new StoreFailed({ ...known, hint: 'Check it: ralph audit verify.' }, error);
  }
}

/** The seq of a loop's last event at or before a cursor, to follow one loop by its own index. */
export function seqAt(connection: Connection, loop: string, cursor: number): number {
  const sql = 'SELECT seq FROM events WHERE loop = ? AND cursor <= ? ORDER BY seq DESC LIMIT 1';
  return connection.orThrow(() => connection.get<{ seq: number }>(sql, loop, cursor))?.seq ?? 0;
}

export function readAll(connection: Connection, cursor: number): readonly Recorded[] {
  const sql = 'SELECT cursor, loop, seq, body, hash FROM events WHERE cursor > ? ORDER BY cursor LIMIT ?';
  return connection.orThrow(() =>
    connection.all<EventRow>(sql, cursor, pageRows).map(row => recorded(connection, row)),
  );
}

export function lastCursor(connection: Connection): number {
  const sql = 'SELECT coalesce(max(cursor), 0) AS cursor FROM events';
  return connection.orThrow(() => connection.get<{ cursor: number }>(sql))?.cursor ?? 0;
}

export function loops(connection: Connection, filter: LoopFilter = {}): readonly LoopRow[] {
  const sql = `SELECT loop, name, document, directory, started_at AS startedAt,
      coalesce((SELECT max(seq) FROM events WHERE events.loop = loops.loop), 0) AS seq, reason, ended_at AS endedAt FROM loops
    WHERE (? IS NULL OR document = ?) AND (? IS NULL OR (reason IS NULL) = ?) AND (? IS NULL OR ? = (${projectOf}))
    ORDER BY started_at DESC, rowid DESC`;
  const { document = null, project = null } = filter;
  const open = filter.open === undefined ? null : Number(filter.open);
  const values = [document, document, open, open, project, project];
  return connection.orThrow(() => connection.all<LoopRow>(sql, ...values));
}

export function verify(connection: Connection, loop: string, each?: (stored: StoredEvent) => void): Verified {
  const walk = new ChainWalk(loop);
  try {
    for (;;) {
      const rows = rowsOf(connection, loop, walk.seq, pageRows);
      for (const row of rows) {
        if (!walk.step(row)) return walk.result();
        each?.(row);
      }
      if (rows.length < pageRows) return walk.result();
    }
  } catch (error) {
    return { ok: false, seq: walk.seq + 1, detail: `cannot be read: ${connection.failure(error).detail}` };
  }
}

/** The newest folded state of each loop; losing one costs time, never truth, so no failure leaves this function. */
export function snapshotsOf(connection: Connection, warn: (sentence: string) => void): Snapshots {
  return {
    async save(loop, { seq, hash, version, state }) {
      try {
        const sql = `INSERT INTO snapshots (loop, seq, hash, version, state) VALUES (?, ?, ?, ?, ?) ON CONFLICT (loop) DO
          UPDATE SET seq = excluded.seq, hash = excluded.hash, version = excluded.version, state = excluded.state`;
        connection.orThrow(() =>
          connection.statement(sql).run(loop, seq, hash, String(version), JSON.stringify(state)),
        );
      } catch (error) {
        warn(`The snapshot of loop ${loop} was not saved, so the next start takes longer: ${String(error)}`);
      }
    },
    async latest(loop, version) {
      try {
        const sql = `SELECT seq, snapshots.hash, state FROM snapshots JOIN events USING (loop, seq)
          WHERE loop = ? AND version = ? AND events.hash = snapshots.hash`;
        type Stored = Snapshot & { readonly state: string };
        const row = connection.orThrow(() => connection.get<Stored>(sql, loop, String(version)));
        return row && { seq: row.seq, hash: row.hash, version, state: JSON.parse(row.state) as unknown };
      } catch (error) {
        warn(`The snapshot of loop ${loop} cannot be used, so this start takes longer: ${String(error)}`);
        return undefined;
      }
    },
  };
}
