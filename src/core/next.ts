// What to do now: a function of the state alone, so that crash recovery is "replay, ask again".

import type { Escalation, HandoffTrigger, NudgeLevel, Termination } from './event.ts';
import { handoffOfLive, handoffWords, nudgeWords } from './handoff.ts';
import { ladderStep } from './health.ts';
import { choosePerformer, isBlocked, startable } from './scheduling.ts';
import {
  type CheckpointDue,
  hasStorageTrouble,
  isApproved,
  isBusy,
  isKept,
  isWritten,
  type LiveIteration,
  type RestoreDue,
  type State,
  showsProgress,
} from './state.ts';
import { openTasks, readyTasks } from './task.ts';
import { evaluateTermination, hardStop, timeLimitAt } from './termination.ts';

/** Effects have keys: the engine starts those that are not running and aborts those that are no longer returned. */
export type Effect =
  | { readonly type: 'load'; readonly key: string }
  | { readonly type: 'perform'; readonly key: string; readonly iteration: number }
  /** Not wanted any more and not running: ended without a performer. */
  | { readonly type: 'abandon'; readonly key: string; readonly iteration: number }
  | { readonly type: 'recover'; readonly key: string; readonly iteration: number }
  | {
      readonly type: 'nudge';
      readonly key: string;
      readonly iteration: number;
      readonly level: NudgeLevel;
      readonly trigger?: HandoffTrigger;
      /** For the performer, if it can be spoken to while it works. */
      readonly words?: string;
    }
  /** A person's words for a working performer. */
  | {
      readonly type: 'steer';
      readonly key: string;
      readonly iteration: number;
      readonly guidance: string;
      readonly words: string;
    }
  | { readonly type: 'check'; readonly key: string; readonly iteration: number; readonly task: string }
  | { readonly type: 'merge'; readonly key: string; readonly iteration: number; readonly task: string }
  | { readonly type: 'save'; readonly key: string; readonly tasks: readonly string[] }
  | { readonly type: 'checkpoint'; readonly key: string; readonly number: number; readonly due: CheckpointDue }
  | { readonly type: 'restore'; readonly key: string; readonly due: RestoreDue }
  | { readonly type: 'commit'; readonly key: string; readonly task: string; readonly iteration: number }
  | { readonly type: 'ask'; readonly key: string; readonly escalation: Escalation }
  | { readonly type: 'begin'; readonly key: string; readonly task: string; readonly performer: string }
  | { readonly type: 'stall'; readonly key: string }
  | { readonly type: 'end'; readonly key: string; readonly termination: Termination };

export interface Plan {
  readonly effects: readonly Effect[];
  /** When to ask again if nothing happens before. */
  readonly wakeAt?: number;
}

class Wake {
  at: number | undefined;
  by(at: number | undefined): void {
    if (at !== undefined && (this.at === undefined || at < this.at)) this.at = at;
  }
}

/** What a working performer is told: that it hands off, that it is quiet for long, what a person says. */
function words(state: State, live: LiveIteration, now: number, wake: Wake): readonly Effect[] {
  const { iteration } = live;
  const effects: Effect[] = [];
  const handoff = handoffOfLive(state, live, now);
  wake.by(handoff.dueAt);
  if (handoff.due !== undefined) {
    const { trigger, because } = handoff.due;
    const text = handoffWords(because, state.settings.handoffWithinMs);
    effects.push({ type: 'nudge', key: `handoff:${iteration}`, iteration, level: 'handoff', trigger, words: text });
  }
  const step = ladderStep(live, state.settings.ladder);
  if (step !== undefined && step.dueAt > now) wake.by(step.dueAt);
  else if (step !== undefined) {
    const { level } = step;
    const key = `nudge:${iteration}:${level}:${live.nudges}`;
    effects.push({ type: 'nudge', key, iteration, level, words: level === 'nudge' ? nudgeWords : undefined });
  }
  if (live.process === undefined) return effects;
  for (const one of state.guidance) {
    const meant = one.task === undefined ? one.iteration === undefined : one.task === live.task;
    if (!meant || one.iteration === iteration || one.unreached?.includes(iteration)) continue;
    effects.push({
      type: 'steer',
      key: `steer:${one.id}:${iteration}`,
      iteration,
      guidance: one.id,
      words: one.text,
    });
  }
  return effects;
}

/** First the work is saved, then it is proven. One merge at a time: each sees what the one before it brought. */
function claimEffects(state: State): readonly Effect[] {
  const effects: Effect[] = [];
  // A claim that a person accepted waits while another task is worked on in the same files.
  const isShared = !state.settings.worktreePerTask && state.live.length > 0;
  for (const { iteration, task, stage } of isShared ? [] : state.claims) {
    const unsaved = state.checkpointsDue.some(due => due.task === task);
    if (stage === 'check' && !unsaved) effects.push({ type: 'check', key: `check:${iteration}`, iteration, task });
  }
  const first = state.claims.find(claim => claim.stage === 'merge');
  if (first === undefined) return effects;
  const { iteration, task } = first;
  return [...effects, { type: 'merge', key: `merge:${iteration}`, iteration, task }];
}

const isUnseen = (state: State, task: string): boolean =>
  showsProgress[state.settings.mode] === true && state.unsaved.includes(task) && !hasStorageTrouble(state);

function liveEffects(state: State, now: number, self: string, hard: boolean, wake: Wake): readonly Effect[] {
  const effects: Effect[] = [];
  for (const live of state.live) {
    const { iteration } = live;
    if (live.holder !== self) {
      effects.push({ type: 'recover', key: `recover:${iteration}`, iteration });
      continue;
    }
    const overdueAt = live.handoff?.delivered ? live.handoff.at + state.settings.handoffWithinMs : undefined;
    const overdue = overdueAt !== undefined && overdueAt <= now;
    const dropped = hard || overdue || live.terminated !== undefined || state.paused?.now === true;
    if (dropped) {
      effects.push({ type: 'abandon', key: `abandon:${iteration}`, iteration });
      continue;
    }
    // Who is at work, and how often it was tried, is written before the performer begins.
    const unseen = live.process === undefined && isUnseen(state, live.task);
    if (!unseen) effects.push({ type: 'perform', key: `perform:${iteration}`, iteration });
    wake.by(overdueAt);
    effects.push(...words(state, live, now, wake));
  }
  return [...effects, ...claimEffects(state)];
}

/** Above this, writing the document takes longer than starting an agent: it is done while the agent works (ADR 19). */
const tasksWrittenFirstMax = 1_000;

/** Checkpoints in their order, then the restore that one of them was made for, then what is done is committed. */
function keeping(state: State): readonly Effect[] {
  if (hasStorageTrouble(state)) return [];
  const { restoreDue } = state;
  const due = state.checkpointsDue[0];
  if (due !== undefined) {
    const number = state.checkpointsMade + 1;
    const waits = due.kind === 'before-restore' && isBusy(state);
    return waits ? [] : [{ type: 'checkpoint', key: `checkpoint:${number}`, number, due }];
  }
  if (restoreDue !== undefined) return [{ type: 'restore', key: `restore:${state.restores + 1}`, due: restoreDue }];
  const commit = state.commitsDue[0];
  const written = state.unsaved.length === 0 || state.tasks.size > tasksWrittenFirstMax;
  // What an unproven claim wrote into the document is no part of anybody's history.
  const claimed = state.claims.some(claim => claim.task === commit?.task);
  if (commit === undefined || claimed || !written) return [];
  return [{ type: 'commit', key: `commit:${commit.task}`, ...commit }];
}

function bookkeeping(state: State, ready: boolean): readonly Effect[] {
  const effects: Effect[] = [];
  const starting =
    ready && state.tasks.size > tasksWrittenFirstMax && !state.live.some(one => one.process !== undefined);
  if (state.unsaved.length > 0 && !starting && !hasStorageTrouble(state)) {
    effects.push({ type: 'save', key: `save:${state.unsaved.join(',')}`, tasks: state.unsaved });
  }
  effects.push(...keeping(state));
  for (const escalation of state.escalations) effects.push({ type: 'ask', key: `ask:${escalation.id}`, escalation });
  return effects;
}

/** A wait is minutes at most: one that seems longer was made by another clock (F53). */
const waitMsMax = 3_600_000;

const isWaiting = ({ wait }: State, now: number): boolean =>
  wait !== undefined && wait.until > now && wait.until <= now + waitMsMax;

function beginEffects(state: State, now: number, wake: Wake): readonly Effect[] {
  if (state.paused || isBlocked(state)) return [];
  if (isWaiting(state, now)) {
    wake.by(state.wait?.until);
    return [];
  }
  const ready = isApproved(state) ? startable(state) : undefined;
  if (ready === undefined) {
    // An edited plan is asked about also while another question is open.
    const about = state.escalations.filter(one => isApproved(state) || one.kind === 'approval');
    return isBusy(state) || about.length > 0 ? [] : [{ type: 'stall', key: 'stall' }];
  }
  const effects: Effect[] = [];
  const probed = new Set<string>();
  for (const task of ready) {
    const { performer, usableAt } = choosePerformer(state, task.id, now);
    wake.by(usableAt);
    if (performer === undefined || probed.has(performer)) continue;
    if (state.breakers[performer]?.openUntil !== undefined) probed.add(performer); // one probe at a time
    effects.push({ type: 'begin', key: `begin:${task.id}`, task: task.id, performer });
  }
  return effects;
}

export function next(state: State, now: number, self: string): Plan {
  if (state.loop === '') return { effects: [] };
  // A loop that is over can still be rewound.
  if (state.ended) return { effects: bookkeeping(state, false).filter(effect => effect.type !== 'ask') };
  if (!state.loaded) {
    const stop = hardStop(state, now);
    return stop
      ? { effects: [{ type: 'end', key: 'end', termination: stop }] }
      : { effects: [{ type: 'load', key: 'load' }] };
  }
  const wake = new Wake();
  const hard = hardStop(state, now) !== undefined;
  const work = liveEffects(state, now, self, hard, wake);
  const plan = (more: readonly Effect[]): Plan => {
    const limitAt = timeLimitAt(state, now);
    if (limitAt !== undefined && limitAt > now) wake.by(limitAt);
    const busyStarting = more.some(effect => effect.type === 'begin') || state.live.length > 0;
    const effects = [...work, ...bookkeeping(state, busyStarting), ...more];
    return wake.at === undefined ? { effects } : { effects, wakeAt: Math.max(wake.at, now + 1) };
  };
  const settled = !isBusy(state);
  const kept = isKept(state);
  const written = isWritten(state) && kept;
  const termination = evaluateTermination(state, now);
  if (termination !== undefined) {
    return plan(settled && written ? [{ type: 'end', key: 'end', termination }] : []);
  }
  const large = state.tasks.size > tasksWrittenFirstMax && kept;
  return plan(written || large ? beginEffects(state, now, wake) : []);
}

export interface Waiting {
  readonly kind: 'human' | 'pause' | 'backoff' | 'limit-reset' | 'rest';
  /** For people. */
  readonly what: string;
  readonly until?: number;
}

const aHuman: Waiting = { kind: 'human', what: 'a human' };

/** What the loop waits for: undefined while it works. */
export function waitingFor(state: State, now: number): Waiting | undefined {
  if (state.ended || state.live.length > 0) return undefined;
  if (hasStorageTrouble(state)) return aHuman;
  if (isBusy(state)) return undefined;
  if (state.paused) return { kind: 'pause', what: `paused by ${state.paused.by}` };
  // First: without a ready task neither a back-off nor a rested performer lets anything begin.
  const [next] = isApproved(state) && !isBlocked(state) ? readyTasks(state.tasks, 1) : [];
  if (next === undefined && state.escalations.length > 0) return aHuman;
  if (state.wait && isWaiting(state, now))
    return { kind: state.wait.for, what: state.wait.for, until: state.wait.until };
  if (next === undefined) return undefined;
  const { performer, usableAt, waitsFor, waits } = choosePerformer(state, next.id, now);
  if (performer !== undefined) return undefined;
  if (usableAt === undefined) return state.escalations.length > 0 ? aHuman : undefined;
  const what =
    waitsFor === 'limit-reset' ? `the limit of ${waits} to be reset` : `${waits}, which rests after failures`;
  return { kind: waitsFor ?? 'rest', what, until: usableAt };
}

/** Every open task's last claim failed its check (exit code 8). */
export function everyClaimFailed(state: State): boolean {
  const open = openTasks(state.tasks);
  return open.length > 0 && open.every(task => task.claimFailed);
}
