// Merges of a task's fork: the loop's branch into it, then its tree as one commit onto the branch. Cut anywhere, they are finished.
import { readFile, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, type GitPlace, git, gitlink, type Setting, updateIndex, withIndex } from '../call.ts';
import type { Span } from '../checkpoints.ts';
import type { CommitSubject } from '../commits.ts';
import { kindOnDisk, readRecord, stampOfIndex, succeeds, writeRecord } from '../disk.ts';
import type { Forked, Forks, MergedFork, MergedIntoFork } from '../forks.ts';
import { detachHead, moveRef, setRef } from '../locks.ts';
import { diffTrees, revision } from '../objects.ts';
import { foldersAbove, onDisk, pathsOf, printable, shown, shownList, toInput, toText } from '../paths.ts';
import { rememberSync } from '../private.ts';
import { headName, makeCommit, messageOf } from '../progress/git-commits.ts';
import { type Done, type Refusal, refuse, withConflicts } from '../refusal.ts';
import { placeIn, type Repository, settingNames } from '../repository.ts';
import { headIn, notesOf } from '../worktree-notes.ts';
import {
  type Fork,
  type ForkMemory,
  type ForkOptions,
  type ForkRecord,
  forkOf,
  freeIndex,
  readyRecord,
  tipOf,
} from './fork.ts';
import { holds, type PlainMerge, plainMerge, showIndex, treeOfFork } from './fork-tree.ts';
import { dropFork, makeFork } from './make-fork.ts';
import { discardSpares, sweepSpares } from './spare-fork.ts';
import { atMost } from './turns.ts';

const namesMax = 20;

interface Merged {
  readonly ok: true;
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** What a merge said it says again until `fork` is called: its caller may have been killed or stopped before it listened. */
async function mergeIntoFork(fork: Fork): Promise<MergedIntoFork | Refusal> {
  const { options, task } = fork;
  if ((await fork.record())?.state === 'landed') return { ok: true, changed: false, isMerged: true };
  const record = await readyRecord(fork);
  if (record === undefined) return refuse(`The fork of ${task} is gone.`);
  const { base, bringing, unheard } = record;
  if (unheard !== undefined && unheard.conflicts.length > 0) return answer(fork, record);
  const tip = await tipOf(fork);
  if (tip === '') return refuse(`The loop's branch ${options.branch} is gone.`);
  if (bringing === undefined && base === tip) return { ok: true, changed: unheard?.changed ?? false, isMerged: false };
  const brought = await bring(fork, record, tip);
  return 'ok' in brought ? brought : answer(fork, brought);
}

/** What the branch became, into the fork. */
async function bring(fork: Fork, record: ForkRecord, tip: string): Promise<ForkRecord | Refusal> {
  const { base, bringing } = record;
  const place = await placeIn(fork.repository, fork.directory);
  const plain = bringing === undefined ? await plainMerge(fork, place, { from: base, to: tip }) : undefined;
  const saved = bringing === undefined ? await saveWork(fork, place, record, plain) : record;
  if ('ok' in saved) return saved;
  const brought = plain && (await writePlainly(fork, place, saved, { ...plain, tip }));
  if (brought !== undefined) return brought;
  const merged = await merge(place, `refs/heads/${fork.options.branch}`, fork.ref);
  if (merged.ok) return writeMerge(fork, place, saved, { tip, merged });
  if (bringing === undefined) await fork.remember(record); // no file was touched yet
  return merged;
}

/** After this the fork's files may be lost: they can be had back from the ref. */
async function saveWork(
  fork: Fork,
  place: GitPlace,
  record: ForkRecord,
  plain: PlainMerge | undefined,
): Promise<ForkRecord | Refusal> {
  const taken =
    plain === undefined ? await treeOfFork(fork, place, record.base) : { ok: true as const, text: plain.work };
  if (!taken.ok) return taken;
  const message = `The fork of ${fork.task}\n`;
  const change = { tree: taken.text, parent: record.base, message };
  const work = await makeCommit(fork.repository, change, fork.memory);
  if (!work.ok) return work;
  const set = await setRef(fork.repository, fork.ref, work.name);
  if (!set.ok) return set;
  const next: ForkRecord = { ...record, bringing: { work: work.name } };
  await fork.remember(next);
  return next;
}

/** What the branch changed, beside the fork's work. Undefined where something is in its way: nothing was touched then. */
async function writePlainly(
  fork: Fork,
  place: GitPlace,
  record: ForkRecord,
  { work, merged, tip }: PlainMerge & { readonly tip: string },
): Promise<ForkRecord | undefined> {
  const notes = await notesOf(fork.repository, fork.directory);
  await rm(`${fork.index}.lock`, { force: true });
  const update = ['read-tree', '--no-sparse-checkout', '-m', '-u', record.base, tip];
  const filled = await ask(withIndex(place, fork.index), update, { timeMsMax: 600_000 });
  if (!filled.ok || notes === undefined) return undefined;
  const moved = await detachHead(fork.repository, headIn(notes), tip);
  if (!moved.ok) return undefined;
  await freeIndex(notes);
  await showIndex(fork, notes);
  await holds(fork, tip);
  return bringingDone(fork, record, { tip, conflicts: [], changed: merged !== work });
}

/** The fork stands on the tip now. */
async function bringingDone(
  fork: Fork,
  record: ForkRecord,
  {
    tip,
    conflicts,
    changed,
  }: { readonly tip: string; readonly conflicts: readonly string[]; readonly changed: boolean },
): Promise<ForkRecord> {
  const conflicted = [...new Set([...(record.conflicted ?? []), ...conflicts])];
  const rivals = await tasksThatChanged(fork, { from: record.base, to: tip }, conflicts);
  const others = [...new Set([...(record.others ?? []), ...rivals])];
  const unheard = { conflicts, changed: changed || record.unheard?.changed === true };
  const next: ForkRecord = { state: 'ready', base: tip, unheard, conflicted, others };
  await fork.remember(next);
  return next;
}

/** The tasks whose commits changed these files. */
async function tasksThatChanged(
  { repository }: Fork,
  { from, to }: Span,
  paths: readonly string[],
): Promise<readonly string[]> {
  if (paths.length === 0) return [];
  const format = '--format=%(trailers:key=Ralph-Task,valueonly,separator=%x2c)';
  const files = paths.slice(0, namesMax).map(toText);
  const said = await ask(repository, ['log', '--reverse', format, `${from}..${to}`, '--', ...files]);
  return said.ok ? [...new Set(said.text.split('\n').filter(task => task !== ''))] : [];
}

/** Every step can be done again: the merge is made of two commits, and files are overwritten by force. */
async function writeMerge(
  fork: Fork,
  place: GitPlace,
  record: ForkRecord,
  { tip, merged }: { readonly tip: string; readonly merged: Merged },
): Promise<ForkRecord | Refusal> {
  const before = await revision(fork.repository, `${record.bringing!.work}^{tree}`);
  await rm(`${fork.index}.lock`, { force: true });
  const read = ['read-tree', '--no-sparse-checkout', '--reset'];
  const filled = await ask(withIndex(place, fork.index), [...read, '-u', merged.tree], { timeMsMax: 600_000 });
  if (!filled.ok) return filled;
  const moved = await ask(place, ['update-ref', '--no-deref', '-m', 'ralph: merge', 'HEAD', tip]);
  if (!moved.ok) return moved;
  const notes = await notesOf(fork.repository, fork.directory);
  if (notes !== undefined) await freeIndex(notes);
  const shownAsWork = await ask(place, [...read, tip]);
  if (!shownAsWork.ok) return shownAsWork;
  await git(place, ['update-index', '-q', '--refresh']);
  return bringingDone(fork, record, { tip, conflicts: merged.conflicts, changed: merged.tree !== before });
}

async function merge(place: GitPlace, branch: string, work: string): Promise<Merged | Refusal> {
  const settings = [...(place.settings ?? []), ...(await driversReplaced(place))];
  const style = ['-c', 'merge.conflictStyle=merge', '-c', 'merge.directoryRenames=false'];
  const args = [...style, 'merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', branch, work];
  const merged = await git({ ...place, settings }, args, { timeMsMax: 600_000 });
  const [tree = '', ...conflicts] = pathsOf(merged);
  if ((merged.code !== 0 && merged.code !== 1) || tree === '') {
    return refuse(`The fork cannot be merged: ${printable(merged.errors)}`);
  }
  return { ok: true, tree, conflicts: [...new Set(conflicts.filter(path => path !== ''))] };
}

/** A program that the user set for merging is not run by us (B88); git's own merge of lines stands in for it. */
async function driversReplaced(place: GitPlace): Promise<readonly Setting[]> {
  const drivers = (await settingNames(place)).filter(name => /^merge\..*\.driver$/s.test(name));
  const labels = '-L refs/heads/loop -L base -L refs/ralph/forks/task';
  return drivers.map(name => [name, `git merge-file --quiet --marker-size=%L ${labels} %A %O %B`] as const);
}

/** Of these paths, those that hold conflict markers. */
async function withMarkers(directory: string, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const bytes = await readFile(onDisk(directory, path)).catch(() => undefined);
    if (bytes && /^<{7,} |^>{7,} |^[<>]+ refs\//m.test(bytes.toString('latin1'))) found.push(path);
  }
  return found;
}

async function answer(
  { directory, ref }: Fork,
  { unheard: { conflicts, changed } = { conflicts: [], changed: false }, others = [] }: ForkRecord,
): Promise<MergedIntoFork> {
  if (conflicts.length === 0) return { ok: true, changed, isMerged: false };
  const both = await withMarkers(directory, conflicts);
  const one = conflicts.filter(path => !both.includes(path));
  const sentences: string[] = [];
  if (both.length > 0) {
    const hold = `${shownList(both, namesMax)} ${both.length === 1 ? 'holds' : 'hold'}`;
    sentences.push(`Others changed the same lines meanwhile: ${hold} both sides with conflict markers; resolve them.`);
  }
  if (one.length > 0) {
    const are = one.length === 1 ? 'is as one side has it' : 'are as one side has them';
    sentences.push(
      `Others changed or deleted the same files meanwhile: ${shownList(one, namesMax)} ${are}; your side is in git show ${ref}:PATH.`,
    );
  }
  return { ...refuse(sentences.join(' ')), conflicts: conflicts.map(toText), others };
}

type LoopForks = Pick<Fork, 'repository' | 'options' | 'memory'>;

/** Written before the branch moves. An empty commit: there was nothing to merge. */
interface Journal {
  readonly task: string;
  readonly iteration: number;
  readonly from: string;
  readonly commit: string;
}

const journalOf = ({ privateFolder }: ForkOptions): string => join(privateFolder, 'landing.json');

/** The same order again: the same answer. */
async function mergeFork(fork: Fork, order: CommitSubject): Promise<MergedFork> {
  const { repository, options, task } = fork;
  const { iteration } = order;
  const before = await fork.record();
  const merged = before?.state === 'landed' ? before.landed : undefined;
  if (merged?.iteration === iteration) return { ok: true, commit: merged.commit };
  const record = await readyRecord(fork);
  if (record === undefined) return refuse(`The fork of ${task} is gone.`);
  const tip = await tipOf(fork);
  if (tip === '' || tip !== record.base || record.bringing !== undefined) {
    return refuse(`The branch ${options.branch} moved since ${task} was merged with it.`, 'Merge again.');
  }
  const open = await withMarkers(fork.directory, record.conflicted ?? []);
  if (open.length > 0) {
    const left = refuse(`Conflict markers are left in ${open.slice(0, 20).map(shown).join(', ')}; resolve them.`);
    return { ...left, conflicts: open.map(toText), others: record.others };
  }
  const taken = await treeOfFork(fork, await placeIn(repository, fork.directory), tip);
  if (!taken.ok) return taken;
  const isEmpty = taken.text === (await revision(repository, `${tip}^{tree}`));
  const commit = isEmpty ? '' : await commitOnto(fork, order, { tip, tree: taken.text });
  if (typeof commit !== 'string') return commit;
  await writeRecord(journalOf(options), { task, iteration, from: tip, commit } satisfies Journal);
  const name = `refs/heads/${options.branch}`;
  const moved = isEmpty ? taken : await moveRef(repository, name, { to: commit, from: tip });
  if (moved === 'moved') return refuse(`Somebody moved the branch ${options.branch} just now.`, 'Merge again.');
  if (!moved.ok) return moved;
  const finished = await finishMerge(fork, true);
  return finished.ok ? { ok: true, commit } : finished;
}

/** The commit, once it is sure that the loop's own worktree can follow. */
async function commitOnto(
  { repository, options, memory }: Fork,
  order: CommitSubject,
  { tip, tree }: { readonly tip: string; readonly tree: string },
): Promise<string | Refusal> {
  const made = await makeCommit(repository, { tree, parent: tip, message: messageOf(order) }, memory);
  if (!made.ok) return made;
  const place = await placeIn(repository, options.loopDirectory);
  const notes = await notesOf(repository, options.loopDirectory);
  if (notes === undefined || (await headName({ ...place, gitDirectory: notes })) !== `refs/heads/${options.branch}`) {
    return refuse(`The loop's worktree is not on its branch ${options.branch}.`, `Check out ${options.branch} in it.`);
  }
  await freeIndex(notes);
  const attempt = [...readTree, '-n', '-m', '-u', tip, made.name];
  if ((await ask(place, attempt)).ok) return made.name;
  await git(place, ['update-index', '-q', '--refresh']); // somebody may have touched a file, and changed nothing
  const tried = await ask(place, attempt);
  if (tried.ok) return made.name;
  return refuse(`Somebody changed files in the loop's own worktree, so ${order.task} cannot land: ${tried.problem}`);
}

const readTree = ['read-tree', '--no-sparse-checkout'];

/**
 * Called before all else that is done to forks: a crash may have cut the merge of any of them. `isMoved`: the branch just
 * now, by us.
 */
async function finishMerge({ repository, options, memory }: LoopForks, isMoved = false): Promise<Done> {
  const journal = await readRecord<Journal>(journalOf(options));
  if (journal === undefined) return { ok: true };
  const { task, iteration, from, commit } = journal;
  const asked = ['merge-base', '--is-ancestor', commit || from, `refs/heads/${options.branch}`];
  const isIn = isMoved || (await git(repository, asked)).code === 0;
  if (isIn) {
    const place = await placeIn(repository, options.loopDirectory);
    const followed: Done =
      commit === '' || (isMoved && (await followAtOnce(repository, place, { from, to: commit })))
        ? { ok: true }
        : await follow(repository, place, { from, to: commit });
    if (!followed.ok) return followed;
    const fork = forkOf(repository, options, task, memory);
    const dropped = await dropFork(fork);
    if (!dropped.ok) return dropped;
    await fork.remember({ state: 'landed', base: from, landed: { iteration, commit } });
  }
  await rm(journalOf(options), { force: true });
  return { ok: true };
}

/** As was tried out before the branch moved. False when somebody changed the worktree since. */
async function followAtOnce(repository: Repository, place: GitPlace, { from, to }: Span): Promise<boolean> {
  const notes = await notesOf(repository, place.directory);
  if (notes === undefined) return false;
  await freeIndex(notes);
  const index = { gitDirectory: notes };
  const found = await stampOfIndex(index);
  const done = await ask(place, [...readTree, '-m', '-u', from, to], { timeMsMax: 600_000 });
  if (done.ok) rememberSync(index, { found, left: await stampOfIndex(index) });
  return done.ok;
}

/** Files and index of the loop's worktree, at the paths of one commit: can be done again from any half of it. */
async function follow(repository: Repository, place: GitPlace, step: Span): Promise<Done> {
  const changed = await diffTrees(repository, step);
  if (!changed.ok) return changed;
  const notes = await notesOf(repository, place.directory);
  if (notes !== undefined) await freeIndex(notes);
  const set = await updateIndex(place, changed.all);
  if (!set.ok) return set;
  for (const { path, to } of changed.all) {
    if (to !== undefined) continue;
    const kind = await kindOnDisk(place.directory, path);
    if (kind === 'file' || kind === 'link') await rm(onDisk(place.directory, path), { force: true });
    if (kind !== 'special') await removeEmptyFolders(place.directory, path);
  }
  const files = changed.all.filter(({ to }) => to !== undefined && to.mode !== gitlink).map(({ path }) => path);
  return ask(place, ['checkout-index', '-f', '-u', '-q', '-z', '--stdin'], { input: toInput(files) });
}

async function removeEmptyFolders(top: string, path: string): Promise<void> {
  for (const folder of foldersAbove(path).reverse()) if (!(await succeeds(rmdir(onDisk(top, folder))))) return;
}

/** Half of the making of a fork is waiting for the disk and for git to start. */
const makersMax = 2;

/** Merging without touching files came with git 2.38. */
const versionMin = '2.38';

export interface GitForks extends Forks {
  /** As if it had never been made: for a fork in which nothing is to be kept. */
  discard(task: string): Promise<void>;
}

/** The forks of a parallel loop: made, merged with what the loop's branch became, and merged into it one after the other. */
export function openForks(repository: Repository, options: ForkOptions): GitForks {
  let unfit: Promise<Refusal | undefined> | undefined;
  const [inTurn, making] = [atMost(1), atMost(makersMax)];
  const memory: ForkMemory = { held: new Map(), spares: [], unwanted: [], laid: 0, discarded: Promise.resolve() };
  let swept: Promise<void> | undefined;
  const of = (task: string): Fork => forkOf(repository, options, task, memory);
  /** After a merge that a crash cut. */
  const next = <Answer>(task: string, work: (fork: Fork) => Promise<Answer>): Promise<Answer | Refusal> =>
    inTurn(async () => {
      swept ??= sweepSpares(options);
      await swept;
      const cut = await finishMerge({ repository, options, memory });
      return cut.ok ? work(of(task)) : cut;
    });
  return {
    directory: task => of(task).directory,
    fork: async task => {
      unfit ??= tooOld(repository);
      // Of a new one nothing can have been cut, so it waits for no merge: it stands on the tip that it finds.
      await swept;
      const isNew = swept !== undefined && (await of(task).record()) === undefined;
      return (await unfit) ?? (isNew ? undefined : await next(task, resume)) ?? making(() => makeFork(of(task)));
    },
    base: async task => (await of(task).record())?.base ?? '',
    mergeIntoFork: async task => withConflicts(await next(task, mergeIntoFork)),
    mergeFork: order => next(order.task, fork => mergeFork(fork, order)),
    async discard(task) {
      const fork = of(task);
      const dropped = await dropFork(fork);
      if (dropped.ok) await fork.forget();
    },
    async close() {
      await discardSpares(repository, memory);
    },
  };
}

async function tooOld(repository: Repository): Promise<Refusal | undefined> {
  const said = await ask(repository, ['version']);
  if (!said.ok) return said;
  const [version = '0.0'] = /\d+\.\d+/.exec(said.text) ?? [];
  if (version.localeCompare(versionMin, 'en', { numeric: true }) >= 0) return undefined;
  return refuse(`Parallel tasks need git ${versionMin}, and this is ${version}.`, 'Update git.');
}

/** Undefined: it must be made. */
async function resume(fork: Fork): Promise<Forked | undefined> {
  const record = await readyRecord(fork);
  if (record === undefined) return undefined;
  if (record.bringing !== undefined) {
    const finished = await mergeIntoFork(fork);
    if (!finished.ok && !('conflicts' in finished)) return finished;
  }
  const { unheard: _heard, ...rest } = (await fork.record()) ?? record;
  await fork.remember(rest);
  return { ok: true, base: rest.base };
}
