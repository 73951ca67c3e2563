// Keeps the work: makes checkpoints with their records, restores them, and commits what is done.
import { redactDeep } from '../secrets/redactor.ts';
import { findTask } from '../core/task.ts';
import type { Span } from '../git/workspace.ts';
import { checkpointRecord, recordText } from '../views/checkpoint-record.ts';
import { sparedIn } from '../views/spared.ts';
import { sha256Of } from './records.ts';
import type { Perform } from './workplace.ts';

const filesMax = 200;

export const checkpoint: Perform<'checkpoint'> = async ({ number, due }, { engine, state, post, anchor }) => {
  const { workspace } = engine;
  if (workspace === undefined) return post({ type: 'checkpoint-failed', problem: 'This folder has no history.' });
  const { label, iteration, task } = due;
  if (number === 1) await engine.source.instructions(); // may write them: that is nobody's work
  const head = `${anchor.sequence} ${anchor.hash}`;
  const foreignSince = due.foreign || due.beforeRestore ? state.newest?.tree : undefined;
  const saved = await workspace.save({ number, iteration, label, anchor: head, task, foreignSince });
  if (!saved.ok) {
    const problem = [saved.problem, saved.fix].filter(part => part !== undefined).join(' ');
    return post({ type: 'checkpoint-failed', problem });
  }
  const { ref, commit, tree, skipped } = saved;
  const span: readonly Span[] = state.newest === undefined ? [] : [{ from: state.newest.tree, to: tree }];
  const changes = state.settings.forked ? [] : await workspace.changes(span);
  const id = engine.clock.id();
  const { live, lastIteration, toolCalls } = state;
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
    lastChecks: Object.entries(state.lastChecks).map(([check, one]) => ({ check, ...one })),
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
  if (engine.workspace === undefined || base === undefined || now === undefined) {
    return post({ type: 'restored', ...nothing, refused: 'This folder has no history.' });
  }
  const order = {
    to: to.commit,
    base: base.commit,
    now: now.commit,
    overwrite,
    except: sparedIn(state),
    left: to.left ?? [],
  };
  const restored = await engine.workspace.restore(order);
  if (!restored.ok) {
    const list = restored.conflicts.slice(0, 20).join(', ');
    const refused = list === '' ? restored.problem : `${restored.problem} ${list}`;
    return post({ type: 'restored', ...nothing, refused });
  }
  const { written, deleted, merged, kept } = restored;
  post({ type: 'restored', written: written.length, deleted: deleted.length, merged, kept });
};

export const commit: Perform<'commit'> = async ({ task, iteration }, { engine, state, post }) => {
  const done = { task, iteration, commit: '', paths: 0, left: [] as readonly string[] };
  if (engine.workspace === undefined) return post({ type: 'committed', ...done, failed: 'this folder has no history' });
  const found = findTask(state.tasks, task);
  const { loop, document, branch } = state;
  const spans = [...state.uncommitted, task].flatMap(id => findTask(state.tasks, id)?.spans ?? []);
  const order = { loop, task, title: found?.title ?? '', iteration, spans, document, branch };
  const made = await engine.workspace.commit(order);
  if (!made.ok)
    return post({
      type: 'committed',
      ...done,
      failed: `not committed: ${[made.problem, made.fix].filter(part => part !== undefined).join(' ')}`,
    });
  post({ type: 'committed', ...done, commit: made.commit, paths: made.paths.length, left: made.left });
};
