// Prepares a restore beside the tree: all new files with their modes, and a journal of the steps, before anything is moved.

import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, open, readlink, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Refusal } from '../../ports/workspace.ts';
import { complaint } from './call.ts';
import { kindOnDisk } from './disk.ts';
import { foldersAbove, onDisk, shown, toInput } from './paths.ts';
import type { Plan } from './plan.ts';
import { type PrivateGit, privately } from './private.ts';
import { refuse } from './repository.ts';
import type { Journal, Step } from './switch.ts';
import type { Entry } from './trees.ts';

/** A file that shall be in the tree: an object, or bytes that a merge made. */
export interface NewFile {
  readonly path: string;
  readonly from: Entry | undefined;
  readonly to: Entry;
}

type Staged = { readonly ok: true; readonly journal: Journal } | (Refusal & { readonly conflicts: readonly string[] });

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
  for (const { path, from } of remove) {
    const was = await stampOfOld(own, path, from);
    if (was === undefined) return changed(path);
    steps.push({ do: 'remove', path, was });
  }
  for (const [index, { path, from, to }] of files.entries()) {
    const was = from === undefined ? null : await stampOfOld(own, path, from);
    if (was === undefined) return changed(path);
    const is = await finish(join(staging, String(index)), to, onDisk(own.repository.directory, path));
    steps.push({ do: 'write', path, was, from: String(index), is });
  }
  const closed = await closedFolder(own.repository.directory, steps);
  if (closed !== undefined) return { ...refuse(`The folder ${shown(closed)} cannot be written to.`), conflicts: [] };
  return { ok: true, journal: { top: own.repository.directory, staging, steps } };
}

const changed = (path: string): Staged => ({
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

/** Undefined when it is no longer what the checkpoint `now` holds: then somebody has just written it. */
async function stampOfOld(own: PrivateGit, path: string, held: Entry | undefined): Promise<string | undefined> {
  const top = own.repository.directory;
  const kind = await kindOnDisk(top, path);
  const isExpected = kind === (held === undefined || held.mode === '120000' ? 'link' : 'file');
  if (!isExpected) return undefined;
  const where = onDisk(top, path);
  const before = await lstat(where, { bigint: true });
  if (held !== undefined && (await objectOf(own, where, kind === 'link')) !== held.object) return undefined;
  return [before.ino, before.size, before.mtimeNs, before.mode, before.ctimeNs].join(':');
}

/** What git would call it. */
async function objectOf(own: PrivateGit, where: Buffer, isLink: boolean): Promise<string> {
  const hash = createHash(own.repository.objectFormat);
  if (isLink) {
    const target = await readlink(where, 'buffer');
    return hash.update(`blob ${target.length}\0`).update(target).digest('hex');
  }
  const file = await open(where, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    hash.update(`blob ${(await file.stat()).size}\0`);
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk as Buffer);
  } finally {
    await file.close();
  }
  return hash.digest('hex');
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
  const file = await open(`${path}.new`, 'w');
  await file
    .writeFile(JSON.stringify(journal))
    .then(() => file.sync())
    .finally(() => file.close());
  await rename(`${path}.new`, path);
  const parent = await open(dirname(path), 'r');
  await parent.sync().finally(() => parent.close());
}
