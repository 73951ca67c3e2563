// Questions to a human: how one is raised, and what each kind of answer means.

import { takeCharacters } from '../../text/text.ts';
import type { Answer, Escalation, Event } from '../event.ts';
import type { Question } from '../input.ts';
import type { ChangedSettings } from '../settings.ts';
import type { LiveIteration, State } from '../state.ts';
import { mayHaveHappened, openTasks } from '../task.ts';

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
    options: question.options.slice(0, 9).map(option => takeCharacters(option, 300)),
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
      answer: { kind: 'option', option: 1 },
      by,
      because: 'it was approved',
    }));

type Meaning = (state: State, escalation: Escalation, answer: Answer, by: string, now: number) => readonly Event[];

const guidance = (escalation: Escalation, text: string, by: string, now: number): Event => ({
  type: 'guidance.given',
  at: now,
  task: escalation.task,
  text,
  by,
  because: `the answer to ${escalation.id}`,
});

const skipTask = (task: string, by: string, now: number): Event => ({
  type: 'task.skipped',
  at: now,
  task,
  by,
  because: by.startsWith('--') ? 'by policy, unanswered' : 'a human left it out',
});

/** A question about one task (stuck, deviation): the seed's answers. */
const aboutTask: Meaning = (_state, escalation, answer, by, now) => {
  const { task } = escalation;
  if (answer.kind === 'option') {
    const text = `Proceed with option ${answer.option}: ${escalation.options[answer.option - 1] ?? ''}`;
    return [guidance(escalation, text, by, now)];
  }
  if (answer.kind === 'text') return [guidance(escalation, answer.text, by, now)];
  if (task === undefined) return [];
  if (answer.kind === 'skip') return [skipTask(task, by, now)];
  return [{ type: 'task.reopened', at: now, task, because: 'a human asked to try again' }];
};

/** Nothing is ready: try what is parked or unmet again, or leave the rest out. */
const aboutStall: Meaning = (state, escalation, answer, by, now) => {
  // Of an effect that may have happened another question asks, and only that one is answered about it.
  const open = openTasks(state.tasks).filter(task => !mayHaveHappened(task));
  if (answer.kind === 'skip' || (answer.kind === 'option' && answer.option === 2)) {
    return open.map(task => skipTask(task.id, by, now));
  }
  const reopened = open.map<Event>(task => ({
    type: 'task.reopened',
    at: now,
    task: task.id,
    ignoresUnmet: true,
    because: 'a human asked to try what is left',
  }));
  return answer.kind === 'text' ? [...reopened, guidance(escalation, answer.text, by, now)] : reopened;
};

/** A quiet iteration: more time, or end it. */
const aboutHealth: Meaning = (_state, escalation, answer, _by, now) => {
  const { iteration } = escalation;
  if (iteration === undefined) return [];
  const patient = answer.kind === 'retry' || (answer.kind === 'option' && answer.option === 1);
  if (patient) return [{ type: 'iteration.heartbeat', at: now, iteration, quietMs: 0 }];
  return [{ type: 'iteration.nudged', at: now, iteration, level: 'terminate', because: 'a human asked to end it' }];
};

/** The same doubt may stand in the way of several tasks: one yes is enough. */
function alsoAccepted(state: State, { id, findings = [] }: Escalation, by: string, now: number): readonly Event[] {
  const accepted = new Set([...state.accepted, ...findings]);
  return state.escalations.flatMap((other): readonly Event[] => {
    const { task, iteration = 0, findings: theirs = [] } = other;
    const isMet = theirs.length > 0 && theirs.every(one => accepted.has(one));
    if (other.id === id || other.kind !== 'tamper' || task === undefined || !isMet) return [];
    const because = `the same was accepted with ${id}`;
    return [
      { type: 'escalation.answered', at: now, id: other.id, answer: { kind: 'option', option: 2 }, by, because },
      { type: 'work.accepted', at: now, task, iteration, findings: theirs, by, because },
    ];
  });
}

/** Doubtful proof: taken for good and checked again, or not taken. */
const aboutDoubts: Meaning = (state, escalation, answer, by, now) => {
  const { task, iteration = 0, findings = [] } = escalation;
  if (answer.kind === 'option' && answer.option === 2 && task !== undefined) {
    const because = `the answer to ${escalation.id}`;
    const own: Event = { type: 'work.accepted', at: now, task, iteration, findings, by, because };
    return [own, ...alsoAccepted(state, escalation, by, now)];
  }
  if (answer.kind === 'option' && task !== undefined) {
    const text =
      'Not accepted: put back what was changed in tests and checks, or do what is missing, then claim again.';
    return [guidance(escalation, text, by, now)];
  }
  return aboutTask(state, escalation, answer, by, now);
};

/** Only a person can say whether it happened. */
const aboutEffect: Meaning = (_state, { task, iteration = 0 }, answer, by, now) => {
  if (task === undefined) return [];
  if (answer.kind === 'option' && answer.option === 1) {
    const because = `${by} looked and says that it happened`;
    return [{ type: 'task.closed', at: now, task, iteration, verified: true, because }];
  }
  if (answer.kind === 'skip' || (answer.kind === 'option' && answer.option === 3)) return [skipTask(task, by, now)];
  return [{ type: 'task.reopened', at: now, task, because: `${by} says that it did not happen` }];
};

/** Too many failures concern everybody; only the task that failed last can be left out. */
const aboutFailures: Meaning = (state, escalation, answer, by, now) => {
  const isLeftOut = answer.kind === 'skip' || (answer.kind === 'option' && answer.option === 2);
  if (answer.kind === 'text') return [guidance(escalation, answer.text, by, now)];
  return openTasks(state.tasks)
    .filter(task => isLeftOut && escalation.findings?.includes(task.id))
    .map(task => skipTask(task.id, by, now));
};

const meanings: Readonly<Record<Escalation['kind'], Meaning>> = {
  stuck: (state, escalation, answer, by, now) => {
    if (escalation.task === undefined) return aboutFailures(state, escalation, answer, by, now);
    // Our own stuck question offers "leave this task out" as its second option; an agent's options are the agent's.
    return escalation.options[1] === 'Leave this task out' && answer.kind === 'option' && answer.option === 2
      ? [skipTask(escalation.task, by, now)]
      : aboutTask(state, escalation, answer, by, now);
  },
  deviation: aboutTask,
  unknown: aboutTask,
  blocked: aboutStall,
  health: aboutHealth,
  agent: (_state, escalation, answer, by, now) =>
    answer.kind === 'text' ? [guidance(escalation, answer.text, by, now)] : [],
  storage: (_state, escalation, answer, by, now) =>
    answer.kind === 'option' && answer.option === 2 && escalation.options[1]?.startsWith('Go on without checkpoints')
      ? [
          {
            type: 'limits.changed',
            at: now,
            limits: {},
            settings: { checkpoints: false },
            by,
            because: 'a human chose it',
          },
        ]
      : [],
  tamper: aboutDoubts,
  effect: aboutEffect,
  approval: ({ projectId }, { findings = [] }, answer, by, now) =>
    answer.kind === 'option'
      ? findings.map(hash => ({
          type: 'approval.given',
          at: now,
          subject: projectId,
          hash,
          by,
          because: 'asked and answered',
        }))
      : [],
};

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

export function answerQuestion(state: State, id: string, answer: Answer, by: string, now: number): readonly Event[] {
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
  if (answer.kind === 'option' && escalation.options[answer.option - 1] === undefined) {
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
  return [
    answered(`a human answered: ${answer.kind}`),
    ...meanings[escalation.kind](state, escalation, answer, by, now),
  ];
}
