// LoopView: a loop as every surface and every program sees it, a plain value made of its folded state and its lease.

import type { EventOf, HandoffTrigger, IterationOutcome, LimitWindow, Termination, Usage } from '../core/event.ts';
import { assessHealth, type Health } from '../core/health.ts';
import { type Waiting, waitingFor } from '../core/next.ts';
import type { Limits } from '../core/settings.ts';
import { activeMsAt, isBusy, type LiveIteration, type State, totalTokens } from '../core/state.ts';
import { allTasks, type Progress, progress, type Task, type WorkAside } from '../core/task.ts';
import type { Holder, LeaseState } from '../ledger/ledger.ts';
import type { Report } from '../messages/report.ts';
import type { Evidence } from '../messages/tool-reports.ts';
import { plural } from '../text/format.ts';
import { type AskedQuestion, askedQuestion, costWords, endingOf, isTakenBack, isVerified } from './ending.ts';
import type { Counts } from './metrics.ts';

/** Whether a process works on it. `holder` of a loop that has ended: its process is not gone yet. */
export type Liveness =
  | { readonly is: 'ended'; readonly holder?: Holder }
  | { readonly is: 'held'; readonly holder: Holder; readonly renewedAt: number }
  | { readonly is: 'nobody' };

/** The one rule about who works on a loop. */
export function livenessOf(isEnded: boolean, held: LeaseState | undefined): Liveness {
  const holder = held?.alive === true ? held.lease.holder : undefined;
  if (isEnded) return { is: 'ended', holder };
  if (held === undefined || holder === undefined) return { is: 'nobody' };
  return { is: 'held', holder, renewedAt: held.renewedAt };
}

/** How a loop stands, in one word: the same on every surface. `stopped`: over with work left, whoever or whatever ended it. */
export type Standing =
  | 'starting'
  | 'running'
  | 'checking'
  | 'waiting'
  | 'paused'
  | 'not-running'
  | 'completed'
  | 'stopped'
  | 'taken-back';

interface StandingRow {
  readonly standing: Standing;
  readonly holds: (state: State, liveness: Liveness, now: number) => boolean;
}

const isDone = ({ control: { ended }, tasks }: State): boolean =>
  ended?.reason === 'goal_achieved' && (tasks.size === 0 || progress(tasks).done > 0);

/** The first row that holds is the word: what has ended, then who works on it, then what it does. */
const standingRows: readonly StandingRow[] = [
  { standing: 'taken-back', holds: state => isTakenBack(state) },
  { standing: 'completed', holds: isDone },
  { standing: 'stopped', holds: state => state.control.ended !== undefined },
  { standing: 'not-running', holds: (_state, liveness) => liveness.is !== 'held' },
  { standing: 'starting', holds: state => !state.document.isLoaded },
  { standing: 'paused', holds: state => state.control.paused !== undefined && !isBusy(state) },
  { standing: 'checking', holds: state => state.live.length === 0 && state.claims.open.length > 0 },
  { standing: 'waiting', holds: (state, _liveness, now) => waitingFor(state, now) !== undefined },
  { standing: 'running', holds: () => true },
];

export const standingOf = (state: State, liveness: Liveness, now: number): Standing =>
  standingRows.find(row => row.holds(state, liveness, now))?.standing ?? 'running';

/** Of a loop on which nobody works, nothing is healthy or ill. */
export type HealthView = Omit<Health, 'state'> & { readonly state: Health['state'] | 'not-running' };

export const healthOf = (state: State, liveness: Liveness, now: number): HealthView =>
  liveness.is === 'nobody' ? { state: 'not-running', because: 'no process works on it' } : healthNow(state, now);

/** What its agent shows no sign of may still want a person: blocked tasks and open questions are not healthy. */
export function healthNow(state: State, now: number): Health {
  const health = assessHealth(state, now);
  const asked = state.questions.open.length;
  const { blocked } = progress(state.tasks);
  if (health.state !== 'healthy' || asked + blocked === 0) return health;
  const parts = [
    ...(blocked === 0 ? [] : [`${plural(blocked, 'task')} blocked`]),
    ...(asked === 0 ? [] : [`${plural(asked, 'question')} ${asked === 1 ? 'waits' : 'wait'} for you`]),
  ];
  return { state: 'degraded', because: parts.join(', ') };
}

type TaskView = Pick<Task, 'id' | 'status' | 'verified' | 'level' | 'attempts'> & {
  readonly title: string;
  /** Why it is blocked, or why its last claim was refused. */
  readonly note?: string;
};

type LiveView = Pick<
  LiveIteration,
  'iteration' | 'task' | 'performer' | 'attempt' | 'startedAt' | 'heardAt' | 'contextUsed'
>;

/** Times are epoch milliseconds, money is micro-dollars, what is not known is absent. */
export interface LoopView {
  /** 1 was what 0.4 printed. */
  readonly version: 2;
  readonly loop: string;
  readonly name: string;
  readonly goal: string;
  readonly document: string;
  readonly directory: string;
  readonly mode: string;
  /** In the order in which they are tried, `agent/model`. */
  readonly agents: readonly string[];
  readonly startedAt: number;
  /** Events so far. */
  readonly seq: number;
  readonly liveness: Liveness;
  readonly state: Standing;
  /** One sentence: how it ended, or how it stands. */
  readonly summary: string;
  readonly tasks: Progress & {
    /** Every task in the order of the document; absent in lists of loops. */
    readonly items?: readonly TaskView[];
  };
  /** Iterations at work; none while nobody holds the loop. */
  readonly live: readonly LiveView[];
  /** Claims whose proof is still to be run. */
  readonly checking: readonly { readonly iteration: number; readonly task: string }[];
  readonly questions: readonly AskedQuestion[];
  readonly waits?: Waiting;
  readonly spend: {
    readonly iterations: number;
    readonly activeMs: number;
    /** In words: `not reported` while no agent has reported any, which is not $0.00. */
    readonly cost: string;
    /** Absent while no agent has reported any. */
    readonly usage?: Usage;
  };
  readonly limits: Limits;
  /** The windows of providers' limits by agent, as they were last reported; absent while none is. */
  readonly windows?: Readonly<Record<string, readonly LimitWindow[]>>;
  /** The permission mode that each agent said it works in; absent while none did. */
  readonly permissionModes?: Readonly<Record<string, string>>;
  readonly health: HealthView;
  /** Absent unless it is asked for: a report has it. */
  readonly history?: LoopHistory;
  readonly ending?: Termination & { readonly at: number; readonly exitCode: number; readonly verified: boolean };
}

export interface IterationView {
  readonly iteration: number;
  readonly task: string;
  readonly performer: string;
  readonly startedAt: number;
  readonly endedAt?: number;
  readonly outcome?: IterationOutcome;
  readonly phase: string;
  /** Tasks, or the items of a goal as the agent reports them. */
  readonly completed: readonly string[];
  readonly pending: readonly string[];
  /** Why it failed, and which checks refused its claim. */
  readonly errors: readonly string[];
  readonly checkpoint?: string;
  /** Absent while its agent has reported none. */
  readonly usage?: Usage;
  readonly handoff?: HandoffTrigger;
  readonly health: Health['state'];
}

/** Work that was accepted as it is: `what` it was that made its proof doubtful. */
export interface Accepted {
  readonly task: string;
  readonly by: string;
  readonly at: number;
  readonly what: string;
}

/** What a state does not hold, because it grows with every iteration. */
export interface LoopHistory {
  readonly iterations: readonly IterationView[];
  readonly checks: readonly Pick<EventOf<'check.ended'>, 'iteration' | 'task' | 'check' | 'passed'>[];
  /** Doubts about tests and checks that a person said yes to. */
  readonly accepted: readonly Accepted[];
  /** What agents gave as evidence, criterion by criterion, with the last claim of each task. */
  readonly evidence: Readonly<Record<string, readonly Evidence[]>>;
  /** The last hundred failures. */
  readonly errors: readonly string[];
  readonly counts: Counts;
  /** What the agent reported last about its items (goal mode): its word, never more than claimed. */
  readonly reported?: Report;
}

/** Where the work of a task lies that was set aside. */
export const asideWords = ({ count, checkpoint }: WorkAside): string =>
  `its work is set aside: ${plural(count, 'file')} in checkpoint ${checkpoint}`;

function noteOf({ blockedBecause, rejection, aside }: Task): string | undefined {
  const why = (blockedBecause ?? rejection)?.split('\n')[0];
  if (aside === undefined || aside.count === 0) return why || undefined;
  return [why?.replace(/\.$/, ''), asideWords(aside)].filter(Boolean).join('; ');
}

export const taskView = (task: Task): TaskView => ({
  id: task.id,
  title: task.spec.title,
  status: task.status,
  verified: task.status === 'done' ? task.verified : undefined,
  level: task.status === 'done' ? task.level : undefined,
  attempts: task.attempts,
  note: noteOf(task),
});

const liveView = (live: LiveIteration): LiveView => {
  const { iteration, task, performer, attempt, startedAt, heardAt, contextUsed } = live;
  return { iteration, task, performer, attempt, startedAt, heardAt, contextUsed };
};

function endingView(state: State): LoopView['ending'] {
  if (state.control.ended === undefined) return undefined;
  return { ...state.control.ended, exitCode: endingOf(state).exitCode, verified: isVerified(state) };
}

/** An agent that reports nothing is not free: then there is no usage, rather than one of 0. */
export const reportedUsage = (usage: Usage | undefined): Usage | undefined =>
  usage === undefined || (totalTokens(usage) === 0 && usage.costUsdMicros === 0) ? undefined : usage;

export interface Seen {
  readonly state: State;
  readonly seq: number;
  readonly held: LeaseState | undefined;
}

/** Without its tasks one by one: for lists of loops. */
export function loopView({ state, seq, held }: Seen, now: number): LoopView {
  const { settings } = state;
  const { id: loop, name, goal, document, directory, startedAt } = state.loop;
  const liveness = livenessOf(state.control.ended !== undefined, held);
  const usage = reportedUsage(state.spend.usage);
  return {
    version: 2,
    loop,
    name,
    goal,
    document,
    directory,
    mode: String(settings.mode),
    agents: settings.performers,
    startedAt,
    seq,
    liveness,
    state: standingOf(state, liveness, now),
    summary: endingOf(state).sentence,
    tasks: progress(state.tasks),
    live: liveness.is === 'nobody' ? [] : state.live.map(liveView),
    checking: state.claims.open.map(({ iteration, task }) => ({ iteration, task })),
    questions: state.questions.open.map(askedQuestion),
    waits: waitingFor(state, now),
    spend: {
      iterations: state.iterations.begun,
      activeMs: liveness.is === 'held' ? activeMsAt(state, now) : state.spend.activeMs,
      cost: usage === undefined ? 'not reported' : costWords(state),
      usage,
    },
    limits: settings.limits,
    windows: state.performers.windows,
    permissionModes: state.performers.permissionModes,
    health: healthOf(state, liveness, now),
    ending: endingView(state),
  };
}

/** With every task. */
export function fullLoopView(seen: Seen, now: number): LoopView {
  const view = loopView(seen, now);
  return { ...view, tasks: { ...view.tasks, items: [...allTasks(seen.state.tasks)].map(taskView) } };
}
