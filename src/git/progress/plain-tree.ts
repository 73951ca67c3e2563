// The tree of a commit, made of HEAD's tree and the files as they are on disk: where nothing converts them, no index is needed.
import { lstatSync } from 'node:fs';
import type { Entry } from '../call.ts';
import { ifReadable } from '../disk.ts';
import { readTree, treeMode, writeBlob, writeTree } from '../objects.ts';
import { onDisk } from '../paths.ts';
import type { Repository } from '../repository.ts';
import type { Selection } from './select-paths.ts';

type Paths = Pick<Selection, 'written' | 'deleted'>;

/** Undefined where only git's own index can say what becomes of these files. */
export async function plainTree(repository: Repository, head: string, paths: Paths): Promise<string | undefined> {
  const changes = await plainChanges(repository, paths);
  return changes && treeWith(repository, head, changes);
}

/** The entries that these files become; their objects are written. Undefined as above. */
export async function plainChanges(repository: Repository, { written, deleted }: Paths): Promise<Changes | undefined> {
  const changes = new Map<string, Entry | undefined>(deleted.map(path => [path, undefined]));
  for (const path of written) {
    const entry = await entryOf(repository, path);
    if (entry === undefined) return undefined;
    changes.set(path, entry);
  }
  return changes;
}

/** A tree with changes in it. */
export async function treeWith(repository: Repository, head: string, changes: Changes): Promise<string | undefined> {
  const entries = await entriesWith(repository, head, changes);
  return entries && writeTree(repository, entries);
}

async function entryOf(repository: Repository, path: string): Promise<Entry | undefined> {
  const where = onDisk(repository.directory, path);
  const stats = ifReadable(() => lstatSync(where));
  const object = stats?.isFile() ? await writeBlob(repository, where) : undefined;
  return object === undefined ? undefined : { mode: stats!.mode & 0o100 ? '100755' : '100644', object };
}

/** Without an entry the path goes. */
export type Changes = ReadonlyMap<string, Entry | undefined>;

/** What lies directly in a tree (empty: a new one) with these changes in it; the trees below it are written. */
async function entriesWith(
  repository: Repository,
  tree: string,
  changes: Changes,
): Promise<Map<string, Entry> | undefined> {
  const read = tree === '' ? undefined : await readTree(repository, tree);
  if (read?.ok === false) return undefined;
  const entries = new Map(read?.entries);
  const { here, below } = byFolder(changes);
  for (const [name, entry] of here) set(entries, name, entry);
  for (const [name, inside] of below) {
    const before = entries.get(name);
    const isFolder = before?.mode === treeMode;
    const within = await entriesWith(repository, isFolder ? before.object : '', inside);
    const object = within && (within.size === 0 ? '' : await writeTree(repository, within));
    if (object === undefined) return undefined;
    if (object !== '') entries.set(name, { mode: treeMode, object });
    else if (isFolder) entries.delete(name);
  }
  return entries;
}

function set(entries: Map<string, Entry>, name: string, entry: Entry | undefined): void {
  if (entry === undefined) entries.delete(name);
  else entries.set(name, entry);
}

function byFolder(changes: Changes) {
  const here = new Map<string, Entry | undefined>();
  const below = new Map<string, Map<string, Entry | undefined>>();
  for (const [path, entry] of changes) {
    const slash = path.indexOf('/');
    if (slash === -1) here.set(path, entry);
    else {
      const [folder, rest] = [path.slice(0, slash), path.slice(slash + 1)];
      below.set(folder, (below.get(folder) ?? new Map()).set(rest, entry));
    }
  }
  return { here, below };
}
