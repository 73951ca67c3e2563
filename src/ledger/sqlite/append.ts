// Appends events, the only way into the ledger: checks the fence, the expected seq and the chain, and returns when the disk has them.
import type { Event } from '../../core/event.ts';
import { canonical } from '../../text/canonical.ts';
import { genesisHash, isLoopEvent, type LoopEvent, link } from '../chain.ts';
import type { Appended, AppendOptions } from '../ledger.ts';
import { type Connection, failure, isUniqueViolation } from './connection.ts';
import type { Leases } from './leases.ts';

interface Head {
  readonly seq: number;
  readonly hash: string;
}

interface Batch {
  readonly loop: string;
  readonly expectedSeq: number;
  readonly rows: readonly { readonly event: Event; readonly body: string }[];
  readonly options: AppendOptions;
}

const insertEvent = 'INSERT INTO events (loop, seq, at, type, body, hash) VALUES (?, ?, ?, ?, ?, ?)';

/** Plain `?` only: Node 22 does not bind numbered parameters by position. One statement, one sync: the lease is checked where the row is written, the place by the unique index. */
const insertEventUnderLease = `INSERT INTO events (loop, seq, at, type, body, hash) SELECT ?, ?, ?, ?, ?, ?
  WHERE EXISTS (SELECT 1 FROM leases WHERE loop = ? AND token = ? AND holder IS NOT NULL)`;

export class Appender {
  readonly #connection: Connection;
  readonly #leases: Leases;
  /** Events only grow, so a head that was true once can only be behind: then the unique index refuses. */
  readonly #heads = new Map<string, Head>();

  constructor(connection: Connection, leases: Leases) {
    this.#connection = connection;
    this.#leases = leases;
  }

  append(loop: string, expectedSeq: number, events: readonly Event[], options: AppendOptions = {}): Appended {
    const rows = events.map(event => ({ event, body: canonical(event) }));
    const unusable = this.#connection.unusable() ?? this.#connection.notMigrated;
    if (unusable !== undefined) return { ok: false, failure: unusable };
    try {
      const batch = { loop, expectedSeq, rows, options };
      const appended = this.#appendOne(batch) ?? this.#connection.transaction(() => this.#appendAll(batch));
      if (appended.ok) {
        this.#heads.set(loop, { seq: appended.seq, hash: appended.hash });
        this.#connection.measure();
      } else this.#heads.delete(loop);
      return appended;
    } catch (error) {
      this.#heads.delete(loop);
      return { ok: false, failure: this.#connection.failure(error) };
    }
  }

  /** Undefined: it is no single event after a head that we know, and needs a transaction. */
  #appendOne({ loop, expectedSeq, rows: [row, ...more], options: { token, takes } }: Batch): Appended | undefined {
    const head = this.#heads.get(loop);
    if (row === undefined || more.length > 0 || takes !== undefined || isLoopEvent(row.event)) return undefined;
    if (token === undefined || head?.seq !== expectedSeq) return undefined;
    const { event, body } = row;
    const seq = head.seq + 1;
    const hash = link(head.hash, loop, seq, body);
    try {
      const { changes } = this.#connection
        .statement(insertEventUnderLease)
        .run(loop, seq, event.at, event.type, body, hash, loop, token);
      return Number(changes) === 1 ? { ok: true, seq, hash } : { ok: false, failure: this.#leases.lost(loop) };
    } catch (error) {
      if (isUniqueViolation(error)) return this.#conflict(`loop ${loop} is beyond event ${head.seq} already`);
      throw error;
    }
  }

  #appendAll({ loop, expectedSeq, rows, options }: Batch): Appended {
    const fenced = this.#leases.fence(loop, options.token);
    if (fenced !== undefined) return { ok: false, failure: fenced };
    const head = this.#head(loop);
    if (head.seq !== expectedSeq) return this.#conflict(`loop ${loop} is at event ${head.seq}, not ${expectedSeq}`);
    if (options.takes !== undefined && !this.#takeMail(loop, options.takes)) {
      return this.#conflict(`command ${options.takes} of loop ${loop} was already taken`);
    }
    let { seq, hash } = head;
    for (const { event, body } of rows) {
      seq += 1;
      hash = link(hash, loop, seq, body);
      this.#connection.statement(insertEvent).run(loop, seq, event.at, event.type, body, hash);
      if (isLoopEvent(event)) listLoop(this.#connection, loop, event);
    }
    return { ok: true, seq, hash };
  }

  #conflict(detail: string): Appended {
    return { ok: false, failure: failure('conflict', this.#connection.path, detail) };
  }

  #takeMail(loop: string, id: number): boolean {
    const sql = 'DELETE FROM mailbox WHERE id = ? AND loop = ?';
    return Number(this.#connection.statement(sql).run(id, loop).changes) === 1;
  }

  #head(loop: string): Head {
    const sql = 'SELECT seq, hash FROM events WHERE loop = ? ORDER BY seq DESC LIMIT 1';
    return this.#connection.get<Head>(sql, loop) ?? { seq: 0, hash: genesisHash };
  }
}

/** Keeps the list of loops in step with the events, in the same transaction. */
export function listLoop(connection: Connection, loop: string, event: LoopEvent): void {
  if (event.type === 'loop.started') {
    const sql = `INSERT INTO loops (loop, name, document, directory, started_at) VALUES (?, ?, ?, ?, ?) ON CONFLICT (loop) DO
      UPDATE SET name = excluded.name, document = excluded.document, directory = excluded.directory,
        started_at = excluded.started_at, reason = NULL, ended_at = NULL`;
    connection.statement(sql).run(loop, event.name, event.document, event.directory, event.at);
    return;
  }
  const [reason, endedAt] = event.type === 'loop.ended' ? [event.reason, event.at] : [null, null];
  connection.statement('UPDATE loops SET reason = ?, ended_at = ? WHERE loop = ?').run(reason, endedAt, loop);
}

/** The row of the list goes last: killed before, the same call does the rest. */
export function forget(connection: Connection, loop: string): void {
  connection.orThrow(() => {
    for (const table of ['snapshots', 'mailbox', 'loops'])
      connection.statement(`DELETE FROM ${table} WHERE loop = ?`).run(loop);
  });
}
