// The tree of a fork: all its files but ignored ones, as the loop's branch would hold them.
import { readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, type Difference, diffIndex, type GitPlace, gitlink, updateIndex, withIndex } from '../call.ts';
import type { Span } from '../checkpoints.ts';
import { kindOnDisk, stampOf, statsAt, succeeds } from '../disk.ts';
import { diffTrees, readObject } from '../objects.ts';
import { fromText, isAmong, pathsOf } from '../paths.ts';
import { rememberSeed } from '../private.ts';
import { type Changes, plainChanges, treeWith } from '../progress/plain-tree.ts';
import { hasAttributes } from '../progress/select-paths.ts';
import { userSettings } from '../progress/user-settings.ts';
import { refuse } from '../refusal.ts';
import type { Repository } from '../repository.ts';
import type { Fork, ForkOptions } from './fork.ts';

/** All files of the fork, ignored ones not. */
export async function treeOfFork(fork: Fork, place: GitPlace, base: string) {
  const changes = await plainWork(fork, place, base);
  const tree = changes && (await treeWith(fork.repository, `${base}^{tree}`, changes));
  return tree === undefined ? treeByIndex(fork, place, base) : { ok: true as const, text: tree };
}

async function treeByIndex({ options, task, index }: Fork, place: GitPlace, base: string) {
  const own = withIndex(place, index);
  await rm(`${index}.lock`, { force: true });
  const read = await ask(own, ['read-tree', '--no-sparse-checkout', '--reset', base]);
  if (!read.ok) return read;
  const settings = ['core.safecrlf=false', 'core.sparseCheckout=false', 'advice.addEmbeddedRepo=false'];
  const add = [...settings.flatMap(one => ['-c', one]), 'add', '--all'];
  const added = await ask(own, add, { timeMsMax: 600_000 });
  if (!added.ok) return refuse(`The work of ${task} cannot be taken: ${added.problem}`);
  const differing = await diffIndex(own, base);
  if (!differing.ok) return differing;
  const stays = staysBehind(options);
  const back = differing.all.filter(stays).map(({ path, from, to }) => ({ path, from: to, to: from }));
  const put = await updateIndex(own, back);
  if (!put.ok) return put;
  return ask(own, ['write-tree']);
}

/** Repositories that the agent made in the tree, what was copied in because git does not hold it, and the document. */
function staysBehind({ untracked, excluded = [] }: ForkOptions): (one: Difference) => boolean {
  const [isUntracked, isExcluded] = [untracked, excluded].map(list =>
    isAmong(list.map(one => fromText(one).replace(/\/+$/, ''))),
  );
  return ({ path, from, to }) =>
    isExcluded!(path) || (from === undefined && (to?.mode === gitlink || isUntracked!(path)));
}

/** More than these are faster by git's own index. */
const changesMax = 500;
const look = ['ls-files', '-z', '-t', '-m', '-o', '--exclude-standard', '--deduplicate'];

/** What differs from the commit that the fork's index holds; undefined where it holds another, or something may convert files. */
async function plainWork(fork: Fork, place: GitPlace, base: string): Promise<Changes | undefined> {
  const { repository, options, directory, index, memory } = fork;
  const held = memory.held.get(index);
  if (held?.commit !== base || held.stamp === '' || held.stamp !== (await stampOf(index))) return undefined;
  const settings = await userSettings(repository, memory);
  const listed = settings.isPlain ? await ask(withIndex(place, index), look, { timeMsMax: 300_000 }) : undefined;
  if (!listed?.ok) return undefined;
  const stays = staysBehind(options);
  const paths = pathsOf(listed).flatMap(line => {
    const path = line.slice(2);
    const isNew = line.startsWith('?');
    const from = isNew ? undefined : { mode: '', object: '' };
    return (isNew && path.endsWith('/')) || stays({ path, from, to: undefined }) ? [] : [path];
  });
  const own = { ...repository, directory };
  if (paths.length > changesMax) return undefined;
  const isConverting = hasAttributes({ repository: own, tree: base }, paths, settings.attributes);
  if (await isConverting.catch(() => true)) return undefined;
  const [written, deleted]: [string[], string[]] = [[], []];
  for (const path of paths) {
    const stats = await statsAt(directory, path);
    if (stats?.isDirectory()) return undefined; // a repository of its own, or a folder in the place of a file
    ((await kindOnDisk(directory, path)) === 'gone' ? deleted : written).push(path);
  }
  return plainChanges(own, { written, deleted });
}

/** The index is as it was just written, and holds this commit. */
export async function holds({ index, memory }: Fork, commit: string): Promise<void> {
  memory.held.set(index, { commit, stamp: await stampOf(index) });
}

const anyIndex = Buffer.from('DIRC\0\0\0', 'latin1');

/**
 * Copies of the index that a checkout has just left, with the times and sizes of all files: one for our looks at the work,
 * and one for checkpoints where the files are the objects byte for byte, and nothing else is there. They seem as old as the second in which it was
 * written, so that git reads again what was changed in that second.
 */
export async function keepIndex(fork: Fork, notes: string, commit: string): Promise<void> {
  const { repository, options, index, seed, memory } = fork;
  const bytes = await readFile(join(notes, 'index')).catch(() => undefined);
  if (bytes === undefined) return;
  const version = bytes.subarray(0, anyIndex.length).equals(anyIndex) ? bytes[anyIndex.length]! : 0;
  const isWhole = !(await readdir(notes)).some(name => name.startsWith('sharedindex.'));
  if (!isWhole || (version !== 2 && version !== 3)) return;
  const { mtimeMs } = await stat(join(notes, 'index'));
  await putIndex(index, bytes, mtimeMs);
  await holds(fork, commit);
  const settings = await userSettings(repository, memory);
  const rules = [...settings.attributes, join(repository.commonDirectory, 'info', 'attributes')];
  const isRuled = (await Promise.all(rules.map(path => succeeds(stat(path))))).includes(true);
  const isPlain = settings.isPlain && !isRuled && !bytes.includes('.gitattributes');
  if (!isPlain || !options.isReusable) return;
  await putIndex(seed, bytes, mtimeMs);
  await rememberSeed(seed, commit, join(notes, 'index'));
}

async function putIndex(path: string, bytes: Buffer, mtimeMs: number): Promise<void> {
  const second = Math.floor(mtimeMs / 1_000);
  await writeFile(`${path}.new`, bytes);
  await utimes(`${path}.new`, second, second);
  await rename(`${path}.new`, path);
}

/** The fork's own index, which whoever works there sees: what the commit has not is uncommitted work. */
export async function showIndex({ index }: Fork, notes: string): Promise<void> {
  const [bytes, { mtimeMs }] = [await readFile(index), await stat(index)];
  await putIndex(join(notes, 'index'), bytes, mtimeMs);
}

/** Nothing of the one is, or lies below or above, anything of the other. */
const isDisjoint = (ours: Iterable<string>, theirs: Iterable<string>): boolean => {
  const [all, others] = [[...ours], [...theirs]];
  const [isOurs, isTheirs] = [isAmong(all), isAmong(others)];
  return !all.some(isTheirs) && !others.some(isOurs);
};

/** The work of a fork on top of what the loop's branch became. */
export interface PlainMerge {
  readonly work: string;
  readonly merged: string;
}

/**
 * Where the branch only went on from the fork's base, and changed nothing near what the fork changed: then git would merge
 * no lines and follow no renames. Undefined elsewhere.
 */
export async function plainMerge(fork: Fork, place: GitPlace, { from, to }: Span): Promise<PlainMerge | undefined> {
  const { repository } = fork;
  const ours = (await isAfter(repository, to, from)) ? await plainWork(fork, place, from) : undefined;
  const theirs = ours && (await diffTrees(repository, { from, to }));
  if (
    !theirs?.ok ||
    !isDisjoint(
      ours!.keys(),
      theirs.all.map(({ path }) => path),
    )
  )
    return undefined;
  const work = await treeWith(repository, `${from}^{tree}`, ours!);
  const merged = await treeWith(repository, `${to}^{tree}`, ours!);
  return work === undefined || merged === undefined ? undefined : { work, merged };
}

const commitsMax = 100;

/** One commit after the other, none of them a merge. */
async function isAfter(place: Repository, commit: string, before: string): Promise<boolean> {
  let at: string | undefined = commit;
  for (let count = 0; count < commitsMax && at !== undefined && at !== before; count += 1) {
    const read = await readObject(place, at);
    const head = read.ok ? (read.content?.toString('latin1') ?? '').split('\n\n', 1)[0]! : '';
    const parents = [...head.matchAll(/^parent ([0-9a-f]+)$/gm)];
    at = parents.length === 1 ? parents[0]![1] : undefined;
  }
  return at === before;
}
