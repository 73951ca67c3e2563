// The decider: an outside fact or a command becomes events, or nothing. Pure; the engine stores what it says.

import { plural, someOf } from '../../text/format.ts';
import { takeCharacters } from '../../text/text.ts';
import type { Event, NewEvent } from '../event.ts';
import { fold } from '../evolve/evolve.ts';
import { guidanceDelivered, nudged } from '../health.ts';
import type { Command, Decide, Input, InputOf, Performed, Question } from '../input.ts';
import type { Evolve, FindRules } from '../mode.ts';
import { hasRoomFor, isFree, preferredFor, strongerFor } from '../scheduling.ts';
import { isBounded, settingWords } from '../settings.ts';
import { recordUsage, recordWindows } from '../spend.ts';
import {
  attemptsMaxOf,
  isApproved,
  isBusy,
  isSaved,
  isSingleTask,
  isStarted,
  isWritten,
  type LiveIteration,
  liveIteration,
  type State,
  setsAside,
} from '../state.ts';
import { findTask, isReady, openTasks, type Task, toolOf } from '../task.ts';
import { boundStop, evaluateTermination } from '../termination.ts';
import { approve, askForApproval, intended, taskCommand } from './actions.ts';
import { checkpointed, checkpointFailed, committed, displaced, restored } from './checkpoints.ts';
import { documentRead } from './document-changes.ts';
import { endIteration } from './iteration-ending.ts';
import { checked, merged } from './proof.ts';
import { answeredByChange, answerQuestion, askAboutBound, closeQuestions, raise } from './questions.ts';
import { givenBack, setAside } from './set-aside.ts';
import { askAboutStandstill } from './standstill.ts';
import { reported } from './tool-reports.ts';

const begin: Decide<'begin'> = (state, { task: id, performer, holder }, now) => {
  const task = findTask(state.tasks, id);
  const full = task === undefined || !hasRoomFor(state, task);
  // Between the plan and now a person may have stopped or paused the loop, or a parallel iteration may have met a limit.
  const held =
    full || state.control.ended || state.control.paused || state.checkpoints.restoreDue || !isApproved(state);
  const { unfinished = id } = state.checkpoints;
  const isTaken = setsAside(state) && (unfinished !== id || task?.aside?.returns === true);
  const isOver = evaluateTermination(state, now) !== undefined || boundStop(state) !== undefined;
  if (held || isTaken || isOver) return [];
  if (task === undefined || !isReady(state.tasks, task) || !isFree(state, performer, now)) return [];
  const asked = askAboutStandstill(state, task);
  if (asked !== undefined) return asked;
  const attempt = task.attempts + 1;
  const because = whyBegun(state, task, performer);
  const iteration = state.iterations.begun + 1;
  return [{ type: 'iteration.started', iteration, task: id, performer, holder, attempt, because }];
};

/** Which task, the how manieth attempt, and by whom, where that is not the usual one. */
function whyBegun(state: State, task: Task, performer: string): string {
  const { id, attempts, refusedClaims = 0, spec } = task;
  const met = spec.dependsOn.slice(0, 5).join(', ');
  const tool = toolOf(spec);
  const what = tool === undefined ? '' : `tool ${tool}; `;
  const order = isSingleTask(state) ? '' : `${what}next in order${met === '' ? '' : `, after ${met}`}; `;
  const first = preferredFor(state, id);
  const instead = first === undefined || first === performer ? '' : `; ${performer} instead of ${first}`;
  const isStronger = strongerFor(state, id) === performer;
  const stronger = isStronger ? `; ${performer} after ${plural(refusedClaims, 'refused claim')} (--stronger)` : '';
  return `${order}attempt ${attempts + 1}${ofAttempts(state, task)}${instead}${stronger}`;
}

/** Where one task takes many iterations, the limit of attempts does not bound it. */
const ofAttempts = (state: State, task: Task): string =>
  isSingleTask(state) ? '' : ` of ${attemptsMaxOf(state, task)}`;

/** What was still heard of it, or recorded about it. */
const workedUntil = ({ heardAt, aliveAt = 0 }: LiveIteration): number => Math.max(heardAt, aliveAt);

const recovered: Decide<'recovered'> = (state, { iteration, holder, found, chance }, now) => {
  const live = liveIteration(state, iteration);
  if (live === undefined) return [];
  const end = (performed: Performed): readonly NewEvent[] =>
    endIteration(state, live, { performed, chance, now, workedUntil: workedUntil(live) });
  if (found !== undefined) return end(found);
  if (live.intended?.repeatable === false) {
    const detail = 'Ralph ended after the action had been sent and before its result was known';
    return end({ message: '', failure: { kind: 'lost-reply', detail } });
  }
  // Again only what is still approved: the document may have been edited since.
  if ((live.process === undefined || live.intended !== undefined) && isApproved(state)) {
    const because = live.intended
      ? 'Ralph ended while the action was under way, and doing it twice is as good as once: again, not counted twice'
      : 'Ralph ended before the agent was known to run: the same iteration again, not counted twice';
    const { task, performer, attempt } = live;
    return [{ type: 'iteration.started', iteration, task, performer, holder, attempt, because, again: true }];
  }
  const detail =
    live.process === undefined
      ? 'Ralph ended before it was known to run, and the document was edited since'
      : `Ralph ended while process ${live.process.pid} was at work`;
  return end({ message: '', failure: { kind: 'stopped', detail, crashed: true } });
};

const unwritable = (failed: string): Question => ({
  kind: 'storage',
  summary: 'The task document cannot be written',
  context: failed,
  options: [{ id: 'go-on', text: 'It can be written again: go on' }],
  question: 'Make it writable, then run the same command again.',
});

/** A task that changed while it was being written stays unsaved. */
const saved: Decide<'saved'> = (state, { marks, hash, restored, failed }) => {
  const because = failed ?? restored ?? 'the document shows what the ledger says';
  const tasks = marks
    .filter(mark => {
      const status = findTask(state.tasks, mark.id)?.status;
      const isSame = mark.status === undefined || mark.status === status;
      return isSame && mark.done === (status === 'done') && mark.skipped === (status === 'skipped');
    })
    .map(mark => mark.id);
  const event: NewEvent = { type: 'tasks.saved', tasks: failed === undefined ? tasks : [], hash, because, failed };
  if (failed !== undefined) return [event, ...raise(state, unwritable(failed), 'the document could not be written')];
  if (restored === undefined) return [event];
  const text =
    state.settings.policy.subject === 'document'
      ? `The document was damaged in the last iteration. ${restored} Mend it where an issue says so, and never empty or remove it.`
      : `The task document was damaged in the last iteration. ${restored} Change nothing in the task document but the status of your own task.`;
  return [event, { type: 'guidance.given', text, by: 'ralph', because: 'a damaged document was restored' }];
};

/** Of steps what was done is never tried again, and what is blocked or waits for something left out is called so. */
const tryAgainWords = ({ settings }: State, isBlocked: boolean): string => {
  if (settings.policy.subject !== 'steps') return 'Try what is left again, whatever it waits for';
  return isBlocked ? 'Try the blocked steps again' : 'Go on without the steps that were left out';
};

const roundRule =
  'A round is over when its agent has written done.md, and counts when spec.md (after the last one tasks.json too) can be used. ';

/** `US-008 waits for US-002, which you left out`. */
function waitingWords({ tasks }: State, { id, spec }: Task): string {
  const unmet = spec.dependsOn.filter(one => findTask(tasks, one)?.status !== 'done');
  const isLeftOut = unmet.length > 0 && unmet.every(one => findTask(tasks, one)?.status === 'skipped');
  const why = isLeftOut ? 'which you left out' : `which ${unmet.length === 1 ? 'is' : 'are'} not done`;
  return `${id} waits for ${someOf(unmet)}, ${why}`;
}

const stalled: Decide<'stalled'> = state => {
  const atMost = boundStop(state);
  if (atMost !== undefined) return askAboutBound(state, atMost.because);
  if (!isApproved(state)) return askForApproval(state);
  const open = openTasks(state.tasks);
  const blocked = open.filter(task => task.status === 'blocked');
  const waiting = open.filter(task => task.status === 'pending');
  const name = (tasks: readonly Task[]): string =>
    [...tasks.slice(0, 5).map(task => task.id), ...(tasks.length > 5 ? ['…'] : [])].join(', ');
  const parts = [
    blocked.length > 0 && `blocked: ${name(blocked)} (${blocked[0]?.blockedBecause ?? ''})`,
    ...waiting.slice(0, 5).map(task => waitingWords(state, task)),
    waiting.length > 5 && `and ${waiting.length - 5} more wait`,
  ].filter(Boolean);
  const question: Question = {
    kind: 'blocked',
    summary: `No task is ready, ${plural(open.length, 'task')} left`,
    context: parts.join('\n'),
    options: [
      { id: 'try-again', text: tryAgainWords(state, blocked.length > 0) },
      { id: 'leave-out', text: 'Leave out what is left' },
    ],
    question: `${blocked.some(task => task.spec.interactive) ? roundRule : ''}How should the loop go on?`,
  };
  return raise(state, question, parts.join('; '));
};

type DecideCommand<Type extends Command['type']> = (
  state: State,
  command: Extract<Command, { type: Type }>,
  by: string,
  now: number,
) => readonly NewEvent[];

const resume: DecideCommand<'resume'> = (state, _command, by, now) => {
  if (state.control.ended)
    return [{ type: 'loop.resumed', by, because: `reopened after ${state.control.ended.reason.replaceAll('_', ' ')}` }];
  if (state.control.paused) return [{ type: 'loop.resumed', by, because: 'the pause is over' }];
  const because = 'ralph resume: no longer waits for a limit or a back-off';
  return isWaiting(state, now) ? [{ type: 'loop.resumed', by, because }] : [];
};

const changeLimits: DecideCommand<'limits'> = (state, { limits, settings }, by) => {
  // Limits that would leave the loop without any bound are not taken; what else was asked for is.
  const taken = isBounded({ ...state.settings.limits, ...limits }) ? limits : {};
  const keys = [...Object.keys(taken), ...Object.keys(settings ?? {})];
  if (keys.length === 0) return [];
  const because = `${keys.map(key => settingWords[key] ?? key).join(', ')}`;
  const changed: NewEvent = { type: 'limits.changed', limits: taken, by, because, settings };
  return [changed, ...answeredByChange(state, taken, settings, by)];
};

const commands: { readonly [Type in Command['type']]: DecideCommand<Type> } = {
  answer: answerQuestion,
  tell: (_state, { text, task }, by) => [{ type: 'guidance.given', text, by, because: 'told by a human', task }],
  stop: (state, { replacedBy }, by) => {
    if (state.control.ended || state.control.stop) return [];
    if (replacedBy === undefined) return [{ type: 'stop.asked', by, because: 'ralph stop' }];
    const because = `--new: loop ${replacedBy} takes its place`;
    // Whether an effect happened is nobody's to forget.
    return [
      ...closeQuestions(state, one => one.kind !== 'effect', 'ralph', because),
      { type: 'stop.asked', by, because },
    ];
  },
  pause: (state, command, by) =>
    state.control.ended ? [] : [{ type: 'loop.paused', by, now: command.now, because: 'ralph pause' }],
  resume,
  limits: changeLimits,
  checkpoint: (state, { label, request }, by) =>
    state.settings.checkpoints
      ? [{ type: 'checkpoint.asked', kind: 'by-hand', label, request, by, because: 'ralph checkpoint create' }]
      : [],
  restore: (state, { type: _type, ...facts }, by) =>
    state.checkpoints.restoreDue || !state.settings.checkpoints ? [] : [{ type: 'restore.asked', by, ...facts }],
  approve,
  task: taskCommand,
  refused: (_state, { command }, by) => [
    { type: 'command.refused', command, by, because: 'an agent may not give commands to its own loop' },
  ],
};

/** For a provider's reset or after a failure; a person may know better. */
const isWaiting = (state: State, now: number): boolean =>
  (state.control.wait?.until ?? 0) > now || Object.values(state.performers.rateLimitedUntil).some(until => until > now);

const decisions: { readonly [Type in Input['type']]: Decide<Type> } = {
  start: (state, { type: _type, ...facts }) => (isStarted(state) ? [] : [{ type: 'loop.started', ...facts }]),
  document: documentRead,
  begin,
  spawned: (state, { type: _type, ...facts }) =>
    liveIteration(state, facts.iteration) ? [{ type: 'iteration.spawned', ...facts }] : [],
  heard: (state, { type: _type, ...facts }) =>
    liveIteration(state, facts.iteration) ? [{ type: 'iteration.heartbeat', ...facts }] : [],
  usage: (state, { iteration, usage }) => {
    const live = liveIteration(state, iteration);
    return live === undefined ? [] : recordUsage(state, live, usage);
  },
  windows: (state, { iteration, windows }) => {
    const live = liveIteration(state, iteration);
    return live === undefined ? [] : recordWindows(state, live, windows);
  },
  permissions: (state, { iteration, mode: said }) => {
    const performer = liveIteration(state, iteration)?.performer;
    const mode = takeCharacters(said, 60);
    if (performer === undefined || state.performers.permissionModes?.[performer] === mode) return [];
    return [{ type: 'permissions.stated', iteration, performer, mode }];
  },
  reported,
  performed: (state, { iteration, performed, chance }, now) => {
    const live = liveIteration(state, iteration);
    return live === undefined ? [] : endIteration(state, live, { performed, chance, now });
  },
  recovered,
  nudged,
  reached: guidanceDelivered,
  checked,
  intended,
  merged,
  saved,
  committed,
  'set-aside': setAside,
  'given-back': givenBack,
  checkpointed,
  'checkpoint-failed': checkpointFailed,
  displaced,
  restored,
  stalled,
  escalate: (state, { question, because }) => raise(state, question, because),
  'taken-over': (state, { by }) =>
    state.control.ended ? [] : [{ type: 'loop.resumed', by, because: 'a new process works on it', takesOver: true }],
  end: (state, _input, now) => {
    const termination = evaluateTermination(state, now);
    const isSettled = !isBusy(state) && isWritten(state) && isSaved(state);
    return state.control.ended || !isSettled || termination === undefined
      ? []
      : [{ type: 'loop.ended', ...termination }];
  },
  command: (state, { command, by }, now) =>
    (commands[command.type] as DecideCommand<Command['type']>)(state, command, by, now),
};

/** After every nth error in a row: back to the last checkpoint at which none stood open. */
function rollback(state: State, after: State): readonly NewEvent[] {
  const { rollbackAfter, worktreePerTask } = state.settings;
  const { errors } = after.streaks;
  const { lastGood: to, restoreDue } = after.checkpoints;
  if (rollbackAfter === null || worktreePerTask || to === undefined || restoreDue !== undefined) return [];
  if (errors <= state.streaks.errors || errors % rollbackAfter !== 0) return [];
  const because = `${plural(errors, 'error')} in a row, a rollback after ${rollbackAfter} (--rollback-after)`;
  return [{ type: 'restore.asked', to, by: 'ralph', because }];
}

function dated(event: NewEvent, at: number): Event {
  const { type, ...body } = event;
  const when = event.type === 'escalation.raised' ? { escalation: { ...event.escalation, raisedAt: at } } : {};
  return { type, at, ...body, ...when } as Event;
}

type DecideInput = (state: State, input: Input, now: number) => readonly Event[];

const decideInput: DecideInput = (state, input, now) => {
  const decision = (decisions[input.type] as Decide<Input['type']>)(state, input as InputOf<Input['type']>, now);
  const events = decision.map(event => dated(event, now));
  if (events.length === 0 || (input.type !== 'performed' && input.type !== 'recovered')) return events;
  const back = rollback(state, events.reduce(fold, state));
  return [...events, ...back.map(event => dated(event, now))];
};

/** What an input means, and what the rules of the mode add to it. */
export const makeDecide =
  (find: FindRules, evolve: Evolve): DecideInput =>
  (state, input, now) => {
    const events = decideInput(state, input, now);
    if (events.length === 0 || state.control.ended) return events;
    const after = events.reduce(evolve, state);
    const more = find(after.settings.mode)?.expand?.(after);
    return more === undefined ? events : [...events, { type: 'tasks.added', at: now, ...more }];
  };
