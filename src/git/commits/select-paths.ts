// Chooses what a progress commit may hold: what the work changed, was clean when the loop began, and no filter stands before.
import { realpath } from 'node:fs/promises';
import { isAbsolute, relative, sep } from 'node:path';
import { ask, changesBetween, git, gitlink } from '../call.ts';
import { byPath, foldersAbove, fromText, type Kind, kindOnDisk, pathsOf, toInput } from '../paths.ts';
import { waysInside } from '../private.ts';
import { type Repository, refuse } from '../repository.ts';
import type { CommitOrder, Refusal } from '../workspace.ts';

export interface Picked {
  readonly ok: true;
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Changed by the work, but not ours to commit. */
  readonly left: readonly string[];
}

type Variables = Readonly<Record<string, string>>;

interface Theirs {
  /** A person's unfinished work when the loop began, and what became it while nobody worked. */
  readonly dirty: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
  /** Absolute paths of our own, should they lie in the tree. */
  readonly apart: readonly string[];
}

/** `index`: variables that name an index which holds HEAD. */
export async function pick(
  repository: Repository,
  index: Variables,
  order: Pick<CommitOrder, 'spans' | 'document'>,
  { dirty, later, apart }: Theirs,
): Promise<Picked | Refusal> {
  const changed = await changedBy(repository, order);
  if (!changed.ok) return changed;
  const document = await documentIn(repository, order.document);
  const [wasDirty, isLater] = [ownedBy(dirty), ownedBy(later)];
  // Ralph writes the document too, also after the last checkpoint: only how it was at the start counts.
  const isTheirs = (path: string) => wasDirty(path) || (path !== document && isLater(path));
  const isApart = below((await waysInside(repository, apart)).map(fromText));
  const all = [...changed.all].filter(path => !isApart(path));
  const left = new Set(all.filter(path => changed.linked.has(path) || isTheirs(path)));
  const wanted = new Set(all.filter(path => !left.has(path)));
  if (document !== undefined && !isTheirs(document) && !isApart(document)) wanted.add(document);
  const kinds = new Map<string, Kind>();
  for (const path of wanted) kinds.set(path, await kindOnDisk(repository.directory, path));
  const present = [...wanted].filter(path => kinds.get(path) === 'file' || kinds.get(path) === 'link');
  const ignored = await ignoredOf(repository, index, present);
  const filtered = await filteredOf(repository, index, present);
  const gone = [...wanted].filter(path => kinds.get(path) === 'gone');
  const sparse = gone.length === 0 ? new Set<string>() : await sparseOf(repository);
  if (!ignored.ok) return ignored;
  if (!filtered.ok) return filtered;
  for (const path of filtered.paths) left.add(path);
  for (const [path, kind] of kinds) if (kind === 'special') left.add(path);
  return {
    ok: true,
    written: present.filter(path => !ignored.paths.has(path) && !filtered.paths.has(path)).sort(byPath),
    deleted: gone.filter(path => !sparse.has(path)).sort(byPath),
    left: [...left].filter(path => !ignored.paths.has(path)).sort(byPath),
  };
}

async function changedBy(
  repository: Repository,
  { spans }: Pick<CommitOrder, 'spans'>,
): Promise<{ ok: true; all: ReadonlySet<string>; linked: ReadonlySet<string> } | Refusal> {
  const all = new Set<string>();
  const linked = new Set<string>();
  for (const { from, to } of spans) {
    const between = await changesBetween(repository, from, to);
    if (!between.ok) return refuse('A checkpoint of this work is gone, so it is not known what to commit.');
    for (const { path, mode, modeBefore } of between.changes) {
      all.add(path);
      if (mode === gitlink || modeBefore === gitlink) linked.add(path);
    }
  }
  return { ok: true, all, linked };
}

const below =
  (folders: readonly string[]) =>
  (path: string): boolean =>
    folders.some(folder => path === folder || path.startsWith(`${folder}/`));

/** The user told git that these need not be on disk, so it is no deletion when they are not. */
async function sparseOf(repository: Repository): Promise<ReadonlySet<string>> {
  const listed = await git(repository, ['ls-files', '-t', '-z']);
  return new Set(pathsOf(listed).flatMap(line => (/^s/i.test(line) ? [line.slice(2)] : [])));
}

/** A dirty path itself, and what could only be committed together with it: a file where its folder was, or the other way. */
function ownedBy(listed: ReadonlySet<string>): (path: string) => boolean {
  const dirty = new Set([...listed].map(path => path.replace(/\/$/, ''))); // a repository of its own ends with a slash
  const folders = new Set([...dirty].flatMap(foldersAbove));
  return path => dirty.has(path) || folders.has(path) || foldersAbove(path).some(folder => dirty.has(folder));
}

async function documentIn(repository: Repository, document: string): Promise<string | undefined> {
  const real = await realpath(document).catch(() => undefined);
  const top = await realpath(repository.directory).catch(() => undefined);
  if (real === undefined || top === undefined) return undefined;
  const way = relative(top, real);
  const steps = way.split(sep);
  return way === '' || isAbsolute(way) || steps.includes('..') || steps.includes('.git') ? undefined : fromText(way);
}

/** An agent may have made a file, and told git later to ignore it. */
async function ignoredOf(
  repository: Repository,
  variables: Variables,
  paths: readonly string[],
): Promise<{ ok: true; paths: ReadonlySet<string> } | Refusal> {
  if (paths.length === 0) return { ok: true, paths: new Set() };
  // This one command refuses literal paths; a path that begins with `./` has no magic in it.
  const found = await git(repository, ['check-ignore', '-z', '--stdin'], {
    variables: { ...variables, GIT_LITERAL_PATHSPECS: '0' },
    input: toInput(paths.map(path => `./${path}`)),
  });
  if (found.code !== 0 && found.code !== 1) return refuse('git cannot say which of the changed files it ignores.');
  return { ok: true, paths: new Set(pathsOf(found).map(path => path.slice('./'.length))) };
}

async function filteredOf(
  repository: Repository,
  variables: Variables,
  paths: readonly string[],
): Promise<{ ok: true; paths: ReadonlySet<string> } | Refusal> {
  const found = await ask(repository, ['check-attr', '-z', '--stdin', 'filter'], { variables, input: toInput(paths) });
  if (!found.ok) return found;
  const parts = pathsOf(found);
  const filtered = new Set<string>();
  for (let at = 0; at + 2 < parts.length; at += 3) {
    if (parts[at + 2] !== 'unspecified' && parts[at + 2] !== 'unset') filtered.add(parts[at]!);
  }
  return { ok: true, paths: filtered };
}
