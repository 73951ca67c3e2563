// The plan of a restore, for every path that differs: the loop's own work gives way, a person's edits do not.
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { type Difference, type Entry, gitlink, ignoredAmong, sparseRows } from '../call.ts';
import { coveringEntry, ignoredAtStart, userEditsAfter } from '../checkpoints/user-edits.ts';
import type { RestoreOrder } from '../checkpoints.ts';
import { isOnDisk, statsAt } from '../disk.ts';
import { differences } from '../history.ts';
import { byPath, foldersAbove, fromText, isAmong, onDisk, toText } from '../paths.ts';
import { type PrivateGit, pathsInside } from '../private.ts';

/** Paths have one character per byte. */
export interface Plan {
  readonly write: readonly NewFile[];
  /** `from` is undefined for a link that no checkpoint holds, in the place of a folder. */
  readonly remove: readonly Pick<Difference, 'path' | 'from'>[];
  /** Both sides changed; whether their lines can be put together is not known yet. */
  readonly merge: readonly Merge[];
  readonly kept: readonly string[];
  readonly conflicts: readonly string[];
}

/** A file that shall be in the tree. */
export interface NewFile extends Difference {
  readonly to: Entry;
  /** A file that no checkpoint holds gives way. */
  readonly replaces?: boolean;
}

export interface Merge {
  readonly path: string;
  readonly base: Entry;
  readonly now: Entry;
  readonly to: Entry;
}

export async function planRestore(own: PrivateGit, order: RestoreOrder): Promise<Plan> {
  const { repository } = own;
  const isOverwriting = order.overwrite === true;
  const isExcepted = isAmong((await pathsInside(repository, order.except ?? [])).map(fromText));
  const [all, edits] = await Promise.all([
    differences(repository, { from: order.now, to: order.to }),
    differences(repository, { from: order.base, to: order.now }),
  ]);
  const only = order.only && new Set(order.only.map(fromText));
  const differing = all.filter(({ path }) => !isExcepted(path) && only?.has(path) !== false);
  const sparse = differing.length === 0 ? new Map() : await sparseRows(own.place);
  const older = isOverwriting || order.isOneSpan ? new Set<string>() : await userEditsAfter(own, order.to);
  const isLeft = leftOf(order);
  const baseOf = new Map(edits.map(({ path, from }) => [path, from]));
  const circumstances = { sparse, older, baseOf, isLeft, isOverwriting };
  const fates = Map.groupBy(differing, one => fateOf(one, circumstances));
  const having = (fate: Fate): Difference[] => fates.get(fate) ?? [];
  const write = having('write').map(one => ({ ...one, to: one.to! }));
  const keep = having('keep');
  const blocking = inTheWay(keep, write);
  const yielding = blocking.filter(one => isOverwriting && !isLeft(one));
  const remove = [...having('remove'), ...yielding];
  const conflicts = [...having('conflict'), ...blocking.filter(one => !yielding.includes(one))];
  const free = keep.filter(one => !blocking.includes(one));
  const { possible, impossible, links } = await clearOf(own, isOverwriting, write, remove);
  return {
    write: possible,
    remove: [...remove, ...links.map(path => ({ path, from: undefined }))],
    merge: having('merge').map(({ path, from, to }) => ({ path, base: baseOf.get(path)!, now: from!, to: to! })),
    kept: pathsOf([...free, ...impossible, ...having('unseen')]),
    conflicts: pathsOf(conflicts),
  };
}

const pathsOf = (all: readonly Difference[]): readonly string[] => all.map(({ path }) => path).sort(byPath);

type Fate = 'write' | 'remove' | 'merge' | 'keep' | 'conflict' | 'unseen';

interface Circumstances {
  readonly sparse: ReadonlyMap<string, unknown>;
  /** User edits that the target is too old to hold. */
  readonly older: ReadonlySet<string>;
  /** Of what was edited since the last checkpoint: what that holds. */
  readonly baseOf: ReadonlyMap<string, Entry | undefined>;
  readonly isLeft: (one: Difference) => boolean;
  readonly isOverwriting: boolean;
}

/** What was edited since the last checkpoint is merged where it can be; what was edited before that, and kept then, stays. */
function fateOf(one: Difference, { sparse, older, baseOf, isLeft, isOverwriting }: Circumstances): Fate {
  const { path, from, to } = one;
  const isEdited = baseOf.has(path);
  const base = baseOf.get(path);
  if (sparse.has(path)) return 'unseen';
  if (!isOurs(one) || isLeft(one) || (older.has(path) && !isEdited)) return 'keep';
  if (isEdited && isSame(base, to)) return 'keep';
  if (isEdited && [base, from, to].every(isText)) return 'merge';
  if (isEdited && !isOverwriting) return 'conflict';
  return to === undefined ? 'remove' : 'write';
}

/** What would be deleted only because the target could not hold it, or what lies around it. */
function leftOf({ left = [] }: RestoreOrder): (one: Difference) => boolean {
  const isNamed = isAmong(left.map(path => path.replace(/\/$/, '')));
  return ({ path, to }) => to === undefined && isNamed(toText(path));
}

/** Other repositories are not ours, and no tree may reach into git's own folder or out of the working tree. */
const isOurs = ({ path, from, to }: Difference): boolean =>
  ![from?.mode, to?.mode].includes(gitlink) &&
  path.split('/').every(name => !['', '.', '..', '.git'].includes(name.toLowerCase()));

const isSame = (one: Entry | undefined, other: Entry | undefined): boolean =>
  one?.mode === other?.mode && one?.object === other?.object;

const isText = (entry: Entry | undefined): boolean => entry?.mode.startsWith('100') === true;

/** A kept file where the target has a folder, or the other way round. */
function inTheWay(keep: readonly Difference[], write: readonly Difference[]): readonly Difference[] {
  const present = keep.filter(({ from }) => from !== undefined);
  const written = new Set(write.map(({ path }) => path));
  const needed = new Set(write.flatMap(({ path }) => foldersAbove(path)));
  return present.filter(({ path }) => needed.has(path) || foldersAbove(path).some(folder => written.has(folder)));
}

/** What lies on disk and is in no checkpoint (ignored, or left out) stays; only a link in a folder's place is replaced. */
async function clearOf(
  own: PrivateGit,
  isOverwriting: boolean,
  write: readonly NewFile[],
  remove: readonly Difference[],
) {
  const { repository } = own;
  const { isFree, links } = freedomOf(repository.directory, remove);
  const taken = write.filter(({ path, from }) => from === undefined && !isFree(path));
  const unfree: NewFile[] = [];
  for (const one of taken) if (!(await isOnDisk(repository, one.path, one.to))) unfree.push(one);
  const given = isOverwriting ? await givingWay(own, unfree) : new Set<Difference>();
  const impossible = unfree.filter(one => !given.has(one));
  const set = new Set(impossible);
  const possible = write.filter(one => !set.has(one)).map(one => (given.has(one) ? { ...one, replaces: true } : one));
  return { possible, impossible, links: [...links] };
}

/** Whether a new file finds room once `remove` is gone; `links` are those that must go from the place of a folder. */
function freedomOf(top: string, remove: readonly Difference[]) {
  const removed = new Set(remove.map(({ path }) => path));
  const links = new Set<string>();
  const isGoing = (folder: string): boolean => removed.has(folder) || links.has(folder);
  const isFreed = (folder: string): boolean => {
    const stats = statsOf(top, folder);
    if (stats === undefined || isGoing(folder)) return true;
    if (stats.isSymbolicLink()) links.add(folder);
    return stats.isSymbolicLink();
  };
  const isFree = (path: string): boolean => {
    const barrier = foldersAbove(path).find(folder => isGoing(folder) || !statsOf(top, folder)?.isDirectory());
    if (barrier !== undefined) return isFreed(barrier);
    const stats = statsOf(top, path);
    return stats === undefined || (stats.isDirectory() && willBeEmpty(top, path, removed));
  };
  return { isFree, links };
}

/** Files that grew too large for a checkpoint; never those that git ignores. */
async function givingWay(own: PrivateGit, blocked: readonly Difference[]): Promise<ReadonlySet<Difference>> {
  const files: Difference[] = [];
  // A file may lie where a folder of the path was: then nothing is at the path itself.
  for (const one of blocked) if ((await statsAt(own.repository.directory, one.path))?.isFile()) files.push(one);
  const atStart = await ignoredAtStart(own);
  if (typeof atStart === 'string') return new Set();
  const ignored = await ignoredAmong(own.place, pathsOf(files));
  if (ignored === undefined) return new Set();
  return new Set(files.filter(({ path }) => !ignored.has(path) && coveringEntry(atStart, path) === undefined));
}

function willBeEmpty(top: string, folder: string, removed: ReadonlySet<string>): boolean {
  return readdirSync(onDisk(top, folder), { withFileTypes: true, encoding: 'latin1' }).every(entry => {
    const path = `${folder}/${entry.name}`;
    return removed.has(path) || (entry.isDirectory() && willBeEmpty(top, path, removed));
  });
}

function statsOf(top: string, path: string): Stats | undefined {
  return lstatSync(onDisk(top, path), { throwIfNoEntry: false });
}
