// Merges what the loop's branch became into the fork of a task; its work is safe in a ref before a file is touched.
import { readFile, rm } from 'node:fs/promises';
import { ask, type GitPlace, git, listOf, revision } from '../call.ts';
import { makeCommit } from '../commits/commit.ts';
import { setRef } from '../locks.ts';
import { onDisk, pathsOf, shown, toText } from '../paths.ts';
import { type Repository, refuse } from '../repository.ts';
import type { Brought, Refusal } from '../workspace.ts';
import {
  type ForkOptions,
  type ForkRecord,
  forkDirectory,
  forkIndex,
  forkPlace,
  forkRecord,
  forkRef,
  freeIndex,
  isForkThere,
  rememberFork,
  treeOfFork,
} from './fork.ts';

const namesMax = 20;

interface Merged {
  readonly ok: true;
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** What a merge said it says again until `fork` is called: its caller may have been killed or stopped before it listened. */
export async function bring(repository: Repository, options: ForkOptions, task: string): Promise<Brought> {
  const record = await forkRecord(options, task);
  if (record?.state === 'landed') return { ok: true, changed: false, landed: true };
  const isThere = record?.state === 'ready' && (await isForkThere(repository, forkDirectory(options, task)));
  if (!isThere) return without(refuse(`The fork of ${task} is gone.`));
  const { base, bringing, unheard } = record;
  if (unheard !== undefined && unheard.conflicts.length > 0) return answer(options, task, unheard);
  const tip = await revision(repository, `refs/heads/${options.branch}^{commit}`);
  if (tip === '') return without(refuse(`The loop's branch ${options.branch} is gone.`));
  if (bringing === undefined && base === tip) return { ok: true, changed: unheard?.changed ?? false, landed: false };
  const place = await forkPlace(repository, options, task);
  const kept = bringing === undefined ? await keepWork(place, options, task, record) : record;
  if ('ok' in kept) return without(kept);
  const merged = await merge(place, `refs/heads/${options.branch}`, forkRef(options, task));
  if (!merged.ok) {
    if (bringing === undefined) await rememberFork(options, task, record); // no file was touched yet
    return without(merged);
  }
  const brought = await mergeInto(place, options, task, { record: kept, tip, merged });
  return 'ok' in brought ? without(brought) : answer(options, task, brought.unheard!);
}

const without = (refusal: Refusal): Brought => ({ ...refusal, conflicts: [] });

/** After this the fork's files may be lost: they can be had back from the ref. */
async function keepWork(
  place: GitPlace,
  options: ForkOptions,
  task: string,
  record: ForkRecord,
): Promise<ForkRecord | Refusal> {
  const taken = await treeOfFork(place, options, task, record.base);
  if (!taken.ok) return taken;
  const work = await makeCommit(place, { tree: taken.tree, parent: record.base, message: `The fork of ${task}\n` });
  if (!work.ok) return work;
  const kept = await setRef(place, forkRef(options, task), work.text);
  if (!kept.ok) return kept;
  const next: ForkRecord = { ...record, bringing: { work: work.text } };
  await rememberFork(options, task, next);
  return next;
}

/** Every step can be done again: the merge is made of two commits, and files are overwritten by force. */
async function mergeInto(
  place: GitPlace,
  options: ForkOptions,
  task: string,
  { record, tip, merged }: { readonly record: ForkRecord; readonly tip: string; readonly merged: Merged },
): Promise<ForkRecord | Refusal> {
  const before = await revision(place, `${record.bringing!.work}^{tree}`);
  const index = forkIndex(options, task);
  await rm(`${index}.lock`, { force: true });
  const variables = { GIT_INDEX_FILE: index };
  const read = ['read-tree', '--no-sparse-checkout', '--reset'];
  const filled = await ask(place, [...read, '-u', merged.tree], { variables, timeMsMax: 600_000 });
  if (!filled.ok) return filled;
  const moved = await ask(place, ['update-ref', '--no-deref', '-m', 'ralph: merge', 'HEAD', tip]);
  if (!moved.ok) return moved;
  await freeIndex(place);
  const shownAsWork = await ask(place, [...read, tip]);
  if (!shownAsWork.ok) return shownAsWork;
  await git(place, ['update-index', '-q', '--refresh']);
  const conflicted = [...new Set([...(record.conflicted ?? []), ...merged.conflicts])];
  const unheard = { conflicts: merged.conflicts, changed: merged.tree !== before || record.unheard?.changed === true };
  const next: ForkRecord = { state: 'ready', base: tip, unheard, conflicted };
  await rememberFork(options, task, next);
  return next;
}

async function merge(place: GitPlace, branch: string, work: string): Promise<Merged | Refusal> {
  const settings = [...(place.settings ?? []), ...(await driversReplaced(place))];
  const style = ['-c', 'merge.conflictStyle=merge', '-c', 'merge.directoryRenames=false'];
  const args = [...style, 'merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', branch, work];
  const merged = await git({ ...place, settings }, args, { timeMsMax: 600_000 });
  const [tree = '', ...conflicts] = pathsOf(merged);
  if ((merged.code !== 0 && merged.code !== 1) || tree === '') {
    return refuse(`The fork cannot be merged: ${shown(Buffer.from(merged.errors).toString('latin1'))}`);
  }
  return { ok: true, tree, conflicts: [...new Set(conflicts.filter(path => path !== ''))] };
}

/** A program that the user set for merging is not run by us (B88); git's own merge of lines stands in for it. */
async function driversReplaced(place: GitPlace): Promise<readonly (readonly [string, string])[]> {
  const named = await git(place, ['config', '--list', '--name-only', '-z']);
  const drivers = listOf(named).filter(name => /^merge\..*\.driver$/s.test(name));
  const labels = '-L refs/heads/loop -L base -L refs/ralph/forks/task';
  return drivers.map(name => [name, `git merge-file --quiet --marker-size=%L ${labels} %A %O %B`] as const);
}

/** Of these paths, those that hold conflict markers. */
export async function marked(directory: string, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const bytes = await readFile(onDisk(directory, path)).catch(() => undefined);
    if (bytes && /^<{7,} |^>{7,} |^[<>]+ refs\//m.test(bytes.toString('latin1'))) found.push(path);
  }
  return found;
}

async function answer(
  options: ForkOptions,
  task: string,
  { conflicts, changed }: NonNullable<ForkRecord['unheard']>,
): Promise<Brought> {
  if (conflicts.length === 0) return { ok: true, changed, landed: false };
  const both = await marked(forkDirectory(options, task), conflicts);
  const one = conflicts.filter(path => !both.includes(path));
  const sentences = [
    ...(both.length === 0
      ? []
      : [
          `Others changed the same lines meanwhile: ${named(both)} ${both.length === 1 ? 'holds' : 'hold'} both sides with conflict markers; resolve them.`,
        ]),
    ...(one.length === 0
      ? []
      : [
          `Others changed or deleted the same files meanwhile: ${named(one)} ${one.length === 1 ? 'is as one side has it' : 'are as one side has them'}; ` +
            `your side is in git show ${forkRef(options, task)}:PATH.`,
        ]),
  ];
  return { ...refuse(sentences.join(' ')), conflicts: conflicts.map(toText) };
}

const named = (paths: readonly string[]): string => {
  const more = paths.length > namesMax ? ` and ${paths.length - namesMax} more` : '';
  return `${paths.slice(0, namesMax).map(shown).join(', ')}${more}`;
};
