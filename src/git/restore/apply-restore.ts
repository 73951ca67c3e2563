// The program that applies a staged restore to the tree: a process of its own, and the same again after a crash.
import type { BigIntStats } from 'node:fs';

export interface Journal {
  /** The top of the working tree. */
  readonly top: string;
  /** Where the new files lie. */
  readonly staging: string;
  readonly steps: readonly Step[];
}

/** Paths have one character per byte. A stamp tells whether a file is still the one that was looked at. */
export type Step =
  | { readonly do: 'remove'; readonly path: string; readonly was: string }
  | {
      readonly do: 'write';
      readonly path: string;
      readonly was: string | null;
      readonly from: string;
      readonly is: string;
    };

export interface Applied {
  /** Somebody put something else there meanwhile: left alone. */
  readonly changed: readonly string[];
  readonly failed: readonly { readonly path: string; readonly why: string }[];
}

/**
 * Every function below runs as text in a process without our modules: it may use only the others and what Node has built
 * in. Each step can be done twice, and another process of this kind may be at work: it is waited for.
 */
export const restoreProgram = (): string => `${parts.map(String).join('\n')}\n${main.name}();`;

function main(): void {
  const { readFileSync, unlinkSync, writeSync } = fs();
  const path = process.argv[1] ?? '';
  const { top, staging, steps } = JSON.parse(readFileSync(path, 'utf8')) as Journal;
  const changed: string[] = [];
  const failed: { path: string; why: string }[] = [];
  const needed = new Set(steps.flatMap(step => (step.do === 'write' ? foldersAbove(step.path) : [])));
  takeTurn(path);
  for (const step of steps) {
    try {
      const isOurs = step.do === 'remove' ? removeFile(top, step, needed) : writeFile(top, staging, step);
      if (!isOurs) changed.push(step.path);
    } catch (error) {
      failed.push({ path: step.path, why: (error as Error).message });
    }
  }
  syncFolders(
    top,
    steps.flatMap(step => foldersAbove(step.path)),
  );
  attempt(() => unlinkSync(`${path}.lock`), ['ENOENT']);
  attempt(() => writeSync(1, JSON.stringify({ changed, failed })), ['EPIPE', 'EAGAIN']);
}

function fs(): typeof import('node:fs') {
  return process.getBuiltinModule('node:fs');
}

function attempt(action: () => void, fine: readonly string[]): boolean {
  try {
    action();
    return true;
  } catch (error) {
    if (!fine.includes((error as { code?: string }).code ?? '')) throw error;
    return false;
  }
}

function onDisk(top: string, path: string): Buffer {
  return Buffer.concat([Buffer.from(`${top}/`), Buffer.from(path, 'latin1')]);
}

function statsOf(where: Buffer | string): BigIntStats | undefined {
  return fs().lstatSync(where, { bigint: true, throwIfNoEntry: false });
}

/** The time of change moves with a rename, so what we wrote ourselves is known without it. */
export function stampOf(stats: BigIntStats, withChange: boolean): string {
  return [stats.ino, stats.size, stats.mtimeNs, stats.mode, ...(withChange ? [stats.ctimeNs] : [])].join(':');
}

function foldersAbove(path: string): string[] {
  return path.split('/').flatMap((_, count, parts) => (count === 0 ? [] : [parts.slice(0, count).join('/')]));
}

function startOf(pid: string): string {
  try {
    const text = fs().readFileSync(`/proc/${pid}/stat`, 'latin1');
    return text.slice(text.lastIndexOf(')') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

function isRunning(holder: string): boolean {
  const [pid = '', start = ''] = holder.split(' ');
  if (start !== '') return startOf(pid) === start;
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** The lock appears with its content, because it is linked into place. */
function takeTurn(journal: string): void {
  const { linkSync, readFileSync, unlinkSync, writeFileSync } = fs();
  const own = `${journal}.${process.pid}`;
  writeFileSync(own, `${process.pid} ${startOf(String(process.pid))}`);
  while (!attempt(() => linkSync(own, `${journal}.lock`), ['EEXIST'])) {
    let holder = '';
    attempt(() => {
      holder = readFileSync(`${journal}.lock`, 'utf8');
    }, ['ENOENT']);
    if (holder === '') continue;
    if (isRunning(holder)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20);
    else attempt(() => unlinkSync(`${journal}.lock`), ['ENOENT']);
  }
  unlinkSync(own);
}

/** False: it is no longer what we were told to remove. Folders that this empties go too, unless they are needed. */
function removeFile(top: string, { path, was }: Extract<Step, { do: 'remove' }>, needed: ReadonlySet<string>): boolean {
  const { rmdirSync, unlinkSync } = fs();
  if (!foldersAbove(path).every(folder => statsOf(onDisk(top, folder))?.isDirectory() === true)) return true;
  const stats = statsOf(onDisk(top, path));
  if (stats !== undefined && stampOf(stats, true) !== was) return false;
  attempt(() => unlinkSync(onDisk(top, path)), ['ENOENT']);
  for (const folder of foldersAbove(path).reverse()) {
    if (needed.has(folder)) break;
    if (!attempt(() => rmdirSync(onDisk(top, folder)), ['ENOTEMPTY', 'EEXIST', 'ENOENT', 'EBUSY', 'EACCES'])) break;
  }
  return true;
}

function writeFile(top: string, staging: string, step: Extract<Step, { do: 'write' }>): boolean {
  const from = `${staging}/${step.from}`;
  if (statsOf(from) === undefined) return true; // done before
  if (!makeFolders(top, step.path)) return false;
  const target = onDisk(top, step.path);
  if (statsOf(target)?.isDirectory()) attempt(() => fs().rmdirSync(target), ['ENOTEMPTY', 'EEXIST']);
  const stats = statsOf(target);
  if (stats !== undefined && stampOf(stats, true) !== step.was) {
    return stampOf(stats, false) === step.is || isEqual(target, from);
  }
  if (!attempt(() => fs().renameSync(from, target), ['EXDEV'])) copyOver(from, top, step.path);
  return true;
}

/** Never through a link: one in the place of a folder is replaced. */
function makeFolders(top: string, path: string): boolean {
  const { mkdirSync, unlinkSync } = fs();
  for (const folder of foldersAbove(path)) {
    const stats = statsOf(onDisk(top, folder));
    if (stats?.isDirectory()) continue;
    if (stats !== undefined && !stats.isSymbolicLink()) return false;
    if (stats !== undefined) unlinkSync(onDisk(top, folder));
    attempt(() => mkdirSync(onDisk(top, folder)), ['EEXIST']);
  }
  return true;
}

function isEqual(one: Buffer, other: string): boolean {
  const { readFileSync, readlinkSync } = fs();
  const [here, there] = [statsOf(one), statsOf(other)];
  if (here === undefined || here.mode !== there?.mode || here.size !== there.size) return false;
  if (here.isSymbolicLink()) return readlinkSync(one, 'buffer').equals(readlinkSync(other, 'buffer'));
  return here.isFile() && readFileSync(one).equals(readFileSync(other));
}

/** Onto another file system: a copy beside the target first, so that the last step is a rename here too. */
function copyOver(from: string, top: string, path: string): void {
  const { copyFileSync, lstatSync, readlinkSync, renameSync, rmSync, symlinkSync, unlinkSync } = fs();
  const name = `.ralph-restoring-${from.slice(from.lastIndexOf('/') + 1)}`;
  const beside = onDisk(top, `${path.slice(0, path.lastIndexOf('/') + 1)}${name}`);
  rmSync(beside, { force: true });
  const stats = lstatSync(from);
  if (stats.isSymbolicLink()) symlinkSync(readlinkSync(from, 'buffer'), beside);
  else copyFileSync(from, beside); // with its mode
  renameSync(beside, onDisk(top, path));
  unlinkSync(from);
}

function syncFolders(top: string, folders: readonly string[]): void {
  const { closeSync, constants, fsyncSync, openSync } = fs();
  for (const folder of new Set(['.', ...folders])) {
    try {
      const handle = openSync(onDisk(top, folder), constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
      fsyncSync(handle);
      closeSync(handle);
    } catch {
      // Gone, or on a file system that cannot.
    }
  }
}

const parts = [
  ...[main, fs, attempt, onDisk, statsOf, stampOf, foldersAbove, startOf, isRunning, takeTurn],
  ...[removeFile, writeFile, makeFolders, isEqual, copyOver, syncFolders],
];
