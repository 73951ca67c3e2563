// Decides what a restore does with every path that differs: the loop's own work gives way, a person's edits do not.
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import type { GitPlace } from '../call.ts';
import { sparseIn } from '../checkpoints/init-index.ts';
import { coveringEntry, foreignTo, ignoredAtStart } from '../checkpoints/user-edits.ts';
import { type Difference, differences, type Entry, isSame } from '../history.ts';
import { byPath, foldersAbove, fromText, isOnDisk, onDisk, pathsOf, toInput, toText } from '../paths.ts';
import { type PrivateGit, privately, waysInside } from '../private.ts';
import type { RestoreOrder } from '../workspace.ts';

/** Paths have one character per byte. */
export interface Plan {
  readonly write: readonly Write[];
  readonly remove: readonly Removal[];
  /** Both sides changed; whether their lines can be put together is not known yet. */
  readonly merge: readonly Merge[];
  readonly kept: readonly string[];
  readonly conflicts: readonly string[];
}

interface Write extends Difference {
  /** A file that no checkpoint holds gives way. */
  readonly replaces?: boolean;
}

interface Removal {
  readonly path: string;
  /** Undefined: a link that no checkpoint holds, in the place of a folder. */
  readonly from: Entry | undefined;
}

export interface Merge {
  readonly path: string;
  readonly base: Entry;
  readonly now: Entry;
  readonly to: Entry;
}

const repositoryMode = '160000';

export async function planRestore(own: PrivateGit, order: RestoreOrder): Promise<Plan> {
  const { repository } = own;
  const isOverwriting = order.overwrite === true;
  const spared = new Set((await waysInside(repository, order.except ?? [])).map(fromText));
  const [all, edits] = await bothDifferences(repository, order);
  const isSpared = (path: string): boolean => [path, ...foldersAbove(path)].some(each => spared.has(each));
  const differing = spared.size === 0 ? all : all.filter(({ path }) => !isSpared(path));
  const sparse = differing.length === 0 ? new Set<string>() : await sparseIn(own);
  const foreign = isOverwriting ? new Set<string>() : await foreignTo(own, order.to);
  const isLeft = leftOf(order);
  const baseOf = new Map(edits.map(({ path, from }) => [path, from]));
  const write: Difference[] = [];
  const remove: Difference[] = [];
  const merge: Merge[] = [];
  const kept: Difference[] = [];
  const conflicts: string[] = [];
  for (const one of differing.filter(({ path }) => !sparse.has(path))) {
    const base = baseOf.get(one.path);
    const isTheirs = baseOf.has(one.path);
    // What was edited since the last checkpoint is merged where it can be; what was edited before that, and kept, stays.
    if (!isOurs(one) || isLeft(one) || (foreign.has(one.path) && !isTheirs)) kept.push(one);
    else if (isTheirs && isSame(base, one.to)) kept.push(one);
    else if (isTheirs && isText(base) && isText(one.from) && isText(one.to)) {
      merge.push({ path: one.path, base, now: one.from, to: one.to });
    } else if (isTheirs && !isOverwriting) conflicts.push(one.path);
    else (one.to === undefined ? remove : write).push(one);
  }
  const blocking = inTheWay(kept, write);
  const yielding = blocking.filter(one => isOverwriting && !isLeft(one));
  remove.push(...yielding);
  conflicts.push(...blocking.filter(one => !yielding.includes(one)).map(({ path }) => path));
  const free = kept.filter(one => !blocking.includes(one));
  const { possible, impossible, links } = await clearOf(own, isOverwriting, write, remove);
  const unseen = differing.filter(({ path }) => sparse.has(path));
  return {
    write: possible,
    remove: [...remove, ...links.map(path => ({ path, from: undefined }))],
    merge,
    kept: [...free, ...impossible, ...unseen].map(({ path }) => path).sort(byPath),
    conflicts: conflicts.sort(byPath),
  };
}

/** What would be deleted only because the target could not hold it, or what lies around it. */
function leftOf({ left = [] }: RestoreOrder): (one: Difference) => boolean {
  const named = new Set(left.map(path => path.replace(/\/$/, '')));
  return ({ path, to }) => to === undefined && [...foldersAbove(path), path].some(one => named.has(toText(one)));
}

/** Other repositories are not ours, and no tree may reach into git's own folder or out of the working tree. */
const isOurs = ({ path, from, to }: Difference): boolean =>
  ![from?.mode, to?.mode].includes(repositoryMode) &&
  path.split('/').every(name => !['', '.', '..', '.git'].includes(name.toLowerCase()));

const bothDifferences = (place: GitPlace, { to, base, now }: RestoreOrder) =>
  Promise.all([differences(place, { from: now, to }), differences(place, { from: base, to: now })]);

const isText = (entry: Entry | undefined): entry is Entry => entry?.mode.startsWith('100') === true;

/** A kept file where the target has a folder, or the other way round. */
function inTheWay(kept: readonly Difference[], write: readonly Difference[]): readonly Difference[] {
  const present = kept.filter(({ from }) => from !== undefined);
  const written = new Set(write.map(({ path }) => path));
  const needed = new Set(write.flatMap(({ path }) => foldersAbove(path)));
  return present.filter(({ path }) => needed.has(path) || foldersAbove(path).some(folder => written.has(folder)));
}

interface Clear {
  readonly possible: readonly Write[];
  readonly impossible: readonly Difference[];
  readonly links: readonly string[];
}

/** What lies on disk and is in no checkpoint (ignored, or left out) stays; only a link in a folder's place is replaced. */
async function clearOf(
  own: PrivateGit,
  isOverwriting: boolean,
  write: readonly Difference[],
  remove: readonly Difference[],
): Promise<Clear> {
  const { repository } = own;
  const { isFree, links } = freedomOf(repository.directory, remove);
  const taken = write.filter(({ path, from }) => from === undefined && !isFree(path));
  const done = new Set<Difference>();
  for (const one of taken) if (one.to && (await isOnDisk(repository, one.path, one.to))) done.add(one);
  const unfree = taken.filter(one => !done.has(one));
  const given = isOverwriting ? await givingWay(own, unfree) : new Set<Difference>();
  const impossible = unfree.filter(one => !given.has(one));
  const set = new Set(impossible);
  const possible = write.filter(one => !set.has(one)).map(one => (given.has(one) ? { ...one, replaces: true } : one));
  return { possible, impossible, links: [...links] };
}

function freedomOf(top: string, remove: readonly Difference[]) {
  const removed = new Set(remove.map(({ path }) => path));
  const links = new Set<string>();
  const isFree = (path: string): boolean => {
    for (const folder of foldersAbove(path)) {
      const above = statsOf(top, folder);
      if (above === undefined || removed.has(folder) || links.has(folder)) return true;
      if (above.isSymbolicLink()) links.add(folder);
      if (above.isSymbolicLink()) return true;
      if (!above.isDirectory()) return false;
    }
    const stats = statsOf(top, path);
    return stats === undefined || (stats.isDirectory() && willBeEmpty(top, path, removed));
  };
  return { isFree, links };
}

/** Files that grew too large for a checkpoint; never those that git ignores. */
async function givingWay(own: PrivateGit, blocked: readonly Difference[]): Promise<ReadonlySet<Difference>> {
  const files = blocked.filter(({ path }) => statsOf(own.repository.directory, path)?.isFile());
  const ignored = await ignoredAtStart(own);
  if (files.length === 0 || typeof ignored === 'string') return new Set();
  const found = await privately(own, ['check-ignore', '-z', '--stdin'], {
    variables: { GIT_LITERAL_PATHSPECS: '0' }, // this one command refuses them
    input: toInput(files.map(({ path }) => `./${path}`)),
  });
  if (found.code !== 0 && found.code !== 1) return new Set();
  const unseen = new Set(pathsOf(found).map(path => path.slice('./'.length)));
  return new Set(files.filter(({ path }) => !unseen.has(path) && coveringEntry(ignored, path) === undefined));
}

function willBeEmpty(top: string, folder: string, removed: ReadonlySet<string>): boolean {
  return entriesOf(top, folder).every(entry => {
    const path = `${folder}/${entry.name}`;
    return removed.has(path) || (entry.isDirectory() && willBeEmpty(top, path, removed));
  });
}

function entriesOf(top: string, folder: string): readonly Dirent[] {
  return readdirSync(onDisk(top, folder), { withFileTypes: true, encoding: 'latin1' });
}

function statsOf(top: string, path: string): Stats | undefined {
  return lstatSync(onDisk(top, path), { throwIfNoEntry: false });
}
