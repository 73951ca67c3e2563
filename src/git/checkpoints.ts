// The port to checkpoints: saving what is there, going back to it, and what differs between two of them.
import type { CheckpointKind } from '../core/event.ts';
import type { Conflicted, Refusal } from './refusal.ts';

export interface SaveOrder {
  /** Counts the loop's checkpoints; also the last part of the ref. The same number again replaces the ref (F06). */
  readonly number: number;
  readonly iteration: number;
  /** The task of that iteration; in a forked loop its fork is what is saved. */
  readonly task?: string;
  readonly kind: CheckpointKind;
  /** Why, for people: `before iteration 1`, `after iteration 3`, `before a restore`, `by hand: ...`. */
  readonly label: string;
  /** The ledger's head at this moment, anchored in a git note: `SEQUENCE HASH`. */
  readonly anchor: string;
  /** A tree: what differs from it was done by a person while nobody worked, and is remembered as a user edit. */
  readonly userEditsSince?: string;
}

export interface Skipped {
  readonly path: string;
  /** `larger than 10 MB`, `a pipe`, `a socket`, `a repository of its own` ... */
  readonly why: string;
}

export interface Saved {
  readonly ok: true;
  readonly ref: string;
  readonly commit: string;
  readonly tree: string;
  /** What the checkpoint does not hold; a restore leaves these alone. At most 100 are named. */
  readonly skipped: readonly Skipped[];
}

export interface RestoreOrder {
  /** The commit of the checkpoint to go back (or forward) to. */
  readonly to: string;
  /** The commit of the loop's newest checkpoint before the one below: what differs from it, a person changed. */
  readonly base: string;
  /** The commit of the checkpoint that was made just before this restore: what the tree holds now. */
  readonly now: string;
  /** A person's edits that cannot be merged are overwritten (they are in the checkpoint `now`). */
  readonly overwrite?: boolean;
  /** What the checkpoint `to` did not hold: never deleted, nor anything below. */
  readonly left?: readonly string[];
  /** Absolute paths that stay as they are, with all below them: the task document, and in a plan what actions made. */
  readonly except?: readonly string[];
  /** Only these paths, as `changes` names them. */
  readonly only?: readonly string[];
  /** `to` and `base` are the trees around one piece of work, so `to` holds every edit that a person made before it. */
  readonly isOneSpan?: true;
}

/** A part of the work to be taken out of the files, or brought back into them. */
export interface ExchangeOrder extends Pick<RestoreOrder, 'except' | 'left'> {
  /** Each from what the work made of the files to what shall be there instead, in this order. */
  readonly spans: readonly Span[];
  /** Only these paths, as `changes` names them. */
  readonly only?: readonly string[];
}

export type Exchanged =
  | {
      readonly ok: true;
      /** What these spans changed and is exchanged now. */
      readonly paths: readonly string[];
      /** What somebody else changed too, and differently: it stays as it is. */
      readonly kept: readonly string[];
      /** What is there now. */
      readonly tree: string;
    }
  | Refusal;

export interface RestorePlan {
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** A person's edits and the target's were merged line by line. */
  readonly merged: readonly string[];
  /** A person's edits, or files that no checkpoint holds, which stay as they are. */
  readonly kept: readonly string[];
}

export type Restored =
  | ({ readonly ok: true } & RestorePlan)
  /** Nothing was changed: these were edited by a person and cannot be merged. */
  | Conflicted;

export interface Change {
  readonly path: string;
  readonly how: 'added' | 'changed' | 'deleted';
}

/** Two trees or commits; the work of one span. */
export interface Span {
  readonly from: string;
  readonly to: string;
}

/** A checkpoint as the ledger knows it. */
export interface KnownCheckpoint {
  readonly number: number;
  readonly commit: string;
}

/**
 * Contract: never throws but for a bug. Never changes what a person had uncommitted, nor index, HEAD, branch or stash. A
 * restore goes forward and can itself be undone.
 */
export interface Checkpoints {
  /** Looks at the files for the first checkpoint ahead of `save`: what is not to count as work is there by now. */
  look?(): void;
  save(order: SaveOrder): Promise<Saved | Refusal>;
  /** The tree of what is there now (of the task's fork, in a forked loop), leaving no trace; empty when it cannot be told. */
  treeNow(task: string): Promise<string>;
  restore(order: RestoreOrder): Promise<Restored>;
  /** Takes work out of the files or brings it back; what a person changed since is merged, or stays. Twice is as good as once. */
  exchange(order: ExchangeOrder): Promise<Exchanged>;
  /** Files that differ between two trees or commits, in order of path; renames are a deletion and an addition. */
  changes(spans: readonly Span[]): Promise<readonly Change[]>;
  /** After a crash: finishes a restore that was cut, makes lost refs anew; says what it did, and which are lost. */
  repair(known: readonly KnownCheckpoint[]): Promise<Repaired>;
  /** Ends what goes on in the background; soon. */
  close?(): Promise<void>;
}

export interface Repaired {
  readonly did: readonly string[];
  /** Numbers of checkpoints that the repository no longer holds. */
  readonly missing: readonly number[];
}
