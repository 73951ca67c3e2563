// The port to forks: a place of its own for each task of a parallel loop, merged when its work is proven.
import type { CommitSubject } from './commits.ts';
import type { Conflicted, Refusal } from './refusal.ts';

/** What a refused merge names. */
export type Conflicts = Partial<Pick<Conflicted, 'conflicts' | 'others'>>;

export type Forked = { readonly ok: true; readonly base: string } | Refusal;

/** What a fork became when the loop's branch was merged into it. */
export type MergedIntoFork =
  /** `changed`: the tree is not the one that was checked, so the checks must run again. `isMerged`: the fork is gone already. */
  | { readonly ok: true; readonly changed: boolean; readonly isMerged: boolean }
  /** The fork now holds both sides with conflict markers, on top of the loop's branch. */
  | Conflicted;

/** Refused with conflicts: their markers are left in these files. */
export type MergedFork = { readonly ok: true; readonly commit: string } | (Refusal & Conflicts);

/**
 * Contract: never throws but for a bug. Only the loop's own branch moves, by the one commit of `mergeFork`.
 */
export interface Forks {
  /** Where work on this task happens and is checked: the task's fork. */
  directory(task: string): string;
  /** Makes the fork of a task, or takes up the one that an earlier attempt left. */
  fork(task: string): Promise<Forked>;
  /** The commit that the fork of a task stands on; empty when there is none. */
  base(task: string): Promise<string>;
  /** Merges what the loop's branch became into the fork. */
  mergeIntoFork(task: string): Promise<MergedIntoFork>;
  /** The fork's tree becomes one commit on the loop's branch; the fork is removed. Twice = once. */
  mergeFork(order: CommitSubject): Promise<MergedFork>;
  /** Nothing more is asked of it: what it kept for other tasks goes. */
  close?(): Promise<void>;
}
