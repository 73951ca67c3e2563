// A worktree of a loop's own, on a branch of its own, outside of the repository: the user's files are not touched at all.

import { constants, type Stats } from 'node:fs';
import { copyFile, lstat, mkdir, readdir, readlink, realpath, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { ask, type GitPlace, git, gitlink, listOf, revision } from './call.ts';
import { moveRef } from './locks.ts';
import { foldersAbove, fromText, onDisk, pathsOf, readRecord, toInput, toText, writeRecord } from './paths.ts';
import { type Repository, refuse } from './repository.ts';
import type { Refusal } from './workspace.ts';

export interface WorktreeOptions {
  /** Not there yet, or left by an earlier call. */
  readonly path: string;
  /** `ralph/NAME`; where it exists already, one with a number is taken. */
  readonly branch: string;
  /** Relative to the top: not in git, but the work needs them. */
  readonly needed: readonly string[];
}

export interface Worktree {
  readonly ok: true;
  readonly directory: string;
  readonly branch: string;
  readonly base: string;
  /** Of `needed`: what was not there or could not be copied. */
  readonly missing: readonly string[];
  /** What a person should know, one sentence each. */
  readonly notices: readonly string[];
}

interface WorktreeRecord {
  readonly branch: string;
  readonly base: string;
  readonly isReady: boolean;
  readonly missing: readonly string[];
}

const recordOf = (path: string): string => `${path}.json`;

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
  const isThere = (await lstat(path).catch(() => undefined)) !== undefined;
  if (record?.isReady && isThere) return takeUp(repository, path, record, trees.paths.includes(own));
  if (record === undefined && isThere) return refuse('The folder for the worktree exists already, and is not ours.');
  const plan = record ?? (await planOf(repository, options));
  if ('ok' in plan) return plan;
  const blocked = await blockedBy(repository, plan.branch);
  if (blocked !== undefined) {
    if (record !== undefined) await undoTree(repository, path);
    return blocked;
  }
  await writeRecord(recordOf(path), { ...plan, isReady: false });
  const tip = (await revision(repository, `refs/heads/${plan.branch}^{commit}`)) || plan.base;
  const laid = await layOut(repository, { path, commit: tip, from: repository.directory, needed: options.needed });
  if (!laid.ok) return laid;
  const place = { ...repository, directory: path };
  if (tip === plan.base && (await revision(repository, `refs/heads/${plan.branch}`)) === '') {
    const made = await moveRef(repository, `refs/heads/${plan.branch}`, {
      to: tip,
      from: '',
      reason: 'ralph: worktree',
    });
    if (made === 'moved') return refuse(`The branch ${plan.branch} was made by somebody else just now.`);
    if (!made.ok) return made;
  }
  const entered = await ask(place, ['symbolic-ref', 'HEAD', `refs/heads/${plan.branch}`]);
  if (!entered.ok) return entered;
  await writeRecord(recordOf(path), { ...plan, isReady: true, missing: laid.missing });
  const other =
    plan.branch === options.branch ? [] : [`The branch ${options.branch} exists, so this is ${plan.branch}.`];
  const notices = [...other, ...(await noticesOf(place))];
  return { ok: true, directory: path, branch: plan.branch, base: plan.base, missing: laid.missing, notices };
}

/** Only one that we made, and only when nothing uncommitted is in it. The branch stays. */
export async function removeWorktree(repository: Repository, path: string): Promise<{ readonly ok: true } | Refusal> {
  if ((await readRecord<WorktreeRecord>(recordOf(path))) === undefined) return refuse('This worktree is not ours.');
  const trees = await worktreesOf(repository);
  if (!trees.ok) return trees;
  if (trees.paths.includes(await realOf(path))) {
    const removed = await ask(repository, ['worktree', 'remove', '--', path]);
    if (!removed.ok)
      return refuse('The worktree holds uncommitted work, so it stays.', 'Commit it, or remove it by hand.');
  }
  await rm(recordOf(path), { force: true });
  return { ok: true };
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

/** Takes back what an earlier call began. */
async function undoTree(repository: Repository, path: string): Promise<void> {
  await dropTree(repository, path);
  await rm(recordOf(path), { force: true });
}

async function takeUp(
  repository: Repository,
  path: string,
  { branch, base, missing }: WorktreeRecord,
  isKnown: boolean,
): Promise<Worktree | Refusal> {
  const place: GitPlace = { ...repository, directory: path };
  const head = isKnown ? await ask(place, ['symbolic-ref', '--quiet', 'HEAD']) : undefined;
  if (head === undefined) return refuse('The folder of the worktree is there, but git no longer knows it.');
  if (!head.ok || head.text !== `refs/heads/${branch}`) {
    return refuse(`The worktree of this loop is no longer on its branch ${branch}.`, `Check out ${branch} in it.`);
  }
  return { ok: true, directory: path, branch, base, missing, notices: await noticesOf(place) };
}

async function planOf(repository: Repository, { branch }: WorktreeOptions): Promise<WorktreeRecord | Refusal> {
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
export async function layOut(
  repository: Repository,
  order: { readonly path: string; readonly commit: string; readonly from: string; readonly needed: readonly string[] },
): Promise<{ readonly ok: true; readonly missing: readonly string[] } | Refusal> {
  const dropped = await dropTree(repository, order.path);
  if (!dropped.ok) return dropped;
  await mkdir(dirname(order.path), { recursive: true });
  const add = ['worktree', 'add', '--quiet', '--detach', '--no-checkout', '--', order.path, order.commit];
  const added = await ask(repository, add);
  if (!added.ok) return added;
  const place: GitPlace = { ...repository, directory: order.path };
  const filled = await ask(place, ['read-tree', '--no-sparse-checkout', '-m', '-u', order.commit], {
    timeMsMax: 600_000,
  });
  if (!filled.ok) return filled;
  const tracked = await ask(place, ['ls-files', '-z']);
  if (!tracked.ok) return tracked;
  const copy = { from: order.from, to: order.path, tracked: new Set(pathsOf(tracked)) };
  return { ok: true, missing: await copyNeeded(copy, order.needed) };
}

/** For folders that only we made and in which nothing is left to lose. Twice = once. */
export async function dropTree(repository: Repository, path: string): Promise<{ readonly ok: true } | Refusal> {
  await rm(path, { recursive: true, force: true });
  const trees = await worktreesOf(repository);
  if (!trees.ok) return trees;
  if (!trees.paths.includes(await realOf(path))) return { ok: true };
  return ask(repository, ['worktree', 'remove', '--force', '--force', '--', path]);
}

/** Real paths of all working trees that git knows. */
async function worktreesOf(place: GitPlace): Promise<{ ok: true; paths: readonly string[] } | Refusal> {
  const found = await ask(place, ['worktree', 'list', '--porcelain', '-z']);
  if (!found.ok) return found;
  const named = listOf(found).flatMap(line => (line.startsWith('worktree ') ? [line.slice('worktree '.length)] : []));
  return { ok: true, paths: await Promise.all(named.map(realOf)) };
}

/** Also of a path that is not there: of its nearest folder that is. */
export async function realOf(path: string): Promise<string> {
  const real = await realpath(path).catch(() => undefined);
  if (real !== undefined || dirname(path) === path) return real ?? path;
  return join(await realOf(dirname(path)), basename(path));
}

function isInside(folder: string, path: string): boolean {
  return relative(folder, path).split(sep)[0] !== '..';
}

async function noticesOf(place: GitPlace): Promise<readonly string[]> {
  const staged = await ask(place, ['ls-files', '-z', '--stage']);
  if (!staged.ok) return [];
  const entries = pathsOf(staged);
  const paths = entries.map(entry => entry.slice(entry.indexOf('\t') + 1));
  const modules = entries.filter(entry => entry.startsWith(gitlink)).length;
  const attributes = await ask(place, ['check-attr', '-z', '--stdin', 'filter'], { input: toInput(paths) });
  const values = attributes.ok ? pathsOf(attributes).filter((_, at) => at % 3 === 2) : [];
  const filtered = values.filter(value => value !== 'unspecified' && value !== 'unset').length;
  return [
    ...(filtered === 0
      ? []
      : [
          `${count(filtered, 'file')} behind a filter (such as LFS) ${filtered === 1 ? 'is as git stores it' : 'are as git stores them'}.`,
        ]),
    ...(modules === 0 ? [] : [`${count(modules, 'submodule')} ${modules === 1 ? 'is' : 'are'} empty in the worktree.`]),
  ];
}

const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? '' : 's'}`;

// Takes a worktree back that was just made, with its branch, when the loop does not begin after all.

/** The branch goes only while it holds nothing but what HEAD holds. */
export async function abandonWorktree(
  repository: Repository,
  path: string,
  branch: string,
): Promise<{ readonly ok: true } | Refusal> {
  const removed = await removeWorktree(repository, path);
  if (!removed.ok) return removed;
  const tip = await revision(repository, `refs/heads/${branch}`);
  if (tip === '' || tip !== (await revision(repository, 'HEAD'))) return { ok: true };
  const gone = await ask(repository, ['update-ref', '-d', `refs/heads/${branch}`, tip]);
  return gone.ok ? { ok: true } : gone;
}

// Takes back worktrees of runs that were killed before their loop began: nobody would ever ask for them again.

/** A younger one may be just being made by another run. */
const ageMsMin = 3_600_000;

/** Only those of this repository, and only without work in them; `isLoop` says whether the ledger knows a loop. */
export async function sweepWorktrees(
  repository: Repository,
  folder: string,
  isLoop: (loop: string) => boolean,
  now: number,
): Promise<readonly string[]> {
  const names = await readdir(folder).catch(() => []);
  const swept: string[] = [];
  for (const name of names) {
    const loop = /^([0-9a-f-]{36})\.json$/.exec(name)?.[1];
    if (loop === undefined || isLoop(loop)) continue;
    const record = join(folder, name);
    const age =
      now -
      (await stat(record).then(
        found => found.mtimeMs,
        () => now,
      ));
    const branch = (await readRecord<{ readonly branch?: string }>(record))?.branch;
    if (age < ageMsMin || branch === undefined) continue;
    const gone = await abandonWorktree(repository, join(folder, loop), branch);
    if (gone.ok) swept.push(branch);
  }
  return swept;
}

// Copies into a new worktree what the work needs and git does not hold, such as node_modules and .env.

interface Copy {
  readonly from: string;
  readonly to: string;
  /** What git holds came with the checkout, and stays as git has it. */
  readonly tracked: ReadonlySet<string>;
}

/** Never through a symbolic link, on either side; links are copied as links. Returns what could not be copied. */
async function copyNeeded(copy: Copy, needed: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const one of needed) {
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

const look = (top: string, path: string): Promise<Stats | undefined> => lstat(onDisk(top, path)).catch(() => undefined);

async function isReachable(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) if (!(await look(top, folder))?.isDirectory()) return false;
  return (await look(top, path)) !== undefined;
}

/** Makes the folders above; false where something else is in the way. */
async function enter(top: string, path: string): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const stats = await look(top, folder);
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
  const there = await look(copy.to, path);
  if (there === undefined) await mkdir(onDisk(copy.to, path), { mode: (mode & 0o777) | 0o700 });
  else if (!there.isDirectory()) return [path];
  const names = await readdir(onDisk(copy.from, path), { encoding: 'buffer' });
  const failed = await Promise.all(names.map(name => copyEntry(copy, `${path}/${name.toString('latin1')}`)));
  return failed.flat();
}
