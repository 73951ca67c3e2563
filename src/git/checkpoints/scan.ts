// Looks what differs from the last checkpoint, and sorts out what a checkpoint cannot or should not hold.
import { accessSync, constants, lstatSync, type Stats } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { setImmediate } from 'node:timers/promises';
import { foldersAbove, onDisk, pathsOf, shown, toText } from '../paths.ts';
import { type PrivateGit, privately } from '../private.ts';
import { refuse } from '../repository.ts';
import type { Refusal, Skipped } from '../workspace.ts';
import { coveringEntry } from './user-edits.ts';

export interface Look {
  readonly ok: true;
  /** Goes into the index as it is on disk; what is gone there goes from the index. */
  readonly update: readonly string[];
  /** Goes from the index although it is on disk. */
  readonly drop: readonly string[];
  readonly skipped: readonly Skipped[];
}

export interface LookLimits {
  readonly fileBytesMax: number;
  /** B90: more than this in one checkpoint is a mistake, not work. */
  readonly filesMax: number;
  readonly bytesMax: number;
}

export const limitsByDefault: LookLimits = { fileBytesMax: 10_000_000, filesMax: 100_000, bytesMax: 1_000_000_000 };

const atOnce = 500; // files looked at before others get their turn

export interface Rules {
  /** Looked at in any case; they may be others when a file of rules was changed. */
  readonly forced: (areRulesChanged: boolean) => Promise<readonly string[]>;
  /** Never taken in as new. */
  readonly ignored: ReadonlySet<string>;
}

/** Undefined: git could not look; its index may be broken. */
export async function look(
  own: PrivateGit,
  { forced, ignored }: Rules,
  limits: LookLimits,
  carefully: boolean,
): Promise<Look | Refusal | undefined> {
  const asked = ['ls-files', '-z', '-t', '-m', '-o', '--exclude-standard', '--deduplicate'];
  const listed = await privately(own, asked, { timeMsMax: 300_000 });
  if (listed.code !== 0) return undefined;
  const left = new Set<string>();
  const found = pathsOf(listed).flatMap(line => {
    const [isNew, path] = [line.startsWith('?'), line.slice(2)];
    const entry = isNew ? coveringEntry(ignored, path) : undefined;
    if (entry !== undefined) left.add(entry);
    return entry === undefined ? [{ isNew, path }] : [];
  });
  const known = new Set(found.map(({ path }) => path));
  const more = await forced(found.some(({ path }) => /(^|\/)\.gitignore$/.test(path)));
  found.push(...more.filter(path => !known.has(path)).map(path => ({ isNew: false, path })));
  const untracked = found.filter(({ isNew }) => isNew);
  if (untracked.length > limits.filesMax) {
    const { folder, amount } = biggest(untracked.map(({ path }) => [path, 1]));
    return tooMuch(`${untracked.length} untracked files`, folder, `${amount} of them`);
  }
  const sorted = await sort(own, found, limits, carefully);
  if (!sorted.ok) return sorted;
  const why = 'ignored when the loop began';
  return { ...sorted, skipped: [...sorted.skipped, ...[...left].map(path => ({ path: toText(path), why }))] };
}

async function sort(
  own: PrivateGit,
  found: readonly { readonly isNew: boolean; readonly path: string }[],
  limits: LookLimits,
  carefully: boolean,
): Promise<Look | Refusal> {
  const update: string[] = [];
  const drop: string[] = [];
  const skipped: Skipped[] = [];
  const sizes: (readonly [string, number])[] = [];
  const isReached = reachIn(own.repository.directory);
  let bytes = 0;
  for (const [index, { isNew, path }] of found.entries()) {
    if (index % atOnce === atOnce - 1) await setImmediate();
    const stats = statsOf(own.repository.directory, path);
    // Gone, although a folder has its name, or a link in its folder's place leads to something of that name.
    if (!isNew && (!isReached(path) || (stats?.isDirectory() && !isRepository(own.repository.directory, path)))) {
      drop.push(path);
      continue;
    }
    const why = stats === undefined ? undefined : whyNot(own, path, stats, limits, carefully);
    if (why !== undefined) {
      skipped.push({ path: toText(path.replace(/\/$/, '')), why });
      if (!isNew) drop.push(path);
      continue;
    }
    update.push(path);
    if (stats?.isFile()) {
      bytes += stats.size;
      sizes.push([path, stats.size]);
    }
  }
  if (bytes > limits.bytesMax) {
    const { folder, amount } = biggest(sizes);
    return tooMuch(`${megabytes(bytes)} of new or changed files`, folder, megabytes(amount));
  }
  return { ok: true, update, drop, skipped };
}

/** Whether a path goes through real folders alone. */
function reachIn(top: string): (path: string) => boolean {
  const known = new Map<string, boolean>();
  const isFolder = (folder: string): boolean => {
    const isReal = known.get(folder) ?? statsOf(top, folder)?.isDirectory() === true;
    known.set(folder, isReal);
    return isReal;
  };
  return path => foldersAbove(path).every(isFolder);
}

function whyNot(
  own: PrivateGit,
  path: string,
  stats: Stats,
  limits: LookLimits,
  carefully: boolean,
): string | undefined {
  if (path.endsWith('/')) return 'a repository of its own';
  if (stats.isFile()) {
    if (stats.size > limits.fileBytesMax) return `larger than ${megabytes(limits.fileBytesMax)}`;
    return carefully && !isReadable(own.repository.directory, path) ? 'cannot be read' : undefined;
  }
  return specialKind(stats);
}

/** A pipe would be waited for, a socket or device has no content. */
function specialKind(
  stats: Pick<Stats, 'isFIFO' | 'isSocket' | 'isBlockDevice' | 'isCharacterDevice'>,
): string | undefined {
  if (stats.isFIFO()) return 'a pipe';
  if (stats.isSocket()) return 'a socket';
  if (stats.isBlockDevice() || stats.isCharacterDevice()) return 'a device';
  return undefined;
}

function statsOf(top: string, path: string): Stats | undefined {
  try {
    return lstatSync(onDisk(top, path));
  } catch {
    return undefined;
  }
}

const isRepository = (top: string, path: string): boolean => statsOf(top, `${path}/.git`) !== undefined;

function isReadable(top: string, path: string): boolean {
  try {
    accessSync(onDisk(top, path), constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

function biggest(weights: readonly (readonly [path: string, weight: number])[]): {
  readonly folder: string;
  readonly amount: number;
} {
  const sums = new Map<string, number>();
  for (const [path, weight] of weights) {
    const folder = path.includes('/') ? path.slice(0, path.indexOf('/') + 1) : '';
    sums.set(folder, (sums.get(folder) ?? 0) + weight);
  }
  const [folder = '', amount = 0] = [...sums].sort((one, other) => other[1] - one[1])[0] ?? [];
  return { folder, amount };
}

function tooMuch(what: string, folder: string, amount: string): Refusal {
  const where = folder === '' ? 'the top folder' : shown(folder);
  const fix = `Put ${folder === '' ? 'them' : shown(folder)} into .gitignore, or say --no-checkpoints.`;
  return refuse(`A checkpoint would hold ${what}, most of it in ${where} (${amount}).`, fix);
}

// Finds pipes, sockets and devices, which git never lists, so that a checkpoint can say that it does not hold them.

const entriesMax = 200_000;
const foundMax = 100;

/** Ignored folders and other repositories are left out, as in the checkpoint. Never throws. */
export async function specialFiles(own: PrivateGit, entriesLimit = entriesMax): Promise<readonly Skipped[]> {
  const asked = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory'];
  const ignored = new Set(pathsOf(await privately(own, asked)));
  const found: Skipped[] = [];
  const folders = [''];
  let entries = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const top = onDisk(own.repository.directory, folder);
    const inside: string[] = [];
    try {
      for await (const entry of await opendir(top, { encoding: 'latin1' })) {
        entries += 1;
        if (entries > entriesLimit || found.length >= foundMax) return found;
        if (entry.name === '.git') {
          if (folder === '') continue;
          inside.length = 0;
          break;
        }
        const path = `${folder}${entry.name}`;
        const why = specialKind(entry);
        if (why !== undefined && !ignored.has(path)) found.push({ path: toText(path), why });
        if (entry.isDirectory() && !ignored.has(`${path}/`)) inside.push(`${path}/`);
      }
    } catch {
      continue; // gone, or closed to us
    }
    folders.push(...inside);
  }
  return found;
}
