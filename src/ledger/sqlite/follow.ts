// Follows the ledger: events page by page, then new ones as they come, until told to stop; and the mailbox.
import { versionOf } from '../../core/input.ts';
import type { FollowFrom, Mail, Mailbox, Recorded } from '../ledger.ts';
import type { Connection } from './connection.ts';
import { read, readAll, seqAt } from './read.ts';

export async function* follow(
  connection: Connection,
  pulse: Pulse,
  { cursor, loop }: FollowFrom,
  stop: AbortSignal,
): AsyncGenerator<Recorded> {
  let changed = Promise.withResolvers<void>();
  const wake = (): void => changed.resolve();
  const unlisten = pulse.listen(wake);
  stop.addEventListener('abort', wake);
  try {
    let place = loop === undefined ? cursor : seqAt(connection, loop, cursor);
    while (!stop.aborted) {
      changed = Promise.withResolvers(); // before the look, so that no change is missed
      const page = loop === undefined ? readAll(connection, place) : read(connection, loop, place);
      for (const recorded of page) {
        if (stop.aborted) return;
        place = loop === undefined ? recorded.cursor : recorded.seq;
        yield recorded;
      }
      if (page.length === 0) await changed.promise;
    }
  } finally {
    unlisten();
    stop.removeEventListener('abort', wake);
  }
}

/** DESIGN section 2: the holder watches PRAGMA data_version. */
const pollMs = 200;

export type Change = 'appended' | 'mailed' | 'elsewhere';

/** Wakes whoever waits for the ledger: at once for writes of this connection, within 200 ms for those of other processes. */
export class Pulse {
  readonly #connection: Connection;
  readonly #listeners = new Set<(change: Change) => void>();
  #timer: NodeJS.Timeout | undefined;
  #version = -1;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /** From this call on no change is missed; a change may be told twice. */
  listen(changed: (change: Change) => void): () => void {
    if (this.#listeners.size === 0) {
      this.#version = this.#seen();
      this.#timer = setInterval(() => this.#poll(), pollMs);
      this.#timer.unref();
    }
    // A wrapper of its own, so that the same function may listen twice.
    const listener = (change: Change): void => changed(change);
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.stop();
    };
  }

  /** This connection wrote, which PRAGMA data_version does not count. */
  beat(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #poll(): void {
    const version = this.#seen();
    if (version === this.#version) return;
    this.#version = version;
    this.beat('elsewhere');
  }

  /** A ledger that is gone or broken is a change too: the listener finds out when it reads. */
  #seen(): number {
    if (this.#connection.unusable() !== undefined) return -2;
    try {
      return this.#connection.get<{ data_version: number }>('PRAGMA data_version')?.data_version ?? -2;
    } catch {
      return -2;
    }
  }
}

/** Commands of other processes: rows that anyone may add and that leave in the append of what was decided on them. */
export function mailboxOf(connection: Connection, pulse: Pulse): Mailbox {
  return {
    async send(loop, by, body, at) {
      const sql = 'INSERT INTO mailbox (loop, at, "by", version, body) VALUES (?, ?, ?, ?, ?)';
      const values = [loop, at, by, versionOf(body), JSON.stringify(body)] as const;
      const id = connection.orThrow(() => Number(connection.statement(sql).run(...values).lastInsertRowid));
      pulse.beat('mailed');
      return id;
    },
    async waiting(loop) {
      const sql = 'SELECT id, loop, at, "by", version, body FROM mailbox WHERE loop = ? ORDER BY id';
      const rows = connection.orThrow(() => connection.all<Mail & { readonly body: string }>(sql, loop));
      return rows.map(row => ({ ...row, body: JSON.parse(row.body) as unknown }));
    },
    watch: changed =>
      pulse.listen(change => {
        if (change !== 'appended') changed();
      }),
  };
}
