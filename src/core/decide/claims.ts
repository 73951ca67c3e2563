// Claims of a final message, and which of them are taken up: a claim is never more than a reason to check.

import { doneLine } from '../../messages/blocks.ts';
import type { Dialect, Signals } from '../../messages/claims.ts';
import { reportHint } from '../../messages/near.ts';
import type { Phase } from '../../messages/report.ts';
import { readReview } from '../../messages/review.ts';
import { plural } from '../../text/format.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';
import type { EventOf, IterationOutcome, NewEvent } from '../event.ts';
import type { Failure } from '../failure.ts';
import { isAdvance } from '../handoff.ts';
import type { Performed, Question } from '../input.ts';
import { attemptsMaxOf, isSingleTask, type LiveIteration, type State } from '../state.ts';
import { findTask, openTasks, progress, toolOf } from '../task.ts';
import { raise } from './questions.ts';

/** Everything known about an iteration at its end. */
export interface Ending {
  readonly state: State;
  readonly live: LiveIteration;
  readonly performed: Performed;
  readonly failure?: Failure;
  readonly signals: Signals;
  readonly outcome: IterationOutcome;
  readonly now: number;
  readonly durationMs: number;
  /** By the whole loop, with this iteration's last message. */
  readonly spentUsdMicros: number;
}

/** The task has used up its attempts: it is blocked so that others can go on. */
export function blockIfSpent(state: State, id: string, error?: string, refused?: string): readonly NewEvent[] {
  const task = findTask(state.tasks, id);
  if (task === undefined || isSingleTask(state)) return [];
  const attemptsMax = attemptsMaxOf(state, task);
  if (task.attempts < attemptsMax) return [];
  const { countsRetries } = state.settings.policy;
  const flag = countsRetries && attemptsMax > 1 ? `--retries ${attemptsMax - 1}` : '--max-attempts';
  const by = task.spec.attemptsMax === undefined ? ` (${flag})` : ''; // else the document says so itself
  const how = error === undefined ? 'without a proven result' : 'failed';
  const said = error ?? refused;
  const isReview = task.spec.completion === 'findings';
  const name = error !== undefined ? 'error' : isReview ? 'answer' : 'claim';
  const last = said === undefined ? '' : `; the last ${name}: ${takeCharacters(said.replace(/\s+/g, ' '), 300)}`;
  const because = `${plural(task.attempts, 'attempt')} ${how}, ${attemptsMax} allowed${by}${last}`;
  return [{ type: 'task.blocked', task: id, because }];
}

/** A step of a large task uses up no attempt. */
export const blockUnlessAdvance = ({ state, live, signals }: Ending, refused?: string): readonly NewEvent[] =>
  isAdvance(state, live, signals.report) ? [] : blockIfSpent(state, live.task, undefined, refused);

/** Questions are bounded per task (ADR 11): then the task is blocked. */
export function askOrBlock(
  state: State,
  question: Question,
  because: string,
  about: Pick<LiveIteration, 'task' | 'iteration'>,
): readonly NewEvent[] {
  const asked = findTask(state.tasks, about.task)?.escalations ?? 0;
  const { escalationsPerTaskMax } = state.settings.limits;
  if (asked < escalationsPerTaskMax) return raise(state, question, because, about);
  const enough = `${plural(asked, 'question')} about this task already, ${escalationsPerTaskMax} allowed`;
  return [{ type: 'task.blocked', task: about.task, because: enough }];
}

type Signal = EventOf<'signal.read'>['signal'];

const read =
  (accepted: boolean) =>
  ({ live: { iteration, task } }: Ending, signal: Signal, text: string, because: string): NewEvent => ({
    type: 'signal.read',
    iteration,
    task,
    signal,
    text,
    accepted,
    because,
  });

const accept = read(true);
export const refuse = read(false);

function readPromise(ending: Ending, claimed: boolean): readonly NewEvent[] {
  const { state, signals, live } = ending;
  const { promise } = state.settings;
  if (!signals.promise)
    return signals.promiseRefused === undefined ? [] : [refuse(ending, 'promise', promise, signals.promiseRefused)];
  const open = progress(state.tasks).open - (claimed ? 1 : 0);
  if (open <= 0) return [accept(ending, 'promise', promise, 'the promise is the last line and no other task is open')];
  const ids = openTasks(state.tasks)
    .filter(task => !(claimed && task.id === live.task))
    .slice(0, 5)
    .map(task => task.id);
  const because = `the promise ${promise} was refused: ${plural(open, 'task')} still open (${ids.join(', ')}${open > ids.length ? ', …' : ''})`;
  return [refuse(ending, 'promise', promise, because)];
}

/** The words in which the agent of a task is to say that it is done. */
export const dialectOf = ({ settings: { promise, policy } }: State, task: string): Dialect => ({
  task,
  promise,
  hasBox: policy.claimsBy === 'checkbox',
  hasReport: policy.progressBy === 'report',
});

/** What looks like a form of the contract and is none, told so that the next attempt writes it rightly. */
function explain(ending: Ending, isClaimed: boolean): readonly NewEvent[] {
  const { doneRefused, checkboxRefused, escalateRefused, handoffRefused, reportRefused } = ending.signals;
  const { claimsBy } = ending.state.settings.policy;
  const told: readonly (readonly [Signal, string | undefined])[] = [
    ['report', reportRefused === undefined ? ending.performed.noted?.problem : `${reportRefused} ${reportHint}`],
    ['done', isClaimed ? undefined : doneRefused],
    ['done', isClaimed || claimsBy !== 'checkbox' ? undefined : checkboxRefused],
    ['escalate', escalateRefused],
    ['handoff', handoffRefused],
  ];
  return told.flatMap(([signal, why]) => (why === undefined ? [] : [refuse(ending, signal, '', why)]));
}

export function readClaims(ending: Ending): readonly NewEvent[] {
  const { state, live, performed, signals } = ending;
  const events: NewEvent[] = [];
  const isEdited = performed.statusEdits?.includes(live.task) === true;
  const { claimed, refused } = claimOf(state, live.task, signals, isEdited);
  for (const id of signals.doneElsewhere) {
    const because = `"${doneLine(id)}" was refused: this iteration's task is ${live.task}; when it is complete, write ${doneLine(live.task)}`;
    events.push(refuse(ending, 'done', id, because));
  }
  events.push(...explain(ending, claimed !== undefined || refused !== undefined));
  if (refused !== undefined) events.push(refuse(ending, isEdited ? 'status-edit' : 'done', live.task, refused));
  // Where the promise is one way to claim the one task, it is refused or taken up together with the others.
  const isSaid = refused !== undefined || (isSingleTask(state) && claimed !== undefined && !signals.promise);
  if (!isSaid) events.push(...readPromise(ending, claimed !== undefined));
  return [...inOne(events), ...(claimed === undefined ? blockUnlessAdvance(ending, refused) : claim(ending, claimed))];
}

/** The next prompt is told what was refused last, so the last refusal says all of them. */
function inOne(events: readonly NewEvent[]): readonly NewEvent[] {
  const refused = events.flatMap(one => (one.type === 'signal.read' && !one.accepted ? [one] : []));
  const last = refused.at(-1);
  if (last === undefined || refused.length === 1) return events;
  const because = [...new Set(refused.map(one => one.because))].join('\n');
  return [...events.filter(one => one !== last), { ...last, because }];
}

/** The claim is taken up; without anything to prove it by, it closes the task unverified. */
function claim(ending: Ending, { signal, because }: Claimed): readonly NewEvent[] {
  const { iteration, task } = ending.live;
  const taken = accept(ending, signal, task, because);
  const { checks, worktreePerTask, tamperScreen } = ending.state.settings;
  if (checks.length > 0 || worktreePerTask || tamperScreen) return [taken];
  const unproven = 'claimed by the agent, unverified: no check is configured';
  return [taken, { type: 'task.closed', task, iteration, verified: false, level: 'unverified', because: unproven }];
}

/** The performer's good end is the claim: an action's result proves itself, a round of an interview is checked. */
export function readResult(ending: Ending): readonly NewEvent[] {
  const { state, live, performed } = ending;
  const { iteration, task } = live;
  const spec = findTask(state.tasks, task)?.spec;
  if (spec?.performer === undefined) {
    if (performed.message !== '')
      return claim(ending, { signal: 'done', because: `${live.performer} says that it is over` });
    const because = 'it ended without done.md, so the round is not over';
    return [refuse(ending, 'done', task, because), ...blockIfSpent(state, task)];
  }
  const said = takeCharacters(performed.message.split('\n', 1)[0] ?? '', 200);
  const tool = toolOf(spec);
  const how = tool === undefined ? 'did it' : `did it with the tool ${tool}`;
  const because = `${live.performer} ${how}${said === '' ? '' : `: ${said}`}`;
  return [{ type: 'task.closed', task, iteration, verified: true, because }];
}

/** A reviewer's answer counts only by the schema. */
export function readFindings(ending: Ending): readonly NewEvent[] {
  const { state, live, performed } = ending;
  const { iteration, task } = live;
  const read = readReview(stripControls(performed.message));
  if ('problem' in read)
    return [refuse(ending, 'review', '', read.problem), ...blockIfSpent(state, task, undefined, read.problem)];
  const { answer } = read;
  const seen = live.documentHash === state.document.hash ? state.document.hash : '';
  const because = `${plural(answer.issues.length, 'issue')} found, confidence ${answer.confidence} %${read.leftOut === undefined ? '' : `; ${read.leftOut}`}`;
  return [
    { type: 'review.answered', iteration, task, answer, seen, because },
    { type: 'task.closed', task, iteration, verified: true, because },
  ];
}

// How the policy lets an agent claim its task, and what takes a claim back: text is read by these rules and no others.

interface Claimed {
  readonly signal: 'done' | 'status-edit';
  readonly because: string;
}

const doneClaim = ({ done, isByTool }: Signals, task: string): Claimed | undefined => {
  if (!done) return undefined;
  const how = isByTool
    ? `it reported with evidence that ${task} is done`
    : `a line of its own says that ${task} is complete`;
  return { signal: 'done', because: how };
};

const edit = (isEdited: boolean, task: string): Claimed | undefined =>
  isEdited ? { signal: 'status-edit', because: `the document was edited to call ${task} done` } : undefined;

const complete: Phase = 'complete';

/** What claims the task beyond the line and the edit that always do. */
function byPolicy(state: State, signals: Signals): Claimed | undefined {
  const { policy, promise } = state.settings;
  const { tasks, claimsBy } = policy;
  if (tasks === 'one' && signals.promise) return { signal: 'done', because: `the promise ${promise} is the last line` };
  if (claimsBy === 'checkbox' && signals.checkbox)
    return { signal: 'done', because: 'the last message ticks TASK_COMPLETE' };
  if (claimsBy === 'report' && signals.report?.phase === complete)
    return { signal: 'done', because: 'the report says that its phase is complete' };
  if (claimsBy === 'review-tag' && signals.review === complete)
    return { signal: 'done', because: 'the last line says that all issues are resolved' };
  return undefined;
}

/** What of a goal is still to be done, by the report beside the claim or else by the last one that there was. */
function leftOpen(state: State, { report, isReportUnread }: Signals): string | undefined {
  if (isReportUnread) return 'its report block could not be read';
  const { pending = [], blocked = [] } = report ?? state.memory.report ?? {};
  const counts = [
    pending.length > 0 && `${pending.length} pending`,
    blocked.length > 0 && `${blocked.length} blocked`,
  ].filter(Boolean);
  if (counts.length === 0) return undefined;
  const whose = report === undefined ? 'the last report before it' : 'its own report';
  const items = `${counts.join(' and ')} ${pending.length + blocked.length === 1 ? 'item' : 'items'}`;
  const how =
    pending.length > 0 ? '' : ': ask a person about what is blocked, or leave out what the goal does not need';
  return `${whose} lists ${items}${how}`;
}

/** After the last round nobody looks again: then a fix that changed nothing would pass for one. */
function isUnmended({ settings: { policy, rounds }, document, tasks }: State, id: string): boolean {
  const { spec, documentBefore } = findTask(tasks, id) ?? {};
  return policy.achievedBy === 'rounds' && spec?.round === rounds && documentBefore === document.hash;
}

/** The claim of an iteration that ended well, or why what looks like one is none. */
export function claimOf(
  state: State,
  task: string,
  signals: Signals,
  isEdited: boolean,
): { readonly claimed?: Claimed; readonly refused?: string } {
  const { claimsBy } = state.settings.policy;
  const claimed = doneClaim(signals, task) ?? edit(isEdited, task) ?? byPolicy(state, signals);
  if (claimed === undefined) return {};
  if (isUnmended(state, task))
    return { refused: `${task} is not fixed: the document is as it was before, and no reviewer looks at it again` };
  const open = claimsBy === 'report' ? leftOpen(state, signals) : undefined;
  if (open === undefined) return { claimed };
  const shape = signals.reportRefused === undefined ? '' : `. ${signals.reportRefused}`;
  return { refused: `it claims the goal, but ${open}${shape}` };
}
