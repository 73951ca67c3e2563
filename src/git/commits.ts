// The port to progress commits: the work of one task on the user's branch.
import type { Head } from '../core/event.ts';
import type { Span } from './checkpoints.ts';
import type { Refusal } from './refusal.ts';

/** Whose work a commit holds: what its message and its reason in the reflog are made of. */
export interface CommitSubject {
  readonly loop: string;
  readonly task: string;
  readonly title: string;
  readonly iteration: number;
  /** What became of the task instead: it is not done yet, set aside, or left out; absent: it was done. */
  readonly fate?: 'progress' | 'set aside' | 'left out' | undefined;
  /** Who did it, or that nobody did; absent: the loop, in this iteration. */
  readonly body?: string | undefined;
  /** What a check showed of it, in words. */
  readonly proof?: string | undefined;
}

export interface CommitOrder extends CommitSubject {
  /** What the iterations of this task changed. */
  readonly spans: readonly Span[];
  /** Nothing is committed while another one is checked out; empty: while any is. */
  readonly branch?: string | undefined;
  /** The task document, absolute: committed with the work when it was clean at the start of the loop. */
  readonly document: string;
}

export type Committed =
  | {
      readonly ok: true;
      /** Empty when there was nothing left to commit (an agent may commit by itself). */
      readonly commit: string;
      readonly paths: readonly string[];
      /** Of the branch now; empty where it has none. */
      readonly head: string;
      /** Changed by the work, but dirty when the loop began: never committed by us. */
      readonly left: readonly string[];
    }
  | Refusal;

/** Where HEAD of the loop's folder stands: a person may switch, detach or reset while the loop is at work. */
export interface Branch {
  /** Undefined: the folder is no working tree any more. */
  head(): Promise<Head | undefined>;
  /** Whether the later commit is the earlier one, or goes on from it. */
  holds(later: string, earlier: string): Promise<boolean>;
}

/**
 * Contract: never throws but for a bug. Never changes what a person had uncommitted; the branch moves by the one commit.
 */
export interface Commits {
  commit(order: CommitOrder): Promise<Committed>;
}
