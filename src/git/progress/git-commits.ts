// A progress commit: what the work of one task changed, on the user's branch, with nothing of the user's own in it.
import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, freshIndex, type GitPlace, git, withFilters, withIndex } from '../call.ts';
import { changesAtStart, startedMs, unfinishedUserEdits } from '../checkpoints/user-edits.ts';
import type { CommitOrder, CommitSubject, Commits, Committed } from '../commits.ts';
import { stampOf } from '../disk.ts';
import { moveRef } from '../locks.ts';
import { diffTrees, readObject, writeCommit } from '../objects.ts';
import { toInput, toText } from '../paths.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { type Repository, unfinishedOperations } from '../repository.ts';
import { plainTree } from './plain-tree.ts';
import { type Selection, selectPaths } from './select-paths.ts';
import { recordStep, syncUserIndex, waitForIndex } from './sync-user-index.ts';
import { type KnownSettings, userSettings } from './user-settings.ts';

export interface CommitOptions {
  /** Of the loop's own: its index, its journals, and the list of what was changed at the start. */
  readonly folder: string;
  /** Absolute paths of which nothing is committed. */
  readonly excluded?: readonly string[];
  /** Which tree our index holds after the last commit of this process, while it is still that index. */
  readonly memory?: CommitMemory;
}

interface CommitMemory extends KnownSettings {
  held?: { readonly tree: string; readonly index: string };
}

/** A person is in the middle of these: a commit would become part of it. */
const underWay = { ...unfinishedOperations, sequencer: 'cherry-pick or revert', BISECT_LOG: 'bisect' };

interface Head {
  readonly ok: true;
  /** What moves: the branch itself, so that no other one can; HEAD where it is on none. */
  readonly ref: string;
  /** Empty on a branch without commits. */
  readonly commit: string;
  readonly tree: string;
}

export function gitCommits(repository: Repository, options: CommitOptions): Commits {
  const memory = {};
  return { commit: order => commitProgress(repository, { ...options, memory }, order) };
}

/** HEAD moves only by this one commit; when somebody else moves it meanwhile, we begin again, once. */
export async function commitProgress(
  repository: Repository,
  options: CommitOptions,
  order: CommitOrder,
): Promise<Committed> {
  await mkdir(options.folder, { recursive: true });
  const first = await attempt(repository, options, order);
  const result = first === 'moved' ? await attempt(repository, options, order) : first;
  if (result !== 'moved') return result;
  return refuse('Nothing was committed: the branch moved twice meanwhile.', 'The next commit takes this work along.');
}

async function attempt(
  repository: Repository,
  { folder, excluded = [], memory = {} }: CommitOptions,
  order: CommitOrder,
): Promise<Committed | 'moved'> {
  const synced = await syncUserIndex(repository, folder);
  if (!synced.ok) return synced;
  const atStart = await changesAtStart(folder);
  if (atStart === undefined) {
    return refuse('Nothing was committed: it is not known which files were uncommitted when the loop began.');
  }
  const head = await headOf(repository, order.branch);
  if (!head.ok) return head;
  const free = await waitForIndex(repository);
  if (!free.ok) return free;
  const index = indexHolding(repository, head.tree, { path: join(folder, 'commit.index'), memory });
  const [later, since] = [await unfinishedUserEdits(folder), await startedMs(folder)];
  const reserved = { atStart, later, excluded: [folder, ...excluded], since };
  const selected = await selectPaths(
    { repository, head: index.place, tree: head.tree, known: memory },
    order,
    reserved,
  );
  if (!selected.ok) return selected;
  const plain = selected.isPlain ? await plainTree(repository, head.tree, selected) : undefined;
  const tree = plain ?? (await index.write(selected));
  if (typeof tree !== 'string') return tree;
  const left = selected.left.map(toText);
  if (tree === head.tree) return { ok: true, commit: '', head: head.commit, paths: [], left };
  const change = { tree, parent: head.commit, message: messageOf(order) };
  const made = await makeCommit(repository, change, memory);
  if (!made.ok) return made;
  const changed = await diffTrees(repository, { from: head.tree, to: tree });
  if (!changed.ok) return changed;
  await recordStep(folder, { before: head.tree, commit: made.name });
  const moved = await moveRef(repository, head.ref, { to: made.name, from: head.commit });
  if (moved === 'moved' || !moved.ok) return moved;
  await syncUserIndex(repository, folder); // when it cannot now, the journal stays, and the next commit does it
  return { ok: true, commit: made.name, head: made.name, paths: changed.all.map(({ path }) => toText(path)), left };
}

interface IndexMemory {
  readonly path: string;
  readonly memory: CommitMemory;
}

/** An index that holds the tree of HEAD: the one of the last commit, unless somebody committed since. */
function indexHolding(repository: Repository, tree: string, { path, memory }: IndexMemory) {
  const place = async (): Promise<GitPlace | Refusal> => {
    const { held } = memory;
    const isHeld = held?.tree === tree && held.index !== '' && held.index === (await stampOf(path));
    if (isHeld) return withIndex(repository, path);
    const fresh = await freshIndex(repository, path);
    const read = await ask(fresh, ['read-tree', '--no-sparse-checkout', tree]);
    if (!read.ok) return read;
    memory.held = { tree, index: await stampOf(path) };
    return fresh;
  };
  return {
    place,
    /** The tree with the selected paths as they are on disk, converted as the user's settings say. */
    async write(selected: Selection): Promise<string | Refusal> {
      const at = await place();
      if ('ok' in at) return at;
      memory.held = undefined;
      const written = await writeTree(at, selected);
      if (!written.ok) return written;
      memory.held = { tree: written.text, index: await stampOf(path) };
      return written.text;
    },
  };
}

async function headOf(repository: Repository, branch: string | undefined): Promise<Head | Refusal> {
  const open = Object.entries(underWay).find(([file]) => existsSync(join(repository.gitDirectory, file)));
  if (open !== undefined)
    return refuse(`Nothing was committed: a ${open[1]} is under way.`, 'Finish it or give it up.');
  const name = await headName(repository);
  if (name !== '' && !name.startsWith('refs/heads/')) {
    return refuse('Nothing was committed: HEAD is not on a branch of this repository.', 'Check out a branch.');
  }
  if (branch === '' && name !== '')
    return refuse('Nothing was committed: the loop works on no branch, and HEAD is on one now.', 'Detach it again.');
  if (branch && name !== `refs/heads/${branch}`) {
    return refuse(`Nothing was committed: HEAD is not on the loop's branch ${branch}.`, `Check out ${branch}.`);
  }
  const found = await readObject(repository, 'HEAD^{commit}');
  const tree = found.ok ? /^tree ([0-9a-f]+)\n/.exec(found.content?.toString('latin1') ?? '')?.[1] : undefined;
  const ref = name || 'HEAD';
  if (found.ok && tree !== undefined) return { ok: true, ref, commit: found.name, tree };
  const isUnborn = !found.ok && found.isMissing && name !== '';
  if (!isUnborn) return refuse('Nothing was committed: HEAD cannot be read.');
  // The tree without files, in the repository's own kind of hash.
  const empty = await ask(repository, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
  return empty.ok ? { ok: true, ref, commit: '', tree: empty.text } : empty;
}

/** The ref that HEAD names; empty when it names a commit itself. Where its file does not say it plainly, git is asked. */
export async function headName(repository: GitPlace & Pick<Repository, 'gitDirectory'>): Promise<string> {
  const text = await readFile(join(repository.gitDirectory, 'HEAD'), 'utf8').catch(() => '');
  const named = /^ref: (refs\/heads\/\S+)\n$/.exec(text)?.[1];
  if (named !== undefined && !named.endsWith('/.invalid')) return named;
  if (/^[0-9a-f]{40,64}\n$/.test(text)) return '';
  const target = await git(repository, ['symbolic-ref', '--quiet', 'HEAD']);
  return target.code === 0 ? target.output.toString('utf8').trim() : '';
}

const filterMsMax = 600_000;

/** The index may know a file from the commit before: then only all of its times and its size say that it is the same. */
const trusting = ['core.ignoreStat=false', 'core.trustctime=true', 'core.checkStat=default'];

/** Line ends are converted as the user's attributes say, and by their filters, such as that of LFS: as `git add` does it (ADR 48). */
async function writeTree(place: GitPlace, { written, deleted }: Selection) {
  const off = ['core.safecrlf=false', 'core.sparseCheckout=false', ...trusting].flatMap(setting => ['-c', setting]);
  const update = [...off, 'update-index', '-z'];
  const steps = [
    { paths: deleted, how: ['--force-remove'] },
    { paths: written, how: ['--add', '--replace'] },
  ];
  for (const { paths, how } of steps) {
    const order = { input: toInput(paths), timeMsMax: filterMsMax };
    const done = paths.length === 0 || (await ask(withFilters(place), [...update, ...how, '--stdin'], order));
    if (done !== true && !done.ok) return refuse(`Nothing was committed: ${done.problem}`);
  }
  return ask(place, ['write-tree']);
}

interface Change {
  readonly tree: string;
  /** Empty for the first commit of a branch. */
  readonly parent: string;
  readonly message: string;
}

/** Without hooks and signatures, under the user's name; nothing points to it yet. */
export async function makeCommit(repository: Repository, { tree, parent, message }: Change, known?: KnownSettings) {
  const { author, committer } = await userSettings(repository, known);
  const parents = parent === '' ? [] : [parent];
  return writeCommit(repository, { tree, parents, author, committer, message });
}

const subjectCharsMax = 100;

const oneLine = (text: string): string =>
  text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ').trim();

/** The trailers are for programs: `git log --format='%(trailers:key=Ralph-Task)'`. */
export function messageOf(order: CommitSubject): string {
  const subject = oneLine(`${order.task}${order.fate === undefined ? '' : ` ${order.fate}`}: ${order.title}`);
  const shortened = subject.length > subjectCharsMax ? `${subject.slice(0, subjectCharsMax - 1)}…` : subject;
  const trailers = [`Ralph-Loop: ${order.loop}`, `Ralph-Task: ${order.task}`, `Ralph-Iteration: ${order.iteration}`];
  if (order.proof !== undefined) trailers.push(`Ralph-Proof: ${order.proof}`);
  const body = order.body ?? `Done by a loop of Ralph, in iteration ${order.iteration}.`;
  return [shortened, '', oneLine(body), '', ...trailers.map(oneLine), ''].join('\n');
}
