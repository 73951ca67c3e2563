// Changes of the document: new tasks, new texts, and statuses that the ledger does not believe.
import { canonical } from '../../text/canonical.ts';
import { plural, someOf } from '../../text/format.ts';
import type { NewEvent } from '../event.ts';
import type { Decide } from '../input.ts';
import { prefixHash } from '../memory.ts';
import { liveIteration, type State } from '../state.ts';
import { allTasks, findTask, type Task, type TaskSpec, type TaskStatus } from '../task.ts';
import { identify, type KnownItem, knownTasks } from '../task-identity.ts';
import { approvalsOver } from './questions.ts';

const sameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at]);

const sameText = (task: Task, spec: TaskSpec): boolean =>
  task.title === spec.title &&
  task.description === spec.description &&
  sameList(task.criteria, spec.criteria) &&
  sameList(task.dependsOn, spec.dependsOn) &&
  (task.mayChangeTests ?? false) === (spec.mayChangeTests ?? false) &&
  task.section === spec.section &&
  task.documentId === spec.documentId &&
  sameOrder(task, spec);

/** All that decides about who does a task, how often, and when it is done. */
type Rules = Pick<TaskSpec, 'criteria' | 'dependsOn' | 'performer' | 'order' | 'attemptsMax'>;

const rulesOf = ({ criteria, dependsOn, performer, order, attemptsMax }: Rules): Rules => ({
  criteria,
  dependsOn,
  performer,
  order,
  attemptsMax,
});

const sameOrder = (one: Rules, other: Rules): boolean =>
  one.performer === other.performer &&
  one.attemptsMax === other.attemptsMax &&
  canonical(one.order ?? null) === canonical(other.order ?? null);

const sameRules = (one: Rules, other: Rules): boolean =>
  sameList(one.criteria, other.criteria) && sameList(one.dependsOn, other.dependsOn) && sameOrder(one, other);

const wordsHash = ({ title, description }: TaskSpec): string => prefixHash(`${title}\n${description}`);

/** The document still says what was not taken from it before. */
const isHeldBack = ({ rejectedEdit }: Task, spec: TaskSpec): boolean =>
  rejectedEdit !== undefined &&
  sameRules(rejectedEdit, spec) &&
  (rejectedEdit.words === undefined || rejectedEdit.words === wordsHash(spec));

/** The document as it was read, under the ids by which its tasks are known. */
interface Reading {
  readonly state: State;
  readonly specs: readonly TaskSpec[];
  /** The iteration that ran meanwhile. */
  readonly during: number | undefined;
}

/**
 * What decides about "done" is not taken from a document that was edited while an iteration or its checks ran: an agent may
 * have done it. Where the document is the task, that is all of its words, and those of a goal hold for ever. The right to
 * change tests is given when a story is first read, and never by an edit.
 */
function believed({ state, during }: Reading, spec: TaskSpec): TaskSpec {
  const task = findTask(state.tasks, spec.id);
  if (task === undefined)
    return during === undefined ? spec : { ...spec, mayChangeTests: undefined, done: false, skipped: false };
  const { title, description, mayChangeTests } = task;
  const { approval, stepwise, mode } = state.settings;
  const isByPerson = during === undefined && mode !== 'goal' && !isHeldBack(task, spec);
  // Where nothing begins before a person has approved the whole text, just that text must be done.
  if (approval || isByPerson) return { ...spec, mayChangeTests };
  const words = stepwise ? { title, description } : undefined;
  return { ...spec, ...words, ...rulesOf(task), mayChangeTests };
}

/** Edits that were made while an iteration ran: each is recorded once and not taken. */
function rejectedEdits({ state, specs, during }: Reading): readonly EventWithReason[] {
  const { approval, stepwise } = state.settings;
  if (during === undefined || approval) return [];
  return specs.flatMap(spec => {
    const task = findTask(state.tasks, spec.id);
    if (task === undefined || task.status === 'done' || isHeldBack(task, spec)) return [];
    const isReworded = stepwise && wordsHash(task) !== wordsHash(spec);
    if (sameRules(task, spec) && !isReworded) return [];
    const words = stepwise ? wordsHash(spec) : undefined;
    const what = isReworded ? 'the task itself' : `what ${spec.id} must meet, waits for or may take`;
    const because = `${what} was edited during iteration ${during} and is not taken: the old text holds. To change it, edit the document while no iteration runs (ralph pause)`;
    return [{ type: 'task.edit-rejected', task: spec.id, iteration: during, ...rulesOf(spec), words, because }];
  });
}

type EventWithReason = NewEvent & { readonly because: string };

const guidance = (text: string, because: string): NewEvent => ({ type: 'guidance.given', text, by: 'ralph', because });

/** What is put back is told when it is. */
function toldOfRejected({ settings }: State, rejected: readonly EventWithReason[]): readonly NewEvent[] {
  if (rejected.length === 0 || settings.stepwise) return [];
  const text = rejected.map(({ because }) => `${because}.`).join('\n');
  return [guidance(text, 'edits of the document were not taken')];
}

/** A round of an interview and a goal have no place in their documents to show whether they are over. */
const hasStatus = ({ settings }: State, { id, round }: TaskSpec): boolean =>
  round === undefined && !(id === 'goal' && settings.mode === 'goal');

const isAsSaid = ({ done, skipped }: TaskSpec, status: TaskStatus): boolean =>
  done === (status === 'done') && skipped === (status === 'skipped');

/** The ledger is the truth about statuses; a document that says otherwise is corrected, and that is recorded. */
function statusDrift({ state, specs, during }: Reading): readonly NewEvent[] {
  const active = during === undefined ? undefined : liveIteration(state, during)?.task;
  return specs
    .filter(spec => hasStatus(state, spec))
    .flatMap((spec): readonly NewEvent[] => {
      const { id, done, skipped } = spec;
      // A story that was added while an iteration ran begins open, whatever it says.
      const status = findTask(state.tasks, id)?.status ?? (during === undefined ? undefined : 'pending');
      if (status === undefined || isAsSaid(spec, status) || state.unsaved.includes(id)) return [];
      if (id === active && done && !skipped) return []; // a claim
      const said = done ? 'done' : skipped ? 'skipped' : 'open';
      const because = `the document was edited to call ${id} ${said}; the ledger says ${status} and is put back`;
      const iteration = during ?? state.iterations;
      return [{ type: 'signal.read', iteration, task: id, signal: 'status-edit', text: id, accepted: false, because }];
    });
}

/** A document may know of attempts that this ledger does not: where none is left, the task is parked from the beginning. */
const spentBefore = (specs: readonly TaskSpec[]): readonly NewEvent[] =>
  specs.flatMap(({ id, attemptsBefore = 0, attemptsMax, done, skipped, blocked = false }): readonly NewEvent[] => {
    if (attemptsMax === undefined || attemptsBefore < attemptsMax || done || skipped || blocked) return [];
    const because = `${plural(attemptsBefore, 'attempt')} made before this loop, ${attemptsMax} allowed`;
    return [{ type: 'task.blocked', task: id, because }];
  });

/** Tasks that the document does not show any more, and those that it shows again. */
interface Shown {
  readonly gone: readonly string[];
  readonly back: readonly string[];
  /** Of the gone ones, those that are not over. */
  readonly open: readonly string[];
}

function shownIn({ state, specs }: Reading, missing: readonly KnownItem[]): Shown {
  const gone = missing.filter(({ isAbsent, isOver, section }) => !isAbsent && (!isOver || section !== undefined));
  const back = specs.filter(({ id }) => findTask(state.tasks, id)?.missing === true);
  const open = gone.filter(item => !item.isOver);
  return { gone: gone.map(one => one.id), back: back.map(one => one.id), open: open.map(one => one.id) };
}

/** The agent that works next must know: whoever worked before it took them out. */
function toldOfGone({ open }: Shown, during: number | undefined): readonly NewEvent[] {
  if (during === undefined || open.length === 0) return [];
  const text = `In iteration ${during} the task document lost ${someOf(open, 5)}, which ${open.length === 1 ? 'is' : 'are'} still to be done. Add tasks to it if need be, but take none out of it, and do not reword those of others.`;
  return [guidance(text, 'open tasks are gone from the document')];
}

/** What a person approved is all that is to be done: steps that are no longer in it are left out. */
export function leftOut(state: State, gone: readonly string[]): readonly NewEvent[] {
  const because = 'the approved plan does not hold it any more';
  return [...allTasks(state.tasks)]
    .filter(
      ({ id, status, missing: absent }) =>
        (absent || gone.includes(id)) && (status === 'pending' || status === 'blocked'),
    )
    .map(({ id }) => ({ type: 'task.skipped', task: id, by: 'ralph', because }));
}

function changeWords(edited: number, { open, back }: Shown): string {
  const parts = [
    edited > 0 && `${plural(edited, 'task text')} ${edited === 1 ? 'differs' : 'differ'}`,
    open.length > 0 && `gone from it and still open here: ${someOf(open, 5)} (to leave one out: ralph task skip ID)`,
    back.length > 0 && `shown again: ${someOf(back, 5)}`,
  ].filter(Boolean);
  return parts.length === 0 ? 'no task text differs' : parts.join('; ');
}

/** New tasks, and the texts that differ. */
function textChanges(reading: Reading, shown: Shown, version: Version): readonly NewEvent[] {
  const { state, during } = reading;
  const { gone, back } = shown;
  const tasks = reading.specs.map(spec => believed(reading, spec));
  const added = tasks.filter(spec => findTask(state.tasks, spec.id) === undefined);
  const edited = tasks.filter(spec => {
    const task = findTask(state.tasks, spec.id);
    return task !== undefined && !sameText(task, spec);
  });
  const where = during === undefined ? 'the document changed' : `the document changed during iteration ${during}`;
  const events: NewEvent[] = [];
  if (added.length > 0)
    events.push({ type: 'tasks.added', tasks: added, because: `${where}: ${plural(added.length, 'new task')}` });
  events.push(...spentBefore(added));
  if (edited.length + gone.length + back.length > 0 || version.hash !== state.documentHash) {
    const turns = { gone: gone.length === 0 ? undefined : gone, back: back.length === 0 ? undefined : back };
    const because = `${where}: ${changeWords(edited.length, shown)}`;
    events.push({ type: 'tasks.loaded', tasks: edited, ...version, ...turns, because });
  }
  return events;
}

interface Version {
  readonly hash: string;
  readonly substance?: string;
}

export const documentRead: Decide<'document'> = (state, { tasks, hash, substance, during, isDamaged }) => {
  // What is put back is not taken; the status of the task at work is a claim all the same.
  if (state.ended || (isDamaged && !state.settings.stepwise)) return [];
  const version = { hash, substance };
  if (!state.loaded) {
    const because = `${plural(tasks.length, 'task')} read`;
    return [{ type: 'tasks.loaded', tasks, ...version, because }, ...spentBefore(tasks)];
  }
  // Whose iteration it is, or whose claim is being checked.
  const workedOn = [...state.live, ...state.claims].find(one => one.iteration === during)?.task;
  const { specs, missing } = identify(knownTasks(state.tasks), tasks, workedOn);
  const reading = { state, specs, during };
  const shown = shownIn(reading, missing);
  const rejected = rejectedEdits(reading);
  const isApproved = state.settings.approval && state.approval !== undefined && state.approval.hash === substance;
  return [
    ...textChanges(reading, shown, version),
    ...rejected,
    ...toldOfRejected(state, rejected),
    ...statusDrift(reading),
    ...toldOfGone(shown, during),
    ...(isApproved ? [...leftOut(state, shown.gone), ...approvalsOver(state, substance, true, 'ralph')] : []),
  ];
};
