// Spare forks: folders of forks that were merged, or made ahead, for the next tasks. New files are what costs most when a fork is made.
import { lstatSync, renameSync, rmdirSync, rmSync } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ask, removeFolders, withIndex } from '../call.ts';
import { entriesBelow, ifReadable, stampOf, succeeds } from '../disk.ts';
import { onDisk, pathsOf } from '../paths.ts';
import { placeIn, type Repository } from '../repository.ts';
import { makeNotes, notesOf } from '../worktree-notes.ts';
import type { Fork, ForkMemory, ForkOptions, LoopForks, Spare } from './fork.ts';
import { keepIndex, putIndex, showIndex } from './fork-tree.ts';
import { dropTree } from './worktree.ts';

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
  const spare = nextSpare(options, memory);
  if (!(await succeeds(rename(directory, spare.directory)))) return false;
  ifReadable(() => rmSync(notes, { recursive: true, force: true })); // a handful of files
  await succeeds(rename(index, spare.index));
  memory.spares.push(spare);
  if (memory.spares.length > Math.max(sparesMax, memory.wanted)) discard(repository, memory, [memory.spares.shift()!]);
  return true;
}

function nextSpare({ folder, privateFolder }: ForkOptions, memory: ForkMemory): Spare {
  memory.laid += 1;
  const name = `${prefix}${memory.laid}`;
  return { directory: join(folder, name), index: join(privateFolder, name) };
}

const making = `${prefix}making`;
const largeIndexBytes = 1_000_000; // about 10,000 files: a few more such trees are no small thing

/** One more, at this commit, while agents work. False where git itself must make worktrees, and nothing is gained. */
async function makeSpare({ repository, options, memory }: LoopForks, commit: string): Promise<boolean> {
  const spare = nextSpare(options, memory);
  const directory = join(options.folder, making, `ahead-${process.pid}-${memory.laid}`); // no fork's notes are called so
  await mkdir(join(options.folder, making), { recursive: true });
  const fill = ['read-tree', '--no-sparse-checkout', '-m', '-u', commit];
  const isMade =
    (await makeNotes(repository, directory, commit)) &&
    (await ask({ ...repository, directory }, fill, { timeMsMax: 600_000 })).ok;
  const notes = isMade ? await notesOf(repository, directory) : undefined;
  if (notes === undefined) {
    await dropTree(repository, directory);
    return false;
  }
  const from = join(notes, 'index');
  const [bytes, { mtimeMs }] = [await readFile(from), await stat(from)];
  await putIndex(spare.index, bytes, mtimeMs);
  await rm(notes, { recursive: true, force: true });
  renameSync(directory, spare.directory);
  rmdirSync(join(options.folder, making));
  memory.spares.push({ ...spare, commit });
  if (bytes.length > largeIndexBytes) memory.wanted = Math.min(memory.wanted, sparesMax);
  return true;
}

/** `tip`: of the branch, when there is time for this. */
export function spareMaker(forks: LoopForks, tip: () => Promise<string>) {
  const { memory } = forks;
  const isEnough = (): boolean => memory.spares.length >= memory.wanted;
  const fill = async (): Promise<void> => {
    while (!isEnough()) {
      const commit = await tip();
      if (!isEnough() && (commit === '' || !(await makeSpare(forks, commit)))) memory.wanted = 0;
    }
  };
  let filling: Promise<void> | undefined;
  return {
    make(): void {
      filling ??= fill()
        .catch(() => {}) // who needs a fork makes it himself
        .finally(() => {
          filling = undefined;
        });
    },
    async stop(): Promise<void> {
      memory.wanted = 0;
      await filling;
    },
  };
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
export async function sweepSpares(repository: Repository, { folder, privateFolder }: ForkOptions): Promise<void> {
  const begun = await readdir(join(folder, making)).catch(() => []);
  for (const name of begun) await dropTree(repository, join(folder, making, name));
  for (const place of [folder, privateFolder]) {
    const names = await readdir(place).catch(() => []);
    for (const name of names) if (name.startsWith(prefix)) await remove(join(place, name));
  }
}

/** A file counts as the same only by all of its times and its size. */
const careful = ['core.ignoreStat=false', 'core.trustctime=true', 'core.checkStat=default'].flatMap(one => ['-c', one]);

/** One of this commit before one of another. */
function pick(spares: ForkMemory['spares'], commit: string): Spare | undefined {
  const at = spares.findIndex(one => one.commit === commit);
  return at === -1 ? spares.pop() : spares.splice(at, 1)[0];
}

/** As if it had been checked out anew at the commit. False where that is not so, whatever then is in its folder. */
export async function takeSpare(fork: Fork, commit: string): Promise<boolean> {
  const { repository, directory, index, memory } = fork;
  const spare = pick(memory.spares, commit);
  if (spare === undefined) return false;
  const isMoved = (await succeeds(rename(spare.index, index))) && (await succeeds(rename(spare.directory, directory)));
  if (!isMoved || !(await succeeds(rm(join(directory, '.git'))))) return false;
  if (!(await makeNotes(repository, directory, commit, true))) return false;
  if (spare.commit !== commit && !(await cleaned(fork, commit))) return false;
  const notes = await notesOf(repository, directory);
  if (notes === undefined) return false;
  await showIndex(fork, notes);
  await keepIndex(fork, notes, commit);
  return true;
}

/** Nothing is left of what somebody did there. */
async function cleaned({ repository, directory, index }: Fork, commit: string): Promise<boolean> {
  const place = withIndex(await placeIn(repository, directory), index);
  const reset = [...careful, 'read-tree', '--no-sparse-checkout', '--reset', '-u', commit];
  if (!(await ask(place, reset, { timeMsMax: 600_000 })).ok) return false;
  const foreign = await ask(place, ['ls-files', '-z', '-o', '--directory'], { timeMsMax: 600_000 }); // ignored ones too
  if (!foreign.ok) return false;
  const gone = await Promise.all(pathsOf(foreign).map(path => remove(onDisk(directory, path.replace(/\/$/, '')))));
  return !gone.includes(false) && isAsMade(directory);
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
