// Syncs the user's index after a commit of ours, or `git status` would show our work as undone; a crash is made good later.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Difference, diffIndex, git, gitlink, updateIndex } from '../call.ts';
import { changesAtStart } from '../checkpoints/user-edits.ts';
import { readRecord, stampOfIndex, writeRecord } from '../disk.ts';
import { userLock, waitForLock } from '../locks.ts';
import { diffTrees, readObject, revision } from '../objects.ts';
import { foldersAbove, isAmong, toInput } from '../paths.ts';
import { rememberSync } from '../private.ts';
import { type Done, refuse } from '../refusal.ts';
import type { Repository } from '../repository.ts';

/** A commit of ours, and the tree (or commit) before it. */
export interface Step {
  readonly before: string;
  readonly commit: string;
}

/** Another git may take the lock just when it became free. */
const triesMax = 5;

const journalIn = (folder: string): string => join(folder, 'unsettled.json');

/** Before HEAD moves: so that a crash right after it is known. Not synced to the disk: git's own move of HEAD is not either. */
export const recordStep = (folder: string, step: Step): Promise<void> => writeRecord(journalIn(folder), step, false);

/** Indexes in which nothing was staged when we left them, by their folder: then git need not be asked what is. */
const leftClean = new Map<string, { readonly tree: string; readonly index: string }>();

/** Finishes what a crash cut between a commit and the index. Does nothing when nothing is open. */
export async function syncUserIndex(repository: Repository, folder: string): Promise<Done> {
  const step = await readRecord<Step>(journalIn(folder));
  if (step === undefined) return { ok: true };
  const head = await readObject(repository, 'HEAD^{commit}');
  const isIn = (head.ok && head.name === step.commit) || (await isInHead(repository, step.commit));
  const atStart = (await changesAtStart(folder)) ?? new Set();
  const synced: Done = isIn ? await takeOver(repository, step, atStart) : { ok: true };
  if (synced.ok) await rm(journalIn(folder), { force: true });
  return synced;
}

const isInHead = async (repository: Repository, commit: string): Promise<boolean> =>
  (await git(repository, ['merge-base', '--is-ancestor', commit, 'HEAD'])).code === 0;

/**
 * The entries of the commit, whatever an agent staged there meanwhile: nothing of it was a person's unfinished work. What
 * somebody staged elsewhere, or committed since, stays.
 */
async function takeOver(repository: Repository, { before, commit }: Step, atStart: ReadonlySet<string>): Promise<Done> {
  const found = await stampOfIndex(repository);
  const changed = await diffTrees(repository, { from: before, to: commit });
  const later = await diffTrees(repository, { from: commit, to: 'HEAD' });
  const stagedBefore = await stagedAgainst(repository, before, found);
  if (!changed.ok) return changed;
  if (!later.ok) return later;
  if (!stagedBefore.ok) return stagedBefore;
  const own = new Set(changed.all.flatMap(({ path }) => (atStart.has(path) ? [] : [path])));
  const staying = stagedBefore.all.filter(({ path }) => !own.has(path));
  const users = new Set([...staying, ...later.all].map(({ path }) => path));
  const around = new Set([...users].flatMap(foldersAbove));
  const isOfUser = isAmong(users);
  const isFree = ({ path }: Difference) => !isOfUser(path) && !around.has(path);
  const free = changed.all.filter(isFree);
  const set = await updateWhenFree(repository, free);
  if (!set.ok) return set;
  const present = free.filter(({ to }) => to !== undefined && to.mode !== gitlink).map(({ path }) => path);
  if (present.length > 0) {
    // So that `git status` need not read these files: a failure costs only time.
    const refresh = ['add', '--refresh', '--pathspec-from-file=-', '--pathspec-file-nul'];
    await git(repository, refresh, { input: toInput(present) });
  }
  const index = await stampOfIndex(repository);
  rememberSync(repository, { found, left: index });
  const isClean = users.size === 0 && own.size === changed.all.length;
  const tree = isClean ? await revision(repository, `${commit}^{tree}`) : '';
  leftClean.set(repository.gitDirectory, { tree, index });
  return { ok: true };
}

async function stagedAgainst(repository: Repository, treeOrCommit: string, index: string) {
  const left = leftClean.get(repository.gitDirectory);
  const isClean = left !== undefined && left.tree === treeOrCommit && left.index !== '' && left.index === index;
  return isClean ? { ok: true as const, all: [] } : diffIndex(repository, treeOrCommit);
}

async function updateWhenFree(repository: Repository, all: readonly Difference[]): Promise<Done> {
  if (all.length === 0) return { ok: true };
  for (let tries = 1; ; tries += 1) {
    const free = await waitForIndex(repository);
    if (!free.ok) return free;
    const done = await updateIndex(repository, all);
    if (done.ok || tries === triesMax || !done.problem.includes('index.lock')) return done;
  }
}

/** Bounded: another git may be at work in the user's index, or have died there (F71). */
export async function waitForIndex(repository: Repository): Promise<Done> {
  const waited = await waitForLock(join(repository.gitDirectory, 'index.lock'), userLock([repository.directory]));
  if (waited !== 'held') return { ok: true };
  return refuse(
    "Another git works in this repository's index, or died there.",
    'When no git runs any more, delete index.lock in the .git folder.',
  );
}
