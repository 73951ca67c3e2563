// Wakes whoever waits for the ledger: at once for writes of this connection, within 200 ms for those of other processes.
import type { Connection } from './connection.ts';

/** DESIGN section 2: the holder watches PRAGMA data_version. */
const pollMs = 200;

export type Change = 'appended' | 'mailed' | 'elsewhere';

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
      return Number(this.#connection.get('PRAGMA data_version')?.['data_version']);
    } catch {
      return -2;
    }
  }
}
