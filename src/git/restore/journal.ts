// The journal of a restore: the steps that the program `apply-restore.ts` does, and what it says when it is done.
import type { BigIntStats } from 'node:fs';

export interface Journal {
  /** The top of the working tree. */
  readonly top: string;
  /** Where the new files lie. */
  readonly staging: string;
  readonly steps: readonly Step[];
}

/** Paths have one character per byte. A stamp tells whether a file is still the one that was looked at. */
export type Step =
  | { readonly do: 'remove'; readonly path: string; readonly was: string }
  | {
      readonly do: 'write';
      readonly path: string;
      readonly was: string | null;
      readonly from: string;
      readonly is: string;
    };

export interface Applied {
  /** Somebody put something else there meanwhile: left alone. */
  readonly changed: readonly string[];
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/** The time of change moves with a rename, so what we wrote ourselves is known without it. */
export function stampOf(stats: BigIntStats, withChange: boolean): string {
  return [stats.ino, stats.size, stats.mtimeNs, stats.mode, ...(withChange ? [stats.ctimeNs] : [])].join(':');
}
