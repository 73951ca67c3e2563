// What checks, merges, checkpoints, restores and commits do to the state.

import type { CheckpointMark, EventOf } from '../event.ts';
import { remember } from '../memory.ts';
import { type CheckpointDue, clocked, nothingReported, type State, unsaved, withDue, withTask } from '../state.ts';
import { allTasks, setTask, type Task } from '../task.ts';

function claimRefused(state: State, iteration: number, task: string, rejection: string, claimFailed: boolean): State {
  const without = { ...state, claims: state.claims.filter(claim => claim.iteration !== iteration) };
  const refused = withTask(without, task, one => ({
    ...one,
    rejection,
    claimFailed,
    status: one.status === 'active' ? 'pending' : one.status,
  }));
  return { ...unsaved(refused, task), memory: remember(refused.memory, 'errors', rejection) };
}

export function checkEnded(state: State, event: EventOf<'check.ended'>): State {
  const { check, passed, iteration, task } = event;
  const ticking = { ...clocked(state, event.at), lastChecks: { ...state.lastChecks, [check]: { passed, iteration } } };
  if (!passed) return claimRefused(ticking, iteration, task, `${event.because}\n${event.detail}`, true);
  if (event.remaining > 0 || !ticking.settings.worktreePerTask) return ticking;
  return toMerge(ticking, iteration);
}

const toMerge = (state: State, iteration: number): State => ({
  ...state,
  claims: state.claims.map(claim => (claim.iteration === iteration ? { ...claim, stage: 'merge' } : claim)),
});

export function workScreened(state: State, event: EventOf<'proof.screened'>): State {
  const { iteration, task, because } = event;
  // The work was done and waits for a person: that is no standstill.
  if (event.refused) {
    const sinceProgress = Math.max(0, state.sinceProgress - 1);
    return claimRefused({ ...state, sinceProgress }, iteration, task, because, true);
  }
  return state.settings.checks.length === 0 && state.settings.worktreePerTask ? toMerge(state, iteration) : state;
}

const acceptedMax = 500;

/** The claim stands again, and is checked again: the tree may have changed since. */
export function workAccepted(state: State, { task, iteration, findings }: EventOf<'work.accepted'>): State {
  const claimed = withTask(state, task, ({ rejection: _old, ...one }) => ({ ...one, status: 'active' }));
  const accepted = [...new Set([...state.accepted, ...findings])].slice(-acceptedMax);
  return { ...claimed, accepted, claims: [...claimed.claims, { iteration, task, performer: '', stage: 'check' }] };
}

/** What could not be committed goes with the next commit. */
export function workCommitted(state: State, { task, failed }: EventOf<'work.committed'>): State {
  const commitsDue = state.commitsDue.filter(one => one.task !== task);
  if (failed !== undefined) return { ...state, commitsDue, uncommitted: [...new Set([...state.uncommitted, task])] };
  let committed = state;
  // Of a task that is not done yet everything is still to be looked at when it is claimed.
  const closed = (one: Task): Task => (one.status === 'done' ? withoutSpans(one) : one);
  for (const id of [...state.uncommitted, task]) committed = withTask(committed, id, closed);
  return { ...committed, commitsDue, uncommitted: [] };
}

export function mergeEnded(state: State, event: EventOf<'merge.ended'>): State {
  const ticking = clocked(state, event.at);
  const { iteration, task, merged, because } = event;
  if (!merged) return claimRefused(ticking, iteration, task, because, false);
  return state.settings.checkpoints
    ? withDue(ticking, { kind: 'merge', label: `after the merge of ${task}`, iteration })
    : ticking;
}

/** While nobody worked a person may have edited files: they are saved as theirs before the work goes on. */
export function withTheirs(state: State): State {
  const { settings, newest, live, claims, checkpointsDue, restoreDue, ended } = state;
  const isQuiet = live.length + claims.length + checkpointsDue.length === 0 && restoreDue === undefined && !ended;
  if (!settings.checkpoints || settings.worktreePerTask || newest === undefined || !isQuiet) return state;
  return withDue(state, { kind: 'user-edits', label: 'what you changed meanwhile', iteration: state.iterations });
}

/** What a person had before the loop touched anything. */
export function firstCheckpoint(state: State): State {
  if (!state.settings.checkpoints) return state;
  return { ...state, checkpointsDue: [{ kind: 'start', label: 'before iteration 1', iteration: 0 }] };
}

export function settingsChanged(state: State, event: EventOf<'limits.changed'>): State {
  const settings = { ...state.settings, ...event.settings, limits: { ...state.settings.limits, ...event.limits } };
  if (!settings.checkpoints) {
    // Without trees there is neither anything to commit nor anything to look at.
    const bare = { ...settings, commits: false, tamperScreen: false, rollbackAfter: null };
    return { ...state, settings: bare, checkpointsDue: [], commitsDue: [] };
  }
  const isNew = !state.settings.checkpoints && state.newest === undefined;
  const due: CheckpointDue = {
    kind: 'switched-on',
    label: 'checkpoints were switched on',
    iteration: state.iterations,
  };
  return { ...state, settings, checkpointsDue: isNew ? [...state.checkpointsDue, due] : state.checkpointsDue };
}

export function withoutSpans({ spans: _spans, since: _since, ...task }: Task): Task {
  return task;
}

const spansMax = 50;

/** Iterations in a row make one span; very many spans become one that is too wide rather than a list without end. */
function withSpan(task: Task, from: string, to: string): Task {
  const spans = task.spans ?? [];
  const last = spans.at(-1);
  if (last !== undefined && last.to === from) return { ...task, spans: [...spans.slice(0, -1), { ...last, to }] };
  if (spans.length < spansMax) return { ...task, spans: [...spans, { from, to }] };
  return { ...task, spans: [{ from: spans[0]?.from ?? from, to }] };
}

const isGoodEnd = ({ outcome }: CheckpointDue): boolean =>
  outcome === undefined || ['succeeded', 'handed-off', 'escalated'].includes(outcome);

export function checkpointMade(state: State, event: EventOf<'checkpoint.made'>): State {
  const { checkpoint, number, commit, tree, left, task, fork } = event;
  const [due, ...checkpointsDue] = state.checkpointsDue;
  const mark: CheckpointMark = { checkpoint, number, commit, tree, left };
  const made: State = { ...state, checkpointsDue, checkpointsMade: Math.max(state.checkpointsMade, number) };
  if (fork)
    return task === undefined ? made : withTask(made, task, one => ({ ...one, spans: [{ from: '', to: tree }] }));
  const before = state.newest;
  // One by hand in the middle of an iteration holds a part of its work.
  const worker = task ?? (state.settings.worktreePerTask ? undefined : state.live[0]?.task);
  const isWork = worker !== undefined && before !== undefined && before.tree !== tree;
  const worked = isWork
    ? withTask(made, worker, one => ({
        ...withSpan(one, before.tree, tree),
        since: one.spans === undefined ? before.number : (one.since ?? before.number),
      }))
    : made;
  // Where one task takes many iterations, a changed tree is progress, unless the words go round in circles.
  const isStep = isWork && state.settings.mode === 'prompt' && state.repetition === undefined;
  const isQuiet = state.live.length === 0 && state.errorsInRow === 0;
  const isGood = due !== undefined && due.kind !== 'before-restore' && isGoodEnd(due) && isQuiet;
  const restore = worked.restoreDue;
  return {
    ...worked,
    lastCheckpoint: checkpoint,
    first: state.first ?? mark,
    newest: mark,
    sinceProgress: isStep ? 0 : worked.sinceProgress,
    good: isGood ? mark : (state.good ?? mark),
    restoreDue: due?.kind === 'before-restore' && restore ? { ...restore, base: before ?? mark, now: mark } : restore,
  };
}

/** Claims about work that is to be undone are void. */
export function restoreAsked(state: State, event: EventOf<'restore.asked'>): State {
  const { to, by, because, overwrite = false, tasks } = event;
  let freed = state;
  for (const { task } of state.claims) {
    const open = withTask(freed, task, one => ({ ...one, status: one.status === 'active' ? 'pending' : one.status }));
    freed = unsaved(open, task); // the claim may stand in the document
  }
  const due: CheckpointDue = { kind: 'before-restore', label: 'before a restore', iteration: state.iterations };
  return {
    ...freed,
    claims: [],
    checkpointsDue: [...state.checkpointsDue, due],
    restoreDue: { to, by, because, overwrite, tasks },
  };
}

/** What a task did before the checkpoint that came back is still there; what it did afterwards is gone. */
function spanTo(task: Task, { number, tree }: CheckpointMark): Task {
  const from = task.spans?.[0]?.from;
  const isThere = from !== undefined && from !== '' && from !== tree && (task.since ?? number) < number;
  return isThere && task.status !== 'done' ? { ...task, spans: [{ from, to: tree }] } : withoutSpans(task);
}

export function checkpointRestored(state: State, event: EventOf<'checkpoint.restored'>): State {
  const { restoreDue, ...rest } = state;
  if (event.refused !== undefined || restoreDue === undefined) return { ...rest };
  const { report: _report, handoff: _handoff, refusal: _refusal, repetition: _repetition, ...cleared } = rest;
  let { tasks } = cleared;
  for (const task of allTasks(tasks)) if (task.spans !== undefined) tasks = setTask(tasks, spanTo(task, restoreDue.to));
  const differs = event.kept.length + event.merged.length > 0;
  const due: CheckpointDue = { kind: 'after-restore', label: 'after a restore', iteration: state.iterations };
  return {
    ...cleared,
    tasks,
    echoes: [],
    reported: nothingReported,
    commitsDue: [],
    uncommitted: [],
    restores: state.restores + 1,
    newest: restoreDue.to,
    good: restoreDue.to,
    lastCheckpoint: restoreDue.to.checkpoint,
    checkpointsDue: differs ? [...state.checkpointsDue, due] : state.checkpointsDue,
  };
}
