// Gives the loop's own index what the user's index knows: which files are tracked although ignored, and which are sparse.
import { existsSync } from 'node:fs';
import { rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, git } from '../call.ts';
import { kindOnDisk, pathsOf, toInput } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';

const emptyBlobs: Readonly<Record<string, string>> = {
  sha1: 'e69de29bb2d1d6434b8b29ae775ad8c2e48c5391',
  sha256: '473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813',
};

/** Undefined, or why it could not be done. Made beside and moved into place, so that a half one is never used. */
export async function seedIndex(own: PrivateGit, isFork: boolean): Promise<string | undefined> {
  const index = join(own.folder, 'index');
  if (existsSync(index)) return undefined;
  const beside = { GIT_INDEX_FILE: `${index}.seed` };
  await Promise.all([rm(beside.GIT_INDEX_FILE, { force: true }), rm(`${beside.GIT_INDEX_FILE}.lock`, { force: true })]);
  const tracked = await git(own.repository, ['ls-files', '-s', '-t', '-z']);
  if (tracked.code !== 0) return complaint(tracked);
  const { entries, sparse } = entriesOf(pathsOf(tracked));
  // An entry of `git add -N` names the empty blob, which may not exist.
  const empty = emptyBlobs[own.repository.objectFormat] ?? '';
  if (entries.some(entry => entry.includes(` ${empty}\t`))) await privately(own, ['hash-object', '-w', '--stdin']);
  const seeded = await privately(own, ['update-index', '-z', '--index-info'], {
    input: toInput(entries),
    variables: beside,
  });
  if (seeded.code !== 0) return complaint(seeded);
  // A fork is laid out whole: what is marked there, an agent marked, to hide a deletion.
  if (sparse.length > 0 && !isFork) {
    const marked = ['update-index', '-z', '--skip-worktree', '--stdin'];
    const done = await privately(own, marked, { input: toInput(sparse), variables: beside });
    if (done.code !== 0) return complaint(done);
  }
  // Every file is read once, so that later looks need only its times and size. It says 1 when some differ.
  await privately(own, ['update-index', '-q', '--refresh'], { variables: beside, timeMsMax: 600_000 });
  await rename(beside.GIT_INDEX_FILE, index).catch(() => {}); // an empty index is not written at all
  return undefined;
}

/** Lines are `TAG MODE OBJECT STAGE<tab>PATH`; of a conflict any stage will do: its file differs from all. */
function entriesOf(lines: readonly string[]): {
  readonly entries: readonly string[];
  readonly sparse: readonly string[];
} {
  const entries = new Map<string, string>();
  const sparse: string[] = [];
  for (const line of lines) {
    const tab = line.indexOf('\t');
    const path = line.slice(tab + 1);
    const [tag, mode, object] = line.slice(0, tab).split(' ');
    entries.set(path, `${mode} ${object}\t${path}`);
    if (tag === 'S') sparse.push(path);
  }
  return { entries: [...entries.values()], sparse };
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

// Keeps the marks of sparse files in the loop's own index as the user's index has them: such a file is not deleted.

/** Paths that an index marks and that are not on disk, each with `MODE OBJECT`. */
function marksOf(lines: readonly string[]): ReadonlyMap<string, string> {
  const marks = lines.flatMap(line => {
    const [tag, mode, object] = line.split(' ', 3);
    return tag?.toUpperCase() === 'S' ? [[line.slice(line.indexOf('\t') + 1), `${mode} ${object}`] as const] : [];
  });
  return new Map(marks);
}

const asked = ['ls-files', '-s', '-t', '-z'];

/** Done when the user's index changed since `seen`; returns what was seen now. A failure shows in the steps that follow. */
export async function markSparse(own: PrivateGit, seen: string | undefined): Promise<string> {
  const current = await stampOfIndex(own);
  if (current === seen) return current;
  const theirs = marksOf(pathsOf(await git(own.repository, asked)));
  const ours = marksOf(pathsOf(await privately(own, asked)));
  const added: string[] = [];
  for (const [path, entry] of theirs) {
    const isNew = ours.get(path) !== entry && (await kindOnDisk(own.repository.directory, path)) === 'gone';
    if (isNew) added.push(path);
  }
  const ended = [...ours.keys()].filter(path => !theirs.has(path));
  const entries = added.map(path => `${theirs.get(path)}\t${path}`);
  if (added.length > 0) {
    await privately(own, ['update-index', '-z', '--index-info'], { input: toInput(entries) });
    await privately(own, ['update-index', '-z', '--skip-worktree', '--stdin'], { input: toInput(added) });
  }
  if (ended.length > 0)
    await privately(own, ['update-index', '-z', '--no-skip-worktree', '--stdin'], { input: toInput(ended) });
  return current;
}

/** What the loop's own index holds although it is not on disk. */
export async function sparseIn(own: PrivateGit): Promise<ReadonlySet<string>> {
  return new Set(marksOf(pathsOf(await privately(own, asked))).keys());
}
