// After a commit of ours the user's index must know it, or `git status` would show our work as undone; a crash heals later.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, ask, changesBetween, git, gitlink, indexLine, type RawChange, rawChanges } from '../call.ts';
import { dirtyAtStart } from '../checkpoints/user-edits.ts';
import { userLock, waitForLock } from '../locks.ts';
import { foldersAbove, readRecord, toInput, writeRecord } from '../paths.ts';
import { type Repository, refuse } from '../repository.ts';
import type { Refusal } from '../workspace.ts';

/** A commit of ours, and the one before it (a tree, if there was none). */
export interface Step {
  readonly before: string;
  readonly commit: string;
}

/** Another git may take the lock just when it became free. */
const triesMax = 5;

type Done = { readonly ok: true } | Refusal;

const journalIn = (folder: string): string => join(folder, 'unsettled.json');

/** Before HEAD moves: so that a crash right after it is known. */
export const remember = (folder: string, step: Step): Promise<void> => writeRecord(journalIn(folder), step);

/** Finishes what a crash cut between a commit and the index. Does nothing when nothing is open. */
export async function healIndex(repository: Repository, folder: string, lockMsMax?: number): Promise<Done> {
  const step = await readRecord<Step>(journalIn(folder));
  if (step === undefined) return { ok: true };
  const isIn = await git(repository, ['merge-base', '--is-ancestor', step.commit, 'HEAD']);
  const dirty = (await dirtyAtStart(folder)) ?? new Set();
  const settled: Done = isIn.code === 0 ? await settle(repository, step, dirty, lockMsMax) : { ok: true };
  if (settled.ok) await rm(journalIn(folder), { force: true });
  return settled;
}

/**
 * The entries of the commit, whatever an agent staged there meanwhile: nothing of it was a person's unfinished work. What
 * somebody staged elsewhere, or committed since, is theirs.
 */
async function settle(
  repository: Repository,
  { before, commit }: Step,
  dirty: ReadonlySet<string>,
  lockMsMax?: number,
): Promise<Done> {
  const changed = await changesBetween(repository, before, commit);
  const later = await changesBetween(repository, commit, 'HEAD');
  const unsettled = await staged(repository, before);
  const unlike = await staged(repository, commit);
  if (!changed.ok) return changed;
  if (!later.ok) return later;
  if (!unsettled.ok) return unsettled;
  if (!unlike.ok) return unlike;
  const own = new Set(changed.changes.flatMap(({ path }) => (dirty.has(path) ? [] : [path])));
  const staying = [...unsettled.paths].filter(path => !own.has(path));
  const theirs = new Set([...staying, ...later.changes.map(({ path }) => path)]);
  const around = new Set([...theirs].flatMap(foldersAbove));
  const isFree = ({ path }: RawChange) =>
    !theirs.has(path) && !around.has(path) && !foldersAbove(path).some(folder => theirs.has(folder));
  const entries = changed.changes.filter(isFree);
  const set = await update(
    repository,
    ['update-index', '-z', '--index-info'],
    entries.map(indexLine).join(''),
    lockMsMax,
  );
  if (!set.ok) return set;
  const known = changed.changes.filter(change => isFree(change) || !unlike.paths.has(change.path));
  const present = known.filter(({ mode }) => mode !== absent && mode !== gitlink).map(({ path }) => path);
  return refresh(repository, present);
}

/** Paths at which the index differs from a commit; an entry that is only announced (`add -N`) is no entry yet. */
async function staged(repository: Repository, commit: string): Promise<{ ok: true; paths: Set<string> } | Refusal> {
  const args = ['diff-index', '--cached', '--ita-invisible-in-index', '-z', '--raw', '--no-renames', commit];
  const found = await ask(repository, args);
  return found.ok ? { ok: true, paths: new Set(rawChanges(found).map(({ path }) => path)) } : found;
}

/** So that `git status` need not read these files: a failure costs only time. */
async function refresh(repository: Repository, paths: readonly string[]): Promise<Done> {
  if (paths.length === 0) return { ok: true };
  const input = toInput(paths);
  await git(repository, ['add', '--refresh', '--pathspec-from-file=-', '--pathspec-file-nul'], { input });
  return { ok: true };
}

async function update(
  repository: Repository,
  args: readonly string[],
  lines: string,
  lockMsMax: number | undefined,
): Promise<Done> {
  if (lines === '') return { ok: true };
  for (let tries = 1; ; tries += 1) {
    const free = await waitForIndex(repository, lockMsMax);
    if (!free.ok) return free;
    const done = await ask(repository, args, { input: Buffer.from(lines, 'latin1') });
    if (done.ok || tries === triesMax || !done.problem.includes('index.lock')) return done;
  }
}

/** Bounded: another git may be at work in the user's index, or have died there (F71). */
export async function waitForIndex(repository: Repository, lockMsMax?: number): Promise<Done> {
  const rules = userLock([repository.directory]);
  const limited = lockMsMax === undefined ? rules : { ...rules, waitMsMax: lockMsMax };
  const waited = await waitForLock(join(repository.gitDirectory, 'index.lock'), limited);
  if (waited !== 'held') return { ok: true };
  return refuse(
    "Another git works in this repository's index, or died there.",
    'When no git runs any more, delete index.lock in the .git folder.',
  );
}
