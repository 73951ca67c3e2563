// Paths of a progress commit: what the work changed, without what is the user's or ignored.
import { lstatSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { type GitPlace, gitlink, ignoredAmong } from '../call.ts';
import type { CommitOrder } from '../commits.ts';
import { ifReadable, type Kind, kindOnDisk } from '../disk.ts';
import { finderIn } from '../history.ts';
import { diffTrees } from '../objects.ts';
import { byPath, foldersAbove, fromText, isAmong, onDisk } from '../paths.ts';
import { pathsInside, sparseIn } from '../private.ts';
import { type Refusal, refuse } from '../refusal.ts';
import type { Repository } from '../repository.ts';
import { type KnownSettings, userSettings } from './user-settings.ts';

export interface Selection {
  readonly ok: true;
  readonly written: readonly string[];
  readonly deleted: readonly string[];
  /** Changed by the work, but not ours to commit. */
  readonly left: readonly string[];
  /** What is written is committed as it is on disk. */
  readonly isPlain: boolean;
}

export interface Reserved {
  /** A person's unfinished work when the loop began, and what became it while nobody worked. */
  readonly atStart: ReadonlySet<string>;
  readonly later: ReadonlySet<string>;
  /** Absolute paths of our own, should they lie in the tree. */
  readonly excluded: readonly string[];
  /** When the loop's first checkpoint was made, in milliseconds. */
  readonly since: number;
}

export interface SelectPlace {
  readonly repository: Repository;
  /** With an index which holds HEAD, whose tree this is; made when it is needed. */
  readonly head: () => Promise<GitPlace | Refusal>;
  readonly tree: string;
  readonly known: KnownSettings;
}

export async function selectPaths(
  place: SelectPlace,
  order: CommitOrder,
  reserved: Reserved,
): Promise<Selection | Refusal> {
  const { repository } = place;
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
  const rules = await rulesFor(place, present, reserved.since);
  if (!rules.ok) return rules;
  const { ignored } = rules;
  const gone = [...wanted].filter(path => kinds.get(path) === 'gone');
  // The user told git that these need not be on disk, so it is no deletion when they are not.
  const sparse = gone.length === 0 ? new Map() : await sparseIn(repository, repository.gitDirectory);
  for (const [path, kind] of kinds) if (kind === 'special') left.add(path);
  return {
    ok: true,
    written: present.filter(path => !ignored.has(path)).sort(byPath),
    deleted: gone.filter(path => !sparse.has(path)).sort(byPath),
    left: [...left].filter(path => !ignored.has(path)).sort(byPath),
    isPlain: rules.isPlain,
  };
}

/** Which of the paths git ignores now, and whether something may convert files. Asked only where a file could say so. */
async function rulesFor(place: SelectPlace, paths: readonly string[], since: number) {
  const { repository, head, known } = place;
  const settings = await userSettings(repository, known);
  const [isIgnoring, isConverting] = await Promise.all([
    // An agent may have made a file, and told git later to ignore it.
    areRulesNewer(repository, paths, { excludes: settings.excludes, since }),
    hasAttributes(place, paths, settings.attributes),
  ]);
  const asked = isIgnoring ? await head() : repository;
  if ('ok' in asked) return asked;
  const ignored = await ignoredAmong(asked, isIgnoring ? paths : []);
  if (ignored === undefined) return refuse('git cannot say which of the changed files it ignores.');
  return { ok: true as const, ignored, isPlain: settings.isPlain && !isConverting };
}

async function changedBy(repository: Repository, { spans }: CommitOrder) {
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

/** The top is empty, the others end with a slash. */
const foldersOf = (paths: readonly string[]): readonly string[] => [
  ...new Set(paths.flatMap(path => ['', ...foldersAbove(path).map(folder => `${folder}/`)])),
];

/** The files of this name in the folders of the paths: git looks there for its rules. */
const beside = ({ directory }: Repository, paths: readonly string[], name: string): readonly Buffer[] =>
  foldersOf(paths).map(folder => onDisk(directory, `${folder}${name}`));

/**
 * Whether git may ignore now what it did not ignore when a checkpoint took it in. A file that takes the place of another
 * has a new time of change, whatever its other times say.
 */
async function areRulesNewer(
  repository: Repository,
  paths: readonly string[],
  { excludes, since }: { readonly excludes: readonly string[]; readonly since: number },
): Promise<boolean> {
  const own = [...excludes, join(repository.commonDirectory, 'info', 'exclude')].map(path => Buffer.from(path));
  const all = [...own, ...beside(repository, paths, '.gitignore')];
  return all.some(path => changedMs(path) >= since);
}

/** Zero: there is no such file. */
const changedMs = (path: Buffer): number => ifReadable(() => lstatSync(path).ctimeMs) ?? 0;

const attributesName = '.gitattributes';

/** Whether any file says something about these paths, such as that they stand behind a filter. */
export async function hasAttributes(
  { repository, tree }: Pick<SelectPlace, 'repository' | 'tree'>,
  paths: readonly string[],
  attributes: readonly string[],
): Promise<boolean> {
  const own = [...attributes, join(repository.commonDirectory, 'info', 'attributes')].map(path => Buffer.from(path));
  if ([...own, ...beside(repository, paths, attributesName)].some(path => changedMs(path) > 0)) return true;
  const objectIn = finderIn(repository, tree); // git takes what the index has where it is not on disk
  for (const folder of foldersOf(paths)) if ((await objectIn(`${folder}${attributesName}`)) !== undefined) return true;
  return false;
}
