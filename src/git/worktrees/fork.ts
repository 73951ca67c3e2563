// The fork of a task: a worktree in which one task of a parallel loop is worked on, until it is merged into the loop's branch.
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { ask, type Difference, diffIndex, type GitPlace, git, gitlink, updateIndex, withIndex } from '../call.ts';
import { readRecord, realOf, succeeds, writeRecord } from '../disk.ts';
import type { Forked } from '../forks.ts';
import { ownLock, setRef, waitForLock } from '../locks.ts';
import { revision } from '../objects.ts';
import { fromText, isAmong, safeName } from '../paths.ts';
import { type Done, refuse } from '../refusal.ts';
import type { Repository } from '../repository.ts';
import { checkOutTree, dropTree } from './worktree.ts';

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
  readonly landed?: { readonly iteration: number; readonly commit: string };
}

export type Fork = ReturnType<typeof forkOf>;

export function forkOf(repository: Repository, options: ForkOptions, task: string) {
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
    record: () => readRecord<ForkRecord>(`${base}.json`),
    remember: (record: ForkRecord) => writeRecord(`${base}.json`, record),
    forget: () => rm(`${base}.json`, { force: true }),
  };
}

/** The tip of the loop's branch; empty when it is gone. */
export const tipOf = ({ repository, options }: Fork): Promise<string> =>
  revision(repository, `refs/heads/${options.branch}^{commit}`);

/** The two halves of a worktree name each other: its folder, and git's notes about it. */
async function isForkThere({ repository: { commonDirectory }, directory }: Fork): Promise<boolean> {
  const textOf = (path: string) => readFile(path, 'utf8').catch(() => '');
  const notes = /^gitdir: (.+)\n?$/.exec(await textOf(join(directory, '.git')))?.[1] ?? '';
  if ((await realOf(dirname(notes))) !== (await realOf(join(commonDirectory, 'worktrees')))) return false;
  const back = (await textOf(join(notes, 'gitdir'))).trimEnd();
  return (await realOf(back)) === (await realOf(join(directory, '.git')));
}

/** The record of a fork that can be worked in. */
export async function readyRecord(fork: Fork): Promise<ForkRecord | undefined> {
  const record = await fork.record();
  return record?.state === 'ready' && (await isForkThere(fork)) ? record : undefined;
}

/** In a worktree of our own a lock is only what a git of a killed agent left, unless it is still alive. */
export async function freeIndex(place: GitPlace): Promise<void> {
  const lock = await ask(place, ['rev-parse', '--git-path', 'index.lock']);
  if (lock.ok) await waitForLock(resolve(place.directory, lock.text), ownLock);
}

/** At the tip of the loop's branch. Nothing is thrown away: what stands in the way and may hold work is moved out of it. */
export async function makeFork(fork: Fork): Promise<Forked> {
  const { repository, options, directory } = fork;
  const record = await fork.record();
  const base = await tipOf(fork);
  if (base === '') return refuse(`The loop's branch ${options.branch} is gone.`);
  if (record?.state !== 'making' && (await succeeds(lstat(directory)))) {
    await rename(directory, `${directory}.aside-${Date.now()}`);
  }
  await fork.remember({ state: 'making', base });
  await rm(fork.index, { force: true });
  const { loopDirectory: from, untracked } = options;
  const made = await checkOutTree(repository, { path: directory, commit: base, from, untracked });
  if (!made.ok) return made;
  const set = await setRef(repository, fork.ref, base);
  if (!set.ok) return set;
  await fork.remember({ state: 'ready', base });
  return { ok: true, base };
}

/** All files of the fork, ignored ones not. */
export async function treeOfFork({ options, task, index }: Fork, place: GitPlace, base: string) {
  const own = withIndex(place, index);
  await rm(`${index}.lock`, { force: true });
  const read = await ask(own, ['read-tree', '--no-sparse-checkout', '--reset', base]);
  if (!read.ok) return read;
  const settings = ['core.safecrlf=false', 'core.sparseCheckout=false', 'advice.addEmbeddedRepo=false'];
  const add = [...settings.flatMap(one => ['-c', one]), 'add', '--all'];
  const added = await ask(own, add, { timeMsMax: 600_000 });
  if (!added.ok) return refuse(`The work of ${task} cannot be taken: ${added.problem}`);
  const differing = await diffIndex(own, base);
  if (!differing.ok) return differing;
  const back = differing.all.filter(staysBehind(options)).map(({ path, from, to }) => ({ path, from: to, to: from }));
  const put = await updateIndex(own, back);
  if (!put.ok) return put;
  return ask(own, ['write-tree']);
}

/** Repositories that the agent made in the tree, what was copied in because git does not hold it, and the document. */
function staysBehind({ untracked, excluded = [] }: ForkOptions): (one: Difference) => boolean {
  const [isUntracked, isExcluded] = [untracked, excluded].map(list =>
    isAmong(list.map(one => fromText(one).replace(/\/+$/, ''))),
  );
  return ({ path, from, to }) =>
    isExcluded!(path) || (from === undefined && (to?.mode === gitlink || isUntracked!(path)));
}

/** Its folder, ref and index; the record stays. */
export async function dropFork({ repository, directory, ref, index }: Fork): Promise<Done> {
  const dropped = await dropTree(repository, directory);
  if (!dropped.ok) return dropped;
  await git(repository, ['update-ref', '-d', ref]);
  await rm(index, { force: true });
  return { ok: true };
}
