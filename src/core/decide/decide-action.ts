// Actions and approvals: an effect is recorded before it happens, a lost reply goes to a person, a yes holds for one text.
import { leftOut } from './document-changes.ts';
import { approvalsOver, raise } from './questions.ts';
import type { Event } from '../event.ts';
import type { Failure } from '../failure.ts';
import type { InputOf } from '../input.ts';
import { type LiveIteration, liveIteration, type State } from '../state.ts';
import { allTasks, findTask, mayHaveHappened, type Task } from '../task.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';

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

export const effectOptions = [
  'It happened: count it as done',
  'It did not happen: do it again',
  'Leave it out',
] as const;

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
  const question = {
    kind: 'approval' as const,
    findings: [substance],
    summary: approval === undefined ? 'The plan needs your approval' : 'The plan was edited after it was approved',
    context: `${goal}\n${before}\nThis version: ${substance.slice(0, 12)}. To see it: ralph plan show ${state.document}`,
    options: isPartlyDone ? [] : [`Approve this version (${substance.slice(0, 12)})`],
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
