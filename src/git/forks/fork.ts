// The fork of a task: a worktree in which one task of a parallel loop is worked on, until its work lands on the loop's branch.
import { createHash } from 'node:crypto';
import { lstat, readFile, rename, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { absent, ask, type GitPlace, git, gitlink, indexLine, type RawChange, rawChanges, revision } from '../call.ts';
import { ownLock, setRef, waitForLock } from '../locks.ts';
import { fromText, readRecord, writeRecord } from '../paths.ts';
import { filtersOff, type Repository, refuse } from '../repository.ts';
import type { Refusal } from '../workspace.ts';
import { dropTree, layOut, realOf } from '../worktree.ts';

export interface ForkOptions {
  readonly loop: string;
  /** Forks lie in here, one folder each; outside of the repository. */
  readonly folder: string;
  /** The loop's own worktree. */
  readonly loopDirectory: string;
  /** The loop's branch, such as `ralph/NAME`. */
  readonly branch: string;
  /** Relative to the top: not in git, but the work needs them; never committed. */
  readonly needed: readonly string[];
  /** Relative to the top: what a fork changes of these never lands (the task document is the loop's). */
  readonly apart?: readonly string[];
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

/** For folders and refs: readable, and different for tasks that differ only in case or odd characters. */
export function safeName(name: string): string {
  const readable = name
    .replace(/[^A-Za-z0-9]+/g, '-')
    .slice(0, 40)
    .replace(/^-|-$/g, '');
  const hash = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return readable === '' ? hash : `${readable}-${hash}`;
}

export const forkDirectory = ({ folder }: Pick<ForkOptions, 'folder'>, task: string): string =>
  join(folder, safeName(task));

const recordPath = ({ privateFolder }: ForkOptions, task: string): string =>
  join(privateFolder, `fork-${safeName(task)}.json`);

export const forkRecord = (options: ForkOptions, task: string): Promise<ForkRecord | undefined> =>
  readRecord<ForkRecord>(recordPath(options, task));

export const rememberFork = (options: ForkOptions, task: string, record: ForkRecord): Promise<void> =>
  writeRecord(recordPath(options, task), record);

/** Keeps the work of a fork, whatever happens to its files. */
export const forkRef = ({ loop }: ForkOptions, task: string): string =>
  `refs/ralph/forks/${safeName(loop)}/${safeName(task)}`;

export const forkIndex = ({ privateFolder }: ForkOptions, task: string): string =>
  join(privateFolder, `fork-${safeName(task)}.index`);

/** Looked up anew each time: an agent may have added filters meanwhile. */
export async function forkPlace(repository: Repository, options: ForkOptions, task: string): Promise<GitPlace> {
  const { environment } = repository;
  return { directory: forkDirectory(options, task), environment, settings: await filtersOff(repository) };
}

/** The two halves of a worktree name each other: its folder, and git's notes about it. */
export async function isForkThere({ commonDirectory }: Repository, directory: string): Promise<boolean> {
  const textOf = (path: string) => readFile(path, 'utf8').catch(() => '');
  const notes = /^gitdir: (.+)\n?$/.exec(await textOf(join(directory, '.git')))?.[1] ?? '';
  if ((await realOf(dirname(notes))) !== (await realOf(join(commonDirectory, 'worktrees')))) return false;
  const back = (await textOf(join(notes, 'gitdir'))).trimEnd();
  return (await realOf(back)) === (await realOf(join(directory, '.git')));
}

/** In a worktree of our own a lock is only what a git of a killed agent left, unless it is still alive. */
export async function freeIndex(place: GitPlace): Promise<void> {
  const lock = await ask(place, ['rev-parse', '--git-path', 'index.lock']);
  if (lock.ok) await waitForLock(resolve(place.directory, lock.text), ownLock);
}

const isAt = (path: string): Promise<boolean> =>
  lstat(path).then(
    () => true,
    () => false,
  );

/** At the tip of the loop's branch. Nothing is thrown away: what stands in the way and may hold work is moved aside. */
export async function makeFork(
  repository: Repository,
  options: ForkOptions,
  task: string,
): Promise<{ readonly ok: true; readonly base: string } | Refusal> {
  const directory = forkDirectory(options, task);
  const record = await forkRecord(options, task);
  const base = await revision(repository, `refs/heads/${options.branch}^{commit}`);
  if (base === '') return refuse(`The loop's branch ${options.branch} is gone.`);
  if (record?.state !== 'making' && (await isAt(directory))) {
    await rename(directory, `${directory}.aside-${Date.now()}`);
  }
  await rememberFork(options, task, { state: 'making', base });
  await rm(forkIndex(options, task), { force: true });
  const from = options.loopDirectory;
  const laid = await layOut(repository, { path: directory, commit: base, from, needed: options.needed });
  if (!laid.ok) return laid;
  const kept = await setRef(repository, forkRef(options, task), base);
  if (!kept.ok) return kept;
  await rememberFork(options, task, { state: 'ready', base });
  return { ok: true, base };
}

/** All files of the fork, ignored ones not; in the loop's private index, which no agent can bend. */
export async function treeOfFork(
  place: GitPlace,
  options: ForkOptions,
  task: string,
  base: string,
): Promise<{ readonly ok: true; readonly tree: string } | Refusal> {
  const index = forkIndex(options, task);
  const variables = { GIT_INDEX_FILE: index };
  const timeMsMax = 600_000;
  await rm(`${index}.lock`, { force: true });
  const read = await ask(place, ['read-tree', '--no-sparse-checkout', '--reset', base], { variables });
  if (!read.ok) return read;
  const settings = [
    '-c',
    'core.safecrlf=false',
    '-c',
    'core.sparseCheckout=false',
    '-c',
    'advice.addEmbeddedRepo=false',
  ];
  const added = await ask(place, [...settings, 'add', '--all'], { variables, timeMsMax });
  if (!added.ok) return refuse(`The work of ${task} cannot be taken: ${added.problem}`);
  const differing = await ask(place, ['diff-index', '--cached', '-r', '-z', '--raw', '--no-renames', base], {
    variables,
  });
  if (!differing.ok) return differing;
  const back = rawChanges(differing).filter(change => staysBehind(options, change));
  const lines = back.map(({ path, modeBefore, objectBefore }) =>
    indexLine({ path, mode: modeBefore, object: objectBefore }),
  );
  const input = Buffer.from(lines.join(''), 'latin1');
  const put = await ask(place, ['update-index', '-z', '--index-info'], { variables, input });
  if (!put.ok) return put;
  const tree = await ask(place, ['write-tree'], { variables });
  return tree.ok ? { ok: true, tree: tree.text } : tree;
}

/** Repositories that the agent made in the tree, what was copied in because git does not hold it, and the document. */
function staysBehind({ needed, apart = [] }: ForkOptions, { path, mode, modeBefore }: RawChange): boolean {
  const isAmong = (list: readonly string[]) =>
    list.map(one => fromText(one).replace(/\/+$/, '')).some(one => path === one || path.startsWith(`${one}/`));
  if (isAmong(apart)) return true;
  return modeBefore === absent && (mode === gitlink || isAmong(needed));
}

// Takes a fork away in which nothing is to be kept: its folder, its ref, its index and its record.

export async function dropFork(
  repository: Repository,
  options: ForkOptions,
  task: string,
): Promise<{ readonly ok: true } | Refusal> {
  const dropped = await dropTree(repository, forkDirectory(options, task));
  if (!dropped.ok) return dropped;
  await git(repository, ['update-ref', '-d', forkRef(options, task)]);
  await rm(forkIndex(options, task), { force: true });
  await rm(join(options.privateFolder, `fork-${safeName(task)}.json`), { force: true });
  return { ok: true };
}
