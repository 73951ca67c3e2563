// Prepares a restore beside the tree: all new files with their modes, and a journal of the steps, before anything is moved.

import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { complaint } from '../call.ts';
import type { Entry } from '../history.ts';
import { foldersAbove, isOnDisk, kindOnDisk, objectOnDisk, onDisk, shown, toInput, writeRecord } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';
import { refuse } from '../repository.ts';
import type { Refusal } from '../workspace.ts';
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
  /** `foreign`: somebody changed these after a part of the same restore was done before. */
  | { readonly ok: true; readonly journal: Journal; readonly foreign: readonly string[] }
  | (Refusal & { readonly conflicts: readonly string[] });

export const journalIn = (folder: string): string => join(folder, 'restore.json');

/** On the file system of most of the tree, so that a rename suffices; where it does not, the switch copies. */
export const stagingOf = ({ repository }: PrivateGit, loop: string): string =>
  join(repository.gitDirectory, 'ralph', loop, 'restore');

export async function stage(
  own: PrivateGit,
  loop: string,
  files: readonly NewFile[],
  remove: Plan['remove'],
): Promise<Staged> {
  const staging = stagingOf(own, loop);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  const wrong = await writeObjects(own, staging, files);
  if (wrong !== undefined) return { ...wrong, conflicts: [] };
  const steps: Step[] = [];
  const changed: string[] = [];
  let done = 0;
  const written = new Set(files.map(({ path }) => path));
  for (const { path, from } of remove) {
    const was = await stampOfOld(own, path, from);
    if (was !== undefined) steps.push({ do: 'remove', path, was });
    else if (await isGone(own.repository.directory, path, written)) done += 1;
    else changed.push(path);
  }
  for (const [index, { path, from, to, replaces }] of files.entries()) {
    const was = from === undefined && replaces !== true ? null : await stampOfOld(own, path, from, replaces);
    const is = await finish(join(staging, String(index)), to, onDisk(own.repository.directory, path));
    if (was !== undefined) steps.push({ do: 'write', path, was, from: String(index), is });
    else if (await isOnDisk(own.repository, path, to)) done += 1;
    else changed.push(path);
  }
  if (done === 0 && changed.length > 0) return changedMeanwhile(changed[0]!);
  const closed = await closedFolder(own.repository.directory, steps);
  if (closed !== undefined) return { ...refuse(`The folder ${shown(closed)} cannot be written to.`), conflicts: [] };
  return { ok: true, journal: { top: own.repository.directory, staging, steps }, foreign: changed };
}

const changedMeanwhile = (path: string): Staged => ({
  ...refuse(`${shown(path)} was changed while the restore was prepared.`, 'Try again when nobody writes.'),
  conflicts: [shown(path)],
});

/** Git writes them as they are in the objects, however large, into the staging folder. */
async function writeObjects(own: PrivateGit, staging: string, files: readonly NewFile[]): Promise<Refusal | undefined> {
  const index = { GIT_INDEX_FILE: join(own.folder, 'index.staging') };
  await Promise.all([rm(index.GIT_INDEX_FILE, { force: true }), rm(`${index.GIT_INDEX_FILE}.lock`, { force: true })]);
  const entries = files.map(({ to }, at) => `${to.mode} ${to.object}\t${at}`);
  if (entries.length === 0) return undefined;
  const listed = await privately(own, ['update-index', '-z', '--index-info'], {
    input: toInput(entries),
    variables: index,
  });
  const asked = ['checkout-index', '-a', `--prefix=${staging}/`];
  const written = listed.code === 0 ? await privately(own, asked, { variables: index, timeMsMax: 600_000 }) : listed;
  await rm(index.GIT_INDEX_FILE, { force: true });
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
    const file = await open(staged, 'r');
    await file.sync().finally(() => file.close());
  }
  const stats = await lstat(staged, { bigint: true });
  return [stats.ino, stats.size, stats.mtimeNs, stats.mode].join(':');
}

/** Undefined when it is no longer what the checkpoint `now` holds: somebody has just written it, or it is done already. */
async function stampOfOld(
  own: PrivateGit,
  path: string,
  held: Entry | undefined,
  isAnyFile = false,
): Promise<string | undefined> {
  const top = own.repository.directory;
  const kind = await kindOnDisk(top, path);
  const isExpected = kind === (isAnyFile || held?.mode.startsWith('100') ? 'file' : 'link');
  if (!isExpected) return undefined;
  const where = onDisk(top, path);
  const before = await lstat(where, { bigint: true });
  if (held !== undefined && (await objectOnDisk(own.repository, where, kind === 'link')) !== held.object)
    return undefined;
  return [before.ino, before.size, before.mtimeNs, before.mode, before.ctimeNs].join(':');
}

/** Nothing is there any more; what stands where a folder was counts only when this restore wanted it there. */
async function isGone(top: string, path: string, written: ReadonlySet<string>): Promise<boolean> {
  for (const folder of foldersAbove(path)) {
    const stats = await lstat(onDisk(top, folder)).catch(() => undefined);
    if (stats === undefined || !stats.isDirectory()) return stats === undefined || written.has(folder);
  }
  return (await kindOnDisk(top, path)) === 'gone';
}

/** Found out before, because a switch that stops half way is a mix. */
async function closedFolder(top: string, steps: readonly Step[]): Promise<string | undefined> {
  const folders = new Set(steps.map(({ path }) => path.slice(0, Math.max(0, path.lastIndexOf('/')))));
  for (const wanted of folders) {
    const folder = await folderThere(top, wanted);
    const isOpen = await access(onDisk(top, folder), constants.W_OK | constants.X_OK).then(
      () => true,
      () => false,
    );
    if (!isOpen) return folder === '' ? '.' : folder;
  }
  return undefined;
}

/** The folder itself, or the nearest one above it that is there already. */
async function folderThere(top: string, folder: string): Promise<string> {
  for (const path of [...foldersAbove(folder), folder].reverse()) {
    const stats = await lstat(onDisk(top, path)).catch(() => undefined);
    if (stats?.isDirectory()) return path;
  }
  return '';
}

/** From here on the restore happens, whatever becomes of us. */
export async function writeJournal(folder: string, journal: Journal): Promise<void> {
  const path = journalIn(folder);
  await writeRecord(path, journal);
  const parent = await open(dirname(path), 'r');
  await parent.sync().finally(() => parent.close());
}
