// The port to the place where work happens: checkpoints, restore, progress commits, forks and merges.
import type { CheckpointKind } from '../core/event.ts';

/** Failure as a value: one sentence, and what to do about it. */
export interface Refusal {
  readonly ok: false;
  readonly problem: string;
  readonly fix?: string;
}

export type Done = { readonly ok: true } | Refusal;

export const refuse = (problem: string, fix?: string): Refusal => ({ ok: false, problem, fix });

/** A refusal that names the files in conflict. */
export type Conflicted = Refusal & { readonly conflicts: readonly string[] };

/** A refusal for any other reason names none. */
export const withConflicts = <Answer extends { readonly ok: true }>(
  answer: Answer | Refusal | Conflicted,
): Answer | Conflicted => (answer.ok ? answer : { conflicts: [], ...answer });

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
}

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

export interface MergeOrder {
  readonly loop: string;
  readonly task: string;
  readonly title: string;
  readonly iteration: number;
}

export interface CommitOrder extends MergeOrder {
  /** What the iterations of this task changed. */
  readonly spans: readonly Span[];
  /** The loop's own branch: nothing is committed while another one is checked out. */
  readonly branch?: string;
  /** The task document, absolute: committed with the work when it was clean at the start of the loop. */
  readonly document: string;
}

export type Committed =
  | {
      readonly ok: true;
      /** Empty when there was nothing left to commit (an agent may commit by itself). */
      readonly commit: string;
      readonly paths: readonly string[];
      /** Changed by the work, but dirty when the loop began (or behind a filter): never committed by us. */
      readonly left: readonly string[];
    }
  | Refusal;

/** What a fork became when the loop's branch was merged into it. */
export type MergedIntoFork =
  /** `changed`: the tree is not the one that was checked, so the checks must run again. `isMerged`: the fork is gone already. */
  | { readonly ok: true; readonly changed: boolean; readonly isMerged: boolean }
  /** The fork now holds both sides with conflict markers, on top of the loop's branch. */
  | Conflicted;

export type MergedFork = { readonly ok: true; readonly commit: string } | Refusal;

/** A checkpoint as the ledger knows it. */
export interface KnownCheckpoint {
  readonly number: number;
  readonly commit: string;
}

/**
 * Contract: never throws but for a bug. Never changes what a person had uncommitted, nor index, HEAD, branch or stash, except
 * that `commit` and `mergeFork` move the branch by their one commit. A restore goes forward and can itself be undone.
 */
export interface Workspace extends Forks {
  readonly kind: 'git' | 'plain';
  save(order: SaveOrder): Promise<Saved | Refusal>;
  /** The tree of what is there now (of the task's fork, in a forked loop), leaving no trace; empty when it cannot be told. */
  treeNow(task: string): Promise<string>;
  restore(order: RestoreOrder): Promise<Restored>;
  /** Files that differ between two trees or commits, in order of path; renames are a deletion and an addition. */
  changes(spans: readonly Span[]): Promise<readonly Change[]>;
  commit(order: CommitOrder): Promise<Committed>;
  /** After a crash: finishes a restore that was cut, makes lost refs anew; says what it did, and which are lost. */
  repair(
    known: readonly KnownCheckpoint[],
  ): Promise<{ readonly did: readonly string[]; readonly missing: readonly number[] }>;
}

/** One for each task of a parallel loop. */
export interface Forks {
  /** Where work on this task happens and is checked: the loop's folder, or the task's fork. */
  directory(task: string): string;
  /** Makes the fork of a task, or takes up the one that an earlier attempt left. */
  fork(task: string): Promise<{ readonly ok: true; readonly base: string } | Refusal>;
  /** The commit that the fork of a task stands on; empty when there is none. */
  base(task: string): Promise<string>;
  /** Merges what the loop's branch became into the fork. */
  mergeIntoFork(task: string): Promise<MergedIntoFork>;
  /** The fork's tree becomes one commit on the loop's branch; the fork is removed. Twice = once. */
  mergeFork(order: MergeOrder): Promise<MergedFork>;
}
