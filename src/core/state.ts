// The state of a loop at one moment: bounded by its tasks and performers, never by the number of its iterations.

import type { Phase, Report } from '../messages/report.ts';
import type {
  Because,
  CheckpointMark,
  CheckpointOrder,
  Escalation,
  EventOf,
  HandoffTrigger,
  Head,
  LimitWindow,
  Termination,
  Usage,
} from './event.ts';
import { houseSettings, type Settings } from './settings.ts';
import {
  addTasks,
  allTasks,
  emptyTable,
  findTask,
  type ProofLevel,
  setTask,
  type Task,
  type TaskTable,
  type TrailStep,
} from './task.ts';

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
  readonly reports?: readonly EventOf<'iteration.reported'>['report'][]; // by tools, oldest first; of claims the last one
  /** Its effect may have happened. */
  readonly intended?: { readonly key: string; readonly repeatable: boolean };
}

/** A claim whose proof is still to be run. */
interface Claim extends Pick<LiveIteration, 'iteration' | 'task' | 'performer'> {
  readonly stage: 'check' | 'merge';
  /** What its checks showed, while it waits for its merge. */
  readonly level?: ProofLevel;
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
  /** Of an iteration whose performer crashed. */
  readonly crashed?: true;
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

/** What later prompts are told. */
export interface Memory {
  /** The three moving layers of the context; the stable one is the prompt itself. */
  readonly recent: readonly string[];
  readonly errors: readonly string[];
  readonly successes: readonly string[];
  /** Compared with the next output, to see that words go round in circles. */
  readonly recentOutputs: readonly string[];
  readonly repetition?: EventOf<'iteration.ended'>['repetition'];
  readonly report?: Report;
  readonly reported: Reported;
  readonly handoff?: EventOf<'iteration.ended'>['handoff'];
  /** Why the last message's claim was not believed, for whichever iteration comes next. */
  readonly lastRejection?: string;
  readonly guidance: readonly Guidance[];
  readonly guidanceGiven: number;
  readonly obstacles: readonly Obstacle[];
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

export interface Breaker {
  readonly failures: number;
  readonly openings: number; // since the last success
  readonly openUntil?: number;
}

type Started = EventOf<'loop.started'>;

/** Which loop it is: as it was started. */
interface LoopFacts
  extends Pick<Started, 'name' | 'goal' | 'document' | 'directory' | 'projectId' | 'taskId'>,
    Pick<Started, 'protectedHash' | 'branch' | 'baseline'> {
  /** Empty before the first event. */
  readonly id: string;
  readonly startedAt: number;
}

/** The document as it was last read or written. */
interface DocumentState {
  readonly isLoaded: boolean;
  readonly hash: string;
  readonly written?: string; // its hash when Ralph itself wrote it last
  /** Hash of what a person says yes to, and that yes. */
  readonly contentHash?: string;
  readonly approval?: Pick<EventOf<'approval.given'>, 'hash' | 'by' | 'at' | 'because' | 'terms'>;
  /** Tasks whose status it does not show yet. */
  readonly unsaved: readonly string[];
}

/** Claims and what checks say of them. */
interface Claims {
  readonly open: readonly Claim[];
  /** Findings that a person accepted, by fingerprint. */
  readonly acceptedFindings: readonly string[];
  /** `testsProven`: how many tests ran when a task was last closed by it. */
  readonly lastChecks: Readonly<
    Record<string, Pick<EventOf<'check.ended'>, 'passed' | 'iteration' | 'tests'> & { readonly testsProven?: number }>
  >;
}

interface Iterations {
  /** The number of the newest one. */
  readonly begun: number;
  readonly ended: number;
  readonly msSum: number;
  readonly toolCalls: number;
  readonly last?: Pick<LiveIteration, 'iteration' | 'task' | 'performer'>;
}

interface Spend {
  readonly usage: Usage;
  /** Some iteration ended with a cost that nobody stated. */
  readonly isEstimated: boolean;
  /** What the dearest iteration has cost. */
  readonly dearestUsdMicros: number;
  readonly activeMs: number;
  /** Up to when active time has been counted. */
  readonly countedUntil: number;
  /** Alert and handoff of the budget: each fires once per loop. */
  readonly isAlerted: boolean;
  readonly isHandedOff: boolean;
}

/** What happened in a row, iteration after iteration; reset in `evolve/streaks.ts` only. */
export interface Streaks {
  readonly errors: number;
  readonly failures: number;
  readonly sameErrors: number;
  readonly lastError: string;
  /** Iterations that the health ladder had to end. */
  readonly terminations: number;
  /** Iterations whose performer did not even start. */
  readonly failedStarts: number;
  readonly sinceProgress: number;
  /** Tasks blocked since the last one was completed. */
  readonly blockedSinceProgress: number;
  /** How often each performer was refused for a limit of its provider. */
  readonly rateLimits: Readonly<Record<string, number>>;
}

/** Who may not work now. */
interface Performers {
  readonly breakers: Readonly<Record<string, Breaker>>;
  /** When its provider serves again (epoch ms). */
  readonly rateLimitedUntil: Readonly<Record<string, number>>;
  /** The windows of its provider's limits, as they were last reported. */
  readonly windows?: Readonly<Record<string, readonly LimitWindow[]>>;
  /** The permission mode that each said it works in. */
  readonly permissionModes?: Readonly<Record<string, string>>;
}

interface Questions {
  readonly open: readonly Escalation[];
  readonly raised: number;
}

interface CheckpointState {
  readonly due: readonly CheckpointDue[];
  readonly made: number;
  /** What was there before any work. */
  readonly first?: CheckpointMark;
  readonly latest?: CheckpointMark;
  /** The newest one at which no error stood open. */
  readonly lastGood?: CheckpointMark;
  readonly restoreDue?: RestoreDue;
  readonly restores: number;
  /** Done tasks whose work is not committed yet. */
  readonly commitsDue: readonly { readonly task: string; readonly iteration: number }[];
  /** Done tasks whose commit failed: their work goes with the next one. */
  readonly uncommitted: readonly string[];
  readonly unfinished?: string; // the task whose unfinished work lies in the files that all tasks share
  /** Where HEAD must stand: on this branch, which goes on from this commit. Absent: in no repository, or not seen yet. */
  readonly head?: Head;
  readonly documentLeft?: true; // it stays out of the commits, and that was said
}

/** What the rules of the mode keep, and what they say of the goal. */
export interface ModeState {
  /** Read by the mode alone. */
  readonly own?: unknown;
  /** How the goal was achieved. */
  readonly achieved?: string;
  /** Why nothing more is tried, although it was not. */
  readonly exhausted?: string;
}

/** Whether the loop may go on. */
interface Control {
  readonly wait?: Wait;
  readonly paused?: Pick<EventOf<'loop.paused'>, 'by' | 'now'>;
  readonly stop?: Pick<EventOf<'stop.asked'>, 'by' | 'because'>;
  readonly ended?: Termination & { readonly at: number };
}

export interface State {
  readonly loop: LoopFacts;
  readonly settings: Settings;
  readonly mode: ModeState;
  readonly tasks: TaskTable;
  readonly document: DocumentState;
  readonly live: readonly LiveIteration[];
  readonly claims: Claims;
  readonly iterations: Iterations;
  readonly spend: Spend;
  readonly streaks: Streaks;
  readonly performers: Performers;
  readonly questions: Questions;
  readonly memory: Memory;
  readonly checkpoints: CheckpointState;
  readonly trail: readonly TrailStep[]; // the last iterations of open tasks, see `memory.ts`
  readonly control: Control;
}

export const noUsage: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsdMicros: 0,
  estimated: false,
};

const noStreaks: Streaks = {
  errors: 0,
  failures: 0,
  sameErrors: 0,
  lastError: '',
  terminations: 0,
  failedStarts: 0,
  sinceProgress: 0,
  blockedSinceProgress: 0,
  rateLimits: {},
};

export const initialState: State = {
  loop: { id: '', name: '', goal: '', document: '', directory: '', projectId: '', taskId: '', startedAt: 0 },
  settings: houseSettings,
  mode: {},
  tasks: emptyTable,
  document: { isLoaded: false, hash: '', unsaved: [] },
  live: [],
  claims: { open: [], acceptedFindings: [], lastChecks: {} },
  iterations: { begun: 0, ended: 0, msSum: 0, toolCalls: 0 },
  spend: {
    usage: noUsage,
    isEstimated: false,
    dearestUsdMicros: 0,
    activeMs: 0,
    countedUntil: 0,
    isAlerted: false,
    isHandedOff: false,
  },
  streaks: noStreaks,
  performers: { breakers: {}, rateLimitedUntil: {} },
  questions: { open: [], raised: 0 },
  memory: {
    recent: [],
    errors: [],
    successes: [],
    recentOutputs: [],
    reported: nothingReported,
    guidance: [],
    guidanceGiven: 0,
    obstacles: [],
  },
  checkpoints: { due: [], made: 0, restores: 0, commitsDue: [], uncommitted: [] },
  trail: [],
  control: {},
};

/** Before its first event a loop has no id. */
export const isStarted = ({ loop }: State): boolean => loop.id !== '';

export const isBusy = ({ live, claims }: State): boolean => live.length > 0 || claims.open.length > 0;

/** Time passes in work: a claim that waits for a person to make room for its checkpoint is no work. */
export const isWorking = (state: State): boolean =>
  state.live.length > 0 || (state.claims.open.length > 0 && !hasStorageTrouble(state));

/** A question about the disk, the document or the branch is open: nothing is tried again before it is answered. */
export const hasStorageTrouble = ({ questions }: State): boolean =>
  questions.open.some(one => one.kind === 'storage' || one.kind === 'branch');

/** HEAD was moved, and a person is asked: nothing may be merged. */
export const isDisplaced = ({ questions }: State): boolean => questions.open.some(one => one.kind === 'branch');

/** The document shows what the ledger says, or a person stopped the loop although it cannot be written. */
export function isWritten(state: State): boolean {
  return state.document.unsaved.length === 0 || (state.control.stop !== undefined && hasStorageTrouble(state));
}

/** The unfinished work of a task that nobody works on any more lies in the files that all tasks share. */
export function isAsideDue(state: State): boolean {
  const { unfinished } = state.checkpoints;
  if (unfinished === undefined || !setsAside(state) || isBusy(state)) return false;
  const status = findTask(state.tasks, unfinished)?.status;
  return status === 'blocked' || status === 'skipped' || isDoubted(state, unfinished);
}

/** A person is asked about what it did to tests or checks: until they accept it, it must not pass for the user's own. */
const isDoubted = ({ questions }: State, id: string): boolean =>
  questions.open.some(({ kind, task, findings = [] }) => kind === 'tamper' && task === id && findings.length > 0);

/** Nothing is left to be saved, restored or committed, or a person stopped the loop although it cannot be. */
export function isSaved(state: State): boolean {
  const open =
    state.checkpoints.due.length + state.checkpoints.commitsDue.length > 0 ||
    state.checkpoints.restoreDue !== undefined ||
    isAsideDue(state);
  return !open || (state.control.stop !== undefined && hasStorageTrouble(state));
}

/** Nothing begins before a person said yes to exactly what the document says now, where that is wanted. */
export const isApproved = ({ settings, document }: State): boolean =>
  !settings.approval || (document.approval !== undefined && document.approval.hash === document.contentHash);

/** The document is a file of the user's; else it holds words that Ralph was given, and shows nothing. */
export const hasUserDocument = ({ settings }: State): boolean => settings.policy.documentShows !== 'nothing';

/** Whether the document says of a task that it is blocked. */
export const showsBlocked = ({ settings: { policy } }: State): boolean =>
  policy.documentShows === 'blocked' || policy.documentShows === 'progress';

/** One task takes many iterations, and what is said of it is said of the loop. */
export const isSingleTask = ({ settings }: State): boolean => settings.policy.tasks === 'one';

/** Whether unfinished work leaves the files before another task begins: only where all tasks share them. */
export const setsAside = ({ settings: { policy, checkpoints, worktreePerTask } }: State): boolean =>
  policy.setsAside === true && policy.tasks === 'many' && checkpoints && !worktreePerTask;

/** What the document says about the task itself, else the loop's limit. */
export const attemptsMaxOf = ({ settings }: State, { spec: { attemptsMax } }: Task): number =>
  attemptsMax ?? settings.limits.attemptsPerTaskMax;

/** Active time so far; waits for people, providers and pauses are not in it. */
export const activeMsAt = (state: State, now: number): number =>
  state.spend.activeMs + (isWorking(state) ? Math.max(0, now - state.spend.countedUntil) : 0);

export const totalTokens = (usage: Usage): number =>
  usage.inputTokens + usage.outputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;

/** The money of a usage that counts against the limit: all of it against one that a person set, else what is billed (ADR 4). */
export const countedUsdMicros = (
  { costMaxIsPreset }: Pick<Settings, 'costMaxIsPreset'>,
  { costUsdMicros, unbilledUsdMicros = 0 }: Usage,
): number => (costMaxIsPreset === true ? Math.max(0, costUsdMicros - unbilledUsdMicros) : costUsdMicros);

/** Share of the money that was spent without this iteration, and with it; 0 where money is unlimited. */
export function usedFractionBefore(
  { spend: { usage }, settings }: State,
  live: LiveIteration,
): { readonly before: number; readonly used: number } {
  const max = settings.limits.costUsdMicrosMax;
  if (max === null) return { before: 0, used: 0 };
  const [used, own] = [countedUsdMicros(settings, usage), countedUsdMicros(settings, live.usage)];
  return { before: (used - own) / max, used: used / max };
}

export const liveIteration = (state: State, iteration: number): LiveIteration | undefined =>
  state.live.find(one => one.iteration === iteration);

// The small steps that every fold is made of.

/** The state with these fields of one group changed. */
export function update<Group extends keyof State>(state: State, group: Group, fields: Partial<State[Group]>): State {
  return { ...state, [group]: { ...state[group], ...fields } };
}

/** Work counts as active time; the events of people and of starting again only move the clock. */
export function addActiveTime(state: State, at: number): State {
  const { activeMs, countedUntil } = state.spend;
  if (!isWorking(state)) return update(state, 'spend', { countedUntil: at });
  const worked = activeMs + Math.max(0, at - countedUntil);
  return update(state, 'spend', { activeMs: worked, countedUntil: Math.max(at, countedUntil) });
}

export function withTask(state: State, id: string, change: (task: Task) => Task): State {
  const task = findTask(state.tasks, id);
  return task === undefined ? state : { ...state, tasks: setTask(state.tasks, change(task)) };
}

export function withLive(state: State, iteration: number, change: (live: LiveIteration) => LiveIteration): State {
  return { ...state, live: state.live.map(one => (one.iteration === iteration ? change(one) : one)) };
}

/** What is to be saved, in order: the one before a restore waits for quiet, and nothing waits behind it. */
export function queueCheckpoint(state: State, order: Partial<CheckpointDue> & CheckpointOrder): State {
  const { due } = state.checkpoints;
  const isLast = ({ kind }: CheckpointDue): boolean => kind === 'before-restore';
  const first = due.filter(one => !isLast(one));
  const added = { iteration: state.iterations.begun, ...order };
  return update(state, 'checkpoints', { due: [...first, added, ...due.filter(isLast)] });
}

/** A document that shows who is at work is to be written. */
export const markShown = (state: State, id: string): State =>
  state.settings.policy.documentShows === 'progress' ? markUnsaved(state, id) : state;

/** The document does not show this task's status yet. */
export const markUnsaved = (state: State, id: string): State =>
  update(state, 'document', { unsaved: [...state.document.unsaved.filter(one => one !== id), id] });

// The state as plain data and back: a snapshot is discardable, so a shape that does not fit is simply not used.

/**
 * The version of the packed state; a snapshot of another version is not used and costs one full replay. Raise it by one
 * when a field of State, of its tasks or of its settings is added, removed, renamed or regrouped, and when `evolve` or the
 * reading of stored events gives another state for the same ledger. The package's version has nothing to do with it.
 */
export const stateVersion = 15;

interface Packed extends Omit<State, 'tasks'> {
  readonly tasks: readonly Task[];
}

export const packState = (state: State): unknown => ({ ...state, tasks: [...allTasks(state.tasks)] }) satisfies Packed;

export function unpackState(packed: unknown): State {
  const { tasks, ...rest } = packed as Packed;
  const specs = tasks.map(({ spec }) => spec);
  const table = tasks.reduce(setTask, addTasks(emptyTable, specs));
  const settings = { ...houseSettings, ...rest.settings };
  return { ...initialState, ...rest, settings, tasks: table };
}
