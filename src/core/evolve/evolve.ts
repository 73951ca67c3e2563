// The fold: one event applied to the state, all but the part of its mode (`mode.ts`). No decisions here, only bookkeeping.

import { oneLine, takeCharacters } from '../../text/text.ts';
import { type Event, type EventOf, type EventType, nobody, noIteration, sameError } from '../event.ts';
import { obstaclesClosed, remember, withoutTrail } from '../memory.ts';
import { closedBreaker, opened } from '../scheduling.ts';
import { houseSettings } from '../settings.ts';
import { addUsage } from '../spend.ts';
import {
  addActiveTime,
  type Breaker,
  markUnsaved,
  nothingReported,
  queueCheckpoint,
  type State,
  showsBlocked,
  update,
  withLive,
  withTask,
} from '../state.ts';
import { addTasks, findTask, readyTasks, setTask, type Task, type TaskSpec } from '../task.ts';
import {
  checkEnded,
  checkpointMade,
  checkpointRestored,
  checkpointUserEdits,
  firstCheckpoint,
  mergeEnded,
  restoreAsked,
  settingsChanged,
  testsProven,
  withoutSpans,
  workAccepted,
  workCommitted,
  workScreened,
} from './checkpoints.ts';
import { heard, iterationEnded, iterationStarted, nudged, reported, withSignOfLife } from './iteration.ts';
import { workGivenBack, workSetAside } from './set-aside.ts';
import { resets } from './streaks.ts';

type Fold<Type extends EventType> = (state: State, event: EventOf<Type>) => State;

const guidanceMax = 20;

/** New ids are added, known ones get the new text; statuses stay as the ledger has them. */
function withSpecs(state: State, specs: readonly TaskSpec[]): State {
  let tasks = addTasks(state.tasks, specs);
  if (state.document.isLoaded) {
    for (const spec of specs) {
      const known = findTask(tasks, spec.id);
      if (known === undefined) continue;
      const { title, description, criteria, dependsOn, mayChangeTests = false } = spec;
      const { performer, order, attemptsMax, section, documentId } = spec;
      const words = { title, description, criteria, dependsOn, mayChangeTests };
      const rest = { performer, order, attemptsMax, section, documentId };
      tasks = setTask(tasks, { ...known, spec: { ...known.spec, ...words, ...rest } });
    }
  }
  return update({ ...state, tasks }, 'document', { isLoaded: true });
}

/** What the document does not show gets no mark in it. */
function withShown(state: State, { gone = [], back = [] }: EventOf<'tasks.loaded'>): State {
  const hidden = gone.reduce((now, id) => withTask(now, id, task => ({ ...task, missing: true })), state);
  return back.reduce((now, id) => withTask(now, id, task => ({ ...task, missing: undefined })), hidden);
}

function signalRead(state: State, event: EventOf<'signal.read'>): State {
  if (!event.accepted && event.signal === 'review') {
    // Reviewers work side by side: each must hear of its own refusal.
    return withTask(state, event.task, task => ({ ...task, rejection: event.because }));
  }
  if (!event.accepted) {
    return event.signal === 'status-edit'
      ? markUnsaved(state, event.text)
      : update(state, 'memory', { lastRejection: event.because });
  }
  if (event.signal !== 'done' && event.signal !== 'status-edit') return state;
  const { iteration, task } = event;
  const performer = state.iterations.last?.performer ?? nobody;
  const claimed = withTask(state, task, one => ({ ...one, rejection: undefined, status: 'active' }));
  const stage = state.settings.checks.length > 0 || state.settings.tamperScreen ? 'check' : 'merge';
  return update(claimed, 'claims', { open: [...state.claims.open, { iteration, task, performer, stage }] });
}

/** In the words of whoever did it, where the last iteration was theirs. */
function howDone({ iterations: { last }, memory }: State, { task, iteration }: EventOf<'task.closed'>): string {
  if (last?.task !== task || last.iteration !== iteration) return '';
  const { completed = [], decisions = [] } = memory.report ?? {};
  const told = [...completed, ...decisions].join('; ');
  const said = told === '' ? (memory.recent.at(-1) ?? '') : told;
  return said === '' ? '' : `. How: ${oneLine(said)}`;
}

function taskClosed(state: State, event: EventOf<'task.closed'>): State {
  const about = findTask(state.tasks, event.task);
  // Whoever only looked has left nothing; what an action did belongs to where it did it.
  const isWork = about?.spec.readOnly !== true && about?.spec.performer === undefined;
  const commits =
    isWork &&
    state.settings.commits &&
    !state.settings.worktreePerTask &&
    (event.iteration !== noIteration || event.by !== undefined);
  const closed = withTask(state, event.task, task => ({
    ...(commits ? task : withoutSpans(task)),
    status: 'done',
    attempts: event.attempts ?? task.attempts,
    verified: event.verified,
    level: event.level,
    closedBy: event.by,
    claimFailed: false,
    refusal: undefined,
    rejection: undefined,
    openQuestion: undefined,
    touched: undefined,
    aside: undefined,
    refusedClaims: undefined,
  }));
  const { claims, memory } = closed;
  const { unfinished } = closed.checkpoints;
  const checkpoints = { ...closed.checkpoints, unfinished: unfinished === event.task ? undefined : unfinished };
  const { task, iteration } = event;
  return {
    ...withoutTrail(markUnsaved(closed, task), task),
    claims: {
      ...claims,
      open: claims.open.filter(claim => claim.task !== task),
      lastChecks: testsProven(claims.lastChecks, iteration),
    },
    streaks: { ...closed.streaks, ...resets.taskClosed },
    memory: {
      ...remember(memory, 'successes', `${task} ${about?.spec.title ?? ''}: ${event.because}${howDone(state, event)}`),
      guidance: memory.guidance.filter(one => one.task !== task),
      obstacles: obstaclesClosed(memory.obstacles, task, iteration),
      recentOutputs: [],
      reported: nothingReported,
    },
    checkpoints: commits
      ? { ...checkpoints, commitsDue: [...checkpoints.commitsDue, { task, iteration }] }
      : checkpoints,
  };
}

/**
 * One hard task must not end the batch: the first that is blocked since the last completion, although its agent worked and
 * claimed, gives the others a new window. An agent that never claims, or fails at the next task too, gets none (F77).
 */
function taskBlocked(state: State, event: EventOf<'task.blocked'>): State {
  const stuck = withTask(state, event.task, task => ({ ...task, status: 'blocked', blockedBecause: event.because }));
  const blocked = showsBlocked(state) ? markUnsaved(stuck, event.task) : stuck;
  const worked = findTask(state.tasks, event.task)?.claimFailed === true;
  const { blockedSinceProgress } = state.streaks;
  const another = blockedSinceProgress === 0 && worked && readyTasks(blocked.tasks, 1).length > 0;
  const counted = update(blocked, 'streaks', { blockedSinceProgress: blockedSinceProgress + 1 });
  return another ? update(counted, 'streaks', resets.firstTaskBlocked) : counted;
}

/** A ledger before 0.5 knows no bound of it. */
const countsBlocked = ({ settings }: State): boolean => settings.limits.blockedMax !== undefined;

/** Somebody took it up again. */
function withBlockedLess(state: State, id: string): State {
  const { blockedSinceProgress } = state.streaks;
  if (!countsBlocked(state) || findTask(state.tasks, id)?.status !== 'blocked') return state;
  return update(state, 'streaks', { blockedSinceProgress: Math.max(0, blockedSinceProgress - 1) });
}

const taskFreed = (task: Task): Task => ({
  ...task,
  openQuestion: undefined,
  blockedBecause: undefined,
  refusal: undefined,
});

function escalationRaised(state: State, { escalation }: EventOf<'escalation.raised'>): State {
  const { open, raised: before } = state.questions;
  const raised = update(state, 'questions', { open: [...open, escalation], raised: before + 1 });
  if (escalation.task === undefined || escalation.kind === 'health') return raised;
  return withTask(raised, escalation.task, task => ({
    ...task,
    openQuestion: escalation.id,
    escalations: task.escalations + 1,
  }));
}

function escalationAnswered(state: State, event: EventOf<'escalation.answered'>): State {
  const escalation = state.questions.open.find(one => one.id === event.id);
  if (escalation === undefined || event.late) return state;
  const { kind, task, subjects } = escalation;
  const closed = update(state, 'questions', { open: state.questions.open.filter(one => one.id !== event.id) });
  const freed = task === undefined ? closed : withTask(closed, task, taskFreed);
  if (event.by === 'ralph') return freed;
  const answered = task === undefined ? freed : withoutTrail(freed, task);
  // Ledgers of 0.4 do not say that it is about one error.
  const isSameError = subjects?.includes(sameError) === true;
  const isAboutFailures = kind === 'stuck' && task === undefined;
  const over = isAboutFailures || isSameError ? resets.failuresAnswered : resets.questionAnswered;
  const anew = isSameError ? update(answered, 'memory', { recentOutputs: [] }) : answered;
  return checkpointUserEdits(update(anew, 'streaks', over));
}

/** Also how a new process takes over, which undoes neither pause nor stop. Reopening gives health a new start. */
function resumed(state: State, event: EventOf<'loop.resumed'>): State {
  // Between two processes nobody worked.
  if (event.takesOver) return update(state, 'spend', { countedUntil: event.at });
  if (state.control.ended) {
    const blockedSinceProgress = countsBlocked(state) ? 0 : state.streaks.blockedSinceProgress;
    return {
      ...state,
      trail: [],
      control: {},
      streaks: { ...state.streaks, ...resets.loopReopened, blockedSinceProgress },
      spend: { ...state.spend, countedUntil: event.at },
      performers: { breakers: {}, rateLimitedUntil: {} },
    };
  }
  const going = update(state, 'control', { paused: undefined });
  if (state.control.paused) return addActiveTime(going, event.at);
  const served = update(update(going, 'streaks', resets.waitEnded), 'performers', { rateLimitedUntil: {} });
  return addActiveTime(update(served, 'control', { wait: undefined }), event.at);
}

function guidanceGiven(state: State, { task, text, by }: EventOf<'guidance.given'>): State {
  const given = state.memory.guidanceGiven + 1;
  const one = { id: `G${given}`, task, text: takeCharacters(text, 4_000), by };
  const guidance = [...state.memory.guidance, one].slice(-guidanceMax);
  return update(state, 'memory', { guidanceGiven: given, guidance });
}

function guidanceDelivered(state: State, { id, iteration, delivered }: EventOf<'guidance.delivered'>): State {
  const guidance = state.memory.guidance.map(one => {
    if (one.id !== id) return one;
    return delivered ? { ...one, iteration } : { ...one, unreached: [...(one.unreached ?? []), iteration] };
  });
  return update(state, 'memory', { guidance });
}

function usageRecorded(state: State, event: EventOf<'usage.recorded'>): State {
  const { estimated } = event.usage;
  const spent = withLive(state, event.iteration, live => ({
    ...withSignOfLife(live, event.at),
    usage: { ...addUsage(live.usage, event.usage), estimated },
  }));
  // That of a judge is said once, after the iteration.
  const isFinal = estimated && spent.live.every(live => live.iteration !== event.iteration);
  const isEstimated = state.spend.isEstimated || isFinal;
  const isAny = isEstimated || spent.live.some(live => live.usage.estimated);
  const usage = { ...addUsage(state.spend.usage, event.usage), estimated: isAny };
  return update(spent, 'spend', { usage, isEstimated });
}

function loopStarted(state: State, event: EventOf<'loop.started'>): State {
  const { type: _t, at, by: _b, loop: id, settings, ...facts } = event;
  return {
    ...state,
    loop: { ...facts, id, startedAt: at },
    settings: { ...houseSettings, ...settings }, // an older ledger knows fewer of them
    spend: { ...state.spend, countedUntil: at },
  };
}

function tasksLoaded(state: State, event: EventOf<'tasks.loaded'>): State {
  const loaded = withSpecs(state.document.isLoaded ? state : firstCheckpoint(state), event.tasks);
  const contentHash = event.substance ?? state.document.contentHash;
  return update(withShown(loaded, event), 'document', { hash: event.hash, contentHash });
}

const withBreaker = (state: State, performer: string, breaker: Breaker): State =>
  update(state, 'performers', { breakers: { ...state.performers.breakers, [performer]: breaker } });

const folds: { readonly [Type in EventType]: Fold<Type> } = {
  'loop.started': loopStarted,
  'tasks.loaded': tasksLoaded,
  'tasks.added': (state, event) => ({ ...state, tasks: addTasks(state.tasks, event.tasks) }),
  'tasks.saved': (state, event) =>
    update(state, 'document', {
      unsaved: state.document.unsaved.filter(id => !event.tasks.includes(id)),
      hash: event.failed === undefined ? event.hash : state.document.hash,
      written: event.failed === undefined ? event.hash : state.document.written,
    }),
  'task.closed': taskClosed,
  'task.reopened': (state, event) =>
    markUnsaved(
      withTask(withBlockedLess(withoutTrail(state, event.task), event.task), event.task, task => ({
        ...taskFreed(task),
        maybeExecuted: undefined,
        status: 'pending',
        attempts: event.attempts ?? 0,
        refusedClaims: undefined,
        ignoresUnmet: event.ignoresUnmet ?? task.ignoresUnmet,
        aside: task.aside && { ...task.aside, returns: event.withWork },
      })),
      event.task,
    ),
  'task.skipped': (state, { task: id, commits }) => {
    const skipped = markUnsaved(
      withTask(state, id, task => ({ ...taskFreed(task), status: 'skipped' })),
      id,
    );
    const due = { task: id, iteration: noIteration };
    return commits ? update(skipped, 'checkpoints', { commitsDue: [...state.checkpoints.commitsDue, due] }) : skipped;
  },
  'task.blocked': taskBlocked,
  'task.edit-rejected': (state, { type: _type, at: _at, task, iteration: _iteration, because, ...rejectedEdit }) =>
    withTask(update(state, 'memory', { lastRejection: because }), task, one => ({ ...one, rejectedEdit })),
  'iteration.started': iterationStarted,
  'iteration.spawned': (state, { iteration, pid, startTime, host, at }) =>
    withLive(state, iteration, live => ({ ...live, heardAt: at, process: { pid, startTime, host } })),
  'iteration.heartbeat': heard,
  'iteration.reported': reported,
  'iteration.nudged': nudged,
  'iteration.ended': iterationEnded,
  'usage.recorded': usageRecorded,
  'signal.read': signalRead,
  'check.ended': checkEnded,
  'proof.screened': workScreened,
  'work.accepted': workAccepted,
  'work.committed': workCommitted,
  'work.set-aside': workSetAside,
  'work.given-back': workGivenBack,
  'merge.ended': mergeEnded,
  'checkpoint.asked': (state, { kind, label, request }) => queueCheckpoint(state, { kind, label, request }),
  'checkpoint.made': checkpointMade,
  'restore.asked': restoreAsked,
  'checkpoint.restored': checkpointRestored,
  'command.refused': state => state,
  'escalation.raised': escalationRaised,
  'escalation.answered': escalationAnswered,
  'action.intended': (state, { iteration, key, repeatable }) =>
    withLive(state, iteration, live => ({ ...live, intended: { key, repeatable } })),
  'review.answered': state => state, // by the rules of its mode
  'branch.accepted': (state, { head }) => update(state, 'checkpoints', { head }),
  // An answer to a question says yes to a text, and to no other terms.
  'approval.given': (state, { hash, by, at, because, terms = state.document.approval?.terms }) =>
    update(state, 'document', { approval: { hash, by, at, because, terms } }),
  'guidance.given': guidanceGiven,
  'guidance.delivered': guidanceDelivered,
  'windows.reported': (state, { performer, windows }) =>
    update(state, 'performers', { windows: { ...state.performers.windows, [performer]: windows } }),
  'permissions.stated': (state, { performer, mode }) =>
    update(state, 'performers', { permissionModes: { ...state.performers.permissionModes, [performer]: mode } }),
  'limits.changed': settingsChanged,
  'performer.tripped': (state, { performer, until }) =>
    withBreaker(state, performer, opened(state.performers.breakers[performer] ?? closedBreaker, until)),
  'performer.recovered': (state, { performer }) => withBreaker(state, performer, closedBreaker),
  'budget.alerted': state => update(state, 'spend', { isAlerted: true }),
  'stop.asked': (state, { by, because }) => update(state, 'control', { stop: { by, because } }),
  'loop.paused': (state, { by, now }) => update(state, 'control', { paused: { by, now } }),
  'loop.resumed': (state, event) => checkpointUserEdits(resumed(state, event)),
  'loop.ended': (state, { reason, limit, because, at }) =>
    update(state, 'control', { ended: { reason, limit, because, at } }),
};

/** These happen while somebody works: the time since the event before counts as active. */
const timed: ReadonlySet<EventType> = new Set<EventType>([
  'iteration.started',
  'iteration.spawned',
  'iteration.heartbeat',
  'iteration.reported',
  'iteration.ended',
  'usage.recorded',
  'check.ended',
  'merge.ended',
  'escalation.raised',
  'escalation.answered',
  'action.intended',
  'loop.ended',
]);

export function fold(state: State, event: Event): State {
  const before = timed.has(event.type) ? addActiveTime(state, event.at) : state;
  return (folds[event.type] as Fold<EventType>)(before, event as EventOf<EventType>);
}
