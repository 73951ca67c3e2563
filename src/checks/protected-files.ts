// Protected files: copies of the files that are a check, outside the agent's reach, restored before every check (F33).

import { createHash, randomBytes } from 'node:crypto';
import { constants, type Stats } from 'node:fs';
import {
  chmod,
  lstat,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join, posix, resolve } from 'node:path';
import { canonical } from '../text/canonical.ts';
import { fits, isPattern } from '../text/patterns.ts';
import type { FileGuard } from './check.ts';

/** A file with a copy of its bytes, or a link on the way to one. */
export type ProtectedFile =
  | { readonly path: string; readonly mode: number; readonly sha256: string; readonly bytes: number }
  | { readonly path: string; readonly target: string };

type FileState =
  | 'good'
  | 'edited'
  | 'deleted'
  | 'mode changed'
  | 'replaced by a link'
  | 'replaced by a folder'
  | 'replaced by something else'
  | 'its folder was replaced';

interface Manifest {
  readonly version: 1;
  readonly files: readonly ProtectedFile[];
}

export type Protected =
  /** `hash` belongs into the ledger: with it the copies prove themselves. */
  | { readonly ok: true; readonly hash: string; readonly files: readonly string[] }
  | { readonly ok: false; readonly problem: string };

export interface ProtectOrder {
  readonly directory: string;
  /** Inside the loop's own folder; made when it is not there. */
  readonly folder: string;
  /** Relative to `directory`, some as patterns. Those that are no files are passed over: a command line names much. */
  readonly candidates: readonly string[];
  /** Of what fits a pattern, these are left alone. */
  readonly isOpen?: (path: string) => boolean;
  /** As a person gave them: files, or folders with all their files. Each must be there. */
  readonly wanted: readonly string[];
}

const fileBytesMax = 16 * 1024 * 1024;
const filesMax = 2_000;
const linksMax = 40;

const sha256 = (bytes: string | Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** NOFOLLOW and NONBLOCK: what was put there in between is neither followed nor waited for. */
async function readPlain(path: string): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile() || stats.size > fileBytesMax) throw new Error('is no file, or larger than 16 MB');
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

const statsOf = (path: string): Promise<Stats | undefined> => lstat(path).catch(() => undefined);

/** Copies them and says by which hash the copies can be proven. */
export async function protectFiles(order: ProtectOrder): Promise<Protected> {
  try {
    const found = new Map<string, ProtectedFile>();
    for (const path of await expandPatterns(order)) await take(order, path, found, false);
    for (const path of order.wanted) {
      const problem = await take(order, path, found, true);
      if (problem !== undefined) return { ok: false, problem };
    }
    if (found.size > filesMax)
      return { ok: false, problem: `${found.size} files are to be protected; at most ${filesMax} can be` };
    const files = [...found.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
    const text = canonical({ version: 1, files } satisfies Manifest);
    await mkdir(order.folder, { recursive: true, mode: 0o700 });
    await writeFile(join(order.folder, 'manifest.json'), text, { mode: 0o600 });
    return { ok: true, hash: sha256(text), files: files.map(file => file.path) };
  } catch (error) {
    return { ok: false, problem: `the check's files could not be kept: ${(error as Error).message}` };
  }
}

/** The files that fit where a candidate is a pattern; one that is there under exactly this name is meant itself. */
async function expandPatterns({ directory, candidates, isOpen }: ProtectOrder): Promise<readonly string[]> {
  const all: string[] = [];
  for (const path of candidates) {
    const isOne = !isPattern(path) || (await statsOf(join(directory, path))) !== undefined;
    all.push(...(isOne ? [path] : (await fitting(directory, path)).filter(one => isOpen?.(one) !== true)));
  }
  return all;
}

async function fitting(directory: string, pattern: string): Promise<readonly string[]> {
  let open: readonly string[] = [pattern.startsWith('/') ? '/' : '.'];
  for (const part of pattern.split('/').filter(name => name !== '')) {
    const next: string[] = [];
    for (const folder of open) {
      const names = isPattern(part) ? await readdir(resolve(directory, folder)).catch(() => []) : [part];
      next.push(...names.filter(name => !isPattern(part) || fits(name, part)).map(name => posix.join(folder, name)));
      if (next.length > filesMax) throw new Error(`more than ${filesMax} files fit ${pattern}`);
    }
    open = next.sort();
  }
  return open;
}

type Found = Map<string, ProtectedFile>;

/** Says what is wrong with one that is wanted; what is no file or folder is passed over otherwise. */
async function take(order: ProtectOrder, path: string, found: Found, isWanted: boolean): Promise<string | undefined> {
  const place = await follow(order.directory, path);
  if (place === undefined)
    return isWanted ? `${path} is not a file or folder inside the folder of the work` : undefined;
  const { path: real, stats, links } = place;
  if (!isWanted && !stats.isFile()) return undefined;
  if (!stats.isFile() && !stats.isDirectory()) return `${path} is not a file`;
  if (stats.isDirectory()) {
    const names = (await readdir(join(order.directory, real))).filter(name => name !== '.git');
    if (found.size + names.length > filesMax)
      return `${path} holds too many files; at most ${filesMax} can be protected`;
    for (const name of names) await take(order, posix.join(real, name), found, true).catch(() => undefined);
  } else if (stats.size > fileBytesMax) return `${path} is larger than 16 MB, too large to be protected`;
  else found.set(real, await copy(order, place));
  for (const link of links) found.set(link.path, link);
  return undefined;
}

async function copy({ directory, folder }: ProtectOrder, { path, stats }: Place): Promise<ProtectedFile> {
  const bytes = await readPlain(join(directory, path));
  const hash = sha256(bytes);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, hash), bytes, { mode: 0o600 });
  return { path, mode: stats.mode & 0o777, sha256: hash, bytes: bytes.length };
}

interface Place {
  /** Without links in it. */
  readonly path: string;
  readonly stats: Stats;
  readonly links: readonly ProtectedFile[];
}

/** Walks down name by name; undefined when it leaves the folder or ends nowhere. */
async function follow(directory: string, given: string): Promise<Place | undefined> {
  const inside = given.startsWith(`${directory}/`) ? given.slice(directory.length + 1) : given;
  if (inside.startsWith('/')) return undefined;
  const links = new Map<string, ProtectedFile>();
  const left = inside.split('/');
  let path = '.';
  while (left.length > 0) {
    const name = left.shift() as string;
    const next = posix.join(path, name);
    if (next === '..') return undefined;
    const seen = await statsOf(join(directory, next));
    if (seen === undefined) return undefined;
    if (!seen.isSymbolicLink()) {
      path = next;
      continue;
    }
    const target = await readlink(join(directory, next));
    if (target.startsWith('/') || links.size >= linksMax) return undefined;
    links.set(next, { path: next, target });
    left.unshift(...target.split('/'));
  }
  const stats = await statsOf(join(directory, path));
  return stats === undefined || /^\.(git(\/.*)?)?$/.test(path)
    ? undefined
    : { path, stats, links: [...links.values()] };
}

/** Undefined when it is not the list that the hash proves. */
export async function readManifest(
  folder: string,
  expectedHash: string | undefined,
): Promise<readonly ProtectedFile[] | undefined> {
  const text = await readPlain(join(folder, 'manifest.json'));
  return sha256(text) === expectedHash ? (JSON.parse(text.toString('utf8')) as Manifest).files : undefined;
}

type Copies = readonly { readonly file: ProtectedFile; readonly bytes?: Buffer }[];

/** Nothing is put back from copies of which even one is not what it was. */
async function readCopies(folder: string, expectedHash: string): Promise<Copies | string> {
  try {
    const files = await readManifest(folder, expectedHash);
    if (files === undefined) return 'the list of protected files is not the one that the loop began with';
    const copies: { file: ProtectedFile; bytes?: Buffer }[] = [];
    for (const file of files) {
      if ('target' in file) copies.push({ file });
      else {
        const bytes = await readPlain(join(folder, file.sha256));
        if (sha256(bytes) !== file.sha256) return `the copy of ${file.path} is damaged`;
        copies.push({ file, bytes });
      }
    }
    return copies;
  } catch (error) {
    return `the copies of protected files cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`;
  }
}

/** `expectedHash` is what protecting gave, as the ledger has it. */
export function fileGuard(folder: string, expectedHash: string): FileGuard {
  return {
    async restore(directory) {
      const copies = await readCopies(folder, expectedHash);
      if (typeof copies === 'string') return { restored: [], damaged: copies };
      const restored: string[] = [];
      for (const { file, bytes } of copies) {
        const how = await stateOf(directory, file);
        if (how === 'good') continue;
        const problem = await restoreFile(directory, file, bytes);
        if (problem !== undefined) return { restored: [], damaged: `${file.path} could not be put back: ${problem}` };
        restored.push(`${file.path} (${how})`);
      }
      return { restored };
    },
  };
}

/** Every folder above it, outermost first: `a/b/c` -> `a`, `a/b`. */
function foldersOf(path: string): readonly string[] {
  const parts = path.split('/').slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}

export async function stateOf(directory: string, file: ProtectedFile): Promise<FileState> {
  for (const folder of foldersOf(file.path)) {
    const above = await statsOf(join(directory, folder));
    if (above?.isDirectory() !== true) return above === undefined ? 'deleted' : 'its folder was replaced';
  }
  const path = join(directory, file.path);
  const stats = await statsOf(path);
  if (stats === undefined) return 'deleted';
  if (stats.isDirectory()) return 'replaced by a folder';
  if ('target' in file) {
    if (!stats.isSymbolicLink()) return 'replaced by something else';
    return (await readlink(path).catch(() => '')) === file.target ? 'good' : 'edited';
  }
  if (stats.isSymbolicLink()) return 'replaced by a link';
  if (!stats.isFile()) return 'replaced by something else';
  return contentState(path, stats, file);
}

async function contentState(
  path: string,
  stats: Stats,
  file: Extract<ProtectedFile, { bytes: number }>,
): Promise<FileState> {
  const isSame = stats.size === file.bytes && sha256(await readPlain(path).catch(() => '')) === file.sha256;
  if (!isSame) return 'edited';
  return (stats.mode & 0o777) === file.mode ? 'good' : 'mode changed';
}

/** In one step, and through nothing that somebody put in its way. Undefined when it is back. */
async function restoreFile(
  directory: string,
  file: ProtectedFile,
  bytes: Buffer | undefined,
): Promise<string | undefined> {
  try {
    await clearWay(directory, file.path);
    await withWritable(dirname(join(directory, file.path)), () => place(directory, file, bytes));
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message;
  }
}

/** Real folders all the way down: a link is taken away (never what it points to), a file in the way is set aside. */
async function clearWay(directory: string, path: string): Promise<void> {
  for (const folder of foldersOf(path)) {
    const place = join(directory, folder);
    const stats = await statsOf(place);
    if (stats?.isDirectory()) continue;
    await withWritable(dirname(place), async () => {
      if (stats?.isSymbolicLink()) await unlink(place);
      else if (stats !== undefined) await rename(place, backupPathOf(place));
      await mkdir(place);
    });
  }
}

const backupPathOf = (path: string): string => `${path}.set-aside-${randomBytes(4).toString('hex')}`;

async function place(directory: string, file: ProtectedFile, bytes: Buffer | undefined): Promise<void> {
  const path = join(directory, file.path);
  const temporary = join(directory, posix.dirname(file.path), `.ralph-${randomBytes(6).toString('hex')}`);
  try {
    if ('target' in file) await symlink(file.target, temporary);
    else await writeSynced(temporary, bytes ?? Buffer.alloc(0), file.mode);
    await moveFolderAway(path);
    await rename(temporary, path);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function writeSynced(path: string, bytes: Buffer, mode: number): Promise<void> {
  const handle = await open(
    path,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    0o600,
  );
  try {
    await handle.writeFile(bytes);
    await handle.chmod(mode);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** A file cannot take the place of a folder. What is in it may be somebody's work, so it is set aside. */
async function moveFolderAway(path: string): Promise<void> {
  const stats = await statsOf(path);
  if (!stats?.isDirectory()) return;
  await rmdir(path).catch(() => rename(path, backupPathOf(path)));
}

/** A folder that was made read-only to keep us out is opened for this one step. */
async function withWritable(folder: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'EACCES' && code !== 'EPERM') throw error;
    const { mode } = await lstat(folder);
    await chmod(folder, (mode & 0o777) | 0o700);
    await work();
  }
}
