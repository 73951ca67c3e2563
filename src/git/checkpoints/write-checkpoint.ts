// Writes a checkpoint: the private index becomes a tree, a commit and a ref; nothing of the user's is touched.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collected } from '../../processes/run-detached.ts';
import { oneLine as oneLineOf } from '../../text/text.ts';
import { complaint, git } from '../call.ts';
import type { Saved, SaveOrder, Skipped } from '../checkpoints.ts';
import { stampOfIndex } from '../disk.ts';
import { ownLock, ownRefLock, setRef, waitForLock } from '../locks.ts';
import { revision, writeCommit } from '../objects.ts';
import { toInput, toText } from '../paths.ts';
import { type Forced, forcedInSeed, forcedPaths, initIndex, markSparse, type PrivateGit, seedOf } from '../private.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { editedTree, type Held, heldNow, treeHeld } from './edited-tree.ts';
import { anchorTrailer, ralph, refOf } from './refs.ts';
import { limitsByDefault, type ScanLimits, scan, specialFiles } from './scan.ts';
import { ignoredAtStart, recordChangesAtStart, recordNothingIgnored, recordUserEdits } from './user-edits.ts';

export interface SavePlace {
  readonly loop: string;
  readonly own: PrivateGit;
  /** Where they differ from those by default. */
  readonly limits: Partial<ScanLimits>;
  /** What saving remembers from one checkpoint to the next, in this process. */
  readonly memory: {
    forced?: Forced;
    sparse?: string;
    held?: Held | undefined;
    /** The private index is made ahead, of the user's as it is then. */
    seeding?: Promise<Seeded | Refusal> | undefined;
  };
  /** Forks were clean when they were made. */
  readonly isFork: boolean;
  /** What is the last that is made, if not a ref. */
  readonly until?: 'tree' | 'commit';
}

const attemptsMax = 4;
const skippedMax = 100;

export async function save(place: SavePlace, order: SaveOrder): Promise<Saved | Refusal> {
  const { own, loop } = place;
  const isFirst = order.number === 1;
  const ref = refOf(loop, order.number);
  // A git that was killed leaves its lock behind.
  const waited = await Promise.all([
    waitForLock(join(own.folder, 'index.lock'), ownLock),
    waitForLock(join(own.repository.commonDirectory, `${ref}.lock`), ownRefLock),
  ]);
  if (waited.includes('held'))
    return refuse('Another git still works on the last checkpoint of this loop.', 'Try again.');
  // This walk through all folders is made by us, while gits look at the files.
  const special = isFirst || order.kind === 'by-hand' ? specialFiles(own) : [];
  const [start, unread] = await Promise.all([
    isFirst && !place.isFork ? recordChangesAtStart(own) : undefined,
    indexIn(place),
  ]);
  if (typeof start === 'string') return failed('git cannot tell what is changed here', start);
  const ignored = start?.ignored ?? (await ignoredAtStart(own));
  if (typeof ignored === 'string') return failed('git cannot tell what is ignored here', ignored);
  if (unread !== undefined) return failed('git cannot read the index', unread);
  if (!place.isFork) place.memory.sparse = await markSparse(own, place.memory.sparse);
  const parts: Parts = { until: place.until ?? 'ref', ref, message: messageOf(loop, order) };
  const written = (await scanAndWrite(place, ignored, parts)) ?? (await withNewIndex(place, ignored, parts));
  if (written === undefined)
    return refuse('git cannot make a tree of the files here.', 'Look what git status and git fsck say.');
  if (!written.ok) return written;
  const { tree, commit, skipped } = written;
  await start?.recorded;
  if (!place.isFork) await recordUserEdits(own, order, tree);
  return { ok: true, ref, commit, tree, skipped: [...skipped, ...(await special)].slice(0, skippedMax) };
}

type Seeded = { readonly ok: true; readonly stamp: string };

/** Its stamp is empty where it was there already. */
export async function seedAhead({ own, memory }: SavePlace): Promise<Seeded> {
  const stamp = existsSync(join(own.folder, 'index')) ? '' : await stampOfIndex(own.repository);
  await initIndex(own, false);
  memory.forced ??= await forcedPaths(own, undefined);
  return { ok: true, stamp };
}

/** Undefined, or why there is none. One that was made ahead is made anew where the user's was changed since. */
async function indexIn({ own, memory, isFork }: SavePlace): Promise<string | undefined> {
  const seeded = isFork ? undefined : await memory.seeding;
  if (!isFork) memory.seeding = undefined;
  if (seeded?.ok && seeded.stamp !== '' && seeded.stamp !== (await stampOfIndex(own.repository)))
    await rm(join(own.folder, 'index'), { force: true });
  if (isFork && existsSync(seedOf(own.folder))) await recordNothingIgnored(own); // before the seed goes
  return initIndex(own, isFork);
}

interface Parts {
  /** What is the last that is made. */
  readonly until: 'tree' | 'commit' | 'ref';
  readonly ref: string;
  readonly message: string;
}

type Outcome = (Extract<Written, { ok: true }> & { readonly skipped: readonly Skipped[] }) | Refusal | undefined;

/**
 * Files come and go meanwhile: what fails is scanned again, and what fails always is left out and listed. Undefined: the
 * index is of no use.
 */
async function scanAndWrite(place: SavePlace, ignored: ReadonlySet<string>, parts: Parts): Promise<Outcome> {
  const { own, memory } = place;
  const limits = { ...limitsByDefault, ...place.limits };
  const forced = async (areRulesChanged: boolean): Promise<readonly string[]> => {
    memory.forced = await forcedPaths(own, areRulesChanged ? undefined : (memory.forced ?? forcedInSeed(own)));
    return memory.forced.paths;
  };
  const stubborn = new Set<string>();
  for (let attempt = 1; ; attempt += 1) {
    const found = await scan(own, { forced, ignored, limits, isCareful: attempt > 1 });
    if (found === undefined || !found.ok) return found;
    const isStubborn = (path: string) => stubborn.has(toText(path));
    const update = found.update.filter(path => !isStubborn(path));
    const gone = [...found.drop, ...found.update.filter(isStubborn)];
    const isSlight = found.isSlight && gone.length === 0;
    const written =
      (isSlight && (await writeSlight(place, update, parts))) || (await writeAll(place, update, gone, parts));
    if (written.ok) {
      const left = [...stubborn].map(path => ({ path, why: 'changed while it was read' }));
      return { ...written, skipped: [...found.skipped, ...left] };
    }
    if (written.step !== 'files' || attempt === attemptsMax || isFull(written.why)) return giveUp(written);
    const culprit = /Unable to process path ([^\n]*)/.exec(written.why)?.[1];
    if (attempt > 1 && culprit !== undefined) stubborn.add(culprit);
  }
}

/** Undefined where the index must say it, or where nothing keeps what a checkpoint would be made of. */
async function writeSlight({ own, memory }: SavePlace, edited: readonly string[], parts: Parts) {
  memory.held = await treeHeld(own, memory.held);
  const { held } = memory;
  if (held === undefined || (!held.isKept && parts.until !== 'tree')) return undefined;
  const tree = await editedTree(own, held, edited);
  return tree === undefined ? undefined : writeCheckpoint(own, tree, parts);
}

async function writeAll(
  { own, memory }: SavePlace,
  update: readonly string[],
  gone: readonly string[],
  parts: Parts,
): Promise<Written> {
  const made = (await drop(own, gone)) ?? (await treeThroughIndex(own, update));
  if ('step' in made) return made;
  const written = await writeCheckpoint(own, made.tree, parts);
  if (written.ok) memory.held = await heldNow(own, made.tree, parts.until === 'ref');
  return written;
}

/** Undefined: an object that the index names is gone. */
const giveUp = ({ step, why }: Failed): Refusal | undefined =>
  step === 'tree' && !isFull(why) ? undefined : failed(`git cannot write the ${step}`, why);

/** The index is ours and holds nothing that could not be found out again. */
async function withNewIndex(place: SavePlace, ignored: ReadonlySet<string>, parts: Parts): Promise<Outcome> {
  await rm(join(place.own.folder, 'index'), { force: true });
  const unread = await initIndex(place.own, place.isFork);
  return unread === undefined ? scanAndWrite(place, ignored, parts) : failed('git cannot read the index', unread);
}

/** From the index, although it is on disk. */
async function drop(own: PrivateGit, paths: readonly string[]): Promise<Failed | undefined> {
  if (paths.length === 0) return undefined;
  const done = await git(own.place, ['update-index', '-z', '--force-remove', '--stdin'], { input: toInput(paths) });
  return done.code === 0 ? undefined : { ok: false, step: 'files', why: complaint(done) };
}

/** The head of the ledger stands in it, and so in the name of the commit: a rewritten ledger does not fit it any more. */
function messageOf(loop: string, { number, iteration, task, label, anchor }: SaveOrder): string {
  const trailers = [
    `Ralph-Loop: ${loop}`,
    `Ralph-Checkpoint: ${number}`,
    `Ralph-Iteration: ${iteration}`,
    ...(task === undefined ? [] : [`Ralph-Task: ${oneLine(task)}`]),
    `${anchorTrailer}: ${oneLine(anchor)}`,
  ];
  return `${oneLine(label)}\n\n${trailers.join('\n')}\n`;
}

const oneLine = (text: string): string => oneLineOf(text, 500);

const isFull = (why: string): boolean => /no space left|disk quota|input\/output error|file too large/i.test(why);

function failed(what: string, why: string): Refusal {
  if (isFull(why)) return refuse(`The disk is full or broken: ${what}.`, 'Free some space, then go on.');
  return refuse(`${what}: ${oneLine(why)}.`);
}

/** The files now, as a tree or commit that nothing points to. Git keeps it for two weeks, far longer than a question takes. */
export const preview = (place: SavePlace, until: 'tree' | 'commit'): Promise<Saved | Refusal> =>
  save({ ...place, until }, { number: 0, iteration: 0, kind: 'before-restore', label: 'a preview', anchor: 'none' });

type Step = 'files' | 'tree' | 'commit' | 'ref';
type Failed = { readonly ok: false; readonly step: Step; readonly why: string };
type Written = { readonly ok: true; readonly tree: string; readonly commit: string } | Failed;

const hashMsMax = 600_000;

/**
 * The parent is the user's commit, not the last checkpoint, so that each can be freed alone; a new repository has none.
 * The ref comes last.
 */
async function writeCheckpoint(own: PrivateGit, tree: string, parts: Parts): Promise<Written> {
  const { store } = own;
  if (parts.until === 'tree') return { ok: true, tree, commit: '' };
  const head = await revision(store, `${own.head}^{commit}`);
  const parents = head === '' ? [] : [head];
  const made = await writeCommit(store, {
    tree,
    parents,
    author: ralph,
    committer: ralph,
    message: parts.message,
  });
  if (!made.ok) return failedAt('commit', made.problem);
  const set = parts.until === 'commit' ? made : await setRef(store, parts.ref, made.name);
  return set.ok ? { ok: true, tree, commit: made.name } : failedAt('ref', set.problem);
}

const failedAt = (step: Step, why: string): Failed => ({ ok: false, step, why });

async function treeThroughIndex(own: PrivateGit, update: readonly string[]) {
  if (update.length > 0) {
    const args = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin'];
    const updated = await git(own.place, args, { input: toInput(update), timeMsMax: hashMsMax });
    if (updated.code !== 0) return failedAt('files', whyOf(updated));
  }
  const written = await git(own.place, ['write-tree', ...(own.isPartial ? ['--missing-ok'] : [])]);
  if (written.code !== 0) return failedAt('tree', whyOf(written));
  return { tree: written.output.toString('latin1').trim() };
}

const whyOf = (ended: Collected): string => ended.errors.trim() || complaint(ended);
