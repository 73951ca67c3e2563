// Merges the loop's branch into the fork of a task; its work is safe in a ref before a file is touched.
import { readFile, rm } from 'node:fs/promises';
import { ask, type GitPlace, git, revision, withIndex } from '../call.ts';
import { makeCommit } from '../commits/commit.ts';
import { setRef } from '../locks.ts';
import { listOf, onDisk, pathsOf, printable, shownList, toText } from '../paths.ts';
import { type Conflicted, type MergedIntoFork, type Refusal, refuse } from '../workspace.ts';
import { type Fork, type ForkRecord, freeIndex, placeOf, readyRecord, tipOf, treeOfFork } from './fork.ts';

const namesMax = 20;

interface Merged {
  readonly ok: true;
  readonly tree: string;
  readonly conflicts: readonly string[];
}

/** What a merge said it says again until `fork` is called: its caller may have been killed or stopped before it listened. */
export async function mergeIntoFork(fork: Fork): Promise<MergedIntoFork | Refusal> {
  const { options, task } = fork;
  if ((await fork.record())?.state === 'landed') return { ok: true, changed: false, isMerged: true };
  const record = await readyRecord(fork);
  if (record === undefined) return refuse(`The fork of ${task} is gone.`);
  const { base, bringing, unheard } = record;
  if (unheard !== undefined && unheard.conflicts.length > 0) return answer(fork, unheard);
  const tip = await tipOf(fork);
  if (tip === '') return refuse(`The loop's branch ${options.branch} is gone.`);
  if (bringing === undefined && base === tip) return { ok: true, changed: unheard?.changed ?? false, isMerged: false };
  const place = await placeOf(fork);
  const saved = bringing === undefined ? await saveWork(fork, place, record) : record;
  if ('ok' in saved) return saved;
  const merged = await merge(place, `refs/heads/${options.branch}`, fork.ref);
  if (!merged.ok) {
    if (bringing === undefined) await fork.remember(record); // no file was touched yet
    return merged;
  }
  const written = await writeMerge(fork, place, saved, { tip, merged });
  return 'ok' in written ? written : answer(fork, written.unheard!);
}

/** After this the fork's files may be lost: they can be had back from the ref. */
async function saveWork(fork: Fork, place: GitPlace, record: ForkRecord): Promise<ForkRecord | Refusal> {
  const taken = await treeOfFork(fork, place, record.base);
  if (!taken.ok) return taken;
  const message = `The fork of ${fork.task}\n`;
  const work = await makeCommit(place, { tree: taken.tree, parent: record.base, message });
  if (!work.ok) return work;
  const set = await setRef(place, fork.ref, work.text);
  if (!set.ok) return set;
  const next: ForkRecord = { ...record, bringing: { work: work.text } };
  await fork.remember(next);
  return next;
}

/** Every step can be done again: the merge is made of two commits, and files are overwritten by force. */
async function writeMerge(
  fork: Fork,
  place: GitPlace,
  record: ForkRecord,
  { tip, merged }: { readonly tip: string; readonly merged: Merged },
): Promise<ForkRecord | Refusal> {
  const before = await revision(place, `${record.bringing!.work}^{tree}`);
  await rm(`${fork.index}.lock`, { force: true });
  const read = ['read-tree', '--no-sparse-checkout', '--reset'];
  const filled = await ask(withIndex(place, fork.index), [...read, '-u', merged.tree], { timeMsMax: 600_000 });
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
  await fork.remember(next);
  return next;
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
async function driversReplaced(place: GitPlace): Promise<readonly (readonly [string, string])[]> {
  const named = await git(place, ['config', '--list', '--name-only', '-z']);
  const drivers = listOf(named).filter(name => /^merge\..*\.driver$/s.test(name));
  const labels = '-L refs/heads/loop -L base -L refs/ralph/forks/task';
  return drivers.map(name => [name, `git merge-file --quiet --marker-size=%L ${labels} %A %O %B`] as const);
}

/** Of these paths, those that hold conflict markers. */
export async function withMarkers(directory: string, paths: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const bytes = await readFile(onDisk(directory, path)).catch(() => undefined);
    if (bytes && /^<{7,} |^>{7,} |^[<>]+ refs\//m.test(bytes.toString('latin1'))) found.push(path);
  }
  return found;
}

async function answer(
  { directory, ref }: Fork,
  { conflicts, changed }: NonNullable<ForkRecord['unheard']>,
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
  return { ...refuse(sentences.join(' ')), conflicts: conflicts.map(toText) } satisfies Conflicted;
}
