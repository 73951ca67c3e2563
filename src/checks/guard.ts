// The port to the files that prove the work and so must not be changed by it.

export interface PutBack {
  /** Relative to the folder of the work. */
  readonly path: string;
  readonly how:
    | 'edited'
    | 'deleted'
    | 'mode changed'
    | 'replaced by a link'
    | 'replaced by a folder'
    | 'replaced by something else'
    | 'its folder was replaced';
}

export type Guarded =
  | { readonly ok: true; readonly restored: readonly PutBack[] }
  /** `damaged`: our own copies are not what they were. `unwritable`: a file could not be put back. No check may run then. */
  | { readonly ok: false; readonly why: 'damaged' | 'unwritable'; readonly problem: string };

/**
 * Contract: never throws. After `ok` every protected file has the content and mode it had when the loop began, reached
 * through no link that was not there then. Nothing outside the folder is ever written; twice = once.
 */
export interface Guard {
  /** `expectedHash` is what protecting gave, as the ledger kept it. */
  restore(directory: string, expectedHash: string): Promise<Guarded>;
}
