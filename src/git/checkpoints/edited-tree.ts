// The tree of a few edited files beside the private index, which stays as it is: the open gits make it, and none is started.
import { join } from 'node:path';
import { kindOnDisk, stampOf } from '../disk.ts';
import { readTree, revision } from '../objects.ts';
import { type PrivateGit, seededCommit } from '../private.ts';
import { plainTree } from '../progress/plain-tree.ts';

/** The tree that the private index holds. */
export interface Held {
  readonly tree: string;
  /** How the index was known then. */
  readonly index: string;
  /** A checkpoint that has a ref, or a commit of the user's, keeps it. */
  readonly isKept: boolean;
}

const indexOf = ({ folder }: PrivateGit): Promise<string> => stampOf(join(folder, 'index'));

export const heldNow = async (own: PrivateGit, tree: string, isKept: boolean): Promise<Held> => ({
  tree,
  index: await indexOf(own),
  isKept,
});

/** Undefined where that is not known: the index changed since its tree was written. */
export async function treeHeld(own: PrivateGit, before: Held | undefined): Promise<Held | undefined> {
  if (before === undefined) {
    const commit = await seededCommit(own);
    const tree = commit === '' ? '' : await revision(own.store, `${commit}^{tree}`);
    return tree === '' ? undefined : heldNow(own, tree, true);
  }
  return before.index !== '' && before.index === (await indexOf(own)) ? before : undefined;
}

/** Where git would fold the names of files or not look at their modes, only git says what becomes of them. */
const isPlain = ({ settings, isPartial }: PrivateGit): boolean =>
  !isPartial &&
  ['core.ignorecase', 'core.precomposeunicode'].every(name => (settings.get(name) ?? 'false') === 'false') &&
  ['core.filemode', 'core.symlinks'].every(name => (settings.get(name) ?? 'true') === 'true');

/** Undefined where only git's own index can say it: links, what is no file, what changes meanwhile. */
export async function editedTree(own: PrivateGit, held: Held, edited: readonly string[]): Promise<string | undefined> {
  if (edited.length === 0) return (await readTree(own.store, held.tree)).ok ? held.tree : undefined;
  if (!isPlain(own)) return undefined;
  const { directory } = own.repository;
  const [written, deleted]: [string[], string[]] = [[], []];
  for (const path of edited) {
    const kind = await kindOnDisk(directory, path);
    if (kind !== 'file' && kind !== 'gone') return undefined;
    (kind === 'file' ? written : deleted).push(path);
  }
  return plainTree({ ...own.store, directory }, held.tree, { written, deleted });
}
