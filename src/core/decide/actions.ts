// Actions, approvals and orders about one task: an effect is recorded before it happens and never repeated on a guess.

import { canonical } from '../../text/canonical.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import type { NewEvent, Option } from '../event.ts';
import type { Failure } from '../failure.ts';
import type { Command, InputOf, Question } from '../input.ts';
import { attemptsMaxOf, isApproved, type LiveIteration, liveIteration, type State } from '../state.ts';
import { allTasks, findTask, mayHaveHappened, type Task, type TaskSpec, toolOf } from '../task.ts';
import { mayReopenTasks } from '../termination.ts';
import { leftOut } from './document-changes.ts';
import { approvalsOver, closedWith, doneByPerson, raise, taskSkipped } from './questions.ts';

export function taskCommand(
  state: State,
  { act, task: id, again, withWork }: Extract<Command, { type: 'task' }>,
  by: string,
): readonly NewEvent[] {
  const task = findTask(state.tasks, id);
  const isOver = state.control.ended !== undefined && !(act !== 'done' && mayReopenTasks(state));
  if (task === undefined || isOver || task.status === 'active') return [];
  if (act === 'done')
    return task.status === 'done' ? [] : [...closedWith(state, id, by), doneByPerson(id, by, 'ralph task done')];
  if (act === 'skip') {
    const isClosed = task.status === 'done' || task.status === 'skipped';
    return isClosed ? [] : [...closedWith(state, id, by), taskSkipped(state, id, by, 'ralph task skip')];
  }
  const isAgain = mayHaveHappened(task);
  if (isAgain && again !== true) return [];
  const because = isAgain ? `ralph task retry --again: ${by} wants it done again` : 'ralph task retry';
  return [
    ...closedWith(state, id, by),
    { type: 'task.reopened', task: id, because, withWork, attempts: attemptsLeft(state, task) },
  ];
}

/** What a person had decided is taken back: the task is as it was before, unless nothing would be left to try. */
function attemptsLeft(state: State, task: Task): number | undefined {
  const isTakenBack = task.status === 'skipped' || (task.status === 'done' && task.closedBy !== undefined);
  return isTakenBack && task.attempts < attemptsMaxOf(state, task) ? task.attempts : undefined;
}

/** The same for every attempt at a task in a loop: whoever takes it does the work once. */
export const keyOf = (state: State, task: string): string => `${state.loop.id}:${task}`;

export function intended(state: State, { iteration, repeatable }: InputOf<'intended'>): readonly NewEvent[] {
  const live = liveIteration(state, iteration);
  // What it was told to do may no longer be what a person said yes to (F68).
  const { ended, stop, paused } = state.control;
  if (live === undefined || ended || stop || paused?.now || !isApproved(state)) return [];
  const tool = toolOf(findTask(state.tasks, live.task)?.spec ?? {});
  const about = tool === undefined ? 'about to act' : `about to call the tool ${tool}`;
  const because = repeatable
    ? `${about}: doing it twice is as good as once`
    : `${about}: what happens from here on may have had its effect`;
  const key = keyOf(state, live.task);
  return [{ type: 'action.intended', iteration, task: live.task, key, repeatable, because }];
}

export const effectOptions: readonly Option[] = [
  { id: 'happened', text: 'It happened: count it as done' },
  { id: 'not-happened', text: 'It did not happen: do it again' },
  { id: 'leave-out', text: 'Leave it out' },
];

const paramsCharsMax = 1_500;

/** What a person has to look for, and whom it was to reach. */
function orderWords(order: TaskSpec['order']): readonly string[] {
  if (order?.type !== 'mcp') return [];
  const params = stripControls(JSON.stringify(order.params));
  const shown = takeCharacters(params, paramsCharsMax);
  const rest = shown.length < params.length ? ' …' : '';
  return [`Tool ${order.tool} of the MCP server ${order.server}, with ${shown}${rest}`];
}

/** Nobody but a person can see whether it happened; nothing is done twice on a guess. */
export function askAboutEffect(state: State, live: LiveIteration, failure: Failure): readonly NewEvent[] {
  const task = findTask(state.tasks, live.task);
  const question = {
    kind: 'effect' as const,
    summary: `Nobody knows whether ${live.task} happened${task === undefined ? '' : `: ${task.spec.title}`}`,
    context: [...orderWords(task?.spec.order), failure.detail].join('\n'),
    options: effectOptions,
    question: 'Look where its effect would show, then say which it is.',
  };
  return raise(state, question, 'the reply was lost after the action had been sent', live);
}

/** Asked once for each text: an edit after the yes needs a new one (F68). */
export function askForApproval(state: State): readonly NewEvent[] {
  const { contentHash = '', approval } = state.document;
  const { goal } = state.loop;
  // Steps are known by their numbers: only who compares the texts sees whether an action now stands under another one.
  const isPartlyDone = [...allTasks(state.tasks)].some(mayHaveHappened);
  const before = approval === undefined ? 'Nobody has approved it.' : `${approval.by} approved another version of it.`;
  const question: Question = {
    kind: 'approval',
    findings: [contentHash],
    summary: approval === undefined ? 'The plan needs your approval' : 'The plan was edited after it was approved',
    context: `${goal}\n${before}\nThis version: ${contentHash.slice(0, 12)}. To see it: ralph plan show ${state.loop.document}`,
    options: isPartlyDone ? [] : [{ id: 'approve', text: `Approve this version (${contentHash.slice(0, 12)})` }],
    question: isPartlyDone
      ? `Steps of it were carried out already. See what is different, and approve that: ralph plan approve ${state.loop.document}`
      : 'May it run as it stands now?',
  };
  return raise(
    state,
    question,
    approval === undefined ? 'it is not approved' : 'its text differs from the approved one',
  );
}

export function approve(
  state: State,
  { subject, hash, because, terms }: Extract<Command, { type: 'approve' }>,
  by: string,
): readonly NewEvent[] {
  const before = state.document.approval;
  const isSame = before?.hash === hash && (terms === undefined || canonical(before.terms ?? null) === canonical(terms));
  if (state.control.ended || isSame) return [];
  const isCurrent = hash === state.document.contentHash;
  return [
    { type: 'approval.given', subject, hash, by, because, terms },
    ...approvalsOver(state, hash, isCurrent, by),
    ...(isCurrent ? leftOut(state, []) : []),
  ];
}
