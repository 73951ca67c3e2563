// The line of an event for whoever watches a loop: short, in the words of its mode, and only where it says something.

import type { Escalation, Event, EventOf } from '../core/event.ts';
import { everyPerformer } from '../core/settings.ts';
import { isSingleTask, type State } from '../core/state.ts';
import { findTask, proofWords } from '../core/task.ts';
import { doneWords } from '../core/termination.ts';
import { doneLine } from '../messages/blocks.ts';
import { formatDuration, someOf } from '../text/format.ts';
import { lastLines, takeCharacters, visible } from '../text/text.ts';
import { sentenceOf } from './timeline.ts';
import { beginWords, reportWords } from './words.ts';

const isOneOfMany = ({ settings }: State): boolean => everyPerformer(settings).length > 1;

/** So that five silent attempts do not look like a bug. */
function lastWords(excerpt: string): string {
  const line = excerpt.trimEnd().split('\n').at(-1)?.trim() ?? '';
  return line === '' ? ' (it said nothing)' : `; its last line: ${takeCharacters(line, 120)}`;
}

/** Nobody expects a claim from every iteration of a task that takes many. */
function unclaimed(event: EventOf<'iteration.ended'>, { settings }: State): string {
  const { iteration, task, because, durationMs, report, excerpt } = event;
  const how = settings.policy.tasks === 'one' ? `the agent ended after ${formatDuration(durationMs)}` : because;
  const wanted = settings.policy.tasks === 'one' ? '' : ` (no line "Task ${task} complete")`;
  return `iteration ${iteration}: ${how}${wanted}${report === undefined ? lastWords(excerpt) : `; ${reportWords(report)}`}`;
}

function startWords(event: EventOf<'iteration.started'>, state: State): string {
  const { iteration, task, attempt, performer } = event;
  const { limits } = state.settings;
  const isSingle = isSingleTask(state);
  const title = visible(findTask(state.tasks, task)?.spec.title ?? '');
  const ofMax = limits.iterationsMax === null ? '' : ` of ${limits.iterationsMax}`;
  const what = isSingle ? `${ofMax}${beginWords(state)}` : `: ${task} ${title}`;
  const by = isOneOfMany(state) ? ` by ${performer}` : '';
  const guided = state.memory.guidance.some(one => one.iteration === iteration) ? ' (with guidance)' : '';
  return `Iteration ${iteration}${what}${by}${guided}${attempt > 1 && !isSingle ? ` (attempt ${attempt})` : ''}`;
}

/** What its agent wrote into done.md is for the person who has just talked with it. */
const isRound = ({ tasks }: State, id: string): boolean => {
  const task = findTask(tasks, id);
  return task?.spec.completion === 'result' && task.spec.performer === undefined;
};

export interface EventLine {
  /** What it means to whoever watches. */
  readonly tone: 'good' | 'bad' | 'attention' | 'quiet' | 'strong';
  readonly text: string;
  /** What a check printed. */
  readonly detail?: string;
  /** A question, which is shown as a card. */
  readonly escalation?: Escalation;
}

export interface Marks {
  readonly done: string;
  readonly failed: string;
}

/** Who is only to look may be kept from more by confinement; where it is not, what changed meanwhile is said. */
function changedByReader(
  { task = '', iteration, files = [] }: EventOf<'checkpoint.made'>,
  { tasks, loop: { name } }: State,
): EventLine | undefined {
  if (findTask(tasks, task)?.spec.readOnly !== true || files.length === 0) return undefined;
  const paths = `${files.slice(0, 3).join(', ')}${files.length > 3 ? ', …' : ''}`;
  const text = `files changed while ${task} was only to look: ${paths} (ralph diff ${name} --iteration ${iteration})`;
  return { tone: 'attention', text };
}

/** Open tasks went out of the document. */
const hasLost = ({ gone = [] }: EventOf<'tasks.loaded'>, { tasks }: State): boolean =>
  gone.some(id => !['done', 'skipped'].includes(findTask(tasks, id)?.status ?? 'done'));

function closedLine(event: EventOf<'task.closed'>, state: State, marks: Marks): EventLine {
  const { task, because, verified, by } = event;
  // What an action did or a reviewer answered speaks for itself.
  if (findTask(state.tasks, task)?.spec.completion !== undefined)
    return { tone: 'good', text: `${marks.done} ${task}: ${because}` };
  const what = `${marks.done} ${doneWords(state) ?? `${task} done`}`;
  const why = verified || by !== undefined ? because : 'no check is configured';
  return { tone: verified ? 'good' : 'attention', text: `${what}, ${proofWords(event)}: ${why}` };
}

function endedLine(event: EventOf<'iteration.ended'>, state: State): EventLine | undefined {
  const { outcome, task, excerpt } = event;
  if (outcome === 'succeeded' && isRound(state, task) && excerpt !== '')
    return { tone: 'quiet', text: `${task}: ${takeCharacters(excerpt, 300).replace(/\s+/g, ' ')}` };
  if (event.unclaimed) return { tone: 'quiet', text: unclaimed(event, state) };
  // The card of an escalation follows at once.
  if (outcome === 'succeeded' || outcome === 'escalated') return undefined;
  return { tone: outcome === 'failed' ? 'bad' : 'quiet', text: sentenceOf(event) };
}

/** With the questions that it goes on with: elsewhere than at a terminal nobody shows them again. */
function resumedLine(
  event: EventOf<'loop.resumed'>,
  { iterations, questions: { open } }: State,
): EventLine | undefined {
  if (iterations.begun === 0) return undefined;
  const ids = open.map(one => one.id);
  const asks =
    ids.length === 0 ? '' : `; ${someOf(ids, 6)} ${ids.length === 1 ? 'waits' : 'wait'} for you (ralph inbox)`;
  return { ...sentence(event), text: `${sentenceOf(event)}${asks}` };
}

/** The end of what a check printed says what failed. */
const detailLinesMax = 15;

/** What was almost a claim is explained to the agent in its next prompt, with every mark of it: a person hears that it is none. */
function refusedWords({ signal, text, task, because }: EventOf<'signal.read'>): string {
  if (signal === 'done' && text === '')
    return `the agent wrote no line "${doneLine(task)}" of its own; its next prompt shows how`;
  return `${signal === 'review' ? `${task}: ` : ''}${because}`; // reviewers look side by side
}

const sentence = (event: Event): EventLine => ({ tone: 'quiet', text: sentenceOf(event) });
const nothing = (): undefined => undefined;
/** What Ralph asks of itself shows by what comes of it. */
const byPerson = (event: EventOf<'checkpoint.asked' | 'restore.asked'>): EventLine | undefined =>
  event.by === 'ralph' ? undefined : sentence(event);

type Teller<Type extends Event['type']> = (event: EventOf<Type>, state: State, marks: Marks) => EventLine | undefined;

/** The line of each type of event; the sentence of the timeline for those that are not here. */
const tellers: { readonly [Type in Event['type']]?: Teller<Type> } = {
  'iteration.started': (event, state) => ({ tone: 'strong', text: startWords(event, state) }),
  'iteration.ended': endedLine,
  'task.closed': closedLine,
  'check.ended': ({ passed, flaky, because, detail, task }, { loop }, { failed }) => {
    if (passed) return flaky ? { tone: 'attention', text: because } : undefined;
    return {
      tone: 'bad',
      text: `${failed} ${because}`,
      detail: lastLines(detail, detailLinesMax, `ralph task show ${task} --loop ${loop.name}`),
    };
  },
  'signal.read': (event, _state, { failed }) =>
    event.accepted ? undefined : { tone: 'attention', text: `${failed} ${refusedWords(event)}` },
  'escalation.raised': ({ escalation }) => ({ tone: 'attention', text: escalation.summary, escalation }),
  'checkpoint.made': changedByReader,
  'work.set-aside': event =>
    event.count + event.kept.length === 0 ? undefined : { tone: 'attention', text: sentenceOf(event) },
  'proof.screened': event =>
    event.refused || event.doubts.length + event.restored.length > 0 ? sentence(event) : undefined,
  'checkpoint.asked': byPerson,
  'restore.asked': byPerson,
  'tasks.loaded': (event, state) => {
    if (isSingleTask(state) && state.iterations.begun === 0) return undefined; // one task, as everybody knows
    if (hasLost(event, state)) return { tone: 'attention', text: sentenceOf(event) };
    return event.tasks.length === 0 ? undefined : sentence(event);
  },
  'action.intended': nothing,
  'review.answered': nothing,
  // Its beginning was recorded before, by an approval: nothing goes on yet.
  'loop.resumed': resumedLine,
  'limits.changed': (event, state) => (state.iterations.begun === 0 ? undefined : sentence(event)),
  'work.given-back': event =>
    event.count + event.kept.length === 0 && event.failed === undefined ? undefined : sentence(event),
  'loop.started': nothing,
  'tasks.saved': nothing,
  'iteration.spawned': nothing,
  'iteration.heartbeat': nothing,
  'usage.recorded': nothing,
  'loop.ended': nothing,
};

/** Undefined: it says nothing to whoever watches. */
export function eventLine(event: Event, state: State, marks: Marks): EventLine | undefined {
  const teller = (tellers[event.type] ?? sentence) as (
    event: Event,
    state: State,
    marks: Marks,
  ) => EventLine | undefined;
  return teller(event, state, marks);
}
