// The hash chain of a loop: each event's hash covers its body, its place and the hash before it.
import { hash } from 'node:crypto';
import type { Event } from '../core/event.ts';
import type { StoredEvent, Verified } from './ledger.ts';

/** What the first event of a loop is chained to. */
export const genesisHash = '0'.repeat(64);

export function link(previousHash: string, loop: string, seq: number, body: string): string {
  return hash('sha256', `${previousHash}\n${loop}\n${seq}\n${body}`, 'hex');
}

/** Walks a loop's stored events in order; the first that does not hold ends the walk for good. */
export class ChainWalk {
  readonly #loop: string;
  seq = 0;
  head = genesisHash;
  #bad: { readonly seq: number; readonly detail: string } | undefined;

  constructor(loop: string) {
    this.#loop = loop;
  }

  /** False from the first bad event on. */
  step(row: StoredEvent): boolean {
    if (this.#bad !== undefined) return false;
    const expected = this.seq + 1;
    if (row.seq !== expected) {
      const detail = `event ${expected} is missing: after event ${this.seq} comes event ${row.seq}`;
      this.#bad = { seq: expected, detail };
      return false;
    }
    const computed = link(this.head, this.#loop, row.seq, row.body);
    if (computed !== row.hash) {
      const detail = `event ${row.seq} was changed: its hash is ${row.hash}, its content and the event before it give ${computed}`;
      this.#bad = { seq: row.seq, detail };
      return false;
    }
    this.seq = row.seq;
    this.head = row.hash;
    return true;
  }

  result(): Verified {
    return this.#bad === undefined ? { ok: true, events: this.seq, head: this.head } : { ok: false, ...this.#bad };
  }
}

/** The events from which every store lists its loops. */
export type LoopEvent = Extract<Event, { type: 'loop.started' | 'loop.resumed' | 'loop.ended' }>;

export function isLoopEvent(event: Event): event is LoopEvent {
  return event.type === 'loop.started' || event.type === 'loop.resumed' || event.type === 'loop.ended';
}
