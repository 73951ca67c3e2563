// The private index of a loop, made from the user's: which files are tracked although ignored, and which are sparse.
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, git, type IndexRow, indexRows, listIndex, withIndex } from '../call.ts';
import { kindOnDisk } from '../disk.ts';
import { pathsOf, toInput } from '../paths.ts';
import type { PrivateGit } from '../private.ts';

const emptyBlobs: Readonly<Record<string, string>> = {
  sha1: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  sha256: '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
};

const setEntries = ['update-index', '-z', '--index-info'];
const markAsSparse = ['update-index', '-z', '--skip-worktree', '--stdin'];
const lineOf = ({ mode, object, path }: IndexRow): string => `${mode} ${object}\t${path}`;

/** Undefined, or why it could not be done. Made beside and moved into place, so that a half one is never used. */
export async function initIndex(own: PrivateGit, isFork: boolean): Promise<string | undefined> {
  const index = join(own.folder, 'index');
  if (existsSync(index)) return undefined;
  const draft = `${index}.seed`;
  await Promise.all([rm(draft, { force: true }), rm(`${draft}.lock`, { force: true })]);
  const tracked = await listIndex(own.repository);
  if (tracked.code !== 0) return complaint(tracked);
  // Of a conflict any stage will do: its file differs from all.
  const rows = [...new Map(indexRows(tracked).map(row => [row.path, row])).values()];
  // An entry of `git add -N` names the empty blob, which may not exist.
  const empty = emptyBlobs[own.repository.objectFormat];
  if (rows.some(({ object }) => object === empty)) await git(own.place, ['hash-object', '-w', '--stdin']);
  const place = withIndex(own.place, draft);
  const filled = await git(place, setEntries, { input: toInput(rows.map(lineOf)) });
  if (filled.code !== 0) return complaint(filled);
  const sparse = rows.filter(({ isSparse }) => isSparse);
  // A fork is laid out whole: what is marked there, an agent marked, to hide a deletion.
  if (sparse.length > 0 && !isFork) {
    const marked = await git(place, markAsSparse, { input: toInput(sparse.map(({ path }) => path)) });
    if (marked.code !== 0) return complaint(marked);
  }
  // Every file is read once, so that later scans need only its times and size. It says 1 when some differ.
  await git(place, ['update-index', '-q', '--refresh'], { timeMsMax: 600_000 });
  await rename(draft, index).catch(() => {}); // an empty index is not written at all
  return undefined;
}

/** Tells whether the user's index is still the one that was looked at. */
async function stampOfIndex({ repository }: PrivateGit): Promise<string> {
  const stats = await stat(join(repository.gitDirectory, 'index'), { bigint: true }).catch(() => undefined);
  return stats === undefined ? '' : [stats.ino, stats.size, stats.mtimeNs].join(':');
}

export interface Forced {
  readonly paths: readonly string[];
  /** Which index of the user's said so. */
  readonly seen: string;
}

/** Files that are ignored, but were added to the user's index all the same; asked for when that index changed. */
export async function forcedPaths(own: PrivateGit, known: Forced | undefined): Promise<Forced> {
  const current = await stampOfIndex(own);
  if (current === known?.seen) return known;
  const listed = await git(own.repository, ['ls-files', '-z', '-c', '-i', '--exclude-standard']);
  return { paths: listed.code === 0 ? pathsOf(listed) : [], seen: current };
}

/** Entries that an index holds although their files are not on disk. */
const sparseRows = (listed: Parameters<typeof indexRows>[0]): ReadonlyMap<string, IndexRow> =>
  new Map(indexRows(listed).flatMap(row => (row.isSparse ? [[row.path, row] as const] : [])));

/**
 * Sparse files are marked as in the user's index, so that they are not deleted. Done when that index changed since `seen`;
 * returns what was seen now. A failure shows in the steps that follow.
 */
export async function markSparse(own: PrivateGit, seen: string | undefined): Promise<string> {
  const current = await stampOfIndex(own);
  if (current === seen) return current;
  const wanted = sparseRows(await listIndex(own.repository));
  const present = sparseRows(await listIndex(own.place));
  const added: IndexRow[] = [];
  for (const row of wanted.values()) {
    const known = present.get(row.path);
    const isNew = known === undefined || lineOf(known) !== lineOf(row);
    if (isNew && (await kindOnDisk(own.repository.directory, row.path)) === 'gone') added.push(row);
  }
  const ended = [...present.keys()].filter(path => !wanted.has(path));
  if (added.length > 0) {
    await git(own.place, setEntries, { input: toInput(added.map(lineOf)) });
    await git(own.place, markAsSparse, { input: toInput(added.map(({ path }) => path)) });
  }
  const unmark = ['update-index', '-z', '--no-skip-worktree', '--stdin'];
  if (ended.length > 0) await git(own.place, unmark, { input: toInput(ended) });
  return current;
}

/** What the private index holds although it is not on disk. */
export async function sparseIn(own: PrivateGit): Promise<ReadonlySet<string>> {
  return new Set(sparseRows(await listIndex(own.place)).keys());
}
