// What an outside fact or a command means: an input becomes events, or nothing. Pure; the engine stores what it says.

import { plural } from '../../text/format.ts';
import type { Event } from '../event.ts';
import { nudged, reached } from '../health.ts';
import type { Command, Input, InputOf, Question } from '../input.ts';
import { withGrowth } from '../review.ts';
import { hasRoomFor, preferredFor, resetMsMax } from '../scheduling.ts';
import { isBounded, settingWords } from '../settings.ts';
import { recordUsage } from '../spend.ts';
import { isBusy, isKept, isWritten, type LiveIteration, liveIteration, type State } from '../state.ts';
import { findTask, isReady, openTasks, type Task } from '../task.ts';
import { evaluateTermination } from '../termination.ts';
import { documentRead } from './document-changes.ts';
import { endIteration, performedInput } from './iteration-ending.ts';
import { answeredByChange, answerQuestion, raise } from './questions.ts';
import {
  approve,
  askForApproval,
  checked,
  checkpointed,
  checkpointFailed,
  committed,
  intended,
  isApproved,
  merged,
  restored,
  taskCommand,
  withRollback,
} from './work.ts';

type Decide<Type extends Input['type']> = (state: State, input: InputOf<Type>, now: number) => readonly Event[];

/** Neither its provider's limit nor an open question keeps it away. */
const isFree = (state: State, performer: string, now: number): boolean => {
  const limitedUntil = state.limited[performer] ?? 0;
  const asked = state.escalations.some(one => one.performer === performer);
  return !asked && (limitedUntil <= now || limitedUntil > now + resetMsMax);
};

const begin: Decide<'begin'> = (state, { task: id, performer, holder }, now) => {
  const task = findTask(state.tasks, id);
  const full = task === undefined || !hasRoomFor(state, task);
  // Between the plan and now a person may have stopped or paused the loop, or a parallel iteration may have met a limit.
  const held = full || state.ended || state.paused || state.restoreDue || !isApproved(state);
  if (held || evaluateTermination(state, now) !== undefined) return [];
  if (task === undefined || !isReady(state.tasks, task) || !isFree(state, performer, now)) return [];
  const attempt = task.attempts + 1;
  const why =
    task.dependsOn.length > 0
      ? `its dependencies (${task.dependsOn.slice(0, 5).join(', ')}) are met`
      : 'it depends on nothing open';
  const first = preferredFor(state, id);
  const instead = first === undefined || first === performer ? '' : `; ${performer} instead of ${first}`;
  const order = state.settings.stepwise ? 'the task of this loop' : `first ready task in document order: ${why}`;
  const because = `${order}; attempt ${attempt}${ofAttempts(state, task)}${instead}`;
  return [
    {
      type: 'iteration.started',
      at: now,
      iteration: state.iterations + 1,
      task: id,
      performer,
      holder,
      attempt,
      because,
    },
  ];
};

/** Where one task takes many iterations, the limit of attempts does not bound it. */
const ofAttempts = ({ settings }: State, { attemptsMax }: Task): string =>
  settings.stepwise ? '' : ` of ${attemptsMax ?? settings.limits.attemptsPerTaskMax}`;

/** What was still heard of it, or recorded about it. */
const workedUntil = ({ heardAt, aliveAt = 0 }: LiveIteration): number => Math.max(heardAt, aliveAt);

const recovered: Decide<'recovered'> = (state, { iteration, holder, found, chance }, now) => {
  const live = liveIteration(state, iteration);
  if (live === undefined) return [];
  if (found !== undefined) return endIteration(state, live, found, chance, now, workedUntil(live));
  if (live.intended?.repeatable === false) {
    const detail = 'Ralph ended after the action had been sent and before its result was known';
    const lost = { message: '', failure: { kind: 'lost-reply' as const, detail } };
    return endIteration(state, live, lost, chance, now, workedUntil(live));
  }
  // Again only what is still approved: the document may have been edited since.
  if ((live.process === undefined || live.intended !== undefined) && isApproved(state)) {
    const because = live.intended
      ? 'Ralph ended while the action was under way, and doing it twice is as good as once: again, not counted twice'
      : 'Ralph ended before the agent was known to run: the same iteration again, not counted twice';
    const { task, performer, attempt } = live;
    return [{ type: 'iteration.started', at: now, iteration, task, performer, holder, attempt, because, again: true }];
  }
  const detail =
    live.process === undefined
      ? 'Ralph ended before it was known to run, and the document was edited since'
      : `Ralph ended while process ${live.process.pid} was at work`;
  const failure = { kind: 'stopped' as const, detail, crashed: true as const };
  return endIteration(state, live, { message: '', failure }, chance, now, workedUntil(live));
};

const unwritable = (failed: string): Question => ({
  kind: 'storage',
  summary: 'The task document cannot be written',
  context: failed,
  options: [{ id: 'go-on', text: 'It can be written again: go on' }],
  question: 'Make it writable, then run the same command again.',
});

/** A task that changed while it was being written stays unsaved. */
const saved: Decide<'saved'> = (state, { marks, hash, restored, failed }, now) => {
  const because = failed ?? restored ?? 'the document shows what the ledger says';
  const tasks = marks
    .filter(mark => {
      const status = findTask(state.tasks, mark.id)?.status;
      const isSame = mark.status === undefined || mark.status === status;
      return isSame && mark.done === (status === 'done') && mark.skipped === (status === 'skipped');
    })
    .map(mark => mark.id);
  const event: Event = {
    type: 'tasks.saved',
    at: now,
    tasks: failed === undefined ? tasks : [],
    hash,
    because,
    failed,
  };
  if (failed !== undefined)
    return [event, ...raise(state, unwritable(failed), now, 'the document could not be written')];
  if (restored === undefined) return [event];
  const text =
    state.settings.mode === 'review'
      ? `The document was damaged in the last iteration. ${restored} Mend it where an issue says so, and never empty or remove it.`
      : `The task document was damaged in the last iteration. ${restored} Change nothing in the task document but the status of your own task.`;
  return [event, { type: 'guidance.given', at: now, text, by: 'ralph', because: 'a damaged document was restored' }];
};

/** In a plan what was done is never tried again, and what is parked or waits for something left out is called so. */
const tryAgainWords = ({ settings }: State, isParked: boolean): string => {
  if (settings.mode !== 'plan') return 'Try what is left again, whatever it waits for';
  return isParked ? 'Try the parked steps again' : 'Go on without the steps that were left out';
};

const roundRule =
  'A round is over when its agent has written done.md, and counts when spec.md (after the last one tasks.json too) can be used. ';

const stalled: Decide<'stalled'> = (state, _input, now) => {
  if (!isApproved(state)) return askForApproval(state, now);
  const open = openTasks(state.tasks);
  const parked = open.filter(task => task.status === 'blocked');
  const waiting = open.filter(task => task.status === 'pending');
  const name = (tasks: readonly Task[]): string =>
    tasks
      .slice(0, 5)
      .map(task => task.id)
      .join(', ') + (tasks.length > 5 ? ', …' : '');
  const parts = [
    ...(parked.length > 0 ? [`parked: ${name(parked)} (${parked[0]?.parked ?? ''})`] : []),
    ...(waiting.length > 0 ? [`waiting for a task that is not done: ${name(waiting)}`] : []),
  ];
  const question: Question = {
    kind: 'blocked',
    summary: `No task is ready, ${plural(open.length, 'task')} left`,
    context: parts.join('\n'),
    options: [
      { id: 'try-again', text: tryAgainWords(state, parked.length > 0) },
      { id: 'leave-out', text: 'Leave out what is left' },
    ],
    question: `${parked.some(task => task.interactive) ? roundRule : ''}How should the loop go on?`,
  };
  return raise(state, question, now, parts.join('; '));
};

const commands: {
  readonly [Type in Command['type']]: (
    state: State,
    command: Extract<Command, { type: Type }>,
    by: string,
    now: number,
  ) => readonly Event[];
} = {
  answer: answerQuestion,
  tell: (_state, { text, task }, by, now) => [
    { type: 'guidance.given', at: now, text, by, because: 'told by a human', task },
  ],
  stop: (state, _command, by, now) =>
    state.ended || state.stop ? [] : [{ type: 'stop.asked', at: now, by, because: 'ralph stop' }],
  pause: (state, command, by, now) =>
    state.ended ? [] : [{ type: 'loop.paused', at: now, by, now: command.now, because: 'ralph pause' }],
  resume: (state, _command, by, now) =>
    state.paused || state.ended || isWaiting(state, now)
      ? [
          {
            type: 'loop.resumed',
            at: now,
            by,
            because: state.ended
              ? `reopened after ${state.ended.reason}`
              : state.paused
                ? 'ralph resume'
                : 'ralph resume: no longer waits for a limit or a back-off',
          },
        ]
      : [],
  limits: (state, { limits, settings }, by, now) => {
    // Limits that would leave the loop without any bound are not taken; what else was asked for is.
    const taken = isBounded({ ...state.settings.limits, ...limits }) ? limits : {};
    const keys = [...Object.keys(taken), ...Object.keys(settings ?? {})];
    if (keys.length === 0) return [];
    const because = `set: ${keys.map(key => settingWords[key] ?? key).join(', ')}`;
    return [
      { type: 'limits.changed', at: now, limits: taken, by, because, settings },
      ...answeredByChange(state, settings, by, now),
    ];
  },
  checkpoint: (state, { label, request }, by, now) =>
    state.settings.checkpoints
      ? [{ type: 'checkpoint.asked', at: now, kind: 'by-hand', label, request, by, because: 'ralph checkpoint create' }]
      : [],
  restore: (state, { type: _type, ...facts }, by, now) =>
    state.restoreDue || !state.settings.checkpoints ? [] : [{ type: 'restore.asked', at: now, by, ...facts }],
  approve: (state, { type: _type, ...facts }, by, now) => approve(state, facts, by, now),
  task: taskCommand,
  refused: (_state, { command }, by, now) => [
    { type: 'command.refused', at: now, command, by, because: 'an agent may not give commands to its own loop' },
  ],
};

/** For a provider's reset or after a failure; a person may know better. */
const isWaiting = (state: State, now: number): boolean =>
  (state.wait?.until ?? 0) > now || Object.values(state.limited).some(until => until > now);

const decisions: { readonly [Type in Input['type']]: Decide<Type> } = {
  start: (state, { type: _type, ...facts }, now) =>
    state.loop === '' ? [{ type: 'loop.started', at: now, ...facts }] : [],
  document: documentRead,
  begin,
  spawned: (state, { type: _type, ...facts }, now) =>
    liveIteration(state, facts.iteration) ? [{ type: 'iteration.spawned', at: now, ...facts }] : [],
  heard: (state, { type: _type, ...facts }, now) =>
    liveIteration(state, facts.iteration) ? [{ type: 'iteration.heartbeat', at: now, ...facts }] : [],
  usage: (state, { iteration, usage }, now) => {
    const live = liveIteration(state, iteration);
    return live === undefined ? [] : recordUsage(state, live, usage, now);
  },
  performed: (state, input, now) => withRollback(state, performedInput(state, input, now), now),
  recovered: (state, input, now) => withRollback(state, recovered(state, input, now), now),
  nudged,
  reached,
  checked,
  intended,
  merged,
  saved,
  committed,
  checkpointed,
  'checkpoint-failed': checkpointFailed,
  restored,
  stalled,
  escalate: (state, { question, because }, now) => raise(state, question, now, because),
  'taken-over': (state, { by }, now) =>
    state.ended
      ? []
      : [{ type: 'loop.resumed', at: now, by, because: 'a new process goes on with the loop', takesOver: true }],
  end: (state, _input, now) => {
    const termination = evaluateTermination(state, now);
    const settled = !isBusy(state) && isWritten(state) && isKept(state);
    return state.ended || !settled || termination === undefined
      ? []
      : [{ type: 'loop.ended', at: now, ...termination }];
  },
  command: (state, { command, by }, now) =>
    (commands[command.type] as (state: State, command: Command, by: string, now: number) => readonly Event[])(
      state,
      command,
      by,
      now,
    ),
};

export function decide(state: State, input: Input, now: number): readonly Event[] {
  const decided = (decisions[input.type] as Decide<Input['type']>)(state, input as InputOf<Input['type']>, now);
  return withGrowth(state, decided, now);
}
