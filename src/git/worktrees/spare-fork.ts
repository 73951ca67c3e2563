// Spare forks: folders of forks that were merged, for the next tasks. New files are what costs most when a fork is made.
import { lstatSync, rmSync } from 'node:fs';
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, removeFolders, withIndex } from '../call.ts';
import { entriesBelow, ifReadable, stampOf, succeeds } from '../disk.ts';
import { onDisk, pathsOf } from '../paths.ts';
import { placeIn, type Repository } from '../repository.ts';
import { makeNotes, notesOf } from '../worktree-notes.ts';
import type { Fork, ForkMemory, ForkOptions } from './fork.ts';
import { keepIndex, showIndex } from './fork-tree.ts';

const prefix = '.spare-'; // no fork is called so
const sparesMax = 2;

const remove = (path: string | Buffer): Promise<boolean> =>
  succeeds(rm(path as string, { recursive: true, force: true }));

/** No worktree any more. False where it must be dropped instead. */
export async function layAside({ repository, options, directory, index, memory }: Fork): Promise<boolean> {
  const held = memory.held.get(index);
  memory.held.delete(index);
  const isHeld = held !== undefined && held.stamp === (await stampOf(index));
  const notes = options.isReusable && isHeld ? await notesOf(repository, directory) : undefined;
  if (notes === undefined) return false;
  memory.laid += 1;
  const spare = {
    directory: join(options.folder, `${prefix}${memory.laid}`),
    index: join(options.privateFolder, `${prefix}${memory.laid}`),
  };
  if (!(await succeeds(rename(directory, spare.directory)))) return false;
  ifReadable(() => rmSync(notes, { recursive: true, force: true })); // a handful of files
  await succeeds(rename(index, spare.index));
  memory.spares.push(spare);
  if (memory.spares.length > sparesMax) discard(repository, memory, [memory.spares.shift()!]);
  return true;
}

/** While others go on: all that came together while one was removed, at once. */
function discard(repository: Repository, memory: ForkMemory, spares: ForkMemory['spares']): void {
  memory.unwanted.push(...spares.flatMap(({ directory, index }) => [directory, index]));
  memory.discarded = memory.discarded.then(async () => {
    const all = memory.unwanted.splice(0);
    if (all.length > 0) await removeFolders(repository, all);
  });
}

export function discardSpares(repository: Repository, memory: ForkMemory): Promise<unknown> {
  discard(repository, memory, memory.spares.splice(0));
  return memory.discarded;
}

/** Those of a process that was killed. */
export async function sweepSpares({ folder, privateFolder }: ForkOptions): Promise<void> {
  for (const place of [folder, privateFolder]) {
    const names = await readdir(place).catch(() => []);
    for (const name of names) if (name.startsWith(prefix)) await remove(join(place, name));
  }
}

/** A file counts as the same only by all of its times and its size. */
const careful = ['core.ignoreStat=false', 'core.trustctime=true', 'core.checkStat=default'].flatMap(one => ['-c', one]);

/** As if it had been checked out anew at the commit. False where that is not so, whatever then is in its folder. */
export async function takeSpare(fork: Fork, commit: string): Promise<boolean> {
  const { repository, directory, index, memory } = fork;
  const spare = memory.spares.pop();
  if (spare === undefined) return false;
  const isMoved = (await succeeds(rename(spare.index, index))) && (await succeeds(rename(spare.directory, directory)));
  if (!isMoved || !(await succeeds(rm(join(directory, '.git'))))) return false;
  if (!(await makeNotes(repository, directory, commit, true))) return false;
  const place = withIndex(await placeIn(repository, directory), index);
  const reset = [...careful, 'read-tree', '--no-sparse-checkout', '--reset', '-u', commit];
  if (!(await ask(place, reset, { timeMsMax: 600_000 })).ok) return false;
  const foreign = await ask(place, ['ls-files', '-z', '-o', '--directory'], { timeMsMax: 600_000 }); // ignored ones too
  if (!foreign.ok) return false;
  const gone = await Promise.all(pathsOf(foreign).map(path => remove(onDisk(directory, path.replace(/\/$/, '')))));
  if (gone.includes(false)) return false;
  const notes = await notesOf(repository, directory);
  if (notes === undefined || !(await isAsMade(directory))) return false;
  await showIndex(fork, notes);
  await keepIndex(fork, notes, commit);
  return true;
}

/** Git looks at the exec bit alone: other modes, and names that a file has elsewhere, are what somebody made there. */
async function isAsMade(top: string): Promise<boolean> {
  const on = ~process.umask();
  const [folder, files] = [0o777 & on, [0o666 & on, 0o777 & on]];
  for await (const [path, entry] of entriesBelow(top, new Set())) {
    if (entry.isSymbolicLink()) continue;
    const stats = ifReadable(() => lstatSync(onDisk(top, path)));
    const mode = (stats?.mode ?? 0) & 0o7777;
    const isFile = stats?.isFile() === true && stats.nlink === 1 && files.includes(mode);
    if (!isFile && !(stats?.isDirectory() === true && mode === folder)) return false;
  }
  return true;
}
