// Questions to a human: how one is raised, and what each kind of answer means.

import { takeCharacters } from '../../text/text.ts';
import { type Answer, type Escalation, type Event, findOption, type Option, type OptionId } from '../event.ts';
import type { Command, Question } from '../input.ts';
import type { ChangedSettings } from '../settings.ts';
import type { LiveIteration, State } from '../state.ts';
import { mayHaveHappened, openTasks, type Task } from '../task.ts';

/** How our own question about a stuck task can be answered. */
export const stuckOptions: readonly Option[] = [
  { id: 'try-again', text: 'Try again with a fresh context' },
  { id: 'leave-out', text: 'Leave this task out' },
];

export function raise(
  state: State,
  question: Question,
  now: number,
  because: string,
  about?: Pick<LiveIteration, 'task' | 'iteration'>,
): readonly Event[] {
  const escalation: Escalation = {
    id: `E${state.escalationsRaised + 1}`,
    kind: question.kind,
    task: about?.task,
    iteration: about?.iteration,
    performer: question.performer,
    findings: question.findings,
    summary: takeCharacters(question.summary, 200),
    context: takeCharacters(question.context, 4_000),
    options: question.options.slice(0, 9).map(({ id, text }) => ({ id, text: takeCharacters(text, 300) })),
    question: takeCharacters(question.question, 500),
    raisedAt: now,
  };
  return [{ type: 'escalation.raised', at: now, escalation, because }];
}

/** Questions about a yes to this text, or to any other once this one is what the document says. */
export const approvalsOver = (
  state: State,
  hash: string,
  isCurrent: boolean,
  by: string,
  now: number,
): readonly Event[] =>
  state.escalations
    .filter(one => one.kind === 'approval' && (isCurrent || one.findings?.includes(hash) === true))
    .map(({ id }) => ({
      type: 'escalation.answered',
      at: now,
      id,
      answer: { kind: 'option', option: 'approve' },
      by,
      because: 'it was approved',
    }));

/** An answer to an open question. */
interface Answered {
  readonly state: State;
  readonly escalation: Escalation;
  /** A person's own words, or the option's. */
  readonly text: string;
  /** The option's place, from 1 on. */
  readonly place: number;
  readonly by: string;
  readonly now: number;
  readonly isPolicy: boolean;
}

type Meaning = (answered: Answered) => readonly Event[];
/** By the id of the chosen option, or by the kind of any other answer. */
type Meanings = { readonly [Choice in OptionId | Answer['kind']]?: Meaning } & { readonly otherwise: Meaning };

const nothing: Meaning = () => [];

const guidance = ({ escalation: { id, task }, by, now }: Answered, text: string): Event => ({
  type: 'guidance.given',
  at: now,
  task,
  text,
  by,
  because: `the answer to ${id}`,
});

const guide: Meaning = answered => [guidance(answered, answered.text)];

const skipTask = (task: string, { by, now, isPolicy }: Answered): Event => ({
  type: 'task.skipped',
  at: now,
  task,
  by,
  because: isPolicy ? 'by policy, unanswered' : 'a human left it out',
});

const skipIt: Meaning = answered => {
  const { task } = answered.escalation;
  return task === undefined ? [] : [skipTask(task, answered)];
};

const reopen = ({ escalation: { task }, now }: Answered, because: string): readonly Event[] =>
  task === undefined ? [] : [{ type: 'task.reopened', at: now, task, because }];

/** A question about one task (stuck, deviation): the seed's answers. */
const aboutTask: Meanings = {
  text: guide,
  skip: skipIt,
  retry: answered => reopen(answered, 'a human asked to try again'),
  otherwise: answered => [guidance(answered, `Proceed with option ${answered.place}: ${answered.text}`)],
};

/** Of an effect that may have happened another question asks, and only that one is answered about it. */
const withoutEffects = (state: State): readonly Task[] => openTasks(state.tasks).filter(task => !mayHaveHappened(task));

const leaveOutAll: Meaning = answered => withoutEffects(answered.state).map(task => skipTask(task.id, answered));

const tryAll: Meaning = ({ state, now }) =>
  withoutEffects(state).map<Event>(task => ({
    type: 'task.reopened',
    at: now,
    task: task.id,
    ignoresUnmet: true,
    because: 'a human asked to try what is left',
  }));

/** Nothing is ready: try what is parked or unmet again, or leave the rest out. */
const aboutStall: Meanings = {
  skip: leaveOutAll,
  'leave-out': leaveOutAll,
  text: answered => [...tryAll(answered), ...guide(answered)],
  otherwise: tryAll,
};

const moreTime: Meaning = ({ escalation: { iteration }, now }) =>
  iteration === undefined ? [] : [{ type: 'iteration.heartbeat', at: now, iteration, quietMs: 0 }];

const endIteration: Meaning = ({ escalation: { iteration }, now }) =>
  iteration === undefined
    ? []
    : [{ type: 'iteration.nudged', at: now, iteration, level: 'terminate', because: 'a human asked to end it' }];

/** A quiet iteration: more time, or end it. */
const aboutHealth: Meanings = { retry: moreTime, 'more-time': moreTime, otherwise: endIteration };

/** The same doubt may stand in the way of several tasks: one yes is enough. */
function alsoAccepted({ state, escalation, by, now }: Answered): readonly Event[] {
  const { id, findings = [] } = escalation;
  const accepted = new Set([...state.accepted, ...findings]);
  return state.escalations.flatMap((other): readonly Event[] => {
    const { task, iteration = 0, findings: theirs = [] } = other;
    const isMet = theirs.length > 0 && theirs.every(one => accepted.has(one));
    if (other.id === id || other.kind !== 'tamper' || task === undefined || !isMet) return [];
    const because = `the same was accepted with ${id}`;
    return [
      { type: 'escalation.answered', at: now, id: other.id, answer: { kind: 'option', option: 'accept' }, by, because },
      { type: 'work.accepted', at: now, task, iteration, findings: theirs, by, because },
    ];
  });
}

const acceptWork: Meaning = answered => {
  const { by, now, escalation } = answered;
  const { id, task, iteration = 0, findings = [] } = escalation;
  if (task === undefined) return [];
  const because = `the answer to ${id}`;
  return [{ type: 'work.accepted', at: now, task, iteration, findings, by, because }, ...alsoAccepted(answered)];
};

const rejectWork: Meaning = answered => [
  guidance(
    answered,
    'Not accepted: put back what was changed in tests and checks, or do what is missing, then claim again.',
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
  happened: ({ escalation: { task, iteration = 0 }, by, now }) => {
    const because = `${by} looked and says that it happened`;
    return task === undefined ? [] : [{ type: 'task.closed', at: now, task, iteration, verified: true, because }];
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

const withoutCheckpoints: Meaning = ({ by, now }) => [
  { type: 'limits.changed', at: now, limits: {}, settings: { checkpoints: false }, by, because: 'a human chose it' },
];

const approve: Meaning = ({ state, escalation: { findings = [] }, by, now }) =>
  findings.map(hash => ({
    type: 'approval.given',
    at: now,
    subject: state.projectId,
    hash,
    by,
    because: 'asked and answered',
  }));

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
};

const meaningsOf = ({ kind, task }: Escalation): Meanings =>
  kind === 'stuck' && task === undefined ? aboutFailures : meanings[kind];

/** A person who takes an agent out of the chain has answered the question about it. */
export function answeredByChange(
  { escalations, settings }: State,
  changed: ChangedSettings | undefined,
  by: string,
  now: number,
): readonly Event[] {
  const { performers, performersByTask, performersByPhase } = { ...settings, ...changed };
  const chosen = new Set([...performers, ...Object.values(performersByTask), ...Object.values(performersByPhase)]);
  return escalations
    .filter(one => one.performer !== undefined && !chosen.has(one.performer))
    .map(({ id, performer }) => ({
      type: 'escalation.answered',
      at: now,
      id,
      answer: { kind: 'retry' },
      by,
      because: `${performer} works no more in this loop`,
    }));
}

export function answerQuestion(
  state: State,
  { escalation: id, answer, policy }: Extract<Command, { type: 'answer' }>,
  by: string,
  now: number,
): readonly Event[] {
  const escalation = state.escalations.find(one => one.id === id);
  const answered = (because: string, late?: boolean): Event => ({
    type: 'escalation.answered',
    at: now,
    id,
    answer,
    by,
    because,
    late: late || undefined,
  });
  if (escalation === undefined || state.ended)
    return [answered('no open question has this id: kept, without effect', true)];
  const option = answer.kind === 'option' ? findOption(escalation.options, answer.option) : undefined;
  if (answer.kind === 'option' && option === undefined) {
    return [answered(`there is no option ${answer.option}: kept, without effect`, true)];
  }
  const isEffect = escalation.kind === 'effect';
  // Neither says whether it happened, and nothing is done twice on a guess: the question stays.
  if (isEffect && (answer.kind === 'text' || answer.kind === 'retry')) {
    const said =
      answer.kind === 'text' ? 'words do not say which it is' : '"retry" does not say that it did not happen';
    return [answered(`${said}: kept, still open`, true)];
  }
  if (answer.kind === 'abort') {
    // A loop that is taken up again must not have forgotten that nobody knows.
    return [
      answered(`a human ended the loop${isEffect ? ': kept, still open' : ''}`, isEffect),
      { type: 'stop.asked', at: now, by, because: `${id} was answered with abort` },
    ];
  }
  const text = option?.text ?? (answer.kind === 'text' ? answer.text : '');
  const place = option === undefined ? 0 : escalation.options.indexOf(option) + 1;
  const of = meaningsOf(escalation);
  const meaning = of[option?.id ?? answer.kind] ?? of.otherwise;
  return [
    answered(`a human answered: ${answer.kind}`),
    ...meaning({ state, escalation, text, place, by, now, isPolicy: policy === true }),
  ];
}
