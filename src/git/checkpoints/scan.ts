// Scan of the working tree: what differs from the last checkpoint, without what a checkpoint cannot or should not hold.
import { accessSync, constants, type Dirent, lstatSync, type Stats } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { git } from '../call.ts';
import type { Skipped } from '../checkpoints.ts';
import { entriesBelow, ifReadable } from '../disk.ts';
import { foldersAbove, onDisk, pathsOf, shown, toText } from '../paths.ts';
import type { PrivateGit } from '../private.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { coveringEntry } from './user-edits.ts';

export interface Scan {
  readonly ok: true;
  /** Goes into the index as it is on disk; what is gone there goes from the index. */
  readonly update: readonly string[];
  /** Goes from the index although it is on disk. */
  readonly drop: readonly string[];
  readonly skipped: readonly Skipped[];
  /** Only a few small files changed, of which git knew each before. */
  readonly isSlight: boolean;
}

export interface ScanLimits {
  readonly fileBytesMax: number;
  /** B90: more than this in one checkpoint is a mistake, not work. */
  readonly filesMax: number;
  readonly bytesMax: number;
}

export const limitsByDefault: ScanLimits = { fileBytesMax: 10_000_000, filesMax: 100_000, bytesMax: 1_000_000_000 };

const atOnce = 500; // files looked at before others get their turn

export interface ScanRules {
  /** Looked at in any case; they may be others when a file of rules was changed. */
  readonly forced: (areRulesChanged: boolean) => Promise<readonly string[]>;
  /** Never taken in as new. */
  readonly ignored: ReadonlySet<string>;
  readonly limits: ScanLimits;
  /** Whether each file can be read is tried out. */
  readonly isCareful: boolean;
}

interface Found {
  readonly isNew: boolean;
  readonly path: string;
}

export type Listed = Awaited<ReturnType<typeof listFiles>>;

/** What differs from the private index, and what it does not know. */
export const listFiles = ({ place }: PrivateGit) =>
  git(place, ['ls-files', '-z', '-t', '-m', '-o', '--exclude-standard', '--deduplicate'], { timeMsMax: 300_000 });

/** Undefined: git could not list files; its index may be broken. `known`: it was asked just now. */
export async function scan(own: PrivateGit, rules: ScanRules, known?: Listed): Promise<Scan | Refusal | undefined> {
  const { forced, ignored, limits } = rules;
  const [listed, byForce] = await Promise.all([known ?? listFiles(own), forced(false)]);
  if (listed.code !== 0) return undefined;
  const left = new Set<string>();
  const found = pathsOf(listed).flatMap((line): Found[] => {
    const [isNew, path] = [line.startsWith('?'), line.slice(2)];
    const entry = isNew ? coveringEntry(ignored, path) : undefined;
    if (entry !== undefined) left.add(entry);
    return entry === undefined ? [{ isNew, path }] : [];
  });
  const paths = new Set(found.map(({ path }) => path));
  const areRulesChanged = found.some(({ path }) => /(^|\/)\.gitignore$/.test(path));
  const more = areRulesChanged ? await forced(true) : byForce;
  const added = more.filter(path => !paths.has(path)).map(path => ({ isNew: false, path }));
  found.push(...added);
  const untracked = found.filter(({ isNew }) => isNew);
  if (untracked.length > limits.filesMax) {
    const { folder, amount } = biggest(untracked.map(({ path }) => [path, 1]));
    return tooMuch(`${untracked.length} untracked files`, folder, `${amount} of them`);
  }
  const sorted = await sort(own.repository.directory, found, rules);
  if (!sorted.ok) return sorted;
  const why = 'ignored when the loop began';
  const skipped = [...sorted.skipped, ...[...left].map(path => ({ path: toText(path), why }))];
  return { ...sorted, skipped, isSlight: sorted.isSlight && untracked.length + added.length === 0 };
}

const slightFilesMax = 20;
const slightBytesMax = 200_000;

async function sort(top: string, found: readonly Found[], rules: ScanRules): Promise<Scan | Refusal> {
  const decide = decideIn(top, rules);
  const sorted: (Found & Decision)[] = [];
  for (const [index, one] of found.entries()) {
    if (index % atOnce === atOnce - 1) await setImmediate();
    sorted.push({ ...one, ...decide(one) });
  }
  const bytes = sorted.reduce((sum, one) => sum + one.bytes, 0);
  if (bytes > rules.limits.bytesMax) {
    const { folder, amount } = biggest(sorted.map(one => [one.path, one.bytes]));
    return tooMuch(`${megabytes(bytes)} of new or changed files`, folder, megabytes(amount));
  }
  const pathsTo = (into: Decision['into']) => sorted.flatMap(one => (one.into === into ? [one.path] : []));
  const skipped = sorted.flatMap(({ path, why }) =>
    why === undefined ? [] : [{ path: toText(path.replace(/\/$/, '')), why }],
  );
  const [update, drop] = [pathsTo('update'), pathsTo('drop')];
  const isSlight = update.length <= slightFilesMax && bytes <= slightBytesMax && drop.length === 0;
  return { ok: true, update, drop, skipped, isSlight };
}

interface Decision {
  readonly into: 'update' | 'drop' | 'neither';
  readonly bytes: number;
  /** Why a checkpoint does not hold it. */
  readonly why?: string;
}

function decideIn(top: string, rules: ScanRules): (found: Found) => Decision {
  const isReached = reachIn(top);
  return ({ isNew, path }) => {
    const stats = statsOf(top, path);
    // Gone, although a folder has its name, or a link in its folder's place leads to something of that name.
    if (!isNew && (!isReached(path) || (stats?.isDirectory() && !isRepository(top, path))))
      return { into: 'drop', bytes: 0 };
    const why = stats && whyNot(onDisk(top, path), stats, rules);
    if (why !== undefined) return { into: isNew ? 'neither' : 'drop', bytes: 0, why };
    return { into: 'update', bytes: stats?.isFile() ? stats.size : 0 };
  };
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

function whyNot(where: Buffer, stats: Stats, { limits, isCareful }: ScanRules): string | undefined {
  if (where.at(-1) === slash) return 'a repository of its own';
  if (!stats.isFile()) return specialKind(stats);
  if (stats.size > limits.fileBytesMax) return `larger than ${megabytes(limits.fileBytesMax)}`;
  return isCareful && !isReadable(where) ? 'cannot be read' : undefined;
}

const slash = 0x2f;

/** A pipe would be waited for, a socket or device has no content. */
function specialKind(entry: Stats | Dirent): string | undefined {
  if (entry.isFIFO()) return 'a pipe';
  if (entry.isSocket()) return 'a socket';
  return entry.isBlockDevice() || entry.isCharacterDevice() ? 'a device' : undefined;
}

const statsOf = (top: string, path: string): Stats | undefined => ifReadable(() => lstatSync(onDisk(top, path)));

const isRepository = (top: string, path: string): boolean => statsOf(top, `${path}/.git`) !== undefined;

const isReadable = (where: Buffer): boolean => ifReadable(() => [accessSync(where, constants.R_OK)]) !== undefined;

const megabytes = (bytes: number): string => `${Math.round(bytes / 1_000_000)} MB`;

/** The folder at the top that weighs most. */
function biggest(weights: readonly (readonly [path: string, weight: number])[]) {
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

const entriesMax = 200_000;
const foundMax = 100;

async function ignoredNow({ place }: PrivateGit): Promise<ReadonlySet<string>> {
  const asked = ['ls-files', '-z', '-o', '-i', '--exclude-standard', '--directory'];
  return new Set(pathsOf(await git(place, asked)));
}

/** Pipes, sockets and devices, which git never lists, so that a checkpoint can say that it does not hold them. Never throws. */
export async function specialFiles(own: PrivateGit, known?: ReadonlySet<string>): Promise<readonly Skipped[]> {
  const ignored = known ?? (await ignoredNow(own));
  const found: Skipped[] = [];
  let entries = 0;
  for await (const [path, entry] of entriesBelow(own.repository.directory, ignored)) {
    entries += 1;
    if (entries > entriesMax || found.length >= foundMax) break;
    const why = specialKind(entry);
    if (why !== undefined && !ignored.has(path)) found.push({ path: toText(path), why });
  }
  return found;
}
