// LedgerFold: the events of one loop, folded as they come. Whoever shows a loop keeps one, and reads only what is new.
import { setImmediate } from 'node:timers/promises';
import type { Event } from '../core/event.ts';
import type { State } from '../core/state.ts';
import type { Ledger } from '../ledger/ledger.ts';
import { LoopFold } from '../views/fold.ts';
import { beginning, eventsOf, type Replayed, snapshotOf } from './replay.ts';

/** No event is read twice; who asks while they are read waits for the same pass. */
export class LedgerFold {
  readonly fold: LoopFold;
  /** It began with the first event, so that its history is whole. */
  readonly isWhole: boolean;
  readonly #ledger: Ledger;
  readonly #loop: string;
  readonly #tell: ((event: Event, after: State) => void) | undefined;
  #at: Omit<Replayed, 'state'>;
  #reading: Promise<void> = Promise.resolve();

  constructor(ledger: Ledger, loop: string, from = beginning, tell?: (event: Event, after: State) => void) {
    this.#ledger = ledger;
    this.#loop = loop;
    this.#tell = tell;
    this.#at = from;
    this.fold = new LoopFold(from.state);
    this.isWhole = from.seq === 0;
  }

  /** From the newest snapshot. */
  static async nearest(ledger: Ledger, loop: string): Promise<LedgerFold> {
    return new LedgerFold(ledger, loop, await snapshotOf(ledger, loop));
  }

  async catchUp(): Promise<Replayed> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    await this.#reading;
    return { ...this.#at, state: this.fold.state };
  }

  async #read(): Promise<void> {
    for await (const page of eventsOf(this.#ledger, this.#loop, this.#at.seq)) {
      for (const { event, seq, hash } of page) {
        this.fold.add(event);
        this.#tell?.(event, this.fold.state);
        this.#at = { seq, hash, folded: this.#at.folded + 1 };
      }
      await setImmediate(); // a long loop that was resumed has thousands of pages, and its agents must not wait for them
    }
  }
}
