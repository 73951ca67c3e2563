// The state of a loop at one moment: bounded by its tasks and performers, never by the number of its iterations.

import type { Phase, Report } from '../messages/report.ts';
import type { MergedIssue } from '../messages/review.ts';
import type {
  Because,
  CheckpointMark,
  CheckpointOrder,
  Escalation,
  EventOf,
  HandoffTrigger,
  Termination,
  Usage,
} from './event.ts';
import { houseSettings } from './settings.ts';
import { addTasks, allTasks, emptyTable, findTask, setTask, type Task, type TaskTable } from './task.ts';

/** An iteration that a performer is working on. */
export interface LiveIteration
  extends Pick<EventOf<'iteration.started'>, 'iteration' | 'task' | 'performer' | 'holder' | 'attempt'> {
  readonly startedAt: number;
  /** Last sign of life. */
  readonly heardAt: number;
  readonly process?: { readonly pid: number; readonly startTime: string; readonly host: string };
  readonly usage: Usage;
  readonly contextUsed: number;
  readonly nudges: number;
  readonly nudgedAt?: number;
  readonly escalatedAt?: number;
  /** It was asked to write its report and stop. */
  readonly handoff?: { readonly trigger: HandoffTrigger; readonly at: number; readonly delivered: boolean };
  /** The ladder's last step: it must end. */
  readonly terminated?: Because;
  /** The document when it began. */
  readonly documentHash?: string;
  /** The last event about it: so long it worked at least. */
  readonly aliveAt?: number;
  /** Its effect may have happened. */
  readonly intended?: { readonly key: string; readonly repeatable: boolean };
}

/** A claim whose proof is still to be run. */
interface Claim extends Pick<LiveIteration, 'iteration' | 'task' | 'performer'> {
  readonly stage: 'check' | 'merge';
}

export interface Guidance {
  readonly id: string;
  /** Absent: for whichever iteration comes next. */
  readonly task?: string;
  readonly text: string;
  readonly by: string;
  /** The iteration that knows it: from its prompt, or told while it worked. */
  readonly iteration?: number;
  /** Live iterations that could not be told. */
  readonly unreached?: readonly number[];
}

/** A checkpoint that is to be made, in this order. */
export interface CheckpointDue extends CheckpointOrder {
  readonly iteration: number;
  readonly task?: string;
  readonly outcome?: EventOf<'iteration.ended'>['outcome'];
}

export interface RestoreDue extends Pick<EventOf<'restore.asked'>, 'to' | 'by' | 'because' | 'tasks'> {
  readonly overwrite: boolean;
  /** The newest checkpoint before the restore was asked for, and the one that was made just for it. */
  readonly base?: CheckpointMark;
  readonly now?: CheckpointMark;
}

interface Wait {
  readonly until: number;
  readonly for: 'backoff' | 'limit-reset';
  readonly because: Because;
}

/** The three moving layers of the context; the stable one is the prompt itself. */
export interface Memory {
  readonly recent: readonly string[];
  readonly errors: readonly string[];
  readonly successes: readonly string[];
}

export interface Obstacle {
  /** O1, O2 … in the order in which they were met. */
  readonly id: string;
  readonly task: string;
  readonly message: string;
  readonly resolved: boolean;
  /** The iteration that met it first. */
  readonly iteration: number;
}

export interface Reported {
  /** Hashes of what was ever called completed; beyond a bound the oldest are forgotten. */
  readonly items: readonly string[];
  /** The latest phase that was ever named. */
  readonly phase?: Phase;
  /** Some report said what is to be done. */
  readonly isPlanned: boolean;
  /** Iterations without a report block since the last news. */
  readonly silent: number;
}

export const nothingReported: Reported = { items: [], isPlanned: false, silent: 0 };

export interface ReviewState {
  /** The newest round that a reviewer has answered in. */
  readonly round: number;
  /** What each reviewer of this round said about the whole, by role. */
  readonly confidences: Readonly<Record<string, number>>;
  /** What this round found, in the order in which it was first said. */
  readonly issues: readonly MergedIssue[];
  /** Issues of this round beyond the bound. */
  readonly leftOut: number;
  /** Issues of all rounds before: the first of this round has the next number. */
  readonly foundBefore: number;
  /** The lowest confidence of the first round, once another has begun. */
  readonly initialConfidence?: number;
  /** The lowest confidence of the round before this one. */
  readonly previousConfidence?: number;
  /** The document that all of this round looked at; empty: it was changed while they did. */
  readonly seen?: string;
  /** Issues of earlier rounds that were mended when this round began to look; one mended later was seen by nobody. */
  readonly fixedBefore?: number;
}

export interface Breaker {
  readonly failures: number;
  /** Times it opened since the last success. */
  readonly openings: number;
  readonly openUntil?: number;
}

type Started = EventOf<'loop.started'>;

export interface State
  extends Pick<Started, 'loop' | 'name' | 'goal' | 'document' | 'directory' | 'projectId' | 'taskId' | 'settings'>,
    Pick<Started, 'protectedHash' | 'branch' | 'baseline'> {
  readonly startedAt: number;
  readonly tasks: TaskTable;
  readonly loaded: boolean;
  readonly documentHash: string;
  /** Tasks whose status the document does not show yet. */
  readonly unsaved: readonly string[];
  readonly live: readonly LiveIteration[];
  readonly claims: readonly Claim[];
  /** Iterations begun so far: the number of the newest one. */
  readonly iterations: number;
  readonly iterationsEnded: number;
  readonly iterationMsSum: number;
  readonly usage: Usage;
  /** Some iteration ended with a cost that nobody stated. */
  readonly estimatedSoFar: boolean;
  /** What the dearest iteration has cost. */
  readonly dearestUsdMicros: number;
  readonly activeMs: number;
  /** Up to when active time has been counted. */
  readonly clockedAt: number;
  readonly errorsInRow: number;
  readonly failuresInRow: number;
  readonly sameErrorsInRow: number;
  readonly lastError: string;
  /** Iterations in a row that the health ladder had to end. */
  readonly terminationsInRow: number;
  readonly sinceProgress: number;
  /** Tasks parked since the last one was completed. */
  readonly parkedSinceProgress: number;
  readonly memory: Memory;
  readonly echoes: readonly string[];
  readonly report?: Report;
  readonly reported: Reported;
  readonly repetition?: EventOf<'iteration.ended'>['repetition'];
  readonly handoff?: EventOf<'iteration.ended'>['handoff'];
  readonly lastIteration?: Pick<LiveIteration, 'iteration' | 'task' | 'performer'>;
  readonly breakers: Readonly<Record<string, Breaker>>;
  /** Performers whose provider said when it serves again (epoch ms). */
  readonly limited: Readonly<Record<string, number>>;
  /** How often in a row each was refused for such a limit. */
  readonly limitsInRow: Readonly<Record<string, number>>;
  /** Iterations in a row whose performer did not even start. */
  readonly startsFailedInRow: number;
  readonly escalations: readonly Escalation[];
  readonly escalationsRaised: number;
  /** Why the last message's claim was not believed, for whichever iteration comes next. */
  readonly refusal?: string;
  readonly guidance: readonly Guidance[];
  readonly guidanceGiven: number;
  readonly wait?: Wait;
  readonly paused?: Pick<EventOf<'loop.paused'>, 'by' | 'now'>;
  readonly stop?: Pick<EventOf<'stop.asked'>, 'by' | 'because'>;
  readonly budgetAlerted: boolean;
  /** The budget's handoff trigger has fired: once per loop. */
  readonly budgetHandedOff: boolean;
  readonly checkpointsDue: readonly CheckpointDue[];
  readonly checkpointsMade: number;
  /** The newest one's id, empty before the first. */
  readonly lastCheckpoint: string;
  /** What was there before any work. */
  readonly first?: CheckpointMark;
  readonly newest?: CheckpointMark;
  /** The newest one at which no error stood open. */
  readonly good?: CheckpointMark;
  readonly restoreDue?: RestoreDue;
  readonly restores: number;
  /** Done tasks whose commit failed: their work goes with the next one. */
  readonly uncommitted: readonly string[];
  /** Done tasks whose work is not committed yet. */
  readonly commitsDue: readonly { readonly task: string; readonly iteration: number }[];
  /** Doubts that a person accepted, by fingerprint. */
  readonly accepted: readonly string[];
  readonly toolCalls: number;
  readonly lastChecks: Readonly<Record<string, { readonly passed: boolean; readonly iteration: number }>>;
  /** What a person said yes to, and what the document says now. */
  readonly approval?: Pick<EventOf<'approval.given'>, 'hash' | 'by' | 'at' | 'because'>;
  readonly substance?: string;
  readonly obstacles: readonly Obstacle[];
  readonly review?: ReviewState;
  readonly ended?: Termination & { readonly at: number };
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsdMicros: 0,
  estimated: false,
};

export const initialState: State = {
  loop: '',
  name: '',
  goal: '',
  document: '',
  directory: '',
  projectId: '',
  taskId: '',
  settings: houseSettings,
  startedAt: 0,
  tasks: emptyTable,
  loaded: false,
  documentHash: '',
  unsaved: [],
  live: [],
  claims: [],
  iterations: 0,
  iterationsEnded: 0,
  iterationMsSum: 0,
  usage: noUsage,
  estimatedSoFar: false,
  dearestUsdMicros: 0,
  activeMs: 0,
  clockedAt: 0,
  errorsInRow: 0,
  failuresInRow: 0,
  sameErrorsInRow: 0,
  lastError: '',
  terminationsInRow: 0,
  sinceProgress: 0,
  parkedSinceProgress: 0,
  memory: { recent: [], errors: [], successes: [] },
  echoes: [],
  reported: nothingReported,
  breakers: {},
  limited: {},
  limitsInRow: {},
  startsFailedInRow: 0,
  escalations: [],
  escalationsRaised: 0,
  guidance: [],
  guidanceGiven: 0,
  budgetAlerted: false,
  budgetHandedOff: false,
  checkpointsDue: [],
  checkpointsMade: 0,
  lastCheckpoint: '',
  restores: 0,
  uncommitted: [],
  commitsDue: [],
  accepted: [],
  toolCalls: 0,
  lastChecks: {},
  obstacles: [],
};

/** Before its first event a loop has no id. */
export const isStarted = ({ loop }: State): boolean => loop !== '';

export function isBusy(state: State): boolean {
  return state.live.length > 0 || state.claims.length > 0;
}

/** Time passes in work: a claim that waits for a person to make room for its checkpoint is no work. */
export function isWorking(state: State): boolean {
  return state.live.length > 0 || (state.claims.length > 0 && !hasStorageTrouble(state));
}

/** A question about the disk or the document is open: nothing is tried again before it is answered. */
export function hasStorageTrouble(state: State): boolean {
  return state.escalations.some(one => one.kind === 'storage');
}

/** The document shows what the ledger says, or a person stopped the loop although it cannot be written. */
export function isWritten(state: State): boolean {
  return state.unsaved.length === 0 || (state.stop !== undefined && hasStorageTrouble(state));
}

/** Nothing is left to be saved, restored or committed, or a person stopped the loop although it cannot be. */
export function isSaved(state: State): boolean {
  const open = state.checkpointsDue.length + state.commitsDue.length > 0 || state.restoreDue !== undefined;
  return !open || (state.stop !== undefined && hasStorageTrouble(state));
}

/** Nothing begins before a person said yes to exactly what the document says now, where that is wanted. */
export const isApproved = ({ settings, approval, substance }: State): boolean =>
  !settings.approval || (approval !== undefined && approval.hash === substance);

/** The document is a file of the user's; else it holds words that Ralph was given, and shows nothing. */
export const hasUserDocument = ({ settings }: State): boolean => settings.policy.documentShows !== 'nothing';

/** Whether the document says of a task that it is parked. */
export const showsParked = ({ settings: { policy } }: State): boolean =>
  policy.documentShows === 'parked' || policy.documentShows === 'progress';

/** One task takes many iterations, and what is said of it is said of the loop. */
export const isSingleTask = ({ settings }: State): boolean => settings.policy.tasks === 'one';

/** What the document says about the task itself, else the loop's limit. */
export const attemptsMaxOf = ({ settings }: State, { attemptsMax }: Task): number =>
  attemptsMax ?? settings.limits.attemptsPerTaskMax;

/** Active time so far; waits for people, providers and pauses are not in it. */
export function activeMsAt(state: State, now: number): number {
  return state.activeMs + (isWorking(state) ? Math.max(0, now - state.clockedAt) : 0);
}

export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** Share of the money that was spent without this iteration, and with it; 0 where money is unlimited. */
export function usedFractionBefore(
  { usage, settings }: State,
  live: LiveIteration,
): { readonly before: number; readonly used: number } {
  const max = settings.limits.costUsdMicrosMax;
  if (max === null) return { before: 0, used: 0 };
  return { before: (usage.costUsdMicros - live.usage.costUsdMicros) / max, used: usage.costUsdMicros / max };
}

export function liveIteration(state: State, iteration: number): LiveIteration | undefined {
  return state.live.find(one => one.iteration === iteration);
}

// The small steps that every fold is made of.

/** Work counts as active time; the events of people and of starting again only move the clock. */
export function addActiveTime(state: State, at: number): State {
  if (!isWorking(state)) return { ...state, clockedAt: at };
  const activeMs = state.activeMs + Math.max(0, at - state.clockedAt);
  return { ...state, activeMs, clockedAt: Math.max(at, state.clockedAt) };
}

export function withTask(state: State, id: string, change: (task: Task) => Task): State {
  const task = findTask(state.tasks, id);
  return task === undefined ? state : { ...state, tasks: setTask(state.tasks, change(task)) };
}

export function withLive(state: State, iteration: number, change: (live: LiveIteration) => LiveIteration): State {
  return { ...state, live: state.live.map(one => (one.iteration === iteration ? change(one) : one)) };
}

/** What is to be saved, in order: the one before a restore waits for quiet, and nothing waits behind it. */
export function queueCheckpoint(state: State, due: Partial<CheckpointDue> & CheckpointOrder): State {
  const { checkpointsDue, iterations: iteration } = state;
  const isLast = ({ kind }: CheckpointDue): boolean => kind === 'before-restore';
  const first = checkpointsDue.filter(one => !isLast(one));
  return { ...state, checkpointsDue: [...first, { iteration, ...due }, ...checkpointsDue.filter(isLast)] };
}

/** Without what is undefined: an optional field is there or it is not. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** A document that shows who is at work is to be written. */
export const markShown = (state: State, id: string): State =>
  state.settings.policy.documentShows === 'progress' ? markUnsaved(state, id) : state;

/** The document does not show this task's status yet. */
export const markUnsaved = (state: State, id: string): State => ({
  ...state,
  unsaved: [...state.unsaved.filter(one => one !== id), id],
});

// The state as plain data and back: a snapshot is discardable, so a shape that does not fit is simply not used.

/**
 * The version of the packed state; a snapshot of another version is not used and costs one full replay. Raise it by one
 * when a field of State, of its tasks or of its settings is added, removed, renamed or regrouped, and when `evolve` or the
 * reading of stored events gives another state for the same ledger. The package's version has nothing to do with it.
 */
export const stateVersion = 7;

interface Packed extends Omit<State, 'tasks'> {
  readonly tasks: readonly Task[];
}

export function packState(state: State): unknown {
  const packed: Packed = { ...state, tasks: [...allTasks(state.tasks)] };
  return packed;
}

export function unpackState(packed: unknown): State {
  const { tasks, ...rest } = packed as Packed;
  let table = addTasks(emptyTable, tasks);
  for (const task of tasks) table = setTask(table, task);
  const settings = { ...houseSettings, ...rest.settings };
  return { ...initialState, ...rest, settings, tasks: table };
}
