// A progress commit: what the work of one task changed, on the user's branch, with nothing of the user's own in it.
import { access, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, changesBetween, emptyTree, type GitPlace, git, listOf, revision } from '../call.ts';
import { dirtyAtStart, foreignUnfinished } from '../checkpoints/user-edits.ts';
import { moveRef } from '../locks.ts';
import { toInput, toText } from '../paths.ts';
import { type Repository, refuse } from '../repository.ts';
import type { CommitOrder, Committed, Refusal } from '../workspace.ts';
import { pick } from './select-paths.ts';
import { healIndex, remember, waitForIndex } from './sync-user-index.ts';

export interface CommitOptions {
  /** Of the loop's own: its index, its journals, and the list of what was dirty. */
  readonly folder: string;
  /** Absolute paths of which nothing is committed. */
  readonly uncovered?: readonly string[];
  /** How long a lock of the user's index is waited for. */
  readonly lockMsMax?: number;
}

/** A person is in the middle of these: a commit would become part of it. */
const underWay: readonly (readonly [file: string, name: string])[] = [
  ['MERGE_HEAD', 'merge'],
  ['rebase-merge', 'rebase'],
  ['rebase-apply', 'rebase'],
  ['CHERRY_PICK_HEAD', 'cherry-pick'],
  ['REVERT_HEAD', 'revert'],
  ['sequencer', 'cherry-pick or revert'],
  ['BISECT_LOG', 'bisect'],
];

interface Head {
  readonly ok: true;
  /** Empty on a branch without commits. */
  readonly commit: string;
  readonly tree: string;
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
  { folder, lockMsMax, uncovered = [] }: CommitOptions,
  order: CommitOrder,
): Promise<Committed | 'moved'> {
  const healed = await healIndex(repository, folder, lockMsMax);
  if (!healed.ok) return healed;
  const dirty = await dirtyAtStart(folder);
  if (dirty === undefined) {
    return refuse('Nothing was committed: it is not known which files were uncommitted when the loop began.');
  }
  const head = await headOf(repository, order.branch);
  if (!head.ok) return head;
  const free = await waitForIndex(repository, lockMsMax);
  if (!free.ok) return free;
  const index = { GIT_INDEX_FILE: join(folder, 'commit.index') };
  await Promise.all([rm(index.GIT_INDEX_FILE, { force: true }), rm(`${index.GIT_INDEX_FILE}.lock`, { force: true })]);
  const read = await ask(repository, ['read-tree', '--no-sparse-checkout', head.tree], { variables: index });
  if (!read.ok) return read;
  const picked = await pick(repository, index, order, {
    dirty,
    later: await foreignUnfinished(folder),
    apart: [folder, ...uncovered],
  });
  if (!picked.ok) return picked;
  const tree = await writeTree(repository, index, picked);
  if (!tree.ok) return tree;
  const left = picked.left.map(toText);
  if (tree.text === head.tree) return { ok: true, commit: '', paths: [], left };
  const made = await makeCommit(repository, { tree: tree.text, parent: head.commit, message: messageOf(order) });
  if (!made.ok) return made;
  const changed = await changesBetween(repository, head.tree, tree.text);
  if (!changed.ok) return changed;
  await remember(folder, { before: head.commit === '' ? head.tree : head.commit, commit: made.text });
  const moved = await moveRef(repository, 'HEAD', { to: made.text, from: head.commit, reason: reasonOf(order) });
  if (moved === 'moved') return moved;
  if (!moved.ok) return moved;
  await healIndex(repository, folder, lockMsMax); // when it cannot now, the journal stays, and the next commit does it
  return { ok: true, commit: made.text, paths: changed.changes.map(({ path }) => toText(path)), left };
}

async function headOf(repository: Repository, branch: string | undefined): Promise<Head | Refusal> {
  for (const [file, name] of underWay) {
    const found = await access(join(repository.gitDirectory, file)).then(
      () => true,
      () => false,
    );
    if (found) return refuse(`Nothing was committed: a ${name} is under way.`, 'Finish it or give it up.');
  }
  const target = await git(repository, ['symbolic-ref', '--quiet', 'HEAD']);
  const name = target.output.toString('utf8').trim();
  if (target.code === 0 && !name.startsWith('refs/heads/')) {
    return refuse('Nothing was committed: HEAD is not on a branch of this repository.', 'Check out a branch.');
  }
  if (branch !== undefined && name !== `refs/heads/${branch}`) {
    return refuse(`Nothing was committed: HEAD is not on the loop's branch ${branch}.`, `Check out ${branch}.`);
  }
  const commit = await revision(repository, 'HEAD^{commit}');
  if (commit === '' && target.code !== 0) return refuse('Nothing was committed: HEAD cannot be read.');
  if (commit !== '') return { ok: true, commit, tree: await revision(repository, `${commit}^{tree}`) };
  const empty = await emptyTree(repository);
  return empty.ok ? { ok: true, commit, tree: empty.text } : empty;
}

/** Line ends and the like are converted as the user's attributes say; a file that would need a filter is not among these. */
async function writeTree(
  repository: Repository,
  variables: Readonly<Record<string, string>>,
  { written, deleted }: { readonly written: readonly string[]; readonly deleted: readonly string[] },
) {
  const settings = ['-c', 'core.safecrlf=false', '-c', 'core.sparseCheckout=false', 'update-index', '-z'];
  const removed = await ask(repository, [...settings, '--force-remove', '--stdin'], {
    variables,
    input: toInput(deleted),
  });
  if (!removed.ok) return removed;
  const added = await ask(repository, [...settings, '--add', '--replace', '--stdin'], {
    variables,
    input: toInput(written),
  });
  return added.ok ? ask(repository, ['write-tree'], { variables }) : added;
}

/** Without hooks and signatures, under the user's name. */
export async function makeCommit(
  place: GitPlace,
  order: { readonly tree: string; readonly parent: string; readonly message: string },
) {
  const parent = order.parent === '' ? [] : ['-p', order.parent];
  const variables = await identityOf(place);
  return ask(place, ['commit-tree', order.tree, ...parent], { variables, input: order.message });
}

// A commit of ours as people see it: under the user's name, with a message that says which work it is.

const subjectCharsMax = 100;

const oneLine = (text: string): string =>
  text.replace(/[\s\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]+/g, ' ').trim();

/** The trailers are for programs: `git log --format='%(trailers:key=Ralph-Task)'`. */
export function messageOf(order: Omit<CommitOrder, 'spans' | 'document'>, note = ''): string {
  const subject = oneLine(`${order.task}: ${order.title}`);
  const shortened = subject.length > subjectCharsMax ? `${subject.slice(0, subjectCharsMax - 1)}…` : subject;
  const trailers = [`Ralph-Loop: ${order.loop}`, `Ralph-Task: ${order.task}`, `Ralph-Iteration: ${order.iteration}`];
  const body = `Done by a loop of Ralph, in iteration ${order.iteration}.${note === '' ? '' : ` ${oneLine(note)}`}`;
  return [shortened, '', body, '', ...trailers.map(oneLine), ''].join('\n');
}

/** What the history of refs says. */
export const reasonOf = (order: Pick<CommitOrder, 'task'>): string => oneLine(`ralph: ${order.task}`).slice(0, 100);

/** The user's own name from git's settings; ours only when there is none. */
async function identityOf(place: GitPlace): Promise<Readonly<Record<string, string>>> {
  const found = await git(place, ['config', '-z', '--get-regexp', '^(user|author|committer)\\.(name|email)$']);
  const values = new Map<string, string>();
  for (const one of listOf(found)) {
    const at = one.indexOf('\n');
    values.set(one.slice(0, at), one.slice(at + 1).trim());
  }
  const as = (role: 'author' | 'committer') => {
    const name = values.get(`${role}.name`) ?? values.get('user.name') ?? '';
    const email = values.get(`${role}.email`) ?? values.get('user.email') ?? '';
    return name === '' || email === '' ? { name: 'Ralph', email: 'ralph@localhost' } : { name, email };
  };
  const author = as('author');
  const committer = as('committer');
  return {
    GIT_AUTHOR_NAME: author.name,
    GIT_AUTHOR_EMAIL: author.email,
    GIT_COMMITTER_NAME: committer.name,
    GIT_COMMITTER_EMAIL: committer.email,
  };
}
