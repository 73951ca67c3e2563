// Leases: one holder at a time may write a loop, with a token that grows so that a late writer is fenced off.
import type { DatabaseSync } from 'node:sqlite';
import { sessionIdleMsMax, sessionOf } from '../../core/event.ts';
import type { Holder, Lease, Leased, LeaseState, StoreFailure } from '../ledger.ts';
import { type Connection, failure, StoreFailed } from './connection.ts';

/** A holder that we cannot look at (another boot or pid namespace) is dead when it was silent for this long. */
const silentMsMax = 60_000;

export type Liveness = (held: HeldLease) => boolean;

export function livenessOf(options: {
  readonly boot: string;
  readonly isAlive: (holder: Holder) => boolean;
  readonly now: () => number;
}): Liveness {
  return ({ lease: { holder }, renewedAt }) => {
    const silentMs = options.now() - renewedAt;
    if (sessionOf(holder.id) !== undefined) return silentMs <= sessionIdleMsMax;
    return holder.boot === options.boot ? options.isAlive(holder) : silentMs <= silentMsMax;
  };
}

interface HeldLease {
  readonly lease: Lease;
  readonly renewedAt: number;
}

interface LeaseRow extends Omit<Lease, 'holder'> {
  readonly holder: string;
  readonly renewed_at: number;
}

function heldLease({ loop, holder, token, since, renewed_at }: LeaseRow): HeldLease {
  return { lease: { loop, holder: JSON.parse(holder) as Holder, token, since }, renewedAt: renewed_at };
}

export function heldLeases(database: DatabaseSync): readonly HeldLease[] {
  return (database.prepare('SELECT * FROM leases WHERE holder IS NOT NULL').all() as unknown as LeaseRow[]).map(
    heldLease,
  );
}

export class Leases {
  readonly #connection: Connection;
  readonly #isAlive: Liveness;
  readonly #now: () => number;

  constructor(connection: Connection, isAlive: Liveness, now: () => number) {
    this.#connection = connection;
    this.#isAlive = isAlive;
    this.#now = now;
  }

  #held(loop: string): HeldLease | undefined {
    const row = this.#connection.get<LeaseRow>('SELECT * FROM leases WHERE loop = ? AND holder IS NOT NULL', loop);
    return row && heldLease(row);
  }

  /** Why this writer may not write, if so. To be asked within the transaction that writes. */
  fence(loop: string, token: number | undefined): StoreFailure | undefined {
    const held = this.#held(loop);
    if (token !== undefined) return held?.lease.token === token ? undefined : this.lost(loop);
    if (held === undefined || !this.#isAlive(held)) return undefined;
    const { holder } = held.lease;
    const detail = `loop ${loop} is held by process ${holder.pid} on ${holder.host}`;
    return failure('fenced', this.#connection.path, detail);
  }

  lost(loop: string): StoreFailure {
    return failure('fenced', this.#connection.path, `the lease of loop ${loop} is no longer ours`);
  }

  take(loop: string, holder: Holder): Leased {
    return this.#connection.orThrow(() => this.#connection.transaction(() => this.#take(loop, holder)));
  }

  #take(loop: string, holder: Holder): Leased {
    const held = this.#held(loop);
    const isSameHolder = held?.lease.holder.id === holder.id;
    if (held !== undefined && !isSameHolder && this.#isAlive(held)) {
      return { ok: false, held: held.lease };
    }
    const { notMigrated } = this.#connection;
    if (notMigrated !== undefined) throw new StoreFailed(notMigrated);
    const now = this.#now();
    if (held !== undefined && isSameHolder && held.lease.holder.pid === holder.pid) {
      this.#connection.statement('UPDATE leases SET renewed_at = ? WHERE loop = ?').run(now, loop);
      return { ok: true, lease: held.lease };
    }
    const row = this.#connection.get<{ token: number }>(
      `INSERT INTO leases (loop, token, holder, since, renewed_at) VALUES (?, 1, ?, ?, ?) ON CONFLICT (loop) DO
       UPDATE SET token = token + 1, holder = excluded.holder, since = excluded.since, renewed_at = excluded.renewed_at
       RETURNING token`,
      loop,
      JSON.stringify(holder),
      now,
      now,
    );
    return { ok: true, lease: { loop, holder, token: row!.token, since: now } };
  }

  renew(lease: Lease): boolean {
    return this.#connection.orThrow(() => {
      const sql = 'UPDATE leases SET renewed_at = ? WHERE loop = ? AND token = ? AND holder IS NOT NULL';
      return Number(this.#connection.statement(sql).run(this.#now(), lease.loop, lease.token).changes) === 1;
    });
  }

  /** Best effort: what cannot be released is taken over when its holder is dead. */
  release(lease: Lease): void {
    if (this.#connection.unusable() !== undefined) return;
    const sql = 'UPDATE leases SET holder = NULL WHERE loop = ? AND token = ?';
    try {
      this.#connection.statement(sql).run(lease.loop, lease.token);
    } catch (error) {
      this.#connection.failure(error);
    }
  }

  holder(loop: string): LeaseState | undefined {
    const held = this.#connection.orThrow(() => this.#held(loop));
    return held && { ...held, alive: this.#isAlive(held) };
  }
}
