// Writes a checkpoint: the private index becomes a tree, a commit and a ref; nothing of the user's is touched.
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Collected } from '../../processes/run-detached.ts';
import { oneLine as oneLineOf } from '../../text/text.ts';
import { complaint, git, gitScript } from '../call.ts';
import type { Saved, SaveOrder, Skipped } from '../checkpoints.ts';
import { stampOfIndex } from '../disk.ts';
import { ownLock, ownRefLock, setRef, waitForLock } from '../locks.ts';
import { revision, writeCommit } from '../objects.ts';
import { toInput, toText } from '../paths.ts';
import { type Forced, forcedInSeed, forcedPaths, initIndex, markSparse, type PrivateGit, seedOf } from '../private.ts';
import { type Refusal, refuse } from '../refusal.ts';
import { editedTree, type Held, heldNow, treeHeld } from './edited-tree.ts';
import { anchorTrailer, ralph, refOf } from './refs.ts';
import { type Listed, limitsByDefault, listFiles, type ScanLimits, scan, specialFiles } from './scan.ts';
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
    /** The tree of the first checkpoint. */
    ahead?: Promise<Made | Refusal> | undefined;
  };
  /** Forks were clean when they were made. */
  readonly isFork: boolean;
  /** What is the last that is made, if not a ref. */
  readonly until?: 'tree' | 'commit';
}

const attemptsMax = 4;
const skippedMax = 100;

export async function save(place: SavePlace, order: SaveOrder): Promise<Saved | Refusal> {
  const { own, loop, memory, until = 'ref' } = place;
  const ref = refOf(loop, order.number);
  if (await isHeldByAnother(own, ref))
    return refuse('Another git still works on the last checkpoint of this loop.', 'Try again.');
  const ahead = order.number === 1 ? memory.ahead : undefined;
  if (ahead !== undefined) memory.ahead = undefined;
  const made = await (ahead ?? makeTree(place, order));
  if (!made.ok) return made;
  const { tree, skipped } = made;
  const written = await writeCheckpoint(own, tree, { until, ref, message: messageOf(loop, order) });
  if (!written.ok) return failed(`git cannot write the ${written.step}`, written.why);
  if (until === 'ref' && memory.held?.tree === tree) memory.held = { ...memory.held, isKept: true };
  await made.recorded;
  if (!place.isFork) await recordUserEdits(own, order, tree);
  return { ok: true, ref, commit: written.commit, tree, skipped };
}

interface Made {
  readonly ok: true;
  readonly tree: string;
  readonly skipped: readonly Skipped[];
  /** What the user had changed is on the disk: nothing counts before that. */
  readonly recorded?: Promise<void> | undefined;
}

/** Of the first checkpoint, while the loop begins: nobody works yet. */
export function makeTreeAhead(place: SavePlace): Promise<Made | Refusal> {
  return makeTree(place, { number: 1, kind: 'start' });
}

async function makeTree(place: SavePlace, order: Pick<SaveOrder, 'number' | 'kind'>): Promise<Made | Refusal> {
  const found = await lookAround(place, order);
  if (!found.ok) return found;
  const { ignored, special, listed, recorded } = found;
  const made = (await scanAndWrite(place, ignored, listed)) ?? (await withNewIndex(place, ignored));
  if (made === undefined)
    return refuse('git cannot make a tree of the files here.', 'Look what git status and git fsck say.');
  if (!made.ok) return made;
  return { ...made, recorded, skipped: [...made.skipped, ...(await special)].slice(0, skippedMax) };
}

/** A git that was killed leaves its lock behind. */
async function isHeldByAnother({ folder, repository }: PrivateGit, ref: string): Promise<boolean> {
  const waited = await Promise.all([
    waitForLock(join(folder, 'index.lock'), ownLock),
    waitForLock(join(repository.commonDirectory, `${ref}.lock`), ownRefLock),
  ]);
  return waited.includes('held');
}

/** What is the user's, what is no file, and what differs from the private index. */
async function lookAround(place: SavePlace, { number, kind }: Pick<SaveOrder, 'number' | 'kind'>) {
  const { own, memory, isFork } = place;
  const isFirst = number === 1;
  // One git tells what is the user's while another compares the files with our index.
  const [start, look] = await Promise.all([
    isFirst && !isFork ? recordChangesAtStart(own) : undefined,
    readIndex(place),
  ]);
  if (typeof start === 'string') return failed('git cannot tell what is changed here', start);
  const ignored = start?.ignored ?? (await ignoredAtStart(own));
  if (typeof ignored === 'string') return failed('git cannot tell what is ignored here', ignored);
  if (look.unread !== undefined) return failed('git cannot read the index', look.unread);
  if (start?.isNothingStaged) memory.held ??= await heldByHead(place, look.seeded);
  // A walk through all folders by us, while gits look at the files.
  const special = isFirst || kind === 'by-hand' ? specialFiles(own, isFirst ? ignored : undefined) : [];
  return { ok: true as const, ignored, special, listed: look.listed, recorded: start?.recorded };
}

type Seeded = { readonly ok: true; readonly stamp: string };

/** Its stamp is empty where it was there already. `beside`: while git reads all files once. */
export async function seedAhead({ own, memory }: SavePlace, beside: () => void): Promise<Seeded> {
  const stamp = existsSync(join(own.folder, 'index')) ? '' : await stampOfIndex(own.repository);
  const [forced] = await Promise.all([forcedPaths(own, memory.forced), initIndex(own, false, beside)]);
  memory.forced = forced;
  return { ok: true, stamp };
}

interface Look {
  /** Why there is no index. */
  readonly unread?: string | undefined;
  /** How the user's index was known that ours was made of; empty: ours was there. */
  readonly seeded: string;
  readonly listed?: Listed;
}

/** An index that was made ahead is made anew where the user's was changed since. */
async function readIndex({ own, memory, isFork }: SavePlace): Promise<Look> {
  const made = isFork ? undefined : await memory.seeding;
  const seeded = made?.ok ? made.stamp : '';
  if (!isFork) memory.seeding = undefined;
  const isStale = seeded !== '' && seeded !== (await stampOfIndex(own.repository));
  if (isStale) await rm(join(own.folder, 'index'), { force: true });
  if (isFork && existsSync(seedOf(own.folder))) await recordNothingIgnored(own); // before the seed goes
  const unread = await initIndex(own, isFork);
  if (unread !== undefined) return { unread, seeded: '' };
  if (!isFork) memory.sparse = await markSparse(own, memory.sparse);
  return { seeded: isStale ? '' : seeded, listed: await listFiles(own) };
}

/** Nothing is staged, so our index, which was made of the user's, holds the tree of HEAD. */
async function heldByHead({ own }: SavePlace, seeded: string): Promise<Held | undefined> {
  if (seeded === '' || seeded !== (await stampOfIndex(own.repository))) return undefined;
  const tree = await revision(own.store, `${own.head}^{tree}`);
  return tree === '' ? undefined : heldNow(own, tree, true);
}

interface Parts {
  /** What is the last that is made. */
  readonly until: 'tree' | 'commit' | 'ref';
  readonly ref: string;
  readonly message: string;
}

type Outcome = Omit<Made, 'recorded'> | Refusal | undefined;

/**
 * Files come and go meanwhile: what fails is scanned again, and what fails always is left out and listed. Undefined: the
 * index is of no use.
 */
async function scanAndWrite(place: SavePlace, ignored: ReadonlySet<string>, listed?: Listed): Promise<Outcome> {
  const { own, memory } = place;
  const limits = { ...limitsByDefault, ...place.limits };
  const forced = async (areRulesChanged: boolean): Promise<readonly string[]> => {
    memory.forced = await forcedPaths(own, areRulesChanged ? undefined : (memory.forced ?? forcedInSeed(own)));
    return memory.forced.paths;
  };
  const stubborn = new Set<string>();
  let known = listed;
  for (let attempt = 1; ; attempt += 1) {
    const found = await scan(own, { forced, ignored, limits, isCareful: attempt > 1 }, known);
    known = undefined;
    if (found === undefined || !found.ok) return found;
    const isStubborn = (path: string) => stubborn.has(toText(path));
    const update = found.update.filter(path => !isStubborn(path));
    const gone = [...found.drop, ...found.update.filter(isStubborn)];
    const isSlight = found.isSlight && gone.length === 0;
    const written = (isSlight && (await writeSlight(place, update))) || (await writeAll(place, update, gone));
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
async function writeSlight({ own, memory, until }: SavePlace, edited: readonly string[]): Promise<Tree | undefined> {
  memory.held = await treeHeld(own, memory.held);
  const { held } = memory;
  if (held === undefined || (!held.isKept && until !== 'tree')) return undefined;
  const tree = await editedTree(own, held, edited);
  return tree === undefined ? undefined : { ok: true, tree };
}

async function writeAll({ own, memory }: SavePlace, update: readonly string[], gone: readonly string[]): Promise<Tree> {
  const made = (await drop(own, gone)) ?? (await treeThroughIndex(own, update));
  if (made.ok) memory.held = await heldNow(own, made.tree, false);
  return made;
}

/** Undefined: an object that the index names is gone. */
const giveUp = ({ step, why }: Failed): Refusal | undefined =>
  step === 'tree' && !isFull(why) ? undefined : failed(`git cannot write the ${step}`, why);

/** The index is ours and holds nothing that could not be found out again. */
async function withNewIndex(place: SavePlace, ignored: ReadonlySet<string>): Promise<Outcome> {
  await rm(join(place.own.folder, 'index'), { force: true });
  const unread = await initIndex(place.own, place.isFork);
  return unread === undefined ? scanAndWrite(place, ignored) : failed('git cannot read the index', unread);
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
type Tree = { readonly ok: true; readonly tree: string } | Failed;
type Written = { readonly ok: true; readonly commit: string } | Failed;

const hashMsMax = 600_000;

/**
 * The parent is the user's commit, not the last checkpoint, so that each can be freed alone; a new repository has none.
 * The ref comes last.
 */
async function writeCheckpoint(own: PrivateGit, tree: string, parts: Parts): Promise<Written> {
  const { store } = own;
  if (parts.until === 'tree') return { ok: true, commit: '' };
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
  return set.ok ? { ok: true, commit: made.name } : failedAt('ref', set.problem);
}

const failedAt = (step: Step, why: string): Failed => ({ ok: false, step, why });

/** One call, so that nobody waits between the two gits. */
async function treeThroughIndex(own: PrivateGit, update: readonly string[]): Promise<Tree> {
  const taken = 'git update-index -z --add --remove --replace --stdin || { printf files; exit 1; }';
  const written = `git write-tree ${own.isPartial ? '--missing-ok' : ''} </dev/null`;
  const made = await gitScript(own.place, update.length === 0 ? written : `${taken}; ${written}`, {
    input: toInput(update),
    timeMsMax: hashMsMax,
  });
  const said = made.output.toString('latin1').trim();
  return made.code === 0 ? { ok: true, tree: said } : failedAt(said === 'files' ? 'files' : 'tree', whyOf(made));
}

const whyOf = (ended: Collected): string => ended.errors.trim() || complaint(ended);
