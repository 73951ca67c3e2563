// Endings: how a loop ended or why it stands still, in one sentence, what to do next, and the exit code. The same on every surface.

import type { Escalation, EscalationKind, LimitId, OptionId, Termination, TerminationReason } from '../core/event.ts';
import { everyClaimFailed } from '../core/next.ts';
import { type LimitName, limitFlag, limitNames, limitRow, perUnit } from '../core/settings.ts';
import { hasStorageTrouble, isSingleTask, type State, totalTokens } from '../core/state.ts';
import { allTasks, levelWords, progress } from '../core/task.ts';
import { plural, someOf } from '../text/format.ts';
import { answerLine } from './question.ts';
import { endWords, standingWords, usageCostWords } from './words.ts';

/** One mark at the end, also after an abbreviation or a question. */
const ended = (text: string): string => (/[.?!…]$/.test(text) ? text : `${text}.`);

export interface Ending {
  readonly exitCode: number;
  readonly sentence: string;
  readonly next: readonly string[];
}

interface EndRow {
  readonly exitCode: number;
  readonly next: (state: State) => readonly string[];
}

const twice = (used: number, max: number | null, unit: number): number =>
  Math.ceil((2 * Math.max(used, max ?? 0)) / unit);

/** How much of a limit is used; rounds and averages are none that could be raised for a loop that is over. */
const used: { readonly [Id in LimitId]?: (state: State) => number } = {
  iterations: state => state.iterations.begun,
  cost: state => state.spend.usage.costUsdMicros,
  tokens: state => totalTokens(state.spend.usage),
  duration: () => 0,
};

/** The limit that was met, and one twice as high as it would be typed. Undefined where none can be raised. */
export function higherLimit(state: State, { limit }: Termination): { name: LimitName; value: string } | undefined {
  const name = limitNames.find(one => limit !== undefined && limitRow(one).id === limit);
  if (name === 'deadlineAt') return { name, value: 'HH:MM' };
  const count = limit === undefined ? undefined : used[limit]?.(state);
  if (name === undefined || count === undefined) return undefined;
  const { unit } = limitRow(name);
  const wanted = twice(count, state.settings.limits[name], perUnit[unit]);
  return { name, value: `${wanted}${unit === 'minutes' ? 'm' : ''}` };
}

/** A line that works as it is typed. */
export function raisedLimit(state: State, termination: Termination): string | undefined {
  const higher = higherLimit(state, termination);
  return higher && `${limitFlag(higher.name)} ${higher.value}`;
}

/** The line that reopens a loop that is over, with its counters; undefined where it would end again at once. */
export function reopenLine(state: State): string | undefined {
  const { ended: end } = state.control;
  const { name } = state.loop;
  const plain = `ralph resume ${name}`;
  if (end === undefined) return undefined;
  if (end.reason === 'goal_achieved')
    return isTakenBack(state) && state.mode.achieved === undefined ? plain : undefined;
  // What an undo has opened again can be gone on with.
  if (end.limit === 'rounds') return state.mode.exhausted === undefined ? plain : undefined;
  if (!limitReasons.includes(end.reason)) return plain;
  const raised = raisedLimit(state, end);
  return raised === undefined ? undefined : `${plain} ${raised}`;
}

/** Questions that a loop which is over has left open, and the line that asks them again; undefined where nothing does. */
export function leftWaiting(state: State): string | undefined {
  const { open } = state.questions;
  const line = reopenLine(state);
  if (open.length === 0 || line === undefined) return undefined;
  const ids = someOf(
    open.map(one => one.id),
    6,
  );
  return `${ids} ${open.length === 1 ? 'waits' : 'wait'}, too: \`${line}\` asks again.`;
}

const goesOn = 'goes on, counters kept';
const resume = (state: State): readonly string[] => {
  const line = reopenLine(state);
  if (line === undefined)
    return [...lookAt(state).slice(0, 2), 'the same command with --new   # starts over, with new counters'];
  return [`${line}   # ${goesOn}`, `ralph report ${state.loop.name}`];
};
const lookAt = (state: State): readonly string[] => [
  `ralph explain ${state.loop.name}   # why, step by step`,
  `ralph logs ${state.loop.name}      # what the agent said`,
  `ralph resume ${state.loop.name}    # when the cause is mended: ${goesOn}`,
];

/** A plan of actions alone: no agent works in it. */
const hasOnlyActions = ({ settings }: State): boolean =>
  settings.policy.subject === 'steps' && settings.performers.length === 0;

/** Where checkpoints were made: what changed, and the way back. */
function wayBack(state: State): readonly string[] {
  const { settings } = state;
  const { name, branch } = state.loop;
  if (state.checkpoints.made === 0 || state.iterations.begun === 0 || hasOnlyActions(state)) return [];
  if ([...allTasks(state.tasks)].every(task => task.spec.readOnly === true)) return []; // reviewers found nothing to fix
  const isPutAway = settings.policy.vault && state.control.ended?.reason === 'goal_achieved';
  const undo =
    settings.worktreePerTask || isPutAway
      ? []
      : [`ralph undo ${name}   # takes the last ${settings.policy.achievedBy === 'rounds' ? 'fix' : 'iteration'} back`];
  const merge = branch === undefined ? [] : [`git merge ${branch}   # brings its work into your branch`];
  return [`ralph diff ${name}   # what it changed`, ...undo, ...merge];
}

/** The last round has left tasks behind. */
function afterInterview({ loop: { document }, settings }: State): readonly string[] {
  const project = /\/\.artefacts\/([^/]+)\/spec\.md$/.exec(document)?.[1];
  const isInterview = settings.rounds !== null && settings.policy.achievedBy === 'tasks';
  return !isInterview || project === undefined ? [] : [`ralph execute ${project}   # does the tasks`];
}

const rows: Readonly<Record<TerminationReason, EndRow>> = {
  goal_achieved: {
    exitCode: 0,
    next: state => [...afterInterview(state), `ralph report ${state.loop.name}`],
  },
  explicit_stop: { exitCode: 0, next: state => [`ralph report ${state.loop.name}`] },
  circuit_breaker_open: { exitCode: 6, next: lookAt },
  health_failure: { exitCode: 6, next: lookAt },
  consecutive_errors: { exitCode: 6, next: lookAt },
  budget_exhausted: { exitCode: 4, next: resume },
  max_iterations: { exitCode: 3, next: resume },
  max_duration: { exitCode: 3, next: resume },
  no_progress: { exitCode: 6, next: lookAt },
};

const limitReasons: readonly TerminationReason[] = ['budget_exhausted', 'max_iterations', 'max_duration'];

/** Neither done nor stopped by a person: going on with new counters must be said (ADR 4). */
export function endedUnasked(state: State): boolean {
  return state.control.ended !== undefined && !['goal_achieved', 'explicit_stop'].includes(state.control.ended.reason);
}

export function endedByLimit(state: State): boolean {
  return state.control.ended !== undefined && limitReasons.includes(state.control.ended.reason);
}

/** How much is done, and what of the rest nobody will do. */
export function progressWords(state: State): string {
  const { done, total, skipped, blocked } = progress(state.tasks);
  const parts = [
    isSingleTask(state) ? standingWords(state) : `${done}/${total} tasks done`,
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(blocked > 0 ? [`${blocked} blocked`] : []),
  ];
  return parts.join(', ');
}

const tally = (state: State): string => `${progressWords(state)}, ${effort(state)}`;

/** How its done tasks were proven, by their number. */
function proofCounts(state: State): readonly string[] {
  const closed = [...allTasks(state.tasks)].filter(one => one.status === 'done');
  return (['proven', 'still-green', 'passed'] as const).flatMap(level => {
    const count = closed.filter(one => one.level === level).length;
    if (count === 0) return [];
    return [
      isSingleTask(state) ? levelWords[level] : `${count} ${level === 'proven' ? '' : 'with '}${levelWords[level]}`,
    ];
  });
}

function effort(state: State): string {
  const unverified = unverifiedIn(state);
  const isSingle = isSingleTask(state);
  const uncommitted = isSingle ? 'work' : `${plural(state.checkpoints.uncommitted.length, 'task')} done but`;
  const onWord = isSingle ? '' : `${plural(unverified, 'task')} `;
  const parts = [
    plural(state.iterations.begun, 'iteration'),
    ...(hasOnlyActions(state) ? [] : [costWords(state)]), // actions cost nothing
    ...(state.checkpoints.uncommitted.length > 0 ? [`${uncommitted} NOT committed`] : []),
    ...(unverified > 0 ? [`verified: false (${onWord}${levelWords.unverified})`] : []),
  ];
  return [parts.join(', '), proofCounts(state).join(', ')].filter(part => part !== '').join('; ');
}

/** Its rounds are used up, not its iterations: no limit that is raised would let anybody look again. */
const unachievedReview: EndRow = {
  exitCode: 3,
  next: state => [
    ...[reopenLine(state)].flatMap(line => (line === undefined ? [] : [`${line}   # ${goesOn}`])),
    'the same command with --new   # reviews the document as it is now, with new rounds',
    `ralph report ${state.loop.name}`,
  ],
};

/** A loop in which everything was skipped is over, but nothing was done. */
function rowOf({ tasks }: State, end: Termination): EndRow & { readonly words: string } {
  const { done, skipped } = progress(tasks);
  const row = end.limit === 'rounds' ? unachievedReview : rows[end.reason];
  return end.reason === 'goal_achieved' && done === 0 && skipped > 0
    ? { ...row, exitCode: 6, words: 'Over, nothing done' }
    : { ...row, words: endWords(end) };
}

/** Tasks that rest on an agent's word; in a review that reached its end, reviewers looked at all of it again. */
const unverifiedIn = (state: State): number =>
  state.mode.achieved !== undefined ? 0 : progress(state.tasks).unverified;

/** Something was done, and nothing of it rests on a word alone. */
export const isVerified = (state: State): boolean => progress(state.tasks).done > 0 && unverifiedIn(state) === 0;

/** An undo, or a person, has opened its work again. */
export const isTakenBack = ({ control: { ended }, tasks }: State): boolean =>
  ended?.reason === 'goal_achieved' && progress(tasks).open > 0;

function takenBack(state: State): Ending {
  const { open } = progress(state.tasks);
  const again = `${plural(open, 'task')} ${open === 1 ? 'is' : 'are'} open again since then (ralph undo, ralph task retry)`;
  const line = reopenLine(state);
  const next = line === undefined ? `${newLoop}   # begins a new loop` : `${line}   # ${goesOn}`;
  return {
    exitCode: 0,
    sentence: ended(`It was done, but ${again}. ${tally(state)}`),
    next: [next, ...wayBack(state)],
  };
}

/** Where a loop that was done cannot go on. */
export const newLoop = 'the command that you started it with, with --new';

/** `requireChecks`: unverified work is then not a success (exit 8). */
export function endingOf(state: State, requireChecks = false): Ending {
  if (state.control.ended === undefined) return standing(state);
  if (isTakenBack(state)) return takenBack(state);
  const row = rowOf(state, state.control.ended);
  const unverified = unverifiedIn(state);
  const { reason, limit, because } = state.control.ended;
  // A goal's reason counts the tasks itself, a review's its issues.
  const account =
    reason === 'goal_achieved' ? `, ${effort(state)}` : `. ${limit === 'rounds' ? effort(state) : tally(state)}`;
  const waits = leftWaiting(state);
  const sentence = `${ended(`${row.words}: ${because}${account}`)}${waits === undefined ? '' : ` ${waits}`}`;
  const next = [...row.next(state), ...wayBack(state)];
  if (state.document.unsaved.length > 0 && hasStorageTrouble(state)) {
    const behind = `${plural(state.document.unsaved.length, 'task')} could not be written into ${state.loop.document}: it does not show what was done.`;
    return { exitCode: 5, sentence: `${sentence} ${behind}`, next };
  }
  if (row.exitCode === 0 && requireChecks && unverified > 0) return { exitCode: 8, sentence, next };
  if (row.exitCode === 6 && everyClaimFailed(state)) {
    const whose = isSingleTask(state) ? 'The' : "Every open task's";
    return { exitCode: 8, sentence: `${sentence} ${whose} last claim failed its check.`, next };
  }
  return { exitCode: row.exitCode, sentence, next };
}

/** An open question for programs: its options are texts in order, as people see them, with their ids beside them. */
export interface AskedQuestion extends Omit<Escalation, 'options'> {
  readonly options: readonly string[];
  /** What an answer may name in place of the number. */
  readonly optionIds: readonly OptionId[];
}

export const askedQuestion = (escalation: Escalation): AskedQuestion => ({
  ...escalation,
  options: escalation.options.map(one => one.text),
  optionIds: escalation.options.map(one => one.id),
});

/** Of a loop that stands still for a question; 5 for all others. */
const exitCodes: { readonly [Kind in EscalationKind]?: number } = { agent: 7, budget: 4 };

/** `4 questions (E1, E2, E3, E4). E1: The same error 3 times in a row.` */
function openWords(open: State['questions']['open'], first: Escalation): string {
  if (open.length === 1) return ended(first.summary);
  return `${open.length} questions (${someOf(
    open.map(one => one.id),
    6,
  )}). ${first.id}: ${ended(first.summary)}`;
}

function standing(state: State): Ending {
  const open = state.questions.open;
  const first = open.find(one => one.kind === 'budget') ?? open[0];
  if (first === undefined) {
    return { exitCode: 1, sentence: ended(`Not finished. ${tally(state)}`), next: [`ralph status ${state.loop.name}`] };
  }
  const isUnproven = first.kind === 'blocked' && everyClaimFailed(state);
  const exitCode = isUnproven ? 8 : (exitCodes[first.kind] ?? 5);
  return {
    exitCode,
    sentence: ended(`Waiting for you: ${openWords(open, first)} ${tally(state)}`),
    next: [`ralph inbox`, answerLine(state.loop.name, first)],
  };
}

// What a loop has cost, in words: an agent that reports nothing is not free.

/** Before the first iteration is over nobody knows whether anything will be reported. */
export const isCostKnown = ({ spend: { usage }, iterations }: State): boolean =>
  iterations.ended > 0 || totalTokens(usage) > 0 || usage.costUsdMicros > 0;

export function costWords({ spend: { usage }, iterations }: State): string {
  const isReported = totalTokens(usage) > 0 || usage.costUsdMicros > 0;
  if (isReported || iterations.begun === 0) return usageCostWords(usage);
  return iterations.ended > 0 ? 'cost not reported' : 'cost not reported yet';
}
