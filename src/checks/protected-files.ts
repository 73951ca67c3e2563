// Keeps copies of the files that are a check, outside the agent's reach, and puts them back before every check (F33).
import type { Stats } from 'node:fs';
import { lstat, mkdir, readdir, readlink, writeFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { canonical } from '../text/canonical.ts';
import type { Guard, Guarded, PutBack } from './guard.ts';
import { fileBytesMax, type Kept, readPlain, sha256 } from './kept.ts';
import { putBack, stateOf } from './put-back.ts';

interface Manifest {
  readonly version: 1;
  readonly files: readonly Kept[];
}

export type Protected =
  /** `hash` belongs into the ledger: with it the copies prove themselves. */
  | { readonly ok: true; readonly hash: string; readonly files: readonly string[] }
  | { readonly ok: false; readonly problem: string };

export interface ProtectOrder {
  readonly directory: string;
  /** Inside the loop's own folder; made when it is not there. */
  readonly folder: string;
  /** Relative to `directory`. Those that are no files are passed over: a command line names much. */
  readonly candidates: readonly string[];
  /** As a person gave them: files, or folders with all their files. Each must be there. */
  readonly wanted: readonly string[];
}

const filesMax = 2_000;
const linksMax = 40;

/** Copies them and says by which hash the copies can be proven. */
export async function protectFiles(order: ProtectOrder): Promise<Protected> {
  try {
    const found = new Map<string, Kept>();
    for (const path of order.candidates) await take(order, path, found, false);
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

async function take(
  order: ProtectOrder,
  path: string,
  found: Map<string, Kept>,
  isWanted: boolean,
): Promise<string | undefined> {
  const place = await follow(order.directory, path);
  if (place === undefined)
    return isWanted ? `${path} is not a file or folder inside the folder of the work` : undefined;
  const { path: real, stats, links } = place;
  if (stats.isDirectory() && isWanted) {
    const names = (await readdir(join(order.directory, real))).filter(name => name !== '.git');
    if (found.size + names.length > filesMax)
      return `${path} holds too many files; at most ${filesMax} can be protected`;
    for (const name of names) await take(order, posix.join(real, name), found, true).catch(() => undefined);
  } else if (stats.isFile()) {
    if (stats.size > fileBytesMax) return `${path} is larger than 16 MB, too large to be protected`;
    const bytes = await readPlain(join(order.directory, real));
    const hash = sha256(bytes);
    await mkdir(order.folder, { recursive: true, mode: 0o700 });
    await writeFile(join(order.folder, hash), bytes, { mode: 0o600 });
    found.set(real, { path: real, mode: stats.mode & 0o777, sha256: hash, bytes: bytes.length });
  } else return isWanted && !stats.isDirectory() ? `${path} is not a file` : undefined;
  for (const link of links) found.set(link.path, link);
  return undefined;
}

interface Place {
  /** Without links in it. */
  readonly path: string;
  readonly stats: Stats;
  readonly links: readonly { readonly path: string; readonly target: string }[];
}

/** Walks down name by name; undefined when it leaves the folder or ends nowhere. */
async function follow(directory: string, given: string): Promise<Place | undefined> {
  const inside = given.startsWith(`${directory}/`) ? given.slice(directory.length + 1) : given;
  const links = new Map<string, { path: string; target: string }>();
  let left = inside.split('/');
  let path = '';
  let stats: Stats | undefined;
  if (inside.startsWith('/')) return undefined;
  while (left.length > 0) {
    const [name = '', ...rest] = left;
    left = rest;
    if (name === '' || name === '.') continue;
    if (name === '..') {
      if (path === '') return undefined;
      path = posix.dirname(path) === '.' ? '' : posix.dirname(path);
      stats = undefined;
      continue;
    }
    const next = path === '' ? name : `${path}/${name}`;
    const seen = await lstat(join(directory, next)).catch(() => undefined);
    if (seen === undefined) return undefined;
    if (!seen.isSymbolicLink()) {
      path = next;
      stats = seen;
      continue;
    }
    const target = await readlink(join(directory, next));
    if (target.startsWith('/') || links.size >= linksMax) return undefined;
    links.set(next, { path: next, target });
    left = [...target.split('/'), ...left];
  }
  if (path === '' || path === '.git' || path.startsWith('.git/')) return undefined;
  stats ??= await lstat(join(directory, path)).catch(() => undefined);
  return stats === undefined ? undefined : { path, stats, links: [...links.values()] };
}

type Copies = readonly { readonly kept: Kept; readonly bytes?: Buffer }[];

/** Nothing is put back from copies of which even one is not what it was. */
async function readCopies(folder: string, expectedHash: string): Promise<Copies | string> {
  try {
    const text = await readPlain(join(folder, 'manifest.json'));
    if (sha256(text) !== expectedHash) return 'the list of protected files is not the one that the loop began with';
    const { files } = JSON.parse(text.toString('utf8')) as Manifest;
    const copies: { kept: Kept; bytes?: Buffer }[] = [];
    for (const kept of files) {
      if ('target' in kept) copies.push({ kept });
      else {
        const bytes = await readPlain(join(folder, kept.sha256));
        if (sha256(bytes) !== kept.sha256) return `the copy of ${kept.path} is damaged`;
        copies.push({ kept, bytes });
      }
    }
    return copies;
  } catch (error) {
    return `the copies of protected files cannot be read: ${(error as NodeJS.ErrnoException).code ?? (error as Error).message}`;
  }
}

export function fileGuard(folder: string): Guard {
  return {
    async restore(directory, expectedHash): Promise<Guarded> {
      const copies = await readCopies(folder, expectedHash);
      if (typeof copies === 'string') return { ok: false, why: 'damaged', problem: copies };
      const restored: PutBack[] = [];
      for (const { kept, bytes } of copies) {
        const how = await stateOf(directory, kept);
        if (how === 'good') continue;
        const problem = await putBack(directory, kept, bytes);
        if (problem !== undefined)
          return { ok: false, why: 'unwritable', problem: `${kept.path} could not be put back: ${problem}` };
        restored.push({ path: kept.path, how });
      }
      return { ok: true, restored };
    },
  };
}
