// Folds of checks, merges, checkpoints, restores and commits.

import { type CheckpointMark, type EventOf, nobody, noIteration } from '../event.ts';
import { refusalEntry, remember, withConflict, withRefusal, withTree } from '../memory.ts';
import {
  type CheckpointDue,
  markUnsaved,
  nothingReported,
  queueCheckpoint,
  type State,
  setsAside,
  update,
  withTask,
} from '../state.ts';
import { allTasks, findTask, type ProofLevel, setTask, type Task, type WorkSpan } from '../task.ts';
import { resets, withProgress } from './streaks.ts';

/** A task that was worked on or claimed is open again. */
export const released = (task: Task): Task => ({ ...task, status: task.status === 'active' ? 'pending' : task.status });

type Proof = EventOf<'check.ended' | 'proof.screened' | 'merge.ended'>;

function claimRefused(state: State, { iteration, task }: Proof, rejection: string, claimFailed: boolean): State {
  const open = state.claims.open.filter(claim => claim.iteration !== iteration);
  const refused = withTask(update(state, 'claims', { open }), task, one => ({
    ...released(one),
    rejection,
    claimFailed,
    refusedClaims: state.settings.policy.setsAside ? (one.refusedClaims ?? 0) + 1 : undefined,
  }));
  return { ...markUnsaved(refused, task), memory: remember(refused.memory, 'errors', refusalEntry(rejection)) };
}

export function checkEnded(state: State, event: EventOf<'check.ended'>): State {
  const { check, passed, iteration, tests } = event;
  const { testsProven } = state.claims.lastChecks[check] ?? {};
  const lastChecks = { ...state.claims.lastChecks, [check]: { passed, iteration, tests, testsProven } };
  const checked = update(state, 'claims', { lastChecks });
  if (!passed) {
    const { echo, times, task } = event;
    const told = withRefusal(checked, event);
    const counted = event.progress ? withProgress(told, event.task) : told;
    const refused = claimRefused(counted, event, `${event.because}\n${event.detail}`, true);
    if (echo === undefined || times === undefined) return refused;
    return withTask(refused, task, one => ({ ...one, refusal: { echo, times } }));
  }
  return event.remaining > 0 || !state.settings.worktreePerTask ? checked : toMerge(checked, iteration, event.level);
}

type LastChecks = State['claims']['lastChecks'];

const eachCheck = (checks: LastChecks, fold: (one: LastChecks[string]) => LastChecks[string]): LastChecks =>
  Object.fromEntries(Object.entries(checks).map(([check, one]) => [check, fold(one)]));

/** A closed task: from now on as many tests as ran for it are those that were there before. */
export const testsProven = (checks: LastChecks, iteration: number): LastChecks =>
  eachCheck(checks, one =>
    one.iteration === iteration && one.passed && one.tests !== undefined ? { ...one, testsProven: one.tests } : one,
  );

/** Files went back or aside, and tests with them. */
export const testsForgotten = (checks: LastChecks): LastChecks =>
  eachCheck(checks, ({ testsProven: _, ...one }) => one);

const toMerge = (state: State, iteration: number, level?: ProofLevel): State =>
  update(state, 'claims', {
    open: state.claims.open.map(claim => (claim.iteration === iteration ? { ...claim, stage: 'merge', level } : claim)),
  });

export function workScreened(state: State, event: EventOf<'proof.screened'>): State {
  // The work was done and waits for a person: that is no standstill.
  if (event.refused) {
    const sinceProgress = Math.max(0, state.streaks.sinceProgress - 1);
    return claimRefused(update(state, 'streaks', { sinceProgress }), event, event.because, true);
  }
  const { checks, worktreePerTask } = state.settings;
  return checks.length === 0 && worktreePerTask ? toMerge(state, event.iteration) : state;
}

const acceptedMax = 500;

/** The claim stands again, and is checked again: the tree may have changed since. */
export function workAccepted(state: State, { task, iteration, findings }: EventOf<'work.accepted'>): State {
  const claimed = withTask(state, task, one => ({
    ...one,
    rejection: undefined,
    status: 'active',
    aside: one.aside && { ...one.aside, returns: true },
  }));
  const acceptedFindings = [...new Set([...state.claims.acceptedFindings, ...findings])].slice(-acceptedMax);
  const open = [...state.claims.open, { iteration, task, performer: nobody, stage: 'check' as const }];
  return update(claimed, 'claims', { acceptedFindings, open });
}

/** What could not be committed goes with the next commit. */
export function workCommitted(before: State, { task, failed, documentLeft, head }: EventOf<'work.committed'>): State {
  const known = before.checkpoints.head;
  const isFurther = known !== undefined && head !== undefined;
  const state = isFurther ? update(before, 'checkpoints', { head: { ...known, commit: head } }) : before;
  const commitsDue = state.checkpoints.commitsDue.filter(one => one.task !== task);
  const uncommitted = [...new Set([...state.checkpoints.uncommitted, task])];
  if (failed !== undefined) return update(state, 'checkpoints', { commitsDue, uncommitted });
  // Of a task that is not done yet everything is still to be looked at when it is claimed.
  const closed = (one: Task): Task => (one.status === 'done' ? withoutSpans(one) : one);
  const committed = uncommitted.reduce((after, id) => withTask(after, id, closed), state);
  const after = update(committed, 'checkpoints', { commitsDue, uncommitted: [] });
  return documentLeft ? update(after, 'checkpoints', { documentLeft }) : after;
}

export function mergeEnded(state: State, event: EventOf<'merge.ended'>): State {
  const { iteration, task, merged, because } = event;
  if (!merged) return claimRefused(withConflict(state, iteration, event.conflict), event, because, false);
  return state.settings.checkpoints
    ? queueCheckpoint(state, { kind: 'merge', label: `after the merge of ${task}`, iteration })
    : state;
}

/** While nobody worked a person may have edited files: these edits are saved before the work goes on. */
export function checkpointUserEdits(state: State): State {
  const { settings, live, claims, control } = state;
  const { latest, due, restoreDue } = state.checkpoints;
  const isQuiet = live.length + claims.open.length + due.length === 0 && !restoreDue && !control.ended;
  if (!settings.checkpoints || settings.worktreePerTask || latest === undefined || !isQuiet) return state;
  return queueCheckpoint(state, { kind: 'user-edits', label: 'what you changed meanwhile' });
}

/** What a person had before the loop touched anything. */
export function firstCheckpoint(state: State): State {
  if (!state.settings.checkpoints) return state;
  return update(state, 'checkpoints', {
    due: [{ kind: 'start', label: 'before iteration 1', iteration: noIteration }],
  });
}

export function settingsChanged(state: State, event: EventOf<'limits.changed'>): State {
  const limits = { ...state.settings.limits, ...event.limits };
  const isSet = event.limits.costUsdMicrosMax !== undefined;
  const costMaxIsPreset = isSet ? undefined : state.settings.costMaxIsPreset;
  const settings = { ...state.settings, ...event.settings, limits, costMaxIsPreset };
  if (!settings.checkpoints) {
    // Without trees there is neither anything to commit nor anything to look at.
    const bare = { ...settings, commits: false, tamperScreen: false, rollbackAfter: null };
    return update({ ...state, settings: bare }, 'checkpoints', { due: [], commitsDue: [] });
  }
  const isNew = !state.settings.checkpoints && state.checkpoints.latest === undefined;
  const changed = { ...state, settings };
  return isNew ? queueCheckpoint(changed, { kind: 'switched-on', label: 'checkpoints were switched on' }) : changed;
}

export const withoutSpans = (task: Task): Task => ({ ...task, spans: undefined, since: undefined, touched: undefined });

const spansMax = 50;

/** Iterations in a row make one span; very many spans become one that is too wide rather than a list without end. */
function withSpan(task: Task, span: WorkSpan): Task {
  const spans = task.spans ?? [];
  const last = spans.at(-1);
  const isNext = last !== undefined && last.to === span.from && last.crashed === span.crashed;
  if (isNext) return { ...task, spans: [...spans.slice(0, -1), { ...last, to: span.to }] };
  if (spans.length < spansMax) return { ...task, spans: [...spans, span] };
  return { ...task, spans: [{ from: spans[0]?.from ?? span.from, to: span.to }] };
}

/** No error stands open at it: a rollback may go back to it. */
function isGood({ live, streaks }: State, due: CheckpointDue | undefined): boolean {
  if (due === undefined || due.kind === 'before-restore' || live.length > 0 || streaks.errors > 0) return false;
  return due.outcome === undefined || ['succeeded', 'handed-off', 'escalated'].includes(due.outcome);
}

const touchedMax = 30;

/** Its work lies in the files, but for the document, which Ralph marks. Without a check it is done before that is saved. */
function withUnfinished(state: State, task: string, files: readonly string[]): State {
  if (findTask(state.tasks, task)?.status === 'done') return state;
  const work = files.filter(path => !state.loop.document.endsWith(`/${path}`));
  const touched = (one: Task): readonly string[] => [...new Set([...(one.touched ?? []), ...work])];
  const told = withTask(state, task, one => ({ ...one, touched: touched(one).slice(0, touchedMax) }));
  return update(told, 'checkpoints', { unfinished: task });
}

/** What the task at work changed since the checkpoint before. */
function withWork(
  state: State,
  task: string,
  before: CheckpointMark,
  { tree, files = [] }: EventOf<'checkpoint.made'>,
): State {
  // Where one task takes many iterations, a changed tree is progress, unless the words go round in circles.
  const isStep = state.settings.policy.progressBy === 'changes' && state.memory.repetition === undefined;
  const { crashed } = state.checkpoints.due[0] ?? {};
  const worked = withTask(state, task, one => ({
    ...withSpan(one, { from: before.tree, to: tree, crashed }),
    since: one.spans === undefined ? before.number : (one.since ?? before.number),
  }));
  const left = setsAside(state) ? withUnfinished(worked, task, files) : worked;
  return isStep ? update(left, 'streaks', resets.somethingNew) : left;
}

/** One by hand in the middle of an iteration holds a part of its work. */
const worker = ({ settings, live }: State, task: string | undefined): string | undefined =>
  task ?? (settings.worktreePerTask ? undefined : live[0]?.task);

export function checkpointMade(state: State, event: EventOf<'checkpoint.made'>): State {
  const { checkpoint, number, commit, tree, left, task, fork } = event;
  const [order, ...due] = state.checkpoints.due;
  const { first, latest: before, lastGood, restoreDue, head } = state.checkpoints;
  const mark: CheckpointMark = { checkpoint, number, commit, tree, left };
  const isWork = !fork && worker(state, task) !== undefined && before !== undefined && before.tree !== tree;
  const worked = isWork ? withWork(state, worker(state, task) ?? '', before, event) : state;
  const told = withTree(worked, event);
  const moved = event.progress && task !== undefined ? withProgress(told, task) : told;
  const made = update(moved, 'checkpoints', { due, made: Math.max(state.checkpoints.made, number) });
  if (fork)
    return task === undefined ? made : withTask(made, task, one => ({ ...one, spans: [{ from: '', to: tree }] }));
  const isForRestore = restoreDue !== undefined && order?.kind === 'before-restore';
  return update(made, 'checkpoints', {
    first: first ?? mark,
    latest: mark,
    head: event.head ?? head,
    lastGood: isGood(state, order) ? mark : (lastGood ?? mark),
    restoreDue: isForRestore ? { ...restoreDue, base: before ?? mark, now: mark } : restoreDue,
  });
}

/** Claims about work that is to be undone are void. */
export function restoreAsked(state: State, event: EventOf<'restore.asked'>): State {
  const { to, by, because, overwrite = false, tasks } = event;
  // The claim may stand in the document.
  const freed = state.claims.open.reduce(
    (after, { task }) => markUnsaved(withTask(after, task, released), task),
    state,
  );
  const due: CheckpointDue = { kind: 'before-restore', label: 'before a restore', iteration: state.iterations.begun };
  return update(update(freed, 'claims', { open: [] }), 'checkpoints', {
    due: [...state.checkpoints.due, due],
    restoreDue: { to, by, because, overwrite, tasks },
  });
}

/** What a task did before the checkpoint that came back is still there; what it did afterwards is gone. */
function spanTo(task: Task, { number, tree }: CheckpointMark): Task {
  const from = task.spans?.[0]?.from;
  const isThere = from !== undefined && from !== '' && from !== tree && (task.since ?? number) < number;
  return isThere && task.status !== 'done' ? { ...task, spans: [{ from, to: tree }] } : withoutSpans(task);
}

export function checkpointRestored(state: State, event: EventOf<'checkpoint.restored'>): State {
  const { restoreDue } = state.checkpoints;
  if (event.refused !== undefined || restoreDue === undefined)
    return update(state, 'checkpoints', { restoreDue: undefined });
  let { tasks } = state;
  for (const task of allTasks(tasks)) if (task.spans !== undefined) tasks = setTask(tasks, spanTo(task, restoreDue.to));
  const { unfinished = '' } = state.checkpoints;
  const back: State = {
    ...state,
    tasks,
    claims: { ...state.claims, lastChecks: testsForgotten(state.claims.lastChecks) },
    trail: [],
    checkpoints: {
      ...state.checkpoints,
      restoreDue: undefined,
      commitsDue: [],
      uncommitted: [],
      restores: state.checkpoints.restores + 1,
      latest: restoreDue.to,
      lastGood: restoreDue.to,
      unfinished: findTask(tasks, unfinished)?.spans === undefined ? undefined : unfinished,
    },
    memory: {
      ...state.memory,
      report: undefined,
      handoff: undefined,
      lastRejection: undefined,
      repetition: undefined,
      recentOutputs: [],
      reported: nothingReported,
    },
  };
  const differs = event.kept.length + event.merged.length > 0;
  return differs ? queueCheckpoint(back, { kind: 'after-restore', label: 'after a restore' }) : back;
}
