// Questions to a human: how one is raised, and what each kind of answer means.

import { formatUsd, someOf } from '../../text/format.ts';
import { takeCharacters } from '../../text/text.ts';
import {
  type Answer,
  type Escalation,
  findOption,
  type NewEvent,
  noIteration,
  type Option,
  type OptionId,
} from '../event.ts';
import type { Command, Question } from '../input.ts';
import { type ChangedSettings, everyPerformer, type Limits } from '../settings.ts';
import { countedUsdMicros, type LiveIteration, type State } from '../state.ts';
import { dependentsOf, type Finding, findTask, mayHaveHappened, openTasks, type Task } from '../task.ts';

/** How our own question about a stuck task can be answered. */
export const stuckOptions: readonly Option[] = [
  { id: 'try-again', text: 'Try again with a fresh context' },
  { id: 'leave-out', text: 'Leave this task out' },
];

/** A question, about a task where one is named; `decide` adds when it was raised. */
export function raise(
  { questions, tasks }: State,
  { kind, performer, findings, subjects, ...said }: Question,
  because: string,
  about?: Pick<LiveIteration, 'task' | 'iteration'>,
): readonly NewEvent[] {
  const escalation = {
    id: `E${questions.raised + 1}`,
    kind,
    task: about?.task,
    title: about && takeCharacters(findTask(tasks, about.task)?.spec.title ?? '', 200),
    iteration: about?.iteration,
    performer,
    findings,
    subjects,
    summary: takeCharacters(said.summary, 200),
    context: takeCharacters(said.context, 4_000),
    options: said.options.slice(0, 9).map(({ id, text }) => ({ id, text: takeCharacters(text, 300) })),
    question: takeCharacters(said.question, 500),
  };
  return [{ type: 'escalation.raised', escalation, because }];
}

/** A question that needs no answer of a person any more. */
const answered = (id: string, answer: Answer, by: string, because: string) => ({
  type: 'escalation.answered' as const,
  id,
  answer,
  by,
  because,
});

/** Closes the questions that something else has settled. */
export const closeQuestions = (
  { questions }: State,
  isSettled: (one: Escalation) => boolean,
  by: string,
  because: string,
): readonly NewEvent[] =>
  questions.open.filter(isSettled).map(({ id }) => answered(id, { kind: 'retry' }, by, because));

/** What a finding is about, whatever else stands in the file. */
export const subjectOf = ({ kind, path }: Finding): string => `${kind} ${path}`;

const aboutNothing = subjectOf({ kind: 'nothing-changed', path: '', detail: '', severity: 'refuse' });

/**
 * A question whose findings are no longer in the tree needs no answer: Ralph closes it, and nobody has accepted anything.
 * `found`: all doubts in the tree as it was looked at. Those of a task whose work was set aside are in its checkpoint.
 */
export function closeSettledDoubts(state: State, found: readonly Finding[]): readonly NewEvent[] {
  const there = new Set(found.map(subjectOf));
  const isSettled = ({ kind, subjects = [], task = '' }: Escalation): boolean =>
    kind === 'tamper' &&
    subjects.length > 0 &&
    findTask(state.tasks, task)?.aside === undefined &&
    subjects.every(one => one !== aboutNothing && !there.has(one));
  return closeQuestions(
    state,
    isSettled,
    'ralph',
    'what it asks about is gone from the files: closed by Ralph, not accepted',
  );
}

/** No check was asked: it counts, and every surface says on whose word. */
export const doneByPerson = (task: string, by: string, how: string): NewEvent => ({
  type: 'task.closed',
  task,
  iteration: noIteration,
  verified: false,
  level: 'unverified',
  by,
  because: `done by ${by}, unverified (${how})`,
});

/** The questions about a task need no answer once a person decided about it; whether nothing is ready is asked anew. */
export const closedWith = (state: State, task: string, by: string): readonly NewEvent[] =>
  closeQuestions(
    state,
    one => (one.task === task && one.kind !== 'health') || one.kind === 'blocked',
    by,
    'decided by ralph task',
  );

/** The option of one of these ids; recorded by its place, as people see it. */
function chosen({ options }: Escalation, ...ids: readonly OptionId[]): Answer {
  const place = options.findIndex(one => ids.includes(one.id)) + 1;
  return { kind: 'option', option: Math.max(1, place) };
}

/** Questions about a yes to this text, or to any other once this one is what the document says. */
export const approvalsOver = (state: State, hash: string, isCurrent: boolean, by: string): readonly NewEvent[] =>
  state.questions.open
    .filter(one => one.kind === 'approval' && (isCurrent || one.findings?.includes(hash) === true))
    .map(one => answered(one.id, chosen(one, 'approve'), by, 'it was approved'));

/** An answer to an open question. */
interface Answered {
  readonly state: State;
  readonly escalation: Escalation;
  /** A person's own words, or the option's. */
  readonly text: string;
  /** The option's place, from 1 on. */
  readonly place: number;
  readonly by: string;
  readonly isPolicy: boolean;
  readonly request: string | undefined;
}

type Meaning = (answered: Answered) => readonly NewEvent[];
/** By the id of the chosen option, or by the kind of any other answer. */
type Meanings = { readonly [Choice in OptionId | Answer['kind']]?: Meaning } & { readonly otherwise: Meaning };

const nothing: Meaning = () => [];

const guidance = ({ escalation: { id, task }, by }: Answered, text: string): NewEvent => ({
  type: 'guidance.given',
  task,
  text,
  by,
  because: `the answer to ${id}`,
});

const guide: Meaning = answered => [guidance(answered, answered.text)];

const whySkipped = ({ isPolicy }: Answered): string => (isPolicy ? 'by policy, unanswered' : 'a human left it out');

const skipTask = (task: string, answered: Answered): NewEvent =>
  taskSkipped(answered.state, task, answered.by, whySkipped(answered));

/** It is said what becomes of those that wait for it, and the document that shows it is committed at once. */
export function taskSkipped(state: State, task: string, by: string, why: string): NewEvent {
  const left = dependentsOf(state.tasks, task);
  const because = left.length === 0 ? why : `${why}; not ready without it: ${someOf(left, 5)}`;
  const { commits, worktreePerTask, policy } = state.settings;
  const isShown = commits && !worktreePerTask && policy.documentShows !== 'nothing';
  return { type: 'task.skipped', task, by, because, commits: isShown || undefined };
}

const skipIt: Meaning = answered => {
  const { task } = answered.escalation;
  return task === undefined ? [] : [skipTask(task, answered)];
};

const reopen = ({ escalation: { task } }: Answered, because: string): readonly NewEvent[] =>
  task === undefined ? [] : [{ type: 'task.reopened', task, because }];

/** A question about one task (stuck, deviation). */
const aboutTask: Meanings = {
  text: guide,
  skip: skipIt,
  retry: answered => reopen(answered, 'a human asked to try again'),
  otherwise: answered => [guidance(answered, `Proceed with option ${answered.place}: ${answered.text}`)],
};

/** Of an effect that may have happened another question asks, and only that one is answered about it. */
const withoutEffects = (state: State): readonly Task[] => openTasks(state.tasks).filter(task => !mayHaveHappened(task));

/** With all that waits for them. */
const leaveOutAll: Meaning = answered =>
  withoutEffects(answered.state).map(
    task => ({ ...skipTask(task.id, answered), because: whySkipped(answered) }) as NewEvent,
  );

const tryAll: Meaning = ({ state }) =>
  withoutEffects(state).map<NewEvent>(task => ({
    type: 'task.reopened',
    task: task.id,
    ignoresUnmet: true,
    because: 'a human asked to try what is left',
  }));

/** Nothing is ready: try what is blocked or unmet again, or leave the rest out. */
const aboutStall: Meanings = {
  skip: leaveOutAll,
  'leave-out': leaveOutAll,
  text: answered => [...tryAll(answered), ...guide(answered)],
  otherwise: tryAll,
};

const moreTime: Meaning = ({ escalation: { iteration } }) =>
  iteration === undefined ? [] : [{ type: 'iteration.heartbeat', iteration, quietMs: 0 }];

const endIteration: Meaning = ({ escalation: { iteration } }) =>
  iteration === undefined
    ? []
    : [{ type: 'iteration.nudged', iteration, level: 'terminate', because: 'a human asked to end it' }];

/** A quiet iteration: more time, or end it. */
const aboutHealth: Meanings = { retry: moreTime, 'more-time': moreTime, otherwise: endIteration };

/** The same doubt may stand in the way of several tasks: one yes is enough. */
function alsoAccepted({ state, escalation, by, request }: Answered): readonly NewEvent[] {
  const { id, findings = [] } = escalation;
  const accepted = new Set([...state.claims.acceptedFindings, ...findings]);
  return state.questions.open.flatMap((other): readonly NewEvent[] => {
    const { task, iteration = noIteration, findings: others = [] } = other;
    const isMet = others.length > 0 && others.every(one => accepted.has(one));
    if (other.id === id || other.kind !== 'tamper' || task === undefined || !isMet) return [];
    const because = `the same was accepted with ${id}`;
    return [
      { ...answered(other.id, chosen(other, 'accept', 'ask-again'), by, because), request },
      { type: 'work.accepted', task, iteration, findings: others, by, because },
    ];
  });
}

const acceptWork: Meaning = answered => {
  const { by, escalation } = answered;
  const { id, task, iteration = noIteration, findings = [] } = escalation;
  if (task === undefined) return [];
  const because = `the answer to ${id}`;
  return [{ type: 'work.accepted', task, iteration, findings, by, because }, ...alsoAccepted(answered)];
};

const rejectWork: Meaning = answered => [
  guidance(
    answered,
    'Not accepted: do what is missing, and put back what was changed in tests and checks if anything was, then claim again.',
  ),
];

/** Doubtful proof: taken for good and checked again, or not taken. Without a verdict the checks and the judge are asked again. */
const aboutDoubts: Meanings = {
  ...aboutTask,
  accept: acceptWork,
  'ask-again': acceptWork,
  reject: rejectWork,
  redo: rejectWork,
};

/** Only a person can say whether it happened. */
const aboutEffect: Meanings = {
  happened: ({ escalation: { task, iteration = noIteration }, by }) => {
    const because = `${by} looked and says that it happened`;
    return task === undefined ? [] : [{ type: 'task.closed', task, iteration, verified: true, because }];
  },
  skip: skipIt,
  'leave-out': skipIt,
  otherwise: answered => reopen(answered, `${answered.by} says that it did not happen`),
};

const leaveOutFailed: Meaning = answered =>
  openTasks(answered.state.tasks)
    .filter(task => answered.escalation.findings?.includes(task.id))
    .map(task => skipTask(task.id, answered));

/** Too many failures concern everybody; only the task that failed last can be left out. */
const aboutFailures: Meanings = { text: guide, skip: leaveOutFailed, 'leave-out': leaveOutFailed, otherwise: nothing };

const withoutCheckpoints: Meaning = ({ by }) => [
  { type: 'limits.changed', limits: {}, settings: { checkpoints: false }, by, because: 'a human chose it' },
];

const approve: Meaning = ({ state, escalation: { findings = [] }, by }) =>
  findings.map(hash => ({
    type: 'approval.given',
    subject: state.loop.projectId,
    hash,
    by,
    because: 'asked and answered',
  }));

// The limit of money is met by an upper bound alone.

const limitOf = ({ settings }: State): number => settings.limits.costUsdMicrosMax ?? 0;

export function askAboutBound(state: State, because: string): readonly NewEvent[] {
  const question: Question = {
    kind: 'budget',
    summary: `The money may be used up: ${because}`,
    context:
      'The price of a model is not known, so its tokens are counted at the highest price that a model has. Named with --model, one with a known price is counted by its list price from then on.',
    options: [
      { id: 'go-on', text: `Go on with another ${formatUsd(limitOf(state))}` },
      { id: 'end-loop', text: 'End the loop here' },
    ],
    question: 'Go on?',
  };
  return raise(state, question, because);
}

const moreMoney: Meaning = ({ state, escalation: { id }, by }) => {
  const costUsdMicrosMax = countedUsdMicros(state.settings, state.spend.usage) + limitOf(state);
  return [{ type: 'limits.changed', limits: { costUsdMicrosMax }, by, because: `the answer to ${id}` }];
};

const endLoop: Meaning = ({ escalation: { id }, by }) => [{ type: 'stop.asked', by, because: `the answer to ${id}` }];

const aboutBound: Meanings = {
  text: answered => [...moreMoney(answered), ...guide(answered)],
  skip: endLoop,
  'end-loop': endLoop,
  otherwise: moreMoney,
};

const goOnHere: Meaning = ({ escalation: { id, findings = [] }, by }) => {
  const [ref = '', commit = ''] = findings;
  return [{ type: 'branch.accepted', head: { ref, commit }, by, because: `the answer to ${id}` }];
};

/** Any other answer: the loop looks again. */
const aboutBranch: Meanings = { text: guide, 'go-on-here': goOnHere, 'end-loop': endLoop, otherwise: nothing };

const meanings: Readonly<Record<Escalation['kind'], Meanings>> = {
  stuck: { ...aboutTask, 'leave-out': skipIt },
  deviation: aboutTask,
  unknown: aboutTask,
  blocked: aboutStall,
  health: aboutHealth,
  agent: { text: guide, otherwise: nothing },
  storage: { 'without-checkpoints': withoutCheckpoints, otherwise: nothing },
  tamper: aboutDoubts,
  effect: aboutEffect,
  approval: { approve, otherwise: nothing },
  budget: aboutBound,
  branch: aboutBranch,
};

const meaningsOf = ({ kind, task }: Escalation): Meanings =>
  kind === 'stuck' && task === undefined ? aboutFailures : meanings[kind];

/** A person who takes an agent out of the chain, or sets the limit of money, has answered the question about it. */
export function answeredByChange(
  state: State,
  limits: Partial<Limits>,
  changed: ChangedSettings | undefined,
  by: string,
): readonly NewEvent[] {
  const chosen = new Set(everyPerformer({ ...state.settings, ...changed }));
  return state.questions.open.flatMap(({ id, performer, kind }) => {
    if (kind === 'budget' && limits.costUsdMicrosMax !== undefined)
      return [answered(id, { kind: 'retry' }, by, 'the limit of money was set')];
    if (performer === undefined || chosen.has(performer)) return [];
    return [answered(id, { kind: 'retry' }, by, `${performer} works no more in this loop`)];
  });
}

/** Why an answer has no effect, where it has none: the question stays as it is. */
function whyKept(answer: Answer, escalation: Escalation | undefined): string | undefined {
  if (escalation === undefined) return 'no open question has this id: kept, without effect';
  if (answer.kind === 'option' && findOption(escalation.options, answer.option) === undefined)
    return `there is no option ${answer.option}: kept, without effect`;
  // Neither says whether it happened, and nothing is done twice on a guess.
  if (escalation.kind !== 'effect') return undefined;
  if (answer.kind === 'text') return 'words do not say which it is: kept, still open';
  return answer.kind === 'retry' ? '"retry" does not say that it did not happen: kept, still open' : undefined;
}

/** "Abort" ends the loop. A doubtful effect stays open: a loop that is resumed must not forget that nobody knows. */
function answeredByAbort({ id, kind }: Escalation, by: string, request?: string): readonly NewEvent[] {
  const late = kind === 'effect' ? true : undefined;
  const because = `a human ended the loop${late ? ': kept, still open' : ''}`;
  return [
    { type: 'escalation.answered', id, answer: { kind: 'abort' }, by, because, late, request },
    { type: 'stop.asked', by, because: `${id} was answered with abort` },
  ];
}

/** Whatever is said about a task that its agent called blocked, but that it is left out, lets it go on. */
function unblocked({ tasks }: State, { task, kind }: Escalation, choice: string): readonly NewEvent[] {
  const isBlocked = kind === 'stuck' && task !== undefined && findTask(tasks, task)?.status === 'blocked';
  if (!isBlocked || ['skip', 'leave-out', 'retry'].includes(choice)) return [];
  return [{ type: 'task.reopened', task, because: 'a human said how it can go on' }];
}

export function answerQuestion(
  state: State,
  { escalation: id, answer, policy, request }: Extract<Command, { type: 'answer' }>,
  by: string,
): readonly NewEvent[] {
  const escalation = state.control.ended ? undefined : state.questions.open.find(one => one.id === id);
  const kept = whyKept(answer, escalation);
  if (escalation === undefined || kept !== undefined)
    return [{ type: 'escalation.answered', id, answer, by, because: kept ?? '', late: true, request }];
  if (answer.kind === 'abort') return answeredByAbort(escalation, by, request);
  const option = answer.kind === 'option' ? findOption(escalation.options, answer.option) : undefined;
  const text = option?.text ?? (answer.kind === 'text' ? answer.text : '');
  const place = option === undefined ? 0 : escalation.options.indexOf(option) + 1;
  const of = meaningsOf(escalation);
  const meaning = of[option?.id ?? answer.kind] ?? of.otherwise;
  const recorded: Answer = option === undefined ? answer : { kind: 'option', option: place };
  return [
    { ...answered(id, recorded, by, `a human answered: ${answer.kind}`), request },
    ...unblocked(state, escalation, option?.id ?? answer.kind),
    ...meaning({ state, escalation, text, place, by, isPolicy: policy === true, request }),
  ];
}
