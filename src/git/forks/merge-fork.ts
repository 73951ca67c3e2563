// Lands the fork of a task: its tree becomes one commit on the loop's branch, and the fork is gone. Cut anywhere, it is finished.
import { rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { absent, ask, changesBetween, type GitPlace, git, gitlink, indexLine, revision } from '../call.ts';
import { makeCommit, messageOf, reasonOf } from '../commits/commit.ts';
import { moveRef } from '../locks.ts';
import { foldersAbove, kindOnDisk, onDisk, readRecord, shown, toInput, writeRecord } from '../paths.ts';
import { filtersOff, type Repository, refuse } from '../repository.ts';
import type { CommitOrder, Landed, Refusal, Workspace } from '../workspace.ts';
import { dropTree } from '../worktree.ts';
import {
  type ForkOptions,
  forkDirectory,
  forkIndex,
  forkPlace,
  forkRecord,
  forkRef,
  freeIndex,
  isForkThere,
  makeFork,
  rememberFork,
  treeOfFork,
} from './fork.ts';
import { bring, marked } from './merge-into-fork.ts';

type Done = { readonly ok: true } | Refusal;
type LandOrder = Omit<CommitOrder, 'spans' | 'document'>;

/** Written before the branch moves. An empty commit: there was nothing to land. */
interface Landing {
  readonly task: string;
  readonly iteration: number;
  readonly from: string;
  readonly commit: string;
}

const journalOf = ({ privateFolder }: ForkOptions): string => join(privateFolder, 'landing.json');

/** The same order again: the same answer. */
async function land(repository: Repository, options: ForkOptions, order: LandOrder): Promise<Landed> {
  const { task, iteration } = order;
  const record = await forkRecord(options, task);
  const landed = record?.state === 'landed' ? record.landed : undefined;
  if (landed?.iteration === iteration) return { ok: true, commit: landed.commit };
  const directory = forkDirectory(options, task);
  const isThere = record?.state === 'ready' && (await isForkThere(repository, directory));
  if (!isThere) return refuse(`The fork of ${task} is gone.`);
  const tip = await revision(repository, `refs/heads/${options.branch}^{commit}`);
  if (tip === '' || tip !== record.base || record.bringing !== undefined) {
    return refuse(`The branch ${options.branch} moved since ${task} was merged with it.`, 'Merge again.');
  }
  const open = await marked(directory, record.conflicted ?? []);
  if (open.length > 0)
    return refuse(`Conflict markers are left in ${open.slice(0, 20).map(shown).join(', ')}; resolve them.`);
  const taken = await treeOfFork(await forkPlace(repository, options, task), options, task, tip);
  if (!taken.ok) return taken;
  const isEmpty = taken.tree === (await revision(repository, `${tip}^{tree}`));
  const landing = isEmpty ? '' : await commitOnto(repository, options, order, { tip, tree: taken.tree });
  if (typeof landing !== 'string') return landing;
  await writeRecord(journalOf(options), { task, iteration, from: tip, commit: landing } satisfies Landing);
  const name = `refs/heads/${options.branch}`;
  const moved = isEmpty ? taken : await moveRef(repository, name, { to: landing, from: tip, reason: reasonOf(order) });
  if (moved === 'moved') return refuse(`Somebody moved the branch ${options.branch} just now.`, 'Merge again.');
  if (!moved.ok) return moved;
  const finished = await finishLanding(repository, options);
  return finished.ok ? { ok: true, commit: landing } : finished;
}

/** The commit, once it is sure that the loop's own worktree can follow. */
async function commitOnto(
  repository: Repository,
  options: ForkOptions,
  order: LandOrder,
  { tip, tree }: { readonly tip: string; readonly tree: string },
): Promise<string | Refusal> {
  const made = await makeCommit(repository, { tree, parent: tip, message: messageOf(order) });
  if (!made.ok) return made;
  const place = await loopPlace(repository, options);
  const head = await ask(place, ['symbolic-ref', '--quiet', 'HEAD']);
  if (!head.ok || head.text !== `refs/heads/${options.branch}`) {
    return refuse(`The loop's worktree is not on its branch ${options.branch}.`, `Check out ${options.branch} in it.`);
  }
  await freeIndex(place);
  await git(place, ['update-index', '-q', '--refresh']);
  const tried = await ask(place, ['read-tree', '-n', '-m', '-u', tip, made.text]);
  if (tried.ok) return made.text;
  return refuse(`Somebody changed files in the loop's own worktree, so ${order.task} cannot land: ${tried.problem}`);
}

async function loopPlace(
  { environment, ...repository }: Repository,
  { loopDirectory }: ForkOptions,
): Promise<GitPlace> {
  const settings = await filtersOff({ environment, directory: repository.directory });
  return { directory: loopDirectory, environment, settings };
}

/** Called before all else that is done to forks: a crash may have cut the landing of any of them. */
async function finishLanding(repository: Repository, options: ForkOptions): Promise<Done> {
  const landing = await readRecord<Landing>(journalOf(options));
  if (landing === undefined) return { ok: true };
  const { task, iteration, from, commit } = landing;
  const isIn = await git(repository, ['merge-base', '--is-ancestor', commit || from, `refs/heads/${options.branch}`]);
  if (isIn.code === 0) {
    const followed =
      commit === '' ? { ok: true as const } : await follow(await loopPlace(repository, options), from, commit);
    if (!followed.ok) return followed;
    const dropped = await dropTree(repository, forkDirectory(options, task));
    if (!dropped.ok) return dropped;
    await git(repository, ['update-ref', '-d', forkRef(options, task)]);
    await rm(forkIndex(options, task), { force: true });
    await rememberFork(options, task, { state: 'landed', base: from, landed: { iteration, commit } });
  }
  await rm(journalOf(options), { force: true });
  return { ok: true };
}

/** Files and index of the loop's worktree, at the paths of one commit: can be done again from any half of it. */
async function follow(place: GitPlace, from: string, commit: string): Promise<Done> {
  const changed = await changesBetween(place, from, commit);
  if (!changed.ok) return changed;
  await freeIndex(place);
  const lines = changed.changes.map(indexLine).join('');
  const set = await ask(place, ['update-index', '-z', '--index-info'], { input: Buffer.from(lines, 'latin1') });
  if (!set.ok) return set;
  for (const { path, mode } of changed.changes) {
    if (mode !== absent) continue;
    const kind = await kindOnDisk(place.directory, path);
    if (kind === 'file' || kind === 'link') await rm(onDisk(place.directory, path), { force: true });
    if (kind !== 'special') await removeEmptyFolders(place.directory, path);
  }
  const files = changed.changes.filter(({ mode }) => mode !== absent && mode !== gitlink).map(({ path }) => path);
  return ask(place, ['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], { input: toInput(files) });
}

async function removeEmptyFolders(top: string, path: string): Promise<void> {
  for (const folder of foldersAbove(path).reverse()) {
    if (
      !(await rmdir(onDisk(top, folder)).then(
        () => true,
        () => false,
      ))
    )
      return;
  }
}

// The forks of a parallel loop: made, merged with what the loop's branch became, and landed on it one after the other.

export type Forks = Pick<Workspace, 'directory' | 'fork' | 'base' | 'bring' | 'land'>;

/** Merging without touching files came with git 2.38. */
const versionMin = [2, 38] as const;

export function openForks(repository: Repository, options: ForkOptions): Forks {
  let unfit: Promise<Refusal | undefined> | undefined;
  const inTurn = oneAtATime();
  return {
    directory: task => forkDirectory(options, task),
    fork: task =>
      inTurn(async () => {
        unfit ??= tooOld(repository);
        const refusal = await unfit;
        if (refusal !== undefined) return refusal;
        const cut = await finishLanding(repository, options);
        return cut.ok ? takeUpOrMake(repository, options, task) : cut;
      }),
    base: async task => (await forkRecord(options, task))?.base ?? '',
    bring: task =>
      inTurn(async () => {
        const cut = await finishLanding(repository, options);
        return cut.ok ? bring(repository, options, task) : { ...cut, conflicts: [] };
      }),
    land: (order: Omit<CommitOrder, 'spans' | 'document'>) =>
      inTurn(async () => {
        const cut = await finishLanding(repository, options);
        return cut.ok ? land(repository, options, order) : cut;
      }),
  };
}

/** A task may begin while another one lands: both change what the repository knows of its worktrees. */
function oneAtATime(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  return work => {
    const turn = last.then(work, work);
    last = turn.catch(() => {});
    return turn;
  };
}

async function tooOld(repository: Repository): Promise<Refusal | undefined> {
  const said = await ask(repository, ['version']);
  if (!said.ok) return said;
  const [, major = '0', minor = '0'] = /(\d+)\.(\d+)/.exec(said.text) ?? [];
  const isOld = Number(major) < versionMin[0] || (Number(major) === versionMin[0] && Number(minor) < versionMin[1]);
  if (!isOld) return undefined;
  return refuse(`Parallel tasks need git ${versionMin.join('.')}, and this is ${major}.${minor}.`, 'Update git.');
}

async function takeUpOrMake(repository: Repository, options: ForkOptions, task: string): ReturnType<Workspace['fork']> {
  const record = await forkRecord(options, task);
  const isThere = record?.state === 'ready' && (await isForkThere(repository, forkDirectory(options, task)));
  if (!isThere) return makeFork(repository, options, task);
  if (record.bringing !== undefined) {
    const finished = await bring(repository, options, task);
    if (!finished.ok && finished.conflicts.length === 0) return finished;
  }
  const { unheard: _heard, ...rest } = (await forkRecord(options, task)) ?? record;
  await rememberFork(options, task, rest);
  return { ok: true, base: rest.base };
}
