// Restores the tree to what a checkpoint holds, by going forward: planned, merged, staged beside the tree, then applied in one go.
import { constants, existsSync, readFileSync } from 'node:fs';
import { access, chmod, lstat, mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runDetached } from '../../processes/run-detached.ts';
import { Bug } from '../../text/errors.ts';
import { complaint, type Entry, freshIndex, git, objectLines, setEntries } from '../call.ts';
import type { Restored, RestoreOrder } from '../checkpoints.ts';
import { isOnDisk, kindOnDisk, objectOnDisk, statsAt, succeeds, sync, writeRecord } from '../disk.ts';
import { byPath, foldersAbove, onDisk, shown, toText } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import { type Conflicted, type Refusal, refuse } from '../refusal.ts';
import { type Applied, type Journal, type Step, stampOf } from './journal.ts';
import { type Merge, type NewFile, type Plan, planRestore } from './plan.ts';

/** From source, in the bundle, in a chunk of the bundle. */
const programPlaces = ['./apply-restore.ts', './apply-restore.js', '../apply-restore.js'];

/**
 * The program in `apply-restore.ts`, as text that is read whole when this code is loaded and started from memory: a package
 * that is replaced or removed while a loop runs, or while the program works, takes nothing away from it. The bundler
 * makes one file of it for that. From source the text is an import, which Node reads whole before it begins.
 */
const restoreProgram = textOfProgram();

function textOfProgram(): string {
  const file = programPlaces.map(place => new URL(place, import.meta.url)).find(place => existsSync(place));
  if (file === undefined) throw new Bug('the program that restores files is missing beside the code');
  return file.pathname.endsWith('.ts') ? `import ${JSON.stringify(file.href)};` : readFileSync(file, 'utf8');
}

interface MergedPlan {
  readonly plan: Plan;
  readonly merged: readonly NewFile[];
  readonly conflicts: readonly string[];
}

/** What a restore would do; writes nothing into the tree. */
export async function plannedRestore(own: PrivateGit, order: RestoreOrder): Promise<Restored | Refusal> {
  return (await lostOf(own, order)) ?? answer(await mergePlan(own, order), []);
}

export async function restore(own: PrivateGit, loop: string, order: RestoreOrder): Promise<Restored | Refusal> {
  const unfinished = await finishRestore(own, loop);
  if (!unfinished.ok) return unfinished;
  const lost = await lostOf(own, order);
  if (lost !== undefined) return lost;
  const merged = await mergePlan(own, order);
  if (merged.conflicts.length > 0) return answer(merged, []);
  const files = [...merged.plan.write, ...merged.merged].sort((one, other) => byPath(one.path, other.path));
  const staged = await stage(own, loop, files, merged.plan.remove);
  if (!staged.ok) return staged;
  await writeRecord(journalIn(own.folder), staged.journal); // from here on it happens, whatever becomes of us
  await sync(own.folder);
  const applied = await finishRestore(own, loop);
  return applied.ok ? answer(merged, [...staged.changed, ...applied.changed]) : applied;
}

/** Somebody may have removed a checkpoint with git itself. */
async function lostOf(own: PrivateGit, { to, base, now }: RestoreOrder): Promise<Refusal | undefined> {
  const trees = [to, base, now].map(commit => `${commit}^{tree}`);
  const kinds = await objectLines(own.repository, '%(objecttype)', trees);
  if (kinds.length === trees.length && kinds.every(kind => kind === 'tree')) return undefined;
  return refuse('The checkpoint is no longer in this repository. Nothing was changed.');
}

/** `changed`: somebody put something else there meanwhile. */
type Finished = { readonly ok: true; readonly found: boolean; readonly changed: readonly string[] } | Refusal;

/** Does the steps of the journal, if there is one; those that are done already do no harm. */
export async function finishRestore(own: PrivateGit, loop: string): Promise<Finished> {
  const journal = journalIn(own.folder);
  if (!existsSync(journal)) {
    await rm(stagingOf(own, loop), { recursive: true, force: true });
    return { ok: true, found: false, changed: [] };
  }
  const ended = await runDetached(restoreProgram, journal);
  if (ended.code !== 0 && !existsSync(journal)) return { ok: true, found: false, changed: [] }; // another one was faster
  if (ended.code !== 0)
    return refuse(`The restore was cut: ${ended.errors.trim().slice(-500)}`, 'Run again to finish it.');
  const { changed, failed } = JSON.parse(ended.output.toString('utf8')) as Applied;
  const first = failed[0];
  if (first !== undefined) {
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : '';
    const problem = `The restore could not finish ${shown(first.path)}${more}: ${first.why}.`;
    return refuse(problem, 'Mend that, then run again.');
  }
  await rm(journal, { force: true });
  const litter = (await readdir(own.folder)).filter(name => name.startsWith('restore.json.'));
  await Promise.all(litter.map(name => rm(join(own.folder, name), { force: true })));
  await rm(stagingOf(own, loop), { recursive: true, force: true });
  return { ok: true, found: true, changed };
}

async function mergePlan(own: PrivateGit, order: RestoreOrder): Promise<MergedPlan> {
  const plan = await planRestore(own, order);
  const merged: NewFile[] = [];
  const conflicts = [...plan.conflicts];
  for (const one of plan.merge) {
    const object = await mergeLines(own, one);
    const mode = one.now.mode === one.base.mode ? one.to.mode : one.now.mode;
    if (object !== undefined) merged.push({ path: one.path, from: one.now, to: { mode, object } });
    else if (order.overwrite === true) merged.push({ path: one.path, from: one.now, to: one.to });
    else conflicts.push(one.path);
  }
  return { plan, merged, conflicts };
}

/** The object of the merged text; undefined when the same lines were changed on both sides, or it is no text. */
async function mergeLines(own: PrivateGit, { now, base, to }: Merge): Promise<string | undefined> {
  const folder = join(own.folder, 'merge');
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    for (const [name, { object }] of Object.entries({ now, base, to })) {
      const read = await git(own.place, ['cat-file', 'blob', object], { bytesMax: mergeBytesMax });
      if (read.code !== 0) return undefined;
      await writeFile(join(folder, name), read.output);
    }
    const names = ['now', 'base', 'to'].map(name => join(folder, name));
    const merged = await git(own.repository, ['merge-file', '-p', '-q', ...names]);
    if (merged.code !== 0) return undefined;
    const stored = await git(own.place, ['hash-object', '-w', '--stdin'], { input: merged.output });
    return stored.code === 0 ? stored.output.toString('latin1').trim() : undefined;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const mergeBytesMax = 20_000_000;

function answer({ plan, merged, conflicts }: MergedPlan, changed: readonly string[]): Restored {
  if (conflicts.length > 0) {
    const named = [...new Set(conflicts)].sort(byPath);
    const several = named.length === 1 ? 'was changed' : `and ${named.length - 1} more were changed`;
    const problem = `${shown(named[0]!)} ${several} by somebody else than the loop. Nothing was restored.`;
    return { ...refuse(problem, 'Keep a copy, then say --overwrite.'), conflicts: named.map(toText) };
  }
  const left = new Set(changed);
  const list = (all: readonly { readonly path: string }[]): readonly string[] => {
    const paths = all.flatMap(({ path }) => (left.has(path) ? [] : [path]));
    return paths.sort(byPath).map(toText);
  };
  return {
    ok: true,
    written: list(plan.write),
    deleted: list(plan.remove),
    merged: list(merged),
    kept: [...plan.kept, ...changed].sort(byPath).map(toText),
  };
}

type Staged =
  /** `changed`: somebody changed these after a part of the same restore was done before. */
  { readonly ok: true; readonly journal: Journal; readonly changed: readonly string[] } | Refusal | Conflicted;

/** A step to take, or a path at which there is nothing to do: it is done already, or somebody changed it. */
type Outcome = Step | { readonly path: string; readonly isDone: boolean };

const journalIn = (folder: string): string => join(folder, 'restore.json');

/** On the file system of most of the tree, so that a rename suffices; where it does not, files are copied. */
const stagingOf = ({ repository }: PrivateGit, loop: string): string =>
  join(repository.gitDirectory, 'ralph', loop, 'restore');

/** All new files with their modes, and a journal of the steps, before anything is moved. */
async function stage(
  own: PrivateGit,
  loop: string,
  files: readonly NewFile[],
  remove: Plan['remove'],
): Promise<Staged> {
  const top = own.repository.directory;
  const staging = stagingOf(own, loop);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const wrong = await writeObjects(own, staging, files);
  if (wrong !== undefined) return wrong;
  const written = new Set(files.map(({ path }) => path));
  const outcomes: Outcome[] = [];
  for (const { path, from } of remove) {
    const was = await stampOfOld(own, path, from);
    if (was !== undefined) outcomes.push({ do: 'remove', path, was });
    else outcomes.push({ path, isDone: await isGone(top, path, written) });
  }
  for (const [index, file] of files.entries()) outcomes.push(await stageFile(own, staging, file, String(index)));
  const steps = outcomes.flatMap(one => ('do' in one ? [one] : []));
  const others = outcomes.flatMap(one => ('do' in one ? [] : [one]));
  const changed = others.flatMap(({ path, isDone }) => (isDone ? [] : [path]));
  if (changed.length > 0 && changed.length === others.length) {
    const problem = `${shown(changed[0]!)} was changed while the restore was prepared.`;
    return { ...refuse(problem, 'Try again when nobody writes.'), conflicts: [shown(changed[0]!)] };
  }
  const closed = await closedFolder(top, steps);
  if (closed !== undefined) return refuse(`The folder ${shown(closed)} cannot be written to.`);
  return { ok: true, journal: { top, staging, steps }, changed };
}

async function stageFile(own: PrivateGit, staging: string, file: NewFile, name: string): Promise<Outcome> {
  const { path, from, to, replaces } = file;
  const was = from === undefined && replaces !== true ? null : await stampOfOld(own, path, from, replaces);
  const is = await finish(join(staging, name), to, onDisk(own.repository.directory, path));
  if (was !== undefined) return { do: 'write', path, was, from: name, is };
  return { path, isDone: await isOnDisk(own.repository, path, to) };
}

/** Git writes them as they are in the objects, however large, into the staging folder. */
async function writeObjects(own: PrivateGit, staging: string, files: readonly NewFile[]): Promise<Refusal | undefined> {
  if (files.length === 0) return undefined;
  const index = join(own.folder, 'index.staging');
  const place = await freshIndex(own.place, index);
  const listed = await setEntries(
    place,
    files.map(({ to }, at) => ({ ...to, path: String(at) })),
  );
  const checkOut = ['checkout-index', '-a', `--prefix=${staging}/`];
  const written = listed.code === 0 ? await git(place, checkOut, { timeMsMax: 600_000 }) : listed;
  await rm(index, { force: true });
  if (written.code === 0) return undefined;
  return refuse(`The files of the checkpoint cannot be written: ${complaint(written)}. Nothing was changed.`);
}

/** Durable, and with the mode that the file has now but for the bit that git keeps. */
async function finish(staged: string, to: Entry, current: Buffer): Promise<string> {
  const old = await lstat(current).catch(() => undefined);
  const made = await lstat(staged);
  if (made.isFile()) {
    const bits = (old?.isFile() ? old.mode : made.mode) & 0o777;
    const mode = to.mode === '100755' ? bits | ((bits & 0o444) >> 2) : bits & ~0o111;
    if (mode !== (made.mode & 0o777)) await chmod(staged, mode);
    await sync(staged);
  }
  return stampOf(await lstat(staged, { bigint: true }), false);
}

/** Undefined when it is no longer what the checkpoint `now` holds: somebody has just written it, or it is done already. */
async function stampOfOld(
  own: PrivateGit,
  path: string,
  expected: Entry | undefined,
  isAnyFile = false,
): Promise<string | undefined> {
  const top = own.repository.directory;
  const kind = await kindOnDisk(top, path);
  const isExpected = kind === (isAnyFile || expected?.mode.startsWith('100') ? 'file' : 'link');
  if (!isExpected) return undefined;
  const where = onDisk(top, path);
  const before = await lstat(where, { bigint: true });
  if (expected !== undefined && (await objectOnDisk(own.repository, where, kind === 'link')) !== expected.object)
    return undefined;
  return stampOf(before, true);
}

/** Nothing is there any more; what stands where a folder was counts only when this restore wanted it there. */
async function isGone(top: string, path: string, written: ReadonlySet<string>): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const stats = await statsAt(top, folder);
    if (stats === undefined || !stats.isDirectory()) return stats === undefined || written.has(folder);
  }
  return (await kindOnDisk(top, path)) === 'gone';
}

/** Found out before, because a restore that stops half way is a mix. */
async function closedFolder(top: string, steps: readonly Step[]): Promise<string | undefined> {
  const folders = new Set(steps.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  for (const wanted of folders) {
    const folder = await folderThere(top, wanted);
    const isOpen = await succeeds(access(onDisk(top, folder), constants.W_OK | constants.X_OK));
    if (!isOpen) return folder === '' ? '.' : folder;
  }
  return undefined;
}

/** The folder itself, or the nearest one above it that is there already. */
async function folderThere(top: string, folder: string): Promise<string> {
  for (const path of [...foldersAbove(folder), folder].reverse()) {
    if ((await statsAt(top, path))?.isDirectory()) return path;
  }
  return '';
}
