// A progress commit: what the work of one task changed, on the user's branch, with nothing of the user's own in it.
import { existsSync } from 'node:fs';
import { mkdir, readFile, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import {
  ask,
  diffTrees,
  filteredAmong,
  freshIndex,
  type GitPlace,
  git,
  gitlink,
  ignoredAmong,
  readObject,
  settingsLike,
  sparseRows,
  withIndex,
} from './call.ts';
import { identity } from './checkpoints/refs.ts';
import { changesAtStart, unfinishedUserEdits } from './checkpoints/user-edits.ts';
import type { CommitOrder, CommitSubject, Commits, Committed } from './commits.ts';
import { type Kind, kindOnDisk } from './disk.ts';
import { moveRef } from './locks.ts';
import { byPath, foldersAbove, fromText, isAmong, toInput, toText } from './paths.ts';
import { pathsInside, stampOf } from './private.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Repository, unfinishedOperations } from './repository.ts';
import { recordStep, syncUserIndex, waitForIndex } from './sync-user-index.ts';

export interface CommitOptions {
  /** Of the loop's own: its index, its journals, and the list of what was changed at the start. */
  readonly folder: string;
  /** Absolute paths of which nothing is committed. */
  readonly excluded?: readonly string[];
  /** Which tree our index holds after the last commit of this process, while it is still that index. */
  readonly memory?: { held?: { readonly tree: string; readonly index: string } };
}

/** A person is in the middle of these: a commit would become part of it. */
const underWay = { ...unfinishedOperations, sequencer: 'cherry-pick or revert', BISECT_LOG: 'bisect' };

interface Head {
  readonly ok: true;
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
  const index = join(folder, 'commit.index');
  const place = await indexOf(repository, index, head.tree, memory.held);
  if ('ok' in place) return place;
  const reserved = { atStart, later: await unfinishedUserEdits(folder), excluded: [folder, ...excluded] };
  const selected = await selectPaths(repository, place, order, reserved);
  if (!selected.ok) return selected;
  memory.held = undefined;
  const tree = await writeTree(place, selected);
  if (!tree.ok) return tree;
  memory.held = { tree: tree.text, index: await stampOf(index) };
  const left = selected.left.map(toText);
  if (tree.text === head.tree) return { ok: true, commit: '', paths: [], left };
  const made = await makeCommit(repository, repository, {
    tree: tree.text,
    parent: head.commit,
    message: messageOf(order),
  });
  if (!made.ok) return made;
  const changed = await diffTrees(repository, { from: head.tree, to: tree.text });
  if (!changed.ok) return changed;
  await recordStep(folder, { before: head.tree, commit: made.text });
  const moved = await moveRef(repository, 'HEAD', { to: made.text, from: head.commit, reason: reasonOf(order) });
  if (moved === 'moved' || !moved.ok) return moved;
  await syncUserIndex(repository, folder); // when it cannot now, the journal stays, and the next commit does it
  return { ok: true, commit: made.text, paths: changed.all.map(({ path }) => toText(path)), left };
}

/** With an index that holds the tree of HEAD: the one of the last commit, unless somebody committed since. */
async function indexOf(
  repository: Repository,
  index: string,
  tree: string,
  held: Required<CommitOptions>['memory']['held'],
): Promise<GitPlace | Refusal> {
  const isHeld = held?.tree === tree && held.index !== '' && held.index === (await stampOf(index));
  if (isHeld) return withIndex(repository, index);
  const place = await freshIndex(repository, index);
  const read = await ask(place, ['read-tree', '--no-sparse-checkout', tree]);
  return read.ok ? place : read;
}

async function headOf(repository: Repository, branch: string | undefined): Promise<Head | Refusal> {
  const open = Object.entries(underWay).find(([file]) => existsSync(join(repository.gitDirectory, file)));
  if (open !== undefined)
    return refuse(`Nothing was committed: a ${open[1]} is under way.`, 'Finish it or give it up.');
  const name = await headName(repository);
  if (name !== '' && !name.startsWith('refs/heads/')) {
    return refuse('Nothing was committed: HEAD is not on a branch of this repository.', 'Check out a branch.');
  }
  if (branch !== undefined && name !== `refs/heads/${branch}`) {
    return refuse(`Nothing was committed: HEAD is not on the loop's branch ${branch}.`, `Check out ${branch}.`);
  }
  const found = await readObject(repository, 'HEAD^{commit}');
  const tree = found.ok ? /^tree ([0-9a-f]+)\n/.exec(found.content?.toString('latin1') ?? '')?.[1] : undefined;
  if (found.ok && tree !== undefined) return { ok: true, commit: found.name, tree };
  const isUnborn = !found.ok && found.isMissing && name !== '';
  if (!isUnborn) return refuse('Nothing was committed: HEAD cannot be read.');
  // The tree without files, in the repository's own kind of hash.
  const empty = await ask(repository, ['hash-object', '-t', 'tree', '-w', '--stdin'], { input: '' });
  return empty.ok ? { ok: true, commit: '', tree: empty.text } : empty;
}

/** The ref that HEAD names; empty when it names a commit itself. Where its file does not say it plainly, git is asked. */
async function headName(repository: Repository): Promise<string> {
  const text = await readFile(join(repository.gitDirectory, 'HEAD'), 'utf8').catch(() => '');
  const named = /^ref: (refs\/heads\/\S+)\n$/.exec(text)?.[1];
  if (named !== undefined && !named.endsWith('/.invalid')) return named;
  const target = await git(repository, ['symbolic-ref', '--quiet', 'HEAD']);
  return target.code === 0 ? target.output.toString('utf8').trim() : '';
}

interface Selection {
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
async function selectPaths(
  repository: Repository,
  head: GitPlace,
  order: CommitOrder,
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
  const [ignored, filtered] = await Promise.all([
    ignoredAmong(head, present), // an agent may have made a file, and told git later to ignore it
    filteredAmong(head, present),
  ]);
  const gone = [...wanted].filter(path => kinds.get(path) === 'gone');
  // The user told git that these need not be on disk, so it is no deletion when they are not.
  const sparse = gone.length === 0 ? new Map() : await sparseRows(repository);
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

/** The index may know a file from the commit before: then only all of its times and its size say that it is the same. */
const trusting = ['core.ignoreStat=false', 'core.trustctime=true', 'core.checkStat=default'];

/** Line ends and the like are converted as the user's attributes say; a file that would need a filter is not among these. */
async function writeTree(place: GitPlace, { written, deleted }: Selection) {
  const off = ['core.safecrlf=false', 'core.sparseCheckout=false', ...trusting].flatMap(setting => ['-c', setting]);
  const update = [...off, 'update-index', '-z'];
  const steps = [
    { paths: deleted, how: ['--force-remove'] },
    { paths: written, how: ['--add', '--replace'] },
  ];
  for (const { paths, how } of steps) {
    const done = paths.length === 0 || (await ask(place, [...update, ...how, '--stdin'], { input: toInput(paths) }));
    if (done !== true && !done.ok) return done;
  }
  return ask(place, ['write-tree']);
}

interface NewCommit {
  readonly tree: string;
  readonly parent: string;
  readonly message: string;
}

/** Without hooks and signatures, under the user's name. `place` is one of the repository's working trees. */
export async function makeCommit(repository: Repository, place: GitPlace, { tree, parent, message: input }: NewCommit) {
  const args = ['commit-tree', tree, ...(parent === '' ? [] : ['-p', parent])];
  // Git takes the name from its settings, and guesses none; only where they lack a part of it do we look which.
  const made = await ask(place, ['-c', 'user.useConfigOnly=true', ...args], { input });
  const read = made.ok ? await readObject(repository, made.text) : made;
  const [header = ''] = read.ok ? (read.content?.toString('latin1').split('\n\n', 1) ?? []) : [];
  const isNamed = header !== '' && !/^(author|committer) .*<> /m.test(header);
  return isNamed ? made : ask(place, args, { variables: await identityOf(place), input });
}

const subjectCharsMax = 100;

const oneLine = (text: string): string =>
  text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ').trim();

/** The trailers are for programs: `git log --format='%(trailers:key=Ralph-Task)'`. */
export function messageOf(order: CommitSubject): string {
  const subject = oneLine(`${order.task}: ${order.title}`);
  const shortened = subject.length > subjectCharsMax ? `${subject.slice(0, subjectCharsMax - 1)}…` : subject;
  const trailers = [`Ralph-Loop: ${order.loop}`, `Ralph-Task: ${order.task}`, `Ralph-Iteration: ${order.iteration}`];
  const body = `Done by a loop of Ralph, in iteration ${order.iteration}.`;
  return [shortened, '', body, '', ...trailers.map(oneLine), ''].join('\n');
}

/** What the history of refs says. */
export const reasonOf = (order: CommitSubject): string => oneLine(`ralph: ${order.task}`).slice(0, 100);

/** The user's own name from git's settings; ours only when there is none. */
async function identityOf(place: GitPlace): Promise<Readonly<Record<string, string>>> {
  const values = await settingsLike(place, '^(user|author|committer)\\.(name|email)$');
  const as = (role: 'author' | 'committer') => {
    const setting = (field: string) => (values.get(`${role}.${field}`) ?? values.get(`user.${field}`) ?? '').trim();
    const [name, email] = [setting('name'), setting('email')];
    const known = name !== '' && email !== '';
    const prefix = `GIT_${role.toUpperCase()}`;
    return known ? { [`${prefix}_NAME`]: name, [`${prefix}_EMAIL`]: email } : {};
  };
  return { ...identity, ...as('author'), ...as('committer') };
}
