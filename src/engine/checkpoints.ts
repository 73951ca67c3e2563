// Checkpoints of the work with their records, restores, commits of what is done, and unfinished work that is set aside.

import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { type Head, madeLabel } from '../core/event.ts';
import type { Displaced } from '../core/input.ts';
import { type CheckpointDue, type State, setsAside } from '../core/state.ts';
import { findTask, proofWords, type Task, type WorkSpan } from '../core/task.ts';
import type { Checkpoints, Exchanged, Span } from '../git/checkpoints.ts';
import type { CommitSubject } from '../git/commits.ts';
import { redactDeep } from '../secrets/redactor.ts';
import { Bug } from '../text/errors.ts';
import { checkpointRecord, recordText, type VerifiedRecord, verifyRecord } from '../views/checkpoint-record.ts';
import { restoreExclusions } from '../views/checkpoints.ts';
import { type EffectContext, noGit, type Perform } from './engine.ts';

const filesMax = 200;

const told = ({ problem, fix }: { readonly problem: string; readonly fix?: string }): string =>
  fix === undefined ? problem : `${problem} ${fix}`;

// The place of work is looked at before anything is saved, merged or committed in it: is HEAD where the loop left it?

/** The loop begins, goes on after a pause, or has just merged: from here on HEAD must stand where it stands. */
const anew: readonly CheckpointDue['kind'][] = ['start', 'switched-on', 'user-edits', 'merge'];

/** What a person asked for themselves, or what only puts files back, is done wherever they are. */
const anywhere: readonly CheckpointDue['kind'][] = ['by-hand', 'before-restore', 'after-restore'];

interface Looked {
  readonly displaced?: Displaced;
  /** To be remembered. */
  readonly head?: Head | undefined;
}

/** What must be said of the place before this checkpoint is made. That of a task's fork is none of the branch's. */
async function lookBeforeSaving(context: EffectContext, { kind, task }: CheckpointDue): Promise<Looked> {
  const { settings } = context.state;
  if (anywhere.includes(kind) || (settings.worktreePerTask && task !== undefined)) return {};
  // Between two stretches of work a person may rewrite their branch: it is the same one.
  const looked = await look(context, kind === 'user-edits');
  return anew.includes(kind) ? looked : { displaced: looked.displaced };
}

export async function look({ engine, state }: EffectContext, mayBeRewritten = false): Promise<Looked> {
  const { branch } = engine;
  if (branch === undefined || !isWatched(state)) return {};
  const now = await branch.head();
  if (now === undefined) return remade(engine.remake, state);
  const known = state.checkpoints.head;
  if (known === undefined) return { head: now };
  const isHere = now.ref === known.ref && (mayBeRewritten || (await branch.holds(now.commit, known.commit)));
  return isHere ? { head: now } : { displaced: { type: 'moved', from: known, to: now } };
}

/** Without commits nothing can land anywhere; a worktree of the loop's own is watched all the same. */
const isWatched = ({ settings, loop }: State): boolean => settings.commits || loop.branch !== undefined;

async function remade(remake: EffectContext['engine']['remake'], state: State): Promise<Looked> {
  if (remake === undefined || state.loop.branch === undefined) return {};
  const problem = await remake(state);
  return { displaced: { type: 'remade', problem } };
}

/** The branch on which alone a commit may land; empty: on none. Undefined: it was never looked. */
const branchOf = ({ loop, checkpoints: { head } }: State): string | undefined =>
  loop.branch ?? head?.ref.replace(/^refs\/heads\//, '');

export const checkpoint: Perform<'checkpoint'> = async ({ number, due }, context) => {
  const { engine, state, post, anchor } = context;
  const { checkpoints } = engine;
  if (checkpoints === undefined) return post({ type: 'checkpoint-failed', problem: told(noGit) });
  const { kind, label, iteration, task } = due;
  const { displaced, head: headNow } = await lookBeforeSaving(context, due);
  if (displaced !== undefined && state.control.stop === undefined) return post({ type: 'displaced', found: displaced });
  if (number === 1) await engine.source.instructions(); // may write them: that is nobody's work
  const head = `${anchor.sequence} ${anchor.hash}`;
  const isUserEdit = kind === 'user-edits' || kind === 'before-restore';
  const userEditsSince = isUserEdit ? state.checkpoints.latest?.tree : undefined;
  const saved = await checkpoints.save({ number, iteration, kind, label, anchor: head, task, userEditsSince });
  if (!saved.ok) return post({ type: 'checkpoint-failed', problem: told(saved) });
  const { ref, commit, tree, skipped } = saved;
  const span: readonly Span[] =
    state.checkpoints.latest === undefined ? [] : [{ from: state.checkpoints.latest.tree, to: tree }];
  const changes = state.settings.worktreePerTask ? [] : await checkpoints.changes(span);
  const documentHash = kind === 'user-edits' ? await engine.source.hashNow?.() : undefined;
  const paths = changes.map(one => one.path);
  const id = engine.clock.id();
  const { live } = state;
  const { last: lastIteration, toolCalls } = state.iterations;
  const performer = [...live, lastIteration].find(one => one?.iteration === iteration)?.performer;
  const record = checkpointRecord(state, {
    checkpoint: id,
    number,
    label: madeLabel(state, due, { files: paths, documentHash }),
    at: engine.clock.now(),
    iteration,
    task,
    performer,
    saved: { ref, commit, tree, skipped },
    anchor,
    changes,
    toolCalls,
    lastChecks: Object.entries(state.claims.lastChecks).map(([check, one]) => ({ check, ...one })),
  });
  const text = recordText(redactDeep(record, engine.redact));
  await engine.records?.write(number, text);
  const left = skipped.length === 0 ? undefined : skipped.map(one => one.path);
  post({
    type: 'checkpointed',
    mark: { checkpoint: id, number, commit, tree, left },
    ref,
    sha256: sha256Of(text),
    skipped,
    documentHash,
    files: paths.length === 0 ? undefined : paths.slice(0, filesMax),
    head: displaced === undefined ? headNow : undefined,
  });
};

export const restore: Perform<'restore'> = async ({ due }, { engine, state, post }) => {
  const nothing = { written: 0, deleted: 0, merged: [], kept: [] };
  const { to, base, now, overwrite } = due;
  const refuse = (refused: string): void => post({ type: 'restored', ...nothing, refused });
  if (base === undefined || now === undefined) return refuse('This folder has no history.');
  if (engine.checkpoints === undefined) return refuse(noGit.problem);
  const [except, left] = [restoreExclusions(state), to.left ?? []];
  const order = { to: to.commit, base: base.commit, now: now.commit, overwrite, except, left };
  const restored = await engine.checkpoints.restore(order);
  if (!restored.ok) {
    const list = restored.conflicts.slice(0, 20).join(', ');
    return refuse(list === '' ? restored.problem : `${restored.problem} ${list}`);
  }
  const { written, deleted, merged, kept } = restored;
  post({ type: 'restored', written: written.length, deleted: deleted.length, merged, kept });
};

/** What the commit of a task says instead of that the loop did it. */
function fateOf(task: Task | undefined, iteration: number): Pick<CommitSubject, 'fate' | 'body'> {
  if (task?.status === 'skipped') return { fate: 'left out', body: 'Left out: nobody works on it.' };
  if (task?.status === 'done') return { body: task.closedBy && `Done by ${task.closedBy}, unverified.` };
  return { fate: 'progress', body: `What was there after iteration ${iteration}. The task is not done yet.` };
}

export const commit: Perform<'commit'> = async ({ task, iteration }, context) => {
  const { engine, state, post } = context;
  const done = { task, iteration, commit: '', paths: 0, left: [] as readonly string[] };
  const failed = (why: { readonly problem: string; readonly fix?: string }): void =>
    post({ type: 'committed', ...done, failed: `not committed: ${told(why)}` });
  if (engine.commits === undefined) return failed(noGit);
  const { displaced } = await look(context);
  if (displaced !== undefined && state.control.stop === undefined) return post({ type: 'displaced', found: displaced });
  if (displaced !== undefined) return failed({ problem: 'HEAD is not where this loop left it.' });
  const found = findTask(state.tasks, task);
  const { id: loop, document } = state.loop;
  const branch = branchOf(state);
  // Of what was left out only its mark in the document is committed.
  const isSkipped = found?.status === 'skipped';
  const whose = [...state.checkpoints.uncommitted, ...(isSkipped ? [] : [task])];
  const spans = whose.flatMap(id => findTask(state.tasks, id)?.spans ?? []);
  const { fate, body } = fateOf(found, iteration);
  const proof = found?.status === 'done' ? proofWords(found) : undefined;
  const order = { loop, task, title: found?.spec.title ?? '', iteration, spans, document, branch, body, proof, fate };
  const made = await engine.commits.commit(order);
  if (!made.ok) return failed(made);
  const { commit: name, head, paths, left } = made;
  post({ type: 'committed', ...done, commit: name, head, paths: paths.length, left });
};

// Unfinished work of a task leaves the files that all tasks share, and comes back.

const namedMax = 20;

/** Backwards: the last part first. */
const undone = (spans: readonly WorkSpan[]): readonly WorkSpan[] =>
  spans.map(({ from, to }) => ({ from: to, to: from })).reverse();

const exchanged = (checkpoints: Checkpoints, { state }: EffectContext, spans: readonly WorkSpan[]) =>
  checkpoints.exchange({ spans, except: restoreExclusions(state), left: state.checkpoints.latest?.left });

/** Where the agent committed its unfinished work itself, another commit takes it back. The name of that, or nothing. */
async function revert({ engine, state }: EffectContext, task: Task, done: Exchanged): Promise<string> {
  const last = task.spans?.at(-1);
  if (!done.ok || last === undefined || !state.settings.commits || engine.commits === undefined) return '';
  const { id: loop } = state.loop;
  const branch = branchOf(state);
  const about = {
    loop,
    task: task.id,
    title: task.spec.title,
    iteration: state.iterations.begun,
    fate: 'set aside' as const,
    body: 'Takes back what was committed for it: it is not finished.',
  };
  const spans = [{ from: last.to, to: done.tree }];
  const made = await engine.commits.commit({ ...about, spans, document: '', branch });
  return made.ok ? made.commit : '';
}

export const setAside: Perform<'set-aside'> = async ({ task: id, returns }, context) => {
  const { engine, state, post } = context;
  const { latest } = state.checkpoints;
  const task = findTask(state.tasks, id);
  if (task?.spans === undefined || latest === undefined) return;
  const { number: checkpoint, commit } = latest;
  const facts = { type: 'set-aside' as const, task: id, checkpoint, commit, returns };
  const failed = (problem: string): void =>
    post({ ...facts, paths: [], count: 0, kept: task.touched ?? [], reverted: '', failed: problem });
  if (engine.checkpoints === undefined) return failed(noGit.problem);
  const done = await exchanged(engine.checkpoints, context, undone(task.spans));
  if (!done.ok) return failed(done.problem);
  const { paths, kept } = done;
  const reverted = await revert(context, task, done);
  const named = { paths: paths.slice(0, namedMax), kept: kept.slice(0, namedMax) };
  post({ ...facts, ...named, count: paths.length, reverted });
};

export const giveBack: Perform<'give-back'> = async ({ task: id }, context) => {
  const { engine, state, post } = context;
  const aside = findTask(state.tasks, id)?.aside;
  if (aside === undefined) return;
  const failed = (problem: string): void =>
    post({ type: 'given-back', task: id, count: 0, kept: aside.paths, failed: problem });
  if (engine.checkpoints === undefined) return failed(noGit.problem);
  const done = await exchanged(engine.checkpoints, context, aside.spans);
  if (!done.ok) return failed(done.problem);
  post({ type: 'given-back', task: id, count: done.paths.length, kept: done.kept.slice(0, namedMax) });
};

/** Paths that only crashed attempts at the task touched; no other part of its work. */
async function crashedOnly(checkpoints: Checkpoints, spans: readonly WorkSpan[]): Promise<readonly string[]> {
  const crashed = spans.filter(one => one.crashed);
  if (crashed.length === 0 || crashed.length === spans.length) return [];
  const others = await checkpoints.changes(spans.filter(one => !one.crashed));
  const touched = new Set(others.map(({ path }) => path));
  return (await checkpoints.changes(crashed)).map(({ path }) => path).filter(path => !touched.has(path));
}

/** What only crashed attempts left, and how to do without it. */
interface HalfWork {
  readonly paths: readonly string[];
  /** The paths; undefined: it cannot be done. */
  readonly exchange: (which: 'out' | 'in') => Promise<readonly string[] | undefined>;
}

/** Undefined: there is none, or all tasks have files of their own. It is in the files when this returns. */
export async function halfWorkOf(context: EffectContext, id: string): Promise<HalfWork | undefined> {
  const { engine, state } = context;
  const { checkpoints } = engine;
  const spans = findTask(state.tasks, id)?.spans ?? [];
  if (checkpoints === undefined || !setsAside(state)) return undefined;
  const only = await crashedOnly(checkpoints, spans);
  if (only.length === 0) return undefined;
  const crashed = spans.filter(one => one.crashed);
  const exchange = async (which: 'out' | 'in'): Promise<readonly string[] | undefined> => {
    const order = { except: restoreExclusions(state), left: state.checkpoints.latest?.left, only };
    const done = await checkpoints.exchange({ ...order, spans: which === 'in' ? crashed : undone(crashed) });
    return done.ok && done.kept.length === 0 ? done.paths : undefined;
  };
  const paths = (await exchange('in')) ?? []; // Ralph may have been killed while it was out
  return paths.length === 0 ? undefined : { paths, exchange };
}

const bytesMax = 4 * 1024 * 1024; // a record has bounds of its own, far below this

export const sha256Of = (text: string): string => hash('sha256', text);

// Records of checkpoints: files in the loop's folder that the ledger's hash proves.

function recordPath(folder: string, number: number): string {
  if (!Number.isSafeInteger(number) || number < 0) throw new Bug(`no checkpoint has the number ${number}`);
  return join(folder, 'checkpoints', `${number}.json`);
}

/** Gives the SHA-256 for the ledger. Throws the system's error, as every write into the loop's folder does. */
export async function writeRecord(folder: string, number: number, redactedText: string): Promise<string> {
  const path = recordPath(folder, number);
  await mkdir(join(folder, 'checkpoints'), { recursive: true, mode: 0o700 });
  await writeFileAtomic(path, '', {
    mode: 0o600,
    fsync: false,
    // Written and synced here, because write-file-atomic takes a short write on a full disk for a whole one.
    async tmpfileCreated(temporary: string) {
      const handle = await open(temporary, 'r+');
      try {
        await handle.writeFile(redactedText, 'utf8');
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
  });
  return sha256Of(redactedText);
}

/** A checkpoint as the ledger lists it. */
export interface RecordRow {
  readonly number: number;
  readonly sha256: string;
}

const problems: Readonly<Record<string, string>> = {
  ENOENT: 'its file is missing',
  ELOOP: 'its file is a link',
};

/** Only what the ledger's hash proves; never waits for a pipe, never follows a link. */
export async function readRecord(folder: string, { number, sha256 }: RecordRow): Promise<VerifiedRecord> {
  const path = recordPath(folder, number);
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return { ok: false, problem: 'its file is no file' };
      if (stats.size > bytesMax) return { ok: false, problem: 'its file is too large to be a record' };
      return verifyRecord(await handle.readFile('utf8'), sha256, sha256Of);
    } finally {
      await handle.close();
    }
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    return { ok: false, problem: problems[code] ?? `its file cannot be read: ${message}` };
  }
}

/** The number of the newest record that is whole. Reads no more files than it must; of two rows with one number the later holds. */
export async function newestVerified(folder: string, rows: readonly RecordRow[]): Promise<number | undefined> {
  const hashes = new Map(rows.map(row => [row.number, row.sha256]));
  for (const [number, sha256] of [...hashes].sort(([a], [b]) => b - a)) {
    if ((await readRecord(folder, { number, sha256 })).ok) return number;
  }
  return undefined;
}
