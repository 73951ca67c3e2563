// Decides what a restore does with every path that differs: the loop's own work gives way, a person's edits do not.
import { type Dirent, lstatSync, readdirSync, type Stats } from 'node:fs';
import type { RestoreOrder } from '../../ports/workspace.ts';
import { type GitPlace, git } from './call.ts';
import { isOnDisk } from './disk.ts';
import { foreignTo } from './foreign.ts';
import { coveringEntry, ignoredAtStart } from './ignored.ts';
import { byPath, foldersAbove, fromText, onDisk, pathsOf, toInput, toText } from './paths.ts';
import { type PrivateGit, privately, waysInside } from './private.ts';
import type { Repository } from './repository.ts';
import { sparseIn } from './sparse.ts';
import { type Difference, differences, type Entry, isSame } from './trees.ts';

/** Paths have one character per byte. */
export interface Plan {
  readonly write: readonly Difference[];
  readonly remove: readonly Removal[];
  /** Both sides changed; whether their lines can be put together is not known yet. */
  readonly merge: readonly Merge[];
  readonly kept: readonly string[];
  readonly conflicts: readonly string[];
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

export async function planRestore(repository: Repository, order: RestoreOrder): Promise<Plan> {
  const spared = new Set((order.except ?? []).map(path => fromText(relative(repository.directory, path))));
  const [all, edits] = await bothDifferences(repository, order);
  const wanted = all.filter(({ path }) => !spared.has(path));
  const baseOf = new Map(edits.map(({ path, from }) => [path, from]));
  const write: Difference[] = [];
  const remove: Difference[] = [];
  const merge: Merge[] = [];
  const kept: Difference[] = [];
  const conflicts: string[] = [];
  for (const one of wanted) {
    const base = baseOf.get(one.path);
    const isTheirs = baseOf.has(one.path);
    if (!isOurs(one)) kept.push(one);
    else if (isTheirs && isSame(base, one.to)) kept.push(one);
    else if (isTheirs && isText(base) && isText(one.from) && isText(one.to)) {
      merge.push({ path: one.path, base, now: one.from, to: one.to });
    } else if (isTheirs && order.overwrite !== true) conflicts.push(one.path);
    else (one.to === undefined ? remove : write).push(one);
  }
  const blocking = inTheWay(kept, write);
  if (order.overwrite === true) remove.push(...blocking);
  else conflicts.push(...blocking.map(({ path }) => path));
  const free = kept.filter(one => !blocking.includes(one));
  const { possible, impossible, links } = clearOf(repository.directory, write, remove);
  return {
    write: possible,
    remove: [...remove, ...links.map(path => ({ path, from: undefined }))],
    merge,
    kept: [...free, ...impossible].map(({ path }) => path).sort(byPath),
    conflicts: conflicts.sort(byPath),
  };
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
  readonly possible: readonly Difference[];
  readonly impossible: readonly Difference[];
  readonly links: readonly string[];
}

/** What lies on disk and is in no checkpoint (ignored, or left out) stays; only a link in a folder's place is replaced. */
function clearOf(top: string, write: readonly Difference[], remove: readonly Difference[]): Clear {
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
  const possible = write.filter(({ path, from }) => from !== undefined || isFree(path));
  const set = new Set(possible);
  return { possible, impossible: write.filter(one => !set.has(one)), links: [...links] };
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
