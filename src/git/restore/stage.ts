// Stages a restore beside the tree: all new files with their modes, and a journal of the steps, before anything is moved.
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { complaint, type Entry, git, withIndex } from '../call.ts';
import { isOnDisk, kindOnDisk, objectOnDisk, statsAt, succeeds, sync, writeRecord } from '../disk.ts';
import { foldersAbove, onDisk, shown, toInput } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import { type Conflicted, type Refusal, refuse } from '../workspace.ts';
import type { Journal, Step } from './apply-restore.ts';
import type { Plan } from './plan.ts';

/** A file that shall be in the tree: an object, or bytes that a merge made. */
export interface NewFile {
  readonly path: string;
  readonly from: Entry | undefined;
  readonly to: Entry;
  /** What no checkpoint holds gives way here. */
  readonly replaces?: boolean;
}

type Staged =
  /** `changed`: somebody changed these after a part of the same restore was done before. */
  { readonly ok: true; readonly journal: Journal; readonly changed: readonly string[] } | Refusal | Conflicted;

/** A step to take, or a path at which there is nothing to do: it is done already, or somebody changed it. */
type Outcome = Step | { readonly path: string; readonly isDone: boolean };

export const journalIn = (folder: string): string => join(folder, 'restore.json');

/** On the file system of most of the tree, so that a rename suffices; where it does not, files are copied. */
export const stagingOf = ({ repository }: PrivateGit, loop: string): string =>
  join(repository.gitDirectory, 'ralph', loop, 'restore');

export async function stage(
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
  const index = join(own.folder, 'index.staging');
  await Promise.all([rm(index, { force: true }), rm(`${index}.lock`, { force: true })]);
  if (files.length === 0) return undefined;
  const place = withIndex(own.place, index);
  const input = toInput(files.map(({ to }, at) => `${to.mode} ${to.object}\t${at}`));
  const listed = await git(place, ['update-index', '-z', '--index-info'], { input });
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
  const stats = await lstat(staged, { bigint: true });
  return [stats.ino, stats.size, stats.mtimeNs, stats.mode].join(':');
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
  return [before.ino, before.size, before.mtimeNs, before.mode, before.ctimeNs].join(':');
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

/** From here on the restore happens, whatever becomes of us. */
export async function writeJournal(folder: string, journal: Journal): Promise<void> {
  await writeRecord(journalIn(folder), journal);
  await sync(folder);
}
