// User edits: what a person had changed or ignored when the loop began, and changed while nobody worked. None of it is ours.
import { existsSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, filteredAmong, git, indexRows, withFilters } from '../call.ts';
import type { SaveOrder } from '../checkpoints.ts';
import { kindOnDisk, writeDurably } from '../disk.ts';
import { differences } from '../history.ts';
import { byPath, foldersAbove, pathsOf, toInput } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import { forgetListing, listedIn, type Repository } from '../repository.ts';

/** A file of paths or lines, one character per byte; undefined when it is not there. */
const readList = (path: string): Promise<readonly string[] | undefined> =>
  readFile(path).then(
    output => pathsOf({ output }),
    () => undefined,
  );

const writeList = (path: string, all: Iterable<string>): Promise<void> => writeDurably(path, toInput([...all]));

/** Edits while nobody worked: no commit of ours holds them, and a restore does not take them away. */
const editsFile = (folder: string): string => join(folder, 'foreign');

interface UserEdit {
  /** The first checkpoint that holds what was changed last. */
  readonly number: number;
  /** Not committed by the person themselves: later work on it must not be committed either. */
  readonly isUnfinished: boolean;
}

/** By path, one character per byte. */
async function userEditsIn(folder: string): Promise<ReadonlyMap<string, UserEdit>> {
  const lines = (await readList(editsFile(folder))) ?? [];
  return new Map(
    lines.map(line => {
      const [number = '', state = ''] = line.split(' ', 2);
      const path = line.slice(number.length + state.length + 2);
      return [path, { number: Number(number), isUnfinished: state === 'unfinished' }] as const;
    }),
  );
}

/** Called before the checkpoint counts: the same call again does no harm. */
export async function recordUserEdits(
  { repository, folder }: PrivateGit,
  { number, userEditsSince }: Pick<SaveOrder, 'number' | 'userEditsSince'>,
  tree: string,
): Promise<void> {
  if (userEditsSince === undefined) return;
  const changed = await differences(repository, { from: userEditsSince, to: tree });
  if (changed.length === 0) return;
  const open = await differences(repository, { from: 'HEAD', to: tree }).catch(() => changed); // HEAD may be unborn
  const unfinished = new Set(open.map(({ path }) => path));
  const now = changed.map(({ path }) => [path, { number, isUnfinished: unfinished.has(path) }] as const);
  const all = [...new Map([...(await userEditsIn(folder)), ...now])].sort(([one], [other]) => byPath(one, other));
  const lines = all.map(([path, one]) => `${one.number} ${one.isUnfinished ? 'unfinished' : 'committed'} ${path}`);
  await writeList(editsFile(folder), lines);
}

/** What became a person's unfinished work after the loop began. */
export async function unfinishedUserEdits(folder: string): Promise<ReadonlySet<string>> {
  return new Set([...(await userEditsIn(folder))].flatMap(([path, { isUnfinished }]) => (isUnfinished ? [path] : [])));
}

/** Those that going to this commit would take away, because it is older than they are. */
export async function userEditsAfter(own: PrivateGit, commit: string): Promise<ReadonlySet<string>> {
  const known = await userEditsIn(own.folder);
  if (known.size === 0) return new Set();
  const read = await git(own.place, ['cat-file', 'commit', commit]);
  const found = /\n\n[^\n]*\n\n(?:[^\n]+\n)*?Ralph-Checkpoint: (\d+)\n/.exec(read.output.toString('latin1'));
  const number = Number(found?.[1] ?? 0);
  return new Set([...known].flatMap(([path, one]) => (number < one.number ? [path] : [])));
}

/** The user's unfinished work when the loop began: never committed by us. */
const startFile = (folder: string): string => join(folder, 'dirty');

/** Staged, unstaged or untracked at the loop's first checkpoint, one character per byte; undefined before that. */
export async function changesAtStart(folder: string): Promise<ReadonlySet<string> | undefined> {
  const known = await readList(startFile(folder));
  return known && new Set(known);
}

/** When that was, in milliseconds; 0 before. */
export const startedMs = (folder: string): Promise<number> =>
  stat(startFile(folder)).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );

/** Its lines are `XY PATH`, where X and Y are the states in the index and on disk. */
const status = ['status', '--porcelain', '-z', '--untracked-files=all', '--no-renames'];
const stateLength = 'XY '.length;
/** A folder only when a rule names it: new files in one whose files all happened to be ignored are work like any other. */
const matching = '--ignored=matching';
const isIgnored = (line: string): boolean => line.startsWith('!! ');
const ignoredAmong = (lines: readonly string[]): readonly string[] =>
  lines.flatMap(line => (isIgnored(line) ? [line.slice(stateLength)] : []));

/** What was found when a loop began. */
interface Start {
  readonly ignored: ReadonlySet<string>;
  /** The index is as HEAD has it, as far as git tells. */
  readonly isNothingStaged: boolean;
  /** It is on the disk: nothing counts before that. */
  readonly recorded: Promise<void>;
}

/** Once in the life of a loop: undefined when that was done. A text: why it could not be. */
export async function recordChangesAtStart({ repository, folder }: PrivateGit): Promise<Start | string | undefined> {
  if (existsSync(startFile(folder))) return undefined;
  // Git would look into a submodule by a git of its own, which takes the settings of that submodule (B88).
  const asked = [...status, matching, '--ignore-submodules=dirty'];
  const [found, hidden] = await Promise.all([git(repository, asked, { timeMsMax: 300_000 }), hiddenIn(repository)]);
  if (found.code !== 0) return complaint(found);
  if (typeof hidden === 'string') return hidden;
  forgetListing();
  const rows = pathsOf(found);
  const changed = await unfilteredChanges(repository, rows);
  if (typeof changed === 'string') return changed;
  const known = await readList(ignoredFile(folder));
  const ignored = known ?? ignoredAmong(rows);
  const record = async (): Promise<void> => {
    if (known === undefined) await writeList(ignoredFile(folder), ignored);
    await writeList(startFile(folder), new Set([...changed, ...hidden]));
  };
  const recorded = record();
  recorded.catch(() => {}); // whoever waits for it hears of it
  return { ignored: new Set(ignored), isNothingStaged: rows.every(line => /^(?: [^A]|\?\?|!!)/.test(line)), recorded };
}

const changedIn = (rows: readonly string[]): readonly string[] =>
  rows.flatMap(line => (isIgnored(line) ? [] : [line.slice(stateLength)]));

/**
 * Without those that only seem changed because their filter was off: as on disk they differ from what git stores. One that is
 * as git stores it, though its filter would make something else of it, is not changed either.
 */
async function unfilteredChanges(repository: Repository, rows: readonly string[]): Promise<readonly string[] | string> {
  const changed = changedIn(rows);
  const tracked = changedIn(rows.filter(line => !line.startsWith('??')));
  const isAny = tracked.length > 0 && (repository.settings ?? []).length > 0;
  const behind = isAny ? await filteredAmong(repository, tracked) : undefined;
  if (behind?.ok === false) return behind.problem;
  if (behind === undefined || behind.paths.size === 0) return changed;
  const asked = [...status, '--ignore-submodules=dirty'];
  const found = await git(withFilters(repository), asked, { timeMsMax: 300_000 });
  if (found.code !== 0) return changed; // the filter itself fails: all that seems changed is the user's
  const real = new Set(changedIn(pathsOf(found)));
  return changed.filter(path => real.has(path));
}

/** What is there of the files that git does not look at. */
async function hiddenIn(repository: Repository): Promise<readonly string[] | string> {
  const listed = await listedIn(repository);
  if (listed.code !== 0) return complaint(listed);
  const hidden: string[] = [];
  for (const { path, isHidden } of indexRows(listed))
    if (isHidden && (await kindOnDisk(repository.directory, path)) !== 'gone') hidden.push(path);
  return hidden;
}

/** What git ignored when the loop began: whatever becomes of the rules, no checkpoint holds it and no restore takes it. */
const ignoredFile = (folder: string): string => join(folder, 'ignored');

/** The files and folders (they end with a slash), one character per byte; or why they cannot be known. */
export async function ignoredAtStart(own: PrivateGit): Promise<ReadonlySet<string> | string> {
  const known = await readList(ignoredFile(own.folder));
  if (known !== undefined) return new Set(known);
  const asked = [...status, matching, '--ignore-submodules=all'];
  const found = await git(own.repository, asked, { timeMsMax: 300_000 });
  if (found.code !== 0) return complaint(found);
  const paths = ignoredAmong(pathsOf(found));
  await writeList(ignoredFile(own.folder), paths);
  return new Set(paths);
}

/** Of a fork in which nothing but the files of its commit was, when its work began. */
export async function recordNothingIgnored({ folder }: PrivateGit): Promise<void> {
  if (!existsSync(ignoredFile(folder))) await writeList(ignoredFile(folder), []);
}

/** The entry that covers a path: itself, or a folder above it. */
export const coveringEntry = (ignored: ReadonlySet<string>, path: string): string | undefined =>
  ignored.has(path) ? path : foldersAbove(path).find(folder => ignored.has(`${folder}/`));
