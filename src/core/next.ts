// The next effects: a function of the state alone, so that crash recovery is "replay, ask again".

import type { Escalation, HandoffTrigger, NudgeLevel, Termination, Variant } from './event.ts';
import { handoffOfLive, handoffWords, nudgeWords } from './handoff.ts';
import { ladderStep } from './health.ts';
import { choosePerformer, isBlocked, startableTasks } from './scheduling.ts';
import {
  type CheckpointDue,
  hasStorageTrouble,
  isApproved,
  isAsideDue,
  isBusy,
  isDisplaced,
  isSaved,
  isStarted,
  isWritten,
  type LiveIteration,
  type RestoreDue,
  type State,
  setsAside,
} from './state.ts';
import { findTask, openTasks, readyTasks, type Task } from './task.ts';
import { boundStop, evaluateTermination, hardStop, timeLimitAt } from './termination.ts';

/** Effects have keys: the engine starts those that are not running and aborts those that are no longer returned. */
export type Effect =
  | Wanted<'load'>
  | Wanted<'perform', { iteration: number }>
  /** Not wanted any more and not running: ended without a performer. */
  | Wanted<'cancel', { iteration: number }>
  | Wanted<'recover', { iteration: number }>
  /** `words`: for the performer, if it can be spoken to while it works. */
  | Wanted<'nudge', { iteration: number; level: NudgeLevel; trigger?: HandoffTrigger; words?: string }>
  /** A person's words for a working performer. */
  | Wanted<'steer', { iteration: number; guidance: string; words: string }>
  | Wanted<'check', { iteration: number; task: string }>
  | Wanted<'merge', { iteration: number; task: string }>
  | Wanted<'save', { tasks: readonly string[] }>
  | Wanted<'checkpoint', { number: number; due: CheckpointDue }>
  | Wanted<'restore', { due: RestoreDue }>
  | Wanted<'commit', { task: string; iteration: number }>
  /** `returns`: it comes back when its task is worked on again. */
  | Wanted<'set-aside', { task: string; returns?: true }>
  | Wanted<'give-back', { task: string }>
  | Wanted<'ask', { escalation: Escalation }>
  | Wanted<'begin', { task: string; performer: string }>
  | Wanted<'ask-how-to-continue'>
  | Wanted<'end', { termination: Termination }>;

type Wanted<Type extends string, Body = unknown> = Variant<Type, { key: string }> & Readonly<Body>;

export interface Plan {
  readonly effects: readonly Effect[];
  /** When to ask again if nothing happens before. */
  readonly wakeAt?: number;
}

/** One question "what now": the state, the moment, who asks, and when to ask again. */
interface Turn {
  readonly state: State;
  readonly now: number;
  readonly self: string;
  wakeAt?: number;
}

function wakeBy(turn: Turn, at: number | undefined): void {
  if (at !== undefined && (turn.wakeAt === undefined || at < turn.wakeAt)) turn.wakeAt = at;
}

/** What a working performer is told: that it hands off, that it is quiet for long, what a person says. */
function words(turn: Turn, live: LiveIteration): readonly Effect[] {
  const { state, now } = turn;
  const { iteration } = live;
  const effects: Effect[] = [];
  const { due, dueAt } = handoffOfLive(state, live, now);
  wakeBy(turn, dueAt);
  if (due !== undefined) {
    const text = handoffWords(due.because, state.settings.handoffWithinMs);
    const key = `handoff:${iteration}`;
    effects.push({ type: 'nudge', key, iteration, level: 'handoff', trigger: due.trigger, words: text });
  }
  const step = ladderStep(live, state.settings.ladder);
  if (step !== undefined && step.dueAt > now) wakeBy(turn, step.dueAt);
  else if (step !== undefined) {
    const { level } = step;
    const key = `nudge:${iteration}:${level}:${live.nudges}`;
    effects.push({ type: 'nudge', key, iteration, level, words: level === 'nudge' ? nudgeWords : undefined });
  }
  return live.process === undefined ? effects : [...effects, ...steering(state, live)];
}

/** What people said that this performer does not know yet. */
function steering({ memory: { guidance } }: State, { iteration, task }: LiveIteration): readonly Effect[] {
  return guidance
    .filter(one => (one.task === undefined ? one.iteration === undefined : one.task === task))
    .filter(one => one.iteration !== iteration && !one.unreached?.includes(iteration))
    .map(({ id, text }) => ({
      type: 'steer',
      key: `steer:${id}:${iteration}`,
      iteration,
      guidance: id,
      words: text,
    }));
}

/** First the work is saved, then it is proven. One merge at a time: each sees what the one before it changed. */
function claimEffects(state: State): readonly Effect[] {
  const effects: Effect[] = [];
  // A claim that a person accepted waits while another task is worked on in the same files.
  const isShared = !state.settings.worktreePerTask && state.live.length > 0;
  for (const { iteration, task, stage } of isShared ? [] : state.claims.open) {
    const unsaved = state.checkpoints.due.some(due => due.task === task);
    const isAway = findTask(state.tasks, task)?.aside?.returns === true;
    if (stage === 'check' && !unsaved && !isAway)
      effects.push({ type: 'check', key: `check:${iteration}`, iteration, task });
  }
  const first = state.claims.open.find(claim => claim.stage === 'merge');
  if (first === undefined || isDisplaced(state)) return effects;
  const { iteration, task } = first;
  return [...effects, { type: 'merge', key: `merge:${iteration}`, iteration, task }];
}

const isUnseen = (state: State, task: string): boolean =>
  state.settings.policy.documentShows === 'progress' &&
  state.document.unsaved.includes(task) &&
  !hasStorageTrouble(state);

function liveEffects(turn: Turn, isHardStop: boolean): readonly Effect[] {
  const { state, now, self } = turn;
  const effects = state.live.flatMap((live): readonly Effect[] => {
    const { iteration } = live;
    if (live.holder !== self) return [{ type: 'recover', key: `recover:${iteration}`, iteration }];
    const overdueAt = live.handoff?.delivered ? live.handoff.at + state.settings.handoffWithinMs : undefined;
    const isOverdue = overdueAt !== undefined && overdueAt <= now;
    if (isHardStop || isOverdue || live.terminated !== undefined || state.control.paused?.now === true)
      return [{ type: 'cancel', key: `abandon:${iteration}`, iteration }];
    wakeBy(turn, overdueAt);
    // Who is at work, and how often it was tried, is written before the performer begins.
    const unseen = live.process === undefined && isUnseen(state, live.task);
    const perform: Effect = { type: 'perform', key: `perform:${iteration}`, iteration };
    return [...(unseen ? [] : [perform]), ...words(turn, live)];
  });
  return [...effects, ...claimEffects(state)];
}

const setAside = ({ checkpoints }: State, task: string, returns?: true): Effect => ({
  type: 'set-aside',
  key: `set-aside:${task}:${checkpoints.made}`,
  task,
  returns,
});

/** What has to happen to the files before this task is worked on or checked in them; undefined: nothing. */
function roomMade(state: State, task: Task, returns?: true): Effect | undefined {
  const { unfinished, made } = state.checkpoints;
  if (!setsAside(state)) return undefined;
  if (unfinished !== undefined && unfinished !== task.id) return setAside(state, unfinished, returns);
  if (task.aside?.returns !== true) return undefined;
  return { type: 'give-back', key: `give-back:${task.id}:${made}`, task: task.id };
}

/** Work of a task that nobody goes on with leaves the files; work that a person accepted comes back to be checked. */
function exchangeEffects(state: State): readonly Effect[] {
  if (state.live.length > 0) return [];
  if (isAsideDue(state)) return [setAside(state, state.checkpoints.unfinished ?? '')];
  const claimed = state.claims.open.map(({ task }) => findTask(state.tasks, task));
  const away = claimed.find(task => task?.aside?.returns === true);
  const effect = away && roomMade(state, away, true);
  return effect === undefined ? [] : [effect];
}

/** Above this, writing the document takes longer than starting an agent: it is done while the agent works (ADR 19). */
const tasksWrittenFirstMax = 1_000;

/** Checkpoints in their order, then the restore that one of them was made for, then what is done is committed. */
function storageEffects(state: State): readonly Effect[] {
  if (hasStorageTrouble(state)) return [];
  const { restoreDue } = state.checkpoints;
  const due = state.checkpoints.due[0];
  if (due !== undefined) {
    const number = state.checkpoints.made + 1;
    const waits = due.kind === 'before-restore' && isBusy(state);
    return waits ? exchangeEffects(state) : [{ type: 'checkpoint', key: `checkpoint:${number}`, number, due }];
  }
  if (restoreDue !== undefined)
    return [{ type: 'restore', key: `restore:${state.checkpoints.restores + 1}`, due: restoreDue }];
  const commit = state.checkpoints.commitsDue[0];
  if (commit === undefined) return exchangeEffects(state);
  const written = state.document.unsaved.length === 0 || state.tasks.size > tasksWrittenFirstMax;
  // What an unproven claim wrote into the document is no part of anybody's history.
  const claimed = state.claims.open.some(claim => claim.task === commit.task);
  if (claimed || !written) return [];
  return [{ type: 'commit', key: `commit:${commit.task}`, ...commit }];
}

function bookkeeping(state: State, ready: boolean): readonly Effect[] {
  const effects: Effect[] = [];
  const starting =
    ready && state.tasks.size > tasksWrittenFirstMax && !state.live.some(one => one.process !== undefined);
  if (state.document.unsaved.length > 0 && !starting && !hasStorageTrouble(state)) {
    effects.push({ type: 'save', key: `save:${state.document.unsaved.join(',')}`, tasks: state.document.unsaved });
  }
  effects.push(...storageEffects(state));
  for (const escalation of state.questions.open) effects.push({ type: 'ask', key: `ask:${escalation.id}`, escalation });
  return effects;
}

/** A wait is minutes at most: one that seems longer was made by another clock (F53). */
const waitMsMax = 3_600_000;

const isWaiting = ({ control: { wait } }: State, now: number): boolean =>
  wait !== undefined && wait.until > now && wait.until <= now + waitMsMax;

function beginEffects(turn: Turn): readonly Effect[] {
  const { state, now } = turn;
  if (state.control.paused || isBlocked(state)) return [];
  if (isWaiting(state, now)) {
    wakeBy(turn, state.control.wait?.until);
    return [];
  }
  const ready = isApproved(state) ? startableTasks(state) : undefined;
  if (ready === undefined) {
    // An edited plan is asked about also while another question is open.
    const about = state.questions.open.filter(one => isApproved(state) || one.kind === 'approval');
    return isBusy(state) || about.length > 0 ? [] : [{ type: 'ask-how-to-continue', key: 'stall' }];
  }
  return ready.length === 0 ? [] : beginReady(turn, ready);
}

function beginReady(turn: Turn, ready: readonly Task[]): readonly Effect[] {
  const { state, now } = turn;
  const effects: Effect[] = [];
  const probed = new Set<string>();
  for (const task of ready) {
    const { performer, usableAt } = choosePerformer(state, task.id, now);
    wakeBy(turn, usableAt);
    const isUnsaved = state.checkpoints.due.some(due => due.task === task.id);
    if (performer === undefined || probed.has(performer) || isUnsaved) continue;
    const first = roomMade(state, task);
    if (first !== undefined) return [first];
    if (state.performers.breakers[performer]?.openUntil !== undefined) probed.add(performer); // one probe at a time
    effects.push({ type: 'begin', key: `begin:${task.id}`, task: task.id, performer });
  }
  return effects;
}

export function next(state: State, now: number, self: string): Plan {
  if (!isStarted(state)) return { effects: [] };
  // A loop that is over can still be rewound.
  if (state.control.ended) return { effects: bookkeeping(state, false).filter(effect => effect.type !== 'ask') };
  const stop = hardStop(state, now);
  if (!state.document.isLoaded)
    return { effects: [stop ? { type: 'end', key: 'end', termination: stop } : { type: 'load', key: 'load' }] };
  const turn: Turn = { state, now, self };
  const work = liveEffects(turn, stop !== undefined);
  const more = endOrBegin(turn);
  const limitAt = timeLimitAt(state, now);
  if (limitAt !== undefined && limitAt > now) wakeBy(turn, limitAt);
  const isStarting = more.some(effect => effect.type === 'begin') || state.live.length > 0;
  const effects = [...work, ...bookkeeping(state, isStarting), ...more];
  return turn.wakeAt === undefined ? { effects } : { effects, wakeAt: Math.max(turn.wakeAt, now + 1) };
}

/** A task may begin in its fork while the fork of another one, or what was merged, is saved: it touches neither. */
const isSavedApart = ({ settings, checkpoints: { due, commitsDue, restoreDue } }: State): boolean =>
  settings.worktreePerTask &&
  commitsDue.length === 0 &&
  restoreDue === undefined &&
  due.every(({ kind }) => kind === 'iteration' || kind === 'merge');

function endOrBegin(turn: Turn): readonly Effect[] {
  const { state, now } = turn;
  const saved = isSaved(state);
  const isFree = isWritten(state) || state.tasks.size > tasksWrittenFirstMax;
  const termination = evaluateTermination(state, now);
  if (termination !== undefined)
    return !isBusy(state) && isWritten(state) && saved ? [{ type: 'end', key: 'end', termination }] : [];
  if (boundStop(state) !== undefined) {
    const isHeld = isBusy(state) || isBlocked(state) || state.control.paused !== undefined;
    return isHeld ? [] : [{ type: 'ask-how-to-continue', key: 'stall' }];
  }
  const begun = isFree && (saved || isSavedApart(state)) ? beginEffects(turn) : [];
  return saved ? begun : begun.filter(effect => effect.type === 'begin'); // a person is asked when all is saved
}

export interface Waiting {
  readonly kind: 'human' | 'pause' | 'backoff' | 'limit-reset' | 'rest';
  /** For people. */
  readonly what: string;
  readonly until?: number;
}

const aHuman: Waiting = { kind: 'human', what: 'you' };

/** What the loop waits for: undefined while it works. */
export function waitingFor(state: State, now: number): Waiting | undefined {
  if (state.control.ended || state.live.length > 0) return undefined;
  if (hasStorageTrouble(state)) return aHuman;
  if (isBusy(state)) return undefined;
  if (state.control.paused) return { kind: 'pause', what: `paused by ${state.control.paused.by}` };
  // First: without a ready task neither a back-off nor a rested performer lets anything begin.
  const [ready] = isApproved(state) && !isBlocked(state) ? readyTasks(state.tasks, 1) : [];
  if (ready === undefined && state.questions.open.length > 0) return aHuman;
  if (state.control.wait && isWaiting(state, now))
    return { kind: state.control.wait.for, what: state.control.wait.for, until: state.control.wait.until };
  return ready && waitingForPerformer(state, ready.id, now);
}

function waitingForPerformer(state: State, task: string, now: number): Waiting | undefined {
  const { performer, usableAt, waitsFor, waits } = choosePerformer(state, task, now);
  if (performer !== undefined) return undefined;
  if (usableAt === undefined) return state.questions.open.length > 0 ? aHuman : undefined;
  const what =
    waitsFor === 'limit-reset' ? `the limit of ${waits} to be reset` : `${waits}, which rests after failures`;
  return { kind: waitsFor ?? 'rest', what, until: usableAt };
}

/** Every open task's last claim failed its check (exit code 8). */
export function everyClaimFailed(state: State): boolean {
  const open = openTasks(state.tasks);
  return open.length > 0 && open.every(task => task.claimFailed);
}
