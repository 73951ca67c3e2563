// Checkpoints in git: they touch nothing of the user's, and a restore goes forward.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { UsageError } from '../text/errors.ts';
import { holdersIn, missingOf, type Pruned, type PruneOrder, prune, repairRefs } from './checkpoints/refs.ts';
import { Tidying } from './checkpoints/tidy.ts';
import { makeTreeAhead, preview, type SavePlace, save, seedAhead } from './checkpoints/write-checkpoint.ts';
import type {
  Checkpoints,
  ExchangeOrder,
  KnownCheckpoint,
  Repaired,
  Restored,
  RestoreOrder,
  Saved,
  Span,
} from './checkpoints.ts';
import type { Forks } from './forks.ts';
import * as history from './history.ts';
import { ownLock, waitForLock } from './locks.ts';
import { openAhead } from './objects.ts';
import { isAmong, safeName } from './paths.ts';
import { openPrivate, type PrivateGit, pathsInside } from './private.ts';
import { syncUserIndex } from './progress/sync-user-index.ts';
import { type Refusal, refuse, withConflicts } from './refusal.ts';
import { openRepository, type Repository } from './repository.ts';
import { exchange } from './restore/exchange.ts';
import { finishRestore, plannedRestore, restore } from './restore/restore.ts';
import { headIn, notesOf } from './worktree-notes.ts';

export interface GitCheckpointOptions {
  readonly loop: string;
  readonly repository: Repository;
  /** Of this loop alone, in RALPH_HOME; made when it is not there. */
  readonly folder: string;
  /** Larger files are left out of checkpoints, and listed. */
  readonly fileBytesMax?: number;
  /** Absolute paths that no checkpoint holds, such as RALPH_HOME when it lies in the tree. */
  readonly excluded?: readonly string[];
  /** Absolute paths of files that Ralph itself replaces while checkpoints are made, such as the document. */
  readonly replaced?: readonly string[];
  /** Tasks work in forks of their own, and the work of a task is saved in its fork. */
  readonly forks?: Pick<Forks, 'directory'> | undefined;
}

export interface GitCheckpoints extends Checkpoints {
  /** Makes ready for the first checkpoint, while others work: nothing of it says yet what the files are. */
  warm(): void;
  /** What `restore` would do, without doing it. */
  plan(order: RestoreOrder): Promise<Restored>;
  /** What the files are now, without ref or note. */
  preview(): Promise<Saved | Refusal>;
  /** Those that are no longer in the repository; mends nothing. */
  missing(known: readonly KnownCheckpoint[]): Promise<readonly number[]>;
  prune(order: PruneOrder): Promise<Pruned>;
  /** Which ref holds a checkpoint now: its own, or the one of all old ones. */
  holders(): Promise<(number: number) => string>;
  /** The three below read what checkpoints hold; when that is gone they throw a UsageError, as `changes` does. */
  patch(span: Span, bytesMax: number): Promise<history.Patch>;
  stat(span: Span): Promise<readonly history.LineCount[]>;
  content(treeOrCommit: string, paths: readonly string[], bytesMax?: number): Promise<readonly history.FileContent[]>;
}

export function gitCheckpoints(options: GitCheckpointOptions): GitCheckpoints {
  const { loop, repository } = options;
  const { placeOf, ...ahead } = madeAhead(options);
  const own = async (isRestore = false): Promise<PrivateGit> => {
    const { own: found, memory } = await placeOf();
    await memory.seeding;
    await memory.ahead;
    if (isRestore) delete memory.forced; // it may bring back rules, by which other files are ignored
    return found;
  };
  const tidying = new Tidying(own, loop, options.folder);
  const restoreNow = async (order: RestoreOrder): Promise<Restored> =>
    withConflicts(await safely(async () => restore(await own(true), loop, order)));
  return {
    warm: ahead.warm,
    look: ahead.look,
    async save(order) {
      const saved = await safely(async () => save(await placeOf(order.task), order));
      if (saved.ok) tidying.saved(order.number);
      return saved;
    },
    async treeNow(task) {
      const now = await treeIn(placeOf, task);
      return now.ok ? now.tree : '';
    },
    restore: restoreNow,
    exchange: order =>
      exchange({ ...exchangeIn(repository), restore: restoreNow, treeNow: () => treeIn(placeOf) }, order),
    plan: async order => withConflicts(await safely(async () => plannedRestore(await own(), order))),
    preview: async () => preview(await placeOf(), 'commit'),
    missing: known => missingOf(repository, known),
    changes: spans => history.changes(repository, spans),
    async repair(known) {
      const repaired = await safely(async () => repair(await own(), loop, known));
      if (!('did' in repaired)) return { did: [repaired.problem], missing: [] };
      return { ...repaired, did: [...repaired.did, ...(await tidying.trouble())] };
    },
    async close() {
      if (ahead.isBegun()) await safely(own);
      await tidying.close();
    },
    prune: order => prune(repository, loop, order),
    holders: () => holdersIn(repository, loop),
    patch: async (span, bytesMax) => history.patchOf(await own(), span, bytesMax),
    stat: async span => history.statOf(await own(), span),
    content: async (tree, paths, bytesMax) => history.contentOf(await own(), tree, paths, bytesMax),
  };
}

const treeIn = (placeOf: (task?: string) => Promise<SavePlace>, task?: string) =>
  safely(async () => preview(await placeOf(task), 'tree'));

const exchangeIn = (repository: Repository) => ({
  directory: repository.directory,
  async changed({ spans, except = [], only }: ExchangeOrder): Promise<readonly string[]> {
    const isExcepted = isAmong(await pathsInside(repository, except));
    const paths = (await history.changes(repository, spans)).map(({ path }) => path);
    return paths.filter(path => !isExcepted(path) && only?.includes(path) !== false);
  },
});

/** A full or closed disk where RALPH_HOME lies is a failure like any other; a bug stays one. */
async function safely<Answer>(action: () => Promise<Answer>): Promise<Answer | Refusal> {
  try {
    return await action();
  } catch (error) {
    if (error instanceof UsageError) return refuse(error.message, error.hint);
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    return refuse(`The system refused it: ${error.message}.`, 'Mend that, then run again.');
  }
}

/** After a crash: a restore that was cut is finished, the ledger's checkpoints get their refs back, old locks go. */
async function repair(own: PrivateGit, loop: string, known: readonly KnownCheckpoint[]): Promise<Repaired> {
  const did: string[] = [];
  const lock = await waitForLock(join(own.folder, 'index.lock'), ownLock);
  if (lock === 'reclaimed') did.push('removed the lock of a checkpoint that was cut');
  const restore = await finishRestore(own, loop);
  if (!restore.ok) did.push(restore.problem);
  else if (restore.found) {
    const left = restore.changed.length;
    did.push(`finished a restore that was cut${left === 0 ? '' : ` (${left} changed since then were left alone)`}`);
  }
  const synced = await syncUserIndex(own.repository, own.folder);
  if (!synced.ok) did.push(synced.problem);
  const refs = await repairRefs(own.repository, loop, known);
  return { did: [...did, ...refs.did], missing: refs.missing };
}

/** What is made for the first checkpoint before it is asked for; whoever asks where one is made waits for that. */
function madeAhead(options: GitCheckpointOptions) {
  const placesNow = placesOf(options);
  let making: Promise<unknown> | undefined;
  const placeOf = async (task?: string): Promise<SavePlace> => {
    await making;
    return placesNow(task);
  };
  const make = (work: (place: SavePlace) => void): void => {
    const before = making;
    making = safely(async () => {
      await before;
      work(await placesNow());
      return { ok: true as const };
    });
  };
  return {
    placeOf,
    isBegun: () => making !== undefined,
    warm() {
      if (making === undefined)
        make(place => {
          place.memory.seeding = safely(() => seedAhead(place, () => openAhead(options.repository)));
        });
    },
    look: () =>
      make(place => {
        place.memory.ahead = safely(() => makeTreeAhead(place));
        place.memory.ahead.catch(() => {}); // whoever waits for it hears of it
      }),
  };
}

/** Where a checkpoint is made: in the task's fork if it has one. Found out once, and again when a fork was made anew. */
function placesOf(options: GitCheckpointOptions): (task?: string) => Promise<SavePlace> {
  const { loop, repository, folder, fileBytesMax, excluded, replaced, forks } = options;
  const limits = fileBytesMax === undefined ? {} : { fileBytesMax };
  const known = new Map<string | undefined, SavePlace>();
  const placeOf = async (task?: string): Promise<SavePlace> => {
    const directory = task === undefined ? undefined : forks?.directory(task);
    const fork = directory !== undefined && existsSync(directory) ? directory : undefined;
    const before = known.get(fork);
    if (before !== undefined && existsSync(before.own.repository.gitDirectory)) return before;
    const ofFork = fork === undefined ? undefined : await privateOfFork(options, fork, task ?? '', placeOf);
    const own = ofFork ?? (await openPrivate(repository, folder, { excluded, replaced }));
    const place: SavePlace = { loop, own, limits, memory: {}, isFork: ofFork !== undefined };
    known.set(fork, place);
    return place;
  };
  return placeOf;
}

/** Git need not be asked about a worktree as we made it. Undefined where the folder is none. */
async function privateOfFork(
  { repository, folder, excluded, replaced }: GitCheckpointOptions,
  inside: string,
  task: string,
  loop: () => Promise<SavePlace>,
): Promise<PrivateGit | undefined> {
  const own = join(folder, `fork-${safeName(task)}`);
  const directory = dirname(topEntry(inside));
  const notes = await notesOf(repository, directory);
  if (notes !== undefined) {
    const of = { loop: (await loop()).own, head: headIn(notes) };
    return openPrivate({ ...repository, directory, gitDirectory: notes }, own, { excluded, replaced, of });
  }
  const opened = await openRepository({ directory: inside, environment: repository.environment });
  return opened.ok ? openPrivate(opened.repository, own, { excluded, replaced }) : undefined;
}

/** The nearest `.git`: a loop may work in a folder of the tree. */
function topEntry(folder: string): string {
  const entry = join(folder, '.git');
  return existsSync(entry) || dirname(folder) === folder ? entry : topEntry(dirname(folder));
}
