// The fork of a task: a worktree in which one task of a parallel loop is worked on, until it is merged into the loop's branch.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { readRecord, writeRecord } from '../disk.ts';
import { ownLock, waitForLock } from '../locks.ts';
import { revision } from '../objects.ts';
import { safeName } from '../paths.ts';
import { seedOf } from '../private.ts';
import type { KnownSettings } from '../progress/user-settings.ts';
import type { Repository } from '../repository.ts';
import { notesOf } from '../worktree-notes.ts';

export interface ForkOptions {
  readonly loop: string;
  /** Forks lie in here, one folder each; outside of the repository. */
  readonly folder: string;
  /** The loop's own worktree. */
  readonly loopDirectory: string;
  /** The loop's branch, such as `ralph/NAME`. */
  readonly branch: string;
  /** Relative to the top: not in git, but the work needs them; never committed. */
  readonly untracked: readonly string[];
  /** Relative to the top: what a fork changes of these is never merged (the task document is the loop's). */
  readonly excluded?: readonly string[];
  /** The folder of a fork that was merged is cleaned and taken for the next one. */
  readonly isReusable?: boolean;
  /** Of the loop alone: records and indexes of the forks. */
  readonly privateFolder: string;
}

/** A fork as we remember it across crashes; paths have one character per byte. */
export interface ForkRecord {
  readonly state: 'making' | 'ready' | 'landed';
  /** The commit of the loop's branch that the fork stands on. */
  readonly base: string;
  /** The fork's work is safe in this commit while its files are changed into the merge of it with the tip. */
  readonly bringing?: { readonly work: string };
  /** What the last merge said, until the fork is taken up again. */
  readonly unheard?: { readonly conflicts: readonly string[]; readonly changed: boolean };
  /** May hold conflict markers still. */
  readonly conflicted?: readonly string[];
  /** The tasks that brought the other side of the conflicts. */
  readonly others?: readonly string[];
  readonly landed?: { readonly iteration: number; readonly commit: string };
}

/** What is known of all forks of a loop in this process. */
export interface ForkMemory extends KnownSettings {
  /** The commit that the private index of a fork holds, while it is still that index. */
  readonly held: Map<string, { readonly commit: string; readonly stamp: string }>;
  /** Folders and private indexes of forks that are over, for the next ones. */
  readonly spares: { readonly directory: string; readonly index: string }[];
  /** Paths that nobody needs any more. */
  readonly unwanted: string[];
  /** How many there were. */
  laid: number;
  /** When the last of them is removed. */
  discarded: Promise<unknown>;
}

export type Fork = ReturnType<typeof forkOf>;

export function forkOf(repository: Repository, options: ForkOptions, task: string, memory: ForkMemory) {
  const base = join(options.privateFolder, `fork-${safeName(task)}`);
  return {
    repository,
    options,
    task,
    directory: join(options.folder, safeName(task)),
    /** Keeps the work of the fork, whatever happens to its files. */
    ref: `refs/ralph/forks/${safeName(options.loop)}/${safeName(task)}`,
    /** Private to the loop, so that no agent can bend it. */
    index: `${base}.index`,
    /** With which the index of its checkpoints begins. */
    seed: seedOf(base),
    memory,
    record: () => readRecord<ForkRecord>(`${base}.json`),
    remember: (record: ForkRecord) => writeRecord(`${base}.json`, record),
    forget: () => rm(`${base}.json`, { force: true }),
  };
}

/** The tip of the loop's branch; empty when it is gone. */
export const tipOf = ({ repository, options }: Fork): Promise<string> =>
  revision(repository, `refs/heads/${options.branch}^{commit}`);

/** The record of a fork that can be worked in. */
export async function readyRecord(fork: Fork): Promise<ForkRecord | undefined> {
  const record = await fork.record();
  return record?.state === 'ready' && (await notesOf(fork.repository, fork.directory)) !== undefined
    ? record
    : undefined;
}

/** In a worktree of our own a lock is only what a git of a killed agent left, unless it is still alive. */
export async function freeIndex(notes: string): Promise<void> {
  await waitForLock(join(notes, 'index.lock'), ownLock);
}
