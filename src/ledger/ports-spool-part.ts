// The port to the raw record of iterations: what went in, what came out, and how it ended, kept across a crash.

import type { Usage } from '../core/event.ts';
import type { Failure } from '../core/failure.ts';

export interface SpoolEnd {
  readonly message: string;
  readonly failure?: Failure;
  readonly usage?: Usage;
  readonly stoppedFor?: 'handoff';
}

export interface SpoolWriter {
  write(text: string, channel: 'output' | 'errors'): void;
  /** Written before the ledger hears of the end, so that a crash in between loses nothing (F04). */
  end(end: SpoolEnd): void;
}

/** Contract: writes are visible to a later process after a SIGKILL of this one; everything given to it is redacted. */
export interface Spool {
  open(iteration: number, prompt: string): SpoolWriter;
  /** How the performer ended, if it did before we died. */
  found(iteration: number): SpoolEnd | undefined;
}
