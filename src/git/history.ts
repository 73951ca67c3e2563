// The history of a loop, read from its checkpoints: differences as text, counts of lines, and contents of files.
import { Bug, UsageError } from '../text/errors.ts';
import { ask, complaint, type Difference, type Entry, git, gitlink } from './call.ts';
import type { Change, Span } from './checkpoints.ts';
import { diffTrees, type ObjectPlace, readObject, readTree, treeMode } from './objects.ts';
import { byPath, fromText, pathsOf, toText } from './paths.ts';
import type { PrivateGit } from './private.ts';

export interface Patch {
  readonly text: string;
  /** The text ends early, at the end of a line. */
  readonly isCut: boolean;
}

export interface LineCount {
  readonly path: string;
  /** Undefined: not text. */
  readonly added: number | undefined;
  readonly deleted: number | undefined;
}

export interface FileContent {
  readonly path: string;
  readonly bytes: Buffer;
}

const plain = ['-r', '--no-renames', '--no-ext-diff', '--no-textconv', '--no-color', '--ignore-submodules=none'];

/** Through the loop's own git, so that no attribute in the tree can hide a file from a reader. */
export async function patchOf(own: PrivateGit, { from, to }: Span, bytesMax: number): Promise<Patch> {
  const asked = ['diff-tree', '-p', ...plain, '--full-index', '-U3', '--end-of-options', from, to, '--'];
  // Git is ended when it says more; what it said until then is the patch.
  const found = await git(own.place, asked, { bytesMax: bytesMax + 1_000_000 });
  const isCut = found.output.length > bytesMax || (found.code === null && /said more than/.test(found.errors));
  if (found.code !== 0 && !isCut) throw unreadable(`git cannot compare ${from} and ${to}`, complaint(found));
  const end = isCut ? found.output.subarray(0, bytesMax).lastIndexOf(10) + 1 : found.output.length;
  return { text: found.output.toString('utf8', 0, end), isCut };
}

export async function statOf(own: PrivateGit, { from, to }: Span): Promise<readonly LineCount[]> {
  const found = await ask(own.place, ['diff-tree', '--numstat', '-z', ...plain, '--end-of-options', from, to, '--']);
  if (!found.ok) throw unreadable(`git cannot compare ${from} and ${to}`, found.problem);
  const rows = pathsOf(found).map(row => row.split('\t'));
  const counted = rows.map(
    ([added = '', deleted = '', ...path]) => [path.join('\t'), count(added), count(deleted)] as const,
  );
  return counted
    .sort(([one], [other]) => byPath(one, other))
    .map(([path, added, deleted]) => ({ path: toText(path), added, deleted }));
}

const count = (text: string): number | undefined => (text === '-' ? undefined : Number(text));

/** Of the paths that are files or links in this tree or commit, in their order; those that would go beyond the bytes are left out. */
export async function contentOf(
  { repository, isPartial }: PrivateGit,
  treeOrCommit: string,
  paths: readonly string[],
  bytesMax = 50_000_000,
): Promise<readonly FileContent[]> {
  const objectOf = finderIn(repository, treeOrCommit);
  const found: FileContent[] = [];
  let bytesLeft = bytesMax;
  for (const path of paths) {
    const object = await objectOf(fromText(path));
    const read = object === undefined ? undefined : await readObject(repository, object, bytesLeft);
    const isLost = read?.ok === false && !read.isMissing && !isPartial; // a partial clone may lack it, and git dies of that
    if (isLost) throw unreadable(`git cannot read ${object}`, read.problem);
    if (!read?.ok || read.content === undefined) continue;
    bytesLeft -= read.content.length;
    found.push({ path, bytes: read.content });
  }
  return found;
}

/** Finds objects of files and links by path, and reads each folder once. */
export function finderIn(place: ObjectPlace, treeOrCommit: string): (path: string) => Promise<string | undefined> {
  const entriesIn = async (tree: string) => {
    const read = await readTree(place, tree);
    if (!read.ok) throw unreadable(`git cannot read ${treeOrCommit}`, read.problem);
    return read.entries;
  };
  const known = new Map<string, ReturnType<typeof entriesIn>>();
  const folder = (tree: string) => {
    const entries = known.get(tree) ?? entriesIn(tree);
    known.set(tree, entries);
    return entries;
  };
  return async path => {
    let tree = `${treeOrCommit}^{tree}`;
    const [name = '', ...above] = path.split('/').reverse();
    for (const step of above.reverse()) {
      const entry: Entry | undefined = (await folder(tree)).get(step);
      if (entry?.mode !== treeMode) return undefined;
      tree = entry.object;
    }
    const entry = (await folder(tree)).get(name);
    return entry === undefined || entry.mode === treeMode || entry.mode === gitlink ? undefined : entry.object;
  };
}

/** Every path on which two trees or commits differ. */
export async function differences(place: ObjectPlace, span: Span): Promise<readonly Difference[]> {
  if (span.from === span.to) return [];
  const found = await diffTrees(place, span);
  if (!found.ok) throw unreadable(`git cannot compare ${span.from} and ${span.to}`, found.problem);
  return found.all;
}

/** Somebody may have removed checkpoints with git itself; all else is our own mistake. */
function unreadable(what: string, said: string): Error {
  const isGone = /bad object|bad tree|not a valid object|not a tree|unable to read|could not read|missing/i.test(said);
  if (!isGone) return new Bug(`${what}: ${said}`);
  return new UsageError(
    'The checkpoints of this loop are gone from the repository, so it cannot be told what changed.',
    'Begin a new loop: ralph run --new',
  );
}

const spansAtOnce = 4;

/** The work of several spans as one list; what one span made and a later one took away is not in it. */
export async function changes(place: ObjectPlace, spans: readonly Span[]): Promise<readonly Change[]> {
  const merged = new Map<string, { readonly before: boolean; readonly after: boolean }>();
  for (let at = 0; at < spans.length; at += spansAtOnce) {
    const some = await Promise.all(spans.slice(at, at + spansAtOnce).map(span => differences(place, span)));
    for (const { path, from, to } of some.flat()) {
      const before = merged.get(path)?.before ?? from !== undefined;
      merged.set(path, { before, after: to !== undefined });
    }
  }
  return [...merged]
    .filter(([, { before, after }]) => before || after)
    .sort(([one], [other]) => byPath(one, other))
    .map(([path, { before, after }]) => ({
      path: toText(path),
      how: before ? (after ? 'changed' : 'deleted') : 'added',
    }));
}
