// Checkpoints of the work with their records, restores, and commits of what is done.

import { hash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open } from 'node:fs/promises';
import { join } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { proofWords } from '../core/proof-level.ts';
import { findTask } from '../core/task.ts';
import type { Span } from '../git/checkpoints.ts';
import { redactDeep } from '../secrets/redactor.ts';
import { Bug } from '../text/errors.ts';
import { checkpointRecord, recordText, type VerifiedRecord, verifyRecord } from '../views/checkpoint-record.ts';
import { restoreExclusions } from '../views/checkpoints.ts';
import { noGit, type Perform } from './engine.ts';

const filesMax = 200;

const told = ({ problem, fix }: { readonly problem: string; readonly fix?: string }): string =>
  fix === undefined ? problem : `${problem} ${fix}`;

export const checkpoint: Perform<'checkpoint'> = async ({ number, due }, { engine, state, post, anchor }) => {
  const { checkpoints } = engine;
  if (checkpoints === undefined) return post({ type: 'checkpoint-failed', problem: told(noGit) });
  const { kind, label, iteration, task } = due;
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
  const id = engine.clock.id();
  const { live } = state;
  const { last: lastIteration, toolCalls } = state.iterations;
  const performer = [...live, lastIteration].find(one => one?.iteration === iteration)?.performer;
  const record = checkpointRecord(state, {
    checkpoint: id,
    number,
    label,
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
    files: changes.length === 0 ? undefined : changes.slice(0, filesMax).map(one => one.path),
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

export const commit: Perform<'commit'> = async ({ task, iteration }, { engine, state, post }) => {
  const done = { task, iteration, commit: '', paths: 0, left: [] as readonly string[] };
  const failed = (why: { readonly problem: string; readonly fix?: string }): void =>
    post({ type: 'committed', ...done, failed: `not committed: ${told(why)}` });
  if (engine.commits === undefined) return failed(noGit);
  const found = findTask(state.tasks, task);
  const { id: loop, document, branch } = state.loop;
  // Of what was left out only its mark in the document is committed.
  const isSkipped = found?.status === 'skipped';
  const whose = [...state.checkpoints.uncommitted, ...(isSkipped ? [] : [task])];
  const spans = whose.flatMap(id => findTask(state.tasks, id)?.spans ?? []);
  const body = isSkipped
    ? 'Left out: nobody works on it.'
    : found?.closedBy && `Done by ${found.closedBy}, unverified.`;
  const proof = found?.status === 'done' ? proofWords(found) : undefined;
  const order = { loop, task, title: found?.spec.title ?? '', iteration, spans, document, branch, body, proof };
  const made = await engine.commits.commit(order);
  if (!made.ok) return failed(made);
  post({ type: 'committed', ...done, commit: made.commit, paths: made.paths.length, left: made.left });
};

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
