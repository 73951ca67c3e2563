// The port to the ledger: append-only events per loop, leases with fencing, a mailbox, discardable snapshots.
import type { Event } from '../core/event.ts';

/** An event as the ledger keeps it. `hash` = SHA-256 over the previous hash and the canonical record. */
export interface Recorded {
  readonly loop: string;
  readonly seq: number;
  readonly hash: string;
  /** Position over all loops, for `follow`. */
  readonly cursor: number;
  readonly event: Event;
}

export type StoreFailureKind =
  | 'conflict'
  | 'fenced'
  | 'disk-full'
  | 'io'
  | 'gone'
  | 'corrupt'
  | 'newer'
  | 'readonly'
  | 'busy'
  | 'network';

export interface StoreFailure {
  readonly kind: StoreFailureKind;
  readonly detail: string;
  readonly hint: string;
}

/** `takes` removes that mail in the same transaction. */
export interface AppendOptions {
  readonly token?: number;
  readonly takes?: number;
}

export type Appended =
  | { readonly ok: true; readonly seq: number; readonly hash: string }
  | { readonly ok: false; readonly failure: StoreFailure };

/** Who holds a loop: enough to tell a dead holder from a live one. `id` is a fresh id per process, or a session's. */
export interface Holder {
  readonly id: string;
  readonly pid: number;
  readonly startTime: string;
  readonly host: string;
  /** Boot id and pid namespace: a pid means nothing outside them. */
  readonly boot: string;
  readonly version: string;
}

export interface Lease {
  readonly loop: string;
  readonly holder: Holder;
  /** Grows with every take-over; a write under an older token is refused as `fenced`. */
  readonly token: number;
  readonly since: number;
}

/** `alive`: its holder lives, as far as we can tell. `renewedAt`: its last sign of life. */
export interface LeaseState {
  readonly lease: Lease;
  readonly alive: boolean;
  readonly renewedAt: number;
}

export type Leased = { readonly ok: true; readonly lease: Lease } | { readonly ok: false; readonly held: Lease };

export interface LoopRow {
  readonly loop: string;
  readonly name: string;
  readonly document: string;
  readonly directory: string;
  readonly startedAt: number;
  readonly seq: number;
  /** Set when the last event of the loop is loop.ended. */
  readonly reason: string | null;
  readonly endedAt: number | null;
}

export interface LoopFilter {
  readonly document?: string;
  /** The `projectId` that it began with: a plan's id. */
  readonly project?: string;
  readonly open?: boolean;
}

/** Where to begin, and which loop; all of them unless told. */
export interface FollowFrom {
  readonly cursor: number;
  readonly loop?: string;
}

export interface Mail {
  readonly id: number;
  readonly loop: string;
  readonly at: number;
  readonly by: string;
  /** Version of the command format, so that an older holder can say that it does not understand. */
  readonly version: number;
  readonly body: unknown;
}

export interface Snapshot {
  readonly seq: number;
  readonly hash: string;
  /** Version of the packed state; a snapshot of another one is not used. */
  readonly version: number;
  readonly state: unknown;
}

/**
 * Contract: an append is durable when it returns ok, and all-or-nothing. `expectedSeq` is the seq of the last event the
 * caller has seen (0 for none); another value is a `conflict`. Appends to a leased loop need its current `token`.
 * Failures are values; nothing throws but broken invariants.
 * A method whose result has no room for a failure rejects with an Error that carries `failure: StoreFailure`.
 */
export interface Store {
  append(loop: string, expectedSeq: number, events: readonly Event[], options?: AppendOptions): Promise<Appended>;
  /** One page of events after `after`, oldest first (1,000 unless told), so that no reader holds a snapshot for long. */
  read(loop: string, after?: number, most?: number): Promise<readonly Recorded[]>;
  /** Newest first. */
  loops(filter?: LoopFilter): Promise<readonly LoopRow[]>;
  /** Events of one loop (or all) from a cursor on, then new ones as they come, until `stop`. */
  follow(from: FollowFrom, stop: AbortSignal): AsyncIterable<Recorded>;
  /** Where the ledger ends now, for `follow`; 0 when it is empty. */
  cursor(): Promise<number>;
  /** Takes the lease when it is free or its holder is dead; otherwise says who holds it. */
  lease(loop: string, holder: Holder): Promise<Leased>;
  /** False when the lease is no longer ours. */
  renew(lease: Lease): Promise<boolean>;
  release(lease: Lease): Promise<void>;
  /** The lease as it stands, dead holder or not. */
  holder(loop: string): Promise<LeaseState | undefined>;
  /** Takes a loop out of the list, with its snapshot and its mail. Its events stay: they are only ever added. Twice = once. */
  forget(loop: string): Promise<void>;
  /** Verifies the hash chain in one pass; the first bad event, or the count of good ones. `each` sees every good one. */
  verify(loop: string, each?: (stored: StoredEvent) => void): Promise<Verified>;
  close(): Promise<void>;
}

/** As the chain covers it. */
export interface StoredEvent {
  readonly seq: number;
  readonly body: string;
  readonly hash: string;
}

export type Verified =
  | { readonly ok: true; readonly events: number; readonly head: string }
  | { readonly ok: false; readonly seq: number; readonly detail: string };

/** Commands of other processes: anyone may send, the holder takes each within the append of what it decided. */
export interface Mailbox {
  send(loop: string, by: string, body: unknown, at: number): Promise<number>;
  /** Oldest first. */
  waiting(loop: string): Promise<readonly Mail[]>;
  /** Calls back when another process may have written; returns how to stop watching. */
  watch(changed: () => void): () => void;
}

export interface Snapshots {
  save(loop: string, snapshot: Snapshot): Promise<void>;
  latest(loop: string, version: number): Promise<Snapshot | undefined>;
}

/** What an adapter of the ledger hands to the engine. */
export interface Ledger {
  readonly store: Store;
  readonly mailbox: Mailbox;
  readonly snapshots: Snapshots;
}
