// The ledger in memory, which lives as long as its process: for tests and for the simulator's millions of events.
import type { Event } from '../core/event.ts';
import { versionOf } from '../core/input.ts';
import { canonical } from '../text/canonical.ts';
import { ChainWalk, genesisHash, isLoopEvent, link } from './chain.ts';
import type {
  Appended,
  AppendOptions,
  FollowFrom,
  Holder,
  Lease,
  Leased,
  LeaseState,
  Ledger,
  LoopFilter,
  LoopRow,
  Mail,
  Mailbox,
  Recorded,
  Snapshot,
  Snapshots,
  Store,
  StoredEvent,
  StoreFailureKind,
  Verified,
} from './ledger.ts';
import { upcast } from './upcast.ts';

export interface MemoryLedgerOptions {
  /** False leaves every hash empty, for the simulator. */
  readonly hash?: boolean;
  /** Every holder is alive unless told. */
  readonly isAlive?: (holder: Holder) => boolean;
  readonly now?: () => number;
}

interface MemoryLoop {
  readonly events: Recorded[];
  lease: Lease | undefined;
  renewedAt: number;
  token: number;
  mail: Mail[];
  snapshot: Snapshot | undefined;
}

/** As the ledger on disk: what is stored stays as it was written. */
function today(recorded: Recorded): Recorded {
  const event = upcast(recorded.event);
  return event === recorded.event ? recorded : { ...recorded, event };
}

/** Undefined while it has not started: a loop without a start is not listed. */
function listed(loop: string, events: readonly Recorded[]): LoopRow | undefined {
  const marks = events.map(one => one.event).filter(isLoopEvent);
  const started = marks.findLast(event => event.type === 'loop.started');
  if (started === undefined) return undefined;
  const { name, document, directory, at } = started;
  const last = marks.at(-1);
  const ended = last?.type === 'loop.ended' ? last : undefined;
  const ending = { reason: ended?.reason ?? null, endedAt: ended?.at ?? null };
  return { loop, name, document, directory, startedAt: at, seq: events.length, ...ending };
}

const refused = (kind: StoreFailureKind, detail: string, hint: string): Appended => ({
  ok: false,
  failure: { kind, detail, hint },
});

class MemoryLedger implements Store, Mailbox {
  readonly #hashed: boolean;
  readonly #isAlive: (holder: Holder) => boolean;
  readonly #now: () => number;
  readonly #loops = new Map<string, MemoryLoop>();
  readonly #forgotten = new Set<string>();
  readonly #all: Recorded[] = [];
  readonly #watchers = new Set<() => void>();
  readonly #followers = new Set<() => void>();
  #mailSent = 0;

  constructor(options: MemoryLedgerOptions) {
    this.#hashed = options.hash ?? true;
    this.#isAlive = options.isAlive ?? (() => true);
    this.#now = options.now ?? (() => 0);
  }

  #loop(loop: string): MemoryLoop {
    const none = { events: [], lease: undefined, renewedAt: 0, token: 0, mail: [], snapshot: undefined };
    const found = this.#loops.get(loop) ?? none;
    this.#loops.set(loop, found);
    return found;
  }

  async append(
    loop: string,
    expectedSeq: number,
    events: readonly Event[],
    options?: AppendOptions,
  ): Promise<Appended> {
    const entry = this.#loop(loop);
    const refusal = this.#refusal(entry, loop, expectedSeq, options);
    if (refusal !== undefined) return refusal;
    let hash = entry.events.at(-1)?.hash ?? (this.#hashed ? genesisHash : '');
    const hashed = events.map((event, index) => {
      const seq = expectedSeq + index + 1;
      if (this.#hashed) hash = link(hash, loop, seq, canonical(event));
      return { loop, seq, hash, event };
    });
    for (const one of hashed) {
      const recorded = { ...one, cursor: this.#all.length + 1 };
      entry.events.push(recorded);
      this.#all.push(recorded);
    }
    if (options?.takes !== undefined) entry.mail = entry.mail.filter(mail => mail.id !== options.takes);
    for (const wake of this.#followers) wake();
    return { ok: true, seq: expectedSeq + events.length, hash };
  }

  #refusal(entry: MemoryLoop, loop: string, expectedSeq: number, options?: AppendOptions): Appended | undefined {
    const { lease } = entry;
    if (options?.token !== undefined) {
      if (lease?.token !== options.token)
        return refused('fenced', `the lease of loop ${loop} is no longer ours`, 'Stop.');
    } else if (lease !== undefined && this.#isAlive(lease.holder)) {
      return refused('fenced', `loop ${loop} is held by ${lease.holder.id}`, 'Send it a command instead.');
    }
    if (entry.events.length !== expectedSeq) {
      const detail = `loop ${loop} is at event ${entry.events.length}, not ${expectedSeq}`;
      return refused('conflict', detail, 'Read what was added and decide again.');
    }
    const takes = options?.takes;
    if (takes !== undefined && !entry.mail.some(mail => mail.id === takes)) {
      const detail = `command ${takes} of loop ${loop} was already taken`;
      return refused('conflict', detail, 'Read what was added and decide again.');
    }
    return undefined;
  }

  async read(loop: string, after = 0, most = 1_000): Promise<readonly Recorded[]> {
    const { events = [] } = this.#loops.get(loop) ?? {};
    return events.slice(after, after + most).map(today);
  }

  async loops(filter: LoopFilter = {}): Promise<readonly LoopRow[]> {
    const rows: LoopRow[] = [];
    for (const [loop, { events }] of this.#loops) {
      const row = listed(loop, events);
      if (row === undefined || this.#forgotten.has(loop)) continue;
      if (filter.document !== undefined && row.document !== filter.document) continue;
      if (filter.open !== undefined && filter.open !== (row.reason === null)) continue;
      const first = events[0]?.event;
      const project = first?.type === 'loop.started' ? first.projectId : undefined;
      if (filter.project !== undefined && project !== filter.project) continue;
      rows.push(row);
    }
    return rows.reverse().sort((one, other) => other.startedAt - one.startedAt);
  }

  async forget(loop: string): Promise<void> {
    this.#forgotten.add(loop);
  }

  async *follow(from: FollowFrom, stop: AbortSignal): AsyncIterable<Recorded> {
    let { cursor } = from;
    while (!stop.aborted) {
      for (; cursor < this.#all.length; cursor += 1) {
        const recorded = this.#all[cursor]!;
        if (from.loop !== undefined && recorded.loop !== from.loop) continue;
        yield today(recorded);
        if (stop.aborted) return;
      }
      await new Promise<void>(resolve => {
        const wake = (): void => {
          this.#followers.delete(wake);
          stop.removeEventListener('abort', wake);
          resolve();
        };
        this.#followers.add(wake);
        stop.addEventListener('abort', wake);
      });
    }
  }

  async cursor(): Promise<number> {
    return this.#all.length;
  }

  async lease(loop: string, holder: Holder): Promise<Leased> {
    const entry = this.#loop(loop);
    const held = entry.lease;
    const isSameHolder = held?.holder.id === holder.id;
    if (held !== undefined && !isSameHolder && this.#isAlive(held.holder)) return { ok: false, held };
    entry.renewedAt = this.#now();
    if (held !== undefined && isSameHolder && held.holder.pid === holder.pid) return { ok: true, lease: held };
    entry.token += 1;
    entry.lease = { loop, holder, token: entry.token, since: this.#now() };
    return { ok: true, lease: entry.lease };
  }

  async renew(lease: Lease): Promise<boolean> {
    const entry = this.#loop(lease.loop);
    const isOurs = entry.lease?.token === lease.token;
    if (isOurs) entry.renewedAt = this.#now();
    return isOurs;
  }

  async release(lease: Lease): Promise<void> {
    const entry = this.#loop(lease.loop);
    if (entry.lease?.token === lease.token) entry.lease = undefined;
  }

  async holder(loop: string): Promise<LeaseState | undefined> {
    const { lease, renewedAt = 0 } = this.#loops.get(loop) ?? {};
    return lease && { lease, alive: this.#isAlive(lease.holder), renewedAt };
  }

  async verify(loop: string, each?: (stored: StoredEvent) => void): Promise<Verified> {
    const events = this.#loops.get(loop)?.events ?? [];
    if (!this.#hashed) return { ok: true, events: events.length, head: '' };
    const walk = new ChainWalk(loop);
    for (const { seq, hash, event } of events) {
      const stored = { seq, hash, body: canonical(event) };
      if (walk.step(stored)) each?.(stored);
    }
    return walk.result();
  }

  async close(): Promise<void> {}

  async send(loop: string, by: string, body: unknown, at: number): Promise<number> {
    this.#mailSent += 1;
    const copy: unknown = JSON.parse(canonical(body));
    this.#loop(loop).mail.push({ id: this.#mailSent, loop, at, by, version: versionOf(body), body: copy });
    for (const changed of [...this.#watchers]) changed();
    return this.#mailSent;
  }

  async waiting(loop: string): Promise<readonly Mail[]> {
    return [...(this.#loops.get(loop)?.mail ?? [])];
  }

  watch(changed: () => void): () => void {
    this.#watchers.add(changed);
    return () => this.#watchers.delete(changed);
  }

  readonly snapshots: Snapshots = {
    save: async (loop, snapshot) => {
      this.#loop(loop).snapshot = snapshot;
    },
    latest: async (loop, version) => {
      const { snapshot, events } = this.#loop(loop);
      if (snapshot?.version !== version || events[snapshot.seq - 1]?.hash !== snapshot.hash) return undefined;
      return snapshot;
    },
  };
}

export function memoryLedger(options: MemoryLedgerOptions = {}): Ledger {
  const ledger = new MemoryLedger(options);
  return { store: ledger, mailbox: ledger, snapshots: ledger.snapshots };
}
