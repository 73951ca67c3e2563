// The program that applies a staged restore to the tree: a process of its own, and the same again after a crash.
import {
  type BigIntStats,
  closeSync,
  constants,
  copyFileSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { isAlive, startTimeOf } from '../../processes/identity.ts';
import { foldersAbove, onDisk } from '../paths.ts';
import { type Applied, type Journal, type Step, stampOf } from './journal.ts';

/** Each step can be done twice, and another process of this kind may be at work: it is waited for. */
function main(path: string): void {
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
  attempt(() => writeSync(1, JSON.stringify({ changed, failed } satisfies Applied)), ['EPIPE', 'EAGAIN']);
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

function statsOf(where: Buffer | string): BigIntStats | undefined {
  return lstatSync(where, { bigint: true, throwIfNoEntry: false });
}

/** Where the system does not say when a process started, its number must do. */
function isRunning(holder: string): boolean {
  const [pid = '', ...start] = holder.split(' ');
  if (start.join('') !== '') return isAlive(Number(pid), start.join(' '));
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

/** The lock appears with its content, because it is linked into place. */
function takeTurn(journal: string): void {
  const own = `${journal}.${process.pid}`;
  writeFileSync(own, `${process.pid} ${startTimeOf(process.pid) ?? ''}`);
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
  if (statsOf(target)?.isDirectory()) attempt(() => rmdirSync(target), ['ENOTEMPTY', 'EEXIST']);
  const stats = statsOf(target);
  if (stats !== undefined && stampOf(stats, true) !== step.was) {
    return stampOf(stats, false) === step.is || isEqual(target, from);
  }
  if (!attempt(() => renameSync(from, target), ['EXDEV'])) copyOver(from, top, step.path);
  return true;
}

/** Never through a link: one in the place of a folder is replaced. */
function makeFolders(top: string, path: string): boolean {
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
  const [here, there] = [statsOf(one), statsOf(other)];
  if (here === undefined || here.mode !== there?.mode || here.size !== there.size) return false;
  if (here.isSymbolicLink()) return readlinkSync(one, 'buffer').equals(readlinkSync(other, 'buffer'));
  return here.isFile() && readFileSync(one).equals(readFileSync(other));
}

/** Onto another file system: a copy beside the target first, so that the last step is a rename here too. */
function copyOver(from: string, top: string, path: string): void {
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

main(process.argv.at(-1) ?? '');
