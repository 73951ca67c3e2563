// The ledger in one SQLite file: opens it safely, or says in one sentence why not.
import type { Holder, Ledger, Store, StoreFailure } from './ledger.ts';
import { Appender } from './sqlite/append.ts';
import { type Connection, failureOf } from './sqlite/connection.ts';
import { follow, mailboxOf, Pulse } from './sqlite/follow.ts';
import { Leases, type Liveness, livenessOf } from './sqlite/leases.ts';
import { type Opening, openConnection } from './sqlite/open.ts';
import { Reader, snapshotsOf } from './sqlite/read.ts';

export interface SqliteLedgerOptions extends Omit<Opening, 'liveness'> {
  /** Boot id and pid namespace of this process: only holders of the same can be looked at. */
  readonly boot: string;
  readonly isAlive: (holder: Holder) => boolean;
  readonly warn: (sentence: string) => void;
}

export type Opened =
  | { readonly ok: true; readonly ledger: Ledger }
  | { readonly ok: false; readonly failure: StoreFailure };

export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Opened> {
  const liveness = livenessOf(options);
  try {
    const connected = await openConnection({ ...options, liveness });
    return connected.ok ? { ok: true, ledger: ledgerOf(connected.connection, liveness, options) } : connected;
  } catch (error) {
    const failure = failureOf(error, options.path);
    if (failure === undefined) throw error;
    return { ok: false, failure };
  }
}

function ledgerOf(connection: Connection, liveness: Liveness, { now, warn }: SqliteLedgerOptions): Ledger {
  const pulse = new Pulse(connection);
  const store = storeOf(connection, new Leases(connection, liveness, now), pulse);
  return { store, mailbox: mailboxOf(connection, pulse), snapshots: snapshotsOf(connection, warn) };
}

function storeOf(connection: Connection, leases: Leases, pulse: Pulse): Store {
  const appender = new Appender(connection, leases);
  const reader = new Reader(connection);
  const closed = new AbortController();
  return {
    append: async (loop, expectedSeq, events, options) => {
      const appended = appender.append(loop, expectedSeq, events, options);
      if (appended.ok) pulse.beat('appended');
      return appended;
    },
    read: async (loop, after, most) => reader.read(loop, after, most),
    loops: async filter => reader.loops(filter),
    follow: (from, stop) => follow(reader, pulse, from, AbortSignal.any([stop, closed.signal])),
    lease: async (loop, holder) => leases.take(loop, holder),
    renew: async lease => leases.renew(lease),
    release: async lease => leases.release(lease),
    holder: async loop => leases.holder(loop),
    verify: async loop => reader.verify(loop),
    close: async () => {
      closed.abort();
      pulse.stop();
      connection.close();
    },
  };
}
