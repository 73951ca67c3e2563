// The worktree of a loop, on a branch of its own, outside of the repository: the user's files are not touched at all.
import { constants } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, posix, relative, sep } from 'node:path';
import { startTimeOf, thisHost } from '../../processes/identity.ts';
import { plural } from '../../text/format.ts';
import { ask, filteredAmong, type GitPlace, git, gitlink, indexRows, listIndex } from '../call.ts';
import { readRecord, realOf, statsAt, succeeds, writeRecord } from '../disk.ts';
import { moveRef } from '../locks.ts';
import { revision } from '../objects.ts';
import { foldersAbove, fromText, listOf, onDisk, pathsOf, toText } from '../paths.ts';
import { type Done, type Refusal, refuse } from '../refusal.ts';
import type { Repository } from '../repository.ts';
import { makeNotes, notesOf } from '../worktree-notes.ts';
import { atMost } from './turns.ts';

export interface WorktreeOptions {
  /** Not there yet, or left by an earlier call. */
  readonly path: string;
  /** `ralph/NAME`; where it exists already, one with a number is taken. */
  readonly branch: string;
  /** Relative to the top: not in git, but the work needs them, such as node_modules and .env. */
  readonly untracked: readonly string[];
  /** The loop has this branch already: its worktree is made again. */
  readonly existing?: string | undefined;
}

export interface Worktree {
  readonly ok: true;
  readonly directory: string;
  readonly branch: string;
  /** Of `untracked`: what was not there or could not be copied. */
  readonly missing: readonly string[];
  /** What a person should know, one sentence each. */
  readonly notices: readonly string[];
}

export interface WorktreeRecord {
  readonly branch: string;
  readonly base: string;
  readonly isReady: boolean;
  readonly missing: readonly string[];
  /** Who prepares it, and where: while they live, nobody else touches it. Absent in records of 0.4. */
  readonly maker?: Maker;
}

interface Maker extends ReturnType<typeof thisHost> {
  readonly pid: number;
  readonly startTime: string;
  /** The common folder of the repository. */
  readonly repository: string;
}

const makerIn = ({ commonDirectory }: Repository): Maker => ({
  ...{ ...thisHost(), pid: process.pid, startTime: startTimeOf(process.pid) ?? '' },
  repository: commonDirectory,
});

export const recordOf = (path: string): string => `${path}.json`;

/** The same call again takes up what is there, finished or not. */
export async function makeWorktree(repository: Repository, options: WorktreeOptions): Promise<Worktree | Refusal> {
  const { path } = options;
  const trees = await worktreesOf(repository);
  if (!trees.ok) return trees;
  const own = await realOf(path);
  const around = [...trees.paths.filter(tree => tree !== own), await realOf(repository.commonDirectory)];
  if (around.some(tree => isInside(tree, own))) {
    return refuse('The worktree would lie inside of the repository.', 'Set RALPH_HOME to a folder outside of it.');
  }
  const record = await readRecord<WorktreeRecord>(recordOf(path));
  const isThere = await succeeds(lstat(path));
  if (record?.isReady && isThere && !trees.paths.includes(own))
    return refuse('The folder of the worktree is there, but git no longer knows it.');
  if (record?.isReady && isThere) return resumeTree(repository, path, record);
  if (record === undefined && isThere) return refuse('The folder for the worktree exists already, and is not ours.');
  const plan = record ?? (await planOf(repository, options));
  if ('ok' in plan) return plan;
  const blocked = await blockedBy(repository, plan.branch);
  if (blocked === undefined) return makeTree(repository, options, plan, record === undefined);
  if (record !== undefined) {
    await dropTree(repository, path); // what an earlier call began
    await rm(recordOf(path), { force: true });
  }
  return blocked;
}

async function makeTree(
  repository: Repository,
  { path, branch: wanted, untracked }: WorktreeOptions,
  plan: WorktreeRecord,
  isNew: boolean,
): Promise<Worktree | Refusal> {
  const { branch, base } = plan;
  const ref = `refs/heads/${branch}`;
  await writeRecord(recordOf(path), { ...plan, isReady: false, maker: makerIn(repository) } satisfies WorktreeRecord);
  const tip = (await revision(repository, `${ref}^{commit}`)) || base;
  const filled = await checkOutTree(repository, { path, commit: tip, from: repository.directory, untracked, isNew });
  if (!filled.ok) return filled;
  const { missing } = filled;
  const place = { ...repository, directory: path };
  if (tip === base && (await revision(repository, ref)) === '') {
    const made = await moveRef(repository, ref, { to: tip, from: '' });
    if (made === 'moved') return refuse(`The branch ${branch} was made by somebody else just now.`);
    if (!made.ok) return made;
  }
  const entered = await ask(place, ['symbolic-ref', 'HEAD', ref]);
  if (!entered.ok) return entered;
  const done = { ...plan, isReady: true, missing, maker: makerIn(repository) };
  await writeRecord(recordOf(path), done satisfies WorktreeRecord);
  const other = branch === wanted ? [] : [`The branch ${wanted} exists, so this is ${branch}.`];
  return { ok: true, directory: path, branch, missing, notices: [...other, ...(await noticesOf(place))] };
}

/** Git keeps branches as files: below a branch there is no room for another one. */
async function blockedBy(repository: Repository, branch: string): Promise<Refusal | undefined> {
  for (const name of foldersAbove(branch)) {
    if ((await revision(repository, `refs/heads/${name}`)) === '') continue;
    const fix = `Rename it: git branch -m ${name} ${name}-old`;
    return refuse(`A branch is called ${name}, so git cannot make the branch ${branch}.`, fix);
  }
  return undefined;
}

async function resumeTree(
  repository: Repository,
  path: string,
  { branch, missing }: WorktreeRecord,
): Promise<Worktree | Refusal> {
  const place: GitPlace = { ...repository, directory: path };
  const head = await ask(place, ['symbolic-ref', '--quiet', 'HEAD']);
  if (!head.ok || head.text !== `refs/heads/${branch}`) {
    return refuse(`The worktree of this loop is no longer on its branch ${branch}.`, `Check out ${branch} in it.`);
  }
  return { ok: true, directory: path, branch, missing, notices: await noticesOf(place) };
}

async function planOf(
  repository: Repository,
  { branch, existing }: WorktreeOptions,
): Promise<WorktreeRecord | Refusal> {
  if (existing !== undefined) {
    const base = await revision(repository, `refs/heads/${existing}^{commit}`);
    return { branch: existing, base, isReady: false, missing: [] };
  }
  const base = await revision(repository, 'HEAD^{commit}');
  if (base === '')
    return refuse('A worktree needs a commit to start from, and there is none yet.', 'Commit something.');
  const isName = await git(repository, ['check-ref-format', `refs/heads/${branch}`]);
  if (isName.code !== 0)
    return refuse(`A branch cannot be called ${JSON.stringify(branch)}.`, 'Give the loop a plainer name.');
  for (let count = 1; count < 1_000; count += 1) {
    const name = count === 1 ? branch : `${branch}-${count}`;
    const found = await ask(repository, ['for-each-ref', '--count=1', `refs/heads/${name}`]);
    if (!found.ok) return found;
    if (found.text === '') return { branch: name, base, isReady: false, missing: [] };
  }
  return refuse(`No name is free for the branch ${branch}.`);
}

/** From nothing, or from what a crash left; without hooks, and files as git stores them where a filter stands before. */
export async function checkOutTree(
  repository: Repository,
  order: {
    readonly path: string;
    readonly commit: string;
    readonly from: string;
    readonly untracked: readonly string[];
    /** Nobody began it before. */
    readonly isNew?: boolean;
  },
): Promise<{ readonly ok: true; readonly missing: readonly string[] } | Refusal> {
  await mkdir(dirname(order.path), { recursive: true });
  const isBegun = order.isNew === true && (await makeNotes(repository, order.path, order.commit));
  const begun: Done = isBegun ? { ok: true } : await addTree(repository, order.path, order.commit);
  if (!begun.ok) return begun;
  const place: GitPlace = { ...repository, directory: order.path };
  const fill = ['read-tree', '--no-sparse-checkout', '-m', '-u', order.commit];
  const filled = await ask(place, fill, { timeMsMax: 600_000 });
  if (!filled.ok) return filled;
  if (order.untracked.length === 0) return { ok: true, missing: [] };
  const tracked = await ask(place, ['ls-files', '-z']);
  if (!tracked.ok) return tracked;
  const copy = { from: order.from, to: order.path, tracked: new Set(pathsOf(tracked)) };
  return { ok: true, missing: await copyUntracked(copy, order.untracked) };
}

/** Git looks at all worktrees when it adds one, and fails at one that another git has half added. */
const adding = atMost(1);

/** By git itself, whatever is there. */
async function addTree(repository: Repository, path: string, commit: string): Promise<Done> {
  const dropped = await dropTree(repository, path);
  if (!dropped.ok) return dropped;
  return adding(() => ask(repository, ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--', path, commit]));
}

/** For folders that only we made and in which nothing is left to lose. Twice = once. */
export async function dropTree(repository: Repository, path: string): Promise<Done> {
  const notes = await notesOf(repository, path);
  await rm(path, { recursive: true, force: true });
  if (notes === undefined) return removeTree(repository, path, '--force', '--force');
  await rm(notes, { recursive: true, force: true });
  return { ok: true };
}

/** Git itself refuses to remove uncommitted work, unless it is forced. */
async function removeTree(repository: Repository, path: string, ...force: readonly string[]): Promise<Done> {
  const trees = await worktreesOf(repository);
  if (!trees.ok) return trees;
  if (!trees.paths.includes(await realOf(path))) return { ok: true };
  return ask(repository, ['worktree', 'remove', ...force, '--', path]);
}

/** Real paths of all working trees that git knows. */
async function worktreesOf(place: GitPlace): Promise<{ ok: true; paths: readonly string[] } | Refusal> {
  const found = await ask(place, ['worktree', 'list', '--porcelain', '-z']);
  if (!found.ok) return found;
  const named = listOf(found).flatMap(line => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : []));
  return { ok: true, paths: await Promise.all(named.map(realOf)) };
}

const isInside = (folder: string, path: string): boolean => relative(folder, path).split(sep)[0] !== '..';

async function noticesOf(place: GitPlace): Promise<readonly string[]> {
  const rows = indexRows(await listIndex(place));
  const modules = rows.filter(({ mode }) => mode === gitlink).length;
  const behindFilter = await filteredAmong(
    place,
    rows.map(({ path }) => path),
  );
  const filtered = behindFilter.ok ? behindFilter.paths.size : 0;
  const notices: string[] = [];
  if (filtered > 0) {
    const are = filtered === 1 ? 'is as git stores it' : 'are as git stores them';
    notices.push(`${plural(filtered, 'file')} behind a filter (such as LFS) ${are}.`);
  }
  if (modules > 0)
    notices.push(`${plural(modules, 'submodule')} ${modules === 1 ? 'is' : 'are'} empty in the worktree.`);
  return notices;
}

/**
 * Takes back a worktree that was just made, with its branch, when the loop does not begin after all. Only one that we made,
 * and only when nothing uncommitted is in it; the branch goes only while it holds nothing but what HEAD holds.
 */
export async function abandonWorktree(repository: Repository, path: string): Promise<Done> {
  const record = await readRecord<WorktreeRecord>(recordOf(path));
  if (record === undefined) return refuse('This worktree is not ours.');
  const removed = await removeTree(repository, path);
  if (!removed.ok) return removed;
  await rm(recordOf(path), { force: true });
  const ref = `refs/heads/${record.branch}`;
  const tip = await revision(repository, ref);
  if (tip === '' || tip !== (await revision(repository, 'HEAD'))) return { ok: true };
  return ask(repository, ['update-ref', '-d', ref, tip]);
}

/** For good, with what is not committed in it: the folder, and its record. Twice = once. */
export async function removeWorktree(repository: Repository, path: string): Promise<Done> {
  const dropped = await dropTree(repository, path);
  if (dropped.ok) await rm(recordOf(path), { force: true });
  return dropped;
}

/** Git itself keeps a branch that is checked out, or whose commits HEAD does not hold. */
export async function removeMergedBranch(repository: Repository, branch: string): Promise<'gone' | 'kept'> {
  if ((await revision(repository, `refs/heads/${branch}`)) === '') return 'gone';
  return (await ask(repository, ['branch', '--quiet', '--delete', '--', branch])).ok ? 'gone' : 'kept';
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** What git holds came with the checkout, and stays as git has it. */
  readonly tracked: ReadonlySet<string>;
}

/** Never through a symbolic link, on either side; links are copied as links. Returns what could not be copied. */
async function copyUntracked(copy: Copy, untracked: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const one of untracked) {
    const path = fromText(posix.normalize(one).replace(/\/+$/, ''));
    const isOne = isPath(path) && (await isReachable(copy.from, path)) && (await enter(copy.to, path));
    const failed = isOne ? await copyEntry(copy, path) : [path];
    missing.push(...(failed.includes(path) ? [one] : failed.map(toText)));
  }
  return missing;
}

const isPath = (path: string): boolean =>
  path !== '' &&
  path !== '.' &&
  !path.startsWith('/') &&
  !path.split('/').some(step => step === '..' || step === '.git');

async function isReachable(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) if (!(await statsAt(top, folder))?.isDirectory()) return false;
  return (await statsAt(top, path)) !== undefined;
}

/** Makes the folders above; false where something else is in the way. */
async function enter(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const stats = await statsAt(top, folder);
    if (stats === undefined) await mkdir(onDisk(top, folder));
    else if (!stats.isDirectory()) return false;
  }
  return true;
}

/** Returns the paths that failed. */
async function copyEntry(copy: Copy, path: string): Promise<readonly string[]> {
  const source = onDisk(copy.from, path);
  const target = onDisk(copy.to, path);
  if (copy.tracked.has(path)) return [];
  try {
    const stats = await lstat(source);
    if (stats.isDirectory()) return await copyFolder(copy, path, stats.mode);
    if (path.endsWith('/.git')) return []; // names another repository's folder, whose index a copy would share
    if (!stats.isFile() && !stats.isSymbolicLink()) return [path];
    await rm(target, { force: true });
    if (stats.isFile()) await copyFile(source, target, constants.COPYFILE_FICLONE);
    else await symlink(await readlink(source, { encoding: 'buffer' }), target);
    return [];
  } catch {
    return [path];
  }
}

async function copyFolder(copy: Copy, path: string, mode: number): Promise<readonly string[]> {
  const there = await statsAt(copy.to, path);
  if (there === undefined) await mkdir(onDisk(copy.to, path), { mode: (mode & 0o777) | 0o700 });
  else if (!there.isDirectory()) return [path];
  const names = await readdir(onDisk(copy.from, path), { encoding: 'buffer' });
  const failed = await Promise.all(names.map(name => copyEntry(copy, `${path}/${name.toString('latin1')}`)));
  return failed.flat();
}
