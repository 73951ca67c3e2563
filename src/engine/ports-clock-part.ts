// The port to time, ids and chance, so that the core and the simulator can do without them.

export interface Clock {
  now(): number;
  /** Calls back once at or after `at`; returns how to cancel. */
  at(at: number, due: () => void): () => void;
  /** UUIDv7. */
  id(): string;
  /** In [0, 1). */
  random(): number;
}
