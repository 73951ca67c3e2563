// What the answers of checks, merges, checkpoints, restores and commits mean.

import { plural } from '../../text/format.ts';
import { stripControls, takeCharacters, takeLastCharacters } from '../../text/text.ts';
import type { Doubt, Event, EventOf, Option } from '../event.ts';
import { evolve } from '../evolve/evolve.ts';
import type { Failure } from '../failure.ts';
import type { CheckOutcome, Command, Input, InputOf, Question } from '../input.ts';
import { type LiveIteration, liveIteration, type State, showsProgress } from '../state.ts';
import { allTasks, findTask, mayHaveHappened, type Task } from '../task.ts';
import { parkIfSpent } from './claims.ts';
import { leftOut } from './document-changes.ts';
import { describeFindings, refusing } from './findings.ts';
import { approvalsOver, raise } from './questions.ts';

type Decide<Type extends Input['type']> = (state: State, input: InputOf<Type>, now: number) => readonly Event[];

function checkEvents(state: State, { iteration, outcomes }: InputOf<'checked'>, task: string, now: number): Event[] {
  const events: Event[] = [];
  // A check that did not run proves nothing.
  const missing = state.settings.checks
    .filter(name => !outcomes.some(outcome => outcome.name === name))
    .map((name): CheckOutcome => ({ name, passed: false, detail: 'It did not run.', durationMs: 0 }));
  for (const [at, outcome] of [...outcomes, ...missing].entries()) {
    const { name, passed, durationMs, flaky, usage, performer = '' } = outcome;
    const because = passed
      ? `${name} passed${flaky ? ', flaky' : ''}`
      : `the claim was refused: the check "${name}" failed`;
    const remaining = outcomes.length + missing.length - 1 - at;
    const detail = takeLastCharacters(outcome.detail, 2_000);
    if (usage !== undefined) events.push({ type: 'usage.recorded', at: now, iteration, performer, task, usage });
    const ended: EventOf<'check.ended'> = {
      type: 'check.ended',
      at: now,
      iteration,
      task,
      check: name,
      passed,
      remaining,
      detail,
      durationMs,
      because,
    };
    events.push(flaky === undefined ? ended : { ...ended, flaky });
    if (!passed) break;
  }
  return events;
}

function screened(
  { iteration, restored = [] }: InputOf<'checked'>,
  task: string,
  doubts: readonly Doubt[],
  refused: boolean,
  now: number,
): Event {
  const back =
    restored.length === 0 ? '' : `protected files had been changed and were put back: ${restored.join(', ')}`;
  const said = [refused ? `the claim was not believed: ${describeFindings(doubts)}` : describeFindings(doubts), back];
  const because = said.filter(part => part !== '').join('\n') || 'nothing was found';
  return { type: 'proof.screened', at: now, iteration, task, doubts: doubts.slice(0, 50), restored, refused, because };
}

function askAboutDoubts(
  state: State,
  task: string,
  iteration: number,
  doubts: readonly Doubt[],
  now: number,
): readonly Event[] {
  const asked = findTask(state.tasks, task)?.escalations ?? 0;
  const { escalationsPerTaskMax } = state.settings.limits;
  if (asked >= escalationsPerTaskMax) {
    const because = `${plural(asked, 'question')} about this task already, ${escalationsPerTaskMax} allowed`;
    return [{ type: 'task.blocked', at: now, task, because }];
  }
  const nothing = doubts.every(one => one.kind === 'nothing-changed');
  const question: Question = {
    kind: 'tamper',
    findings: doubts.map(one => one.fingerprint),
    summary: nothing
      ? `${task} is claimed, but nothing was changed for it`
      : `${task} is claimed and its checks pass, but tests or checks were changed`,
    context: describeFindings(doubts),
    options: nothing
      ? [
          { id: 'reject', text: 'Not accepted: try again' },
          { id: 'accept', text: 'Accept: there was nothing to do' },
        ]
      : [
          { id: 'reject', text: 'Not accepted: the agent is to put them back' },
          { id: 'accept', text: 'Accept these changes' },
        ],
    question: nothing ? 'Is there nothing to do for it?' : 'Accept these changes?',
  };
  return raise(state, question, now, 'the proof is doubtful', { task, iteration });
}

/** A judge that cannot be asked says nothing about the work: it is not done anew for that. */
function askAgain(
  state: State,
  task: string,
  iteration: number,
  { name, detail }: CheckOutcome,
  now: number,
): readonly Event[] {
  const question: Question = {
    kind: 'tamper',
    findings: [],
    summary: `${task} is claimed and its checks pass, but there is no verdict (${name})`,
    context: takeLastCharacters(detail, 2_000),
    options: [
      { id: 'redo', text: 'Do the task anew' },
      { id: 'ask-again', text: 'Ask again' },
    ],
    question: 'When the judge can work again, take 2; or go on without it: ralph run --verify ...',
  };
  return raise(state, question, now, 'the judge gave no verdict', { task, iteration });
}

export const checked: Decide<'checked'> = (state, input, now) => {
  const events = judged(state, input, now);
  if (input.wrote !== true || events.length === 0) return events;
  const label = `after the checks of iteration ${input.iteration}`;
  return [
    ...events,
    { type: 'checkpoint.asked', at: now, kind: 'checks', label, by: 'ralph', because: 'files changed while they ran' },
  ];
};

const judged: Decide<'checked'> = (state, input, now) => {
  const { iteration, outcomes } = input;
  const claim = state.claims.find(one => one.iteration === iteration);
  if (claim === undefined) return [];
  const { task } = claim;
  const events = checkEvents(state, input, task, now);
  const passed = events.every(one => one.type !== 'check.ended' || one.passed);
  const { accepted } = state;
  const doubts = (input.doubts ?? []).filter(one => !accepted.includes(one.fingerprint));
  const mayChangeTests = findTask(state.tasks, task)?.mayChangeTests === true;
  const open = refusing(doubts, { accepted, mayChangeTests });
  const refused = passed && open.length > 0 && input.judged !== true;
  const seen = doubts.length + (input.restored ?? []).length > 0;
  if (refused) {
    return [...events, screened(input, task, doubts, true, now), ...askAboutDoubts(state, task, iteration, open, now)];
  }
  const isUnproven = state.settings.worktreePerTask && events.length === 0; // without a check this is what moves it on
  if (seen || isUnproven) events.unshift(screened(input, task, doubts, false, now));
  if (!passed) {
    const silent = outcomes.find(one => !one.passed && one.undecided === true);
    return silent === undefined
      ? [...events, ...parkIfSpent(state, task, now)]
      : [...events, ...askAgain(state, task, iteration, silent, now)];
  }
  if (state.settings.worktreePerTask) return events;
  const verified = outcomes.length > 0;
  const because = verified
    ? `claimed, and ${plural(outcomes.length, 'check')} passed`
    : 'claimed by the agent, unverified: no check is configured';
  return [...events, { type: 'task.closed', at: now, task, iteration, verified, because }];
};

export const merged: Decide<'merged'> = (state, { iteration, merged: ok, detail }, now) => {
  const claim = state.claims.find(one => one.iteration === iteration);
  if (claim === undefined) return [];
  const { task } = claim;
  const verified = state.settings.checks.length > 0;
  const because = ok ? 'the work was merged' : `the work could not be merged: ${detail}`;
  const event: Event = { type: 'merge.ended', at: now, iteration, task, merged: ok, detail, because };
  if (!ok) return [event, ...parkIfSpent(state, task, now)];
  const why = verified ? 'claimed, checked and merged' : 'claimed and merged, unverified';
  return [event, { type: 'task.closed', at: now, task, iteration, verified, because: why }];
};

export const committed: Decide<'committed'> = (state, { type: _type, ...facts }, now) => {
  if (!state.commitsDue.some(one => one.task === facts.task)) return [];
  const { commit, paths, left, failed } = facts;
  // A document that Ralph itself keeps is changed by every task: that it stays out need not be said each time.
  const own = showsProgress[state.settings.mode] ? state.document : '';
  const yours = left.filter(path => `${state.directory}/${path}` !== own);
  const names = yours.slice(0, 3).join(', ');
  const kept =
    yours.length === 0
      ? ''
      : `; left out, because yours (dirty at the start, or edited by you meanwhile): ${names}${yours.length > 3 ? ` and ${yours.length - 3} more` : ''}`;
  const because =
    failed ?? (commit === '' ? `nothing was left to commit${kept}` : `${plural(paths, 'file')} committed${kept}`);
  return [{ type: 'work.committed', at: now, ...facts, left: left.slice(0, 100), because }];
};

export const checkpointed: Decide<'checkpointed'> = (state, { mark, ref, sha256, skipped, files }, now) => {
  const due = state.checkpointsDue[0];
  if (due === undefined || mark.number !== state.checkpointsMade + 1) return [];
  const { iteration, kind, label, request, task } = due;
  const fork = task !== undefined && state.settings.worktreePerTask ? true : undefined;
  const about = { iteration, task, ref, kind, label, request, sha256, skipped, fork, files, because: label };
  return [{ type: 'checkpoint.made', at: now, ...mark, ...about }];
};

export const checkpointFailed: Decide<'checkpoint-failed'> = (state, { problem }, now) => {
  const question: Question = {
    kind: 'storage',
    summary: 'A checkpoint could not be made',
    context: problem,
    options: [
      { id: 'go-on', text: 'It is mended: go on' },
      { id: 'without-checkpoints', text: 'Go on without checkpoints: no undo and no look at the work from here' },
    ],
    question: 'Mend it, then run the same command again.',
  };
  return raise(state, question, now, 'a checkpoint could not be made');
};

/**
 * Statuses go back with the files, unless only files were asked for; limits and counters never do. What an action did in the
 * world is not in the files: it stays done, or left out, or to be asked about.
 */
function tasksBack(
  state: State,
  then: EventOf<'restore.asked'>['tasks'],
  number: number,
  now: number,
): readonly Event[] {
  const because = `as at checkpoint ${number}`;
  const back = (then ?? []).flatMap(({ id, status }): readonly Event[] => {
    const task = findTask(state.tasks, id);
    if (task === undefined || task.status === status || task.order !== undefined) return [];
    if (status === 'pending') return [{ type: 'task.reopened', at: now, task: id, because }];
    if (status === 'skipped') return [{ type: 'task.skipped', at: now, task: id, by: 'ralph', because }];
    const verified = task.verified ?? true;
    return [{ type: 'task.closed', at: now, task: id, iteration: 0, verified, because }];
  });
  return back.length === 0 ? [] : [...stallsOver(state, 'tasks were put back', now), ...back];
}

export const restored: Decide<'restored'> = (state, { type: _type, ...facts }, now) => {
  const due = state.restoreDue;
  if (due === undefined) return [];
  const { checkpoint, number, commit } = due.to;
  const because = facts.refused ?? due.because;
  const event: Event = { type: 'checkpoint.restored', at: now, checkpoint, number, ref: commit, ...facts, because };
  if (facts.refused !== undefined) return [event];
  const events = [event, ...tasksBack(state, due.tasks, number, now)];
  if (due.by !== 'ralph') return events;
  const text = `The files were put back to checkpoint ${number} (${due.because}). What was tried since is gone: begin again, and differently.`;
  return [...events, { type: 'guidance.given', at: now, text, by: 'ralph', because: 'a rollback' }];
};

/** After every nth error in a row: back to the last checkpoint at which none stood open. */
export function withRollback(state: State, events: readonly Event[], now: number): readonly Event[] {
  const { rollbackAfter, worktreePerTask } = state.settings;
  if (rollbackAfter === null || worktreePerTask || events.length === 0) return events;
  const after = events.reduce(evolve, state);
  const due = after.errorsInRow > state.errorsInRow && after.errorsInRow % rollbackAfter === 0;
  const { good } = after;
  if (!due || good === undefined || after.restoreDue !== undefined) return events;
  const because = `${plural(after.errorsInRow, 'error')} in a row, ${rollbackAfter} allowed before a rollback (--rollback-after)`;
  return [...events, { type: 'restore.asked', at: now, to: good, by: 'ralph', because }];
}

// What a person says about one task, outside of any question; an effect that may have happened is never repeated in passing.

export function taskCommand(
  state: State,
  { act, task: id, again }: Extract<Command, { type: 'task' }>,
  by: string,
  now: number,
): readonly Event[] {
  const task = findTask(state.tasks, id);
  if (task === undefined || state.ended || task.status === 'active') return [];
  if (act === 'skip') {
    const isClosed = task.status === 'done' || task.status === 'skipped';
    return isClosed
      ? []
      : [
          ...closedWith(state, id, by, now),
          { type: 'task.skipped', at: now, task: id, by, because: 'ralph task skip' },
        ];
  }
  const isAgain = mayHaveHappened(task);
  if (isAgain && again !== true) return [];
  const because = isAgain ? `ralph task retry --again: ${by} wants it done again` : 'ralph task retry';
  return [...closedWith(state, id, by, now), { type: 'task.reopened', at: now, task: id, because }];
}

const closed = (id: string, by: string, because: string, now: number): Event => ({
  type: 'escalation.answered',
  at: now,
  id,
  answer: { kind: 'retry' },
  by,
  because,
});

/** The questions about a task need no answer once a person decided about it; whether nothing is ready is asked anew. */
const closedWith = (state: State, task: string, by: string, now: number): readonly Event[] =>
  state.escalations
    .filter(one => (one.task === task && one.kind !== 'health') || one.kind === 'blocked')
    .map(({ id }) => closed(id, by, 'decided by ralph task', now));

/** "No task is ready" is no longer true when tasks were opened again. */
const stallsOver = (state: State, because: string, now: number): readonly Event[] =>
  state.escalations.filter(one => one.kind === 'blocked').map(({ id }) => closed(id, 'ralph', because, now));

// Actions and approvals: an effect is recorded before it happens, a lost reply goes to a person, a yes holds for one text.

/** The same for every attempt at a task in a loop: whoever takes it does the work once. */
export const keyOf = (state: State, task: string): string => `${state.loop}:${task}`;

export function intended(state: State, { iteration, repeatable }: InputOf<'intended'>, now: number): readonly Event[] {
  const live = liveIteration(state, iteration);
  // What it was told to do may no longer be what a person said yes to (F68).
  if (live === undefined || state.ended || state.stop || state.paused?.now || !isApproved(state)) return [];
  const because = repeatable
    ? 'about to act: doing it twice is as good as once'
    : 'about to act: what happens from here on may have had its effect';
  const key = keyOf(state, live.task);
  return [{ type: 'action.intended', at: now, iteration, task: live.task, key, repeatable, because }];
}

export const effectOptions: readonly Option[] = [
  { id: 'happened', text: 'It happened: count it as done' },
  { id: 'not-happened', text: 'It did not happen: do it again' },
  { id: 'leave-out', text: 'Leave it out' },
];

const paramsCharsMax = 1_500;

/** What a person has to look for, and whom it was to reach. */
function deedWords(order: Task['order']): readonly string[] {
  if (order?.type !== 'mcp') return [];
  const params = stripControls(JSON.stringify(order.params));
  const shown = takeCharacters(params, paramsCharsMax);
  const rest = shown.length < params.length ? ' …' : '';
  return [`Tool ${order.tool} of the MCP server ${order.server}, with ${shown}${rest}`];
}

/** Nobody but a person can see whether it happened; nothing is done twice on a guess. */
export function askAboutEffect(state: State, live: LiveIteration, failure: Failure, now: number): readonly Event[] {
  const task = findTask(state.tasks, live.task);
  const question = {
    kind: 'effect' as const,
    summary: `Nobody knows whether ${live.task} happened${task === undefined ? '' : `: ${task.title}`}`,
    context: [...deedWords(task?.order), failure.detail].join('\n'),
    options: effectOptions,
    question: 'Look where its effect would show, then say which it is.',
  };
  return raise(state, question, now, 'the reply was lost after the action had been sent', live);
}

export const isApproved = ({ settings, approval, substance }: State): boolean =>
  !settings.approval || (approval !== undefined && approval.hash === substance);

/** Asked once for each text: an edit after the yes needs a new one (F68). */
export function askForApproval(state: State, now: number): readonly Event[] {
  const { substance = '', approval, goal } = state;
  // Steps are known by their numbers: only who compares the texts sees whether a deed now stands under another one.
  const isPartlyDone = [...allTasks(state.tasks)].some(mayHaveHappened);
  const before = approval === undefined ? 'Nobody has approved it.' : `${approval.by} approved another version of it.`;
  const question: Question = {
    kind: 'approval',
    findings: [substance],
    summary: approval === undefined ? 'The plan needs your approval' : 'The plan was edited after it was approved',
    context: `${goal}\n${before}\nThis version: ${substance.slice(0, 12)}. To see it: ralph plan show ${state.document}`,
    options: isPartlyDone ? [] : [{ id: 'approve', text: `Approve this version (${substance.slice(0, 12)})` }],
    question: isPartlyDone
      ? `Steps of it were carried out already. See what is different, and approve that: ralph plan approve ${state.document}`
      : 'May it run as it stands now?',
  };
  return raise(
    state,
    question,
    now,
    approval === undefined ? 'it is not approved' : 'its text differs from the approved one',
  );
}

export function approve(
  state: State,
  { subject, hash, because }: { readonly subject: string; readonly hash: string; readonly because: string },
  by: string,
  now: number,
): readonly Event[] {
  if (state.ended || state.approval?.hash === hash) return [];
  const given: Event = { type: 'approval.given', at: now, subject, hash, by, because };
  const isCurrent = hash === state.substance;
  const answered = approvalsOver(state, hash, isCurrent, by, now);
  return [given, ...answered, ...(isCurrent ? leftOut(state, [], now) : [])];
}
