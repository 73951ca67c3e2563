// Paths that a progress commit may hold: changed by the work, clean when the loop began, and behind no filter.
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { diffTrees, filteredAmong, type GitPlace, gitlink, ignoredAmong, indexRows, listIndex } from '../call.ts';
import { type Kind, kindOnDisk } from '../disk.ts';
import { byPath, foldersAbove, fromText, isAmong } from '../paths.ts';
import { pathsInside } from '../private.ts';
import type { Repository } from '../repository.ts';
import { type CommitOrder, type Refusal, refuse } from '../workspace.ts';

export interface Selection {
  readonly ok: true;
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Changed by the work, but not ours to commit. */
  readonly left: readonly string[];
}

interface Reserved {
  /** A person's unfinished work when the loop began, and what became it while nobody worked. */
  readonly atStart: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
  /** Absolute paths of our own, should they lie in the tree. */
  readonly excluded: readonly string[];
}

/** `head`: the repository with an index which holds HEAD. */
export async function selectPaths(
  repository: Repository,
  head: GitPlace,
  order: Pick<CommitOrder, 'spans' | 'document'>,
  reserved: Reserved,
): Promise<Selection | Refusal> {
  const changed = await changedBy(repository, order);
  if (!changed.ok) return changed;
  const document = await documentIn(repository, order.document);
  const [wasChanged, isLater] = [ownedBy(reserved.atStart), ownedBy(reserved.later)];
  // Ralph writes the document too, also after the last checkpoint: only how it was at the start counts.
  const isReserved = (path: string) => wasChanged(path) || (path !== document && isLater(path));
  const isExcluded = isAmong((await pathsInside(repository, reserved.excluded)).map(fromText));
  const all = [...changed.all].filter(path => !isExcluded(path));
  const left = new Set(all.filter(path => changed.linked.has(path) || isReserved(path)));
  const wanted = new Set(all.filter(path => !left.has(path)));
  if (document !== undefined && !isReserved(document) && !isExcluded(document)) wanted.add(document);
  const kinds = new Map<string, Kind>();
  for (const path of wanted) kinds.set(path, await kindOnDisk(repository.directory, path));
  const present = [...wanted].filter(path => kinds.get(path) === 'file' || kinds.get(path) === 'link');
  const ignored = await ignoredAmong(head, present); // an agent may have made a file, and told git later to ignore it
  const filtered = await filteredAmong(head, present);
  const gone = [...wanted].filter(path => kinds.get(path) === 'gone');
  const rows = gone.length === 0 ? [] : indexRows(await listIndex(repository));
  // The user told git that these need not be on disk, so it is no deletion when they are not.
  const sparse = new Set(rows.flatMap(({ path, isSparse }) => (isSparse ? [path] : [])));
  if (ignored === undefined) return refuse('git cannot say which of the changed files it ignores.');
  if (!filtered.ok) return filtered;
  for (const path of filtered.paths) left.add(path);
  for (const [path, kind] of kinds) if (kind === 'special') left.add(path);
  return {
    ok: true,
    written: present.filter(path => !ignored.has(path) && !filtered.paths.has(path)).sort(byPath),
    deleted: gone.filter(path => !sparse.has(path)).sort(byPath),
    left: [...left].filter(path => !ignored.has(path)).sort(byPath),
  };
}

async function changedBy(repository: Repository, { spans }: Pick<CommitOrder, 'spans'>) {
  const all = new Set<string>();
  const linked = new Set<string>();
  for (const span of spans) {
    const between = await diffTrees(repository, span);
    if (!between.ok) return refuse('A checkpoint of this work is gone, so it is not known what to commit.');
    for (const { path, from, to } of between.all) {
      all.add(path);
      if (from?.mode === gitlink || to?.mode === gitlink) linked.add(path);
    }
  }
  return { ok: true as const, all, linked };
}

/** A listed path itself, and what could only be committed together with it: a file where its folder was, or the other way. */
function ownedBy(listed: ReadonlySet<string>): (path: string) => boolean {
  const paths = new Set([...listed].map(path => path.replace(/\/$/, ''))); // a repository of its own ends with a slash
  const folders = new Set([...paths].flatMap(foldersAbove));
  const isBelow = isAmong(paths);
  return path => folders.has(path) || isBelow(path);
}

async function documentIn(repository: Repository, document: string): Promise<string | undefined> {
  const real = await realpath(document).catch(() => undefined);
  const top = await realpath(repository.directory).catch(() => undefined);
  if (real === undefined || top === undefined) return undefined;
  const path = relative(top, real);
  const isOutside = path === '' || isAbsolute(path) || path.split(sep).some(step => step === '..' || step === '.git');
  return isOutside ? undefined : fromText(path);
}
