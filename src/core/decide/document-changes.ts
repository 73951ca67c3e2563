// Changes of the document: new tasks, new texts, and statuses that the ledger does not believe.
import { plural, someOf } from '../../text/format.ts';
import type { NewEvent } from '../event.ts';
import type { Decide } from '../input.ts';
import { prefixHash } from '../memory.ts';
import { isSingleTask, liveIteration, type State } from '../state.ts';
import {
  allTasks,
  findTask,
  type Rules,
  sameRules,
  sameText,
  type Task,
  type TaskSpec,
  type TaskStatus,
} from '../task.ts';
import { identifyChanged, type KnownItem } from '../task-identity.ts';
import { approvalsOver, closedWith, doneByPerson, taskSkipped } from './questions.ts';

const rulesOf = ({ criteria, dependsOn, performer, order, attemptsMax }: Rules): Rules => ({
  criteria,
  dependsOn,
  performer,
  order,
  attemptsMax,
});

const wordsHash = ({ title, description }: TaskSpec): string => prefixHash(`${title}\n${description}`);

/** A task as the document shows it, under the id by which it is known; `task`: as the ledger has it, unless it is new. */
interface Item {
  readonly spec: TaskSpec;
  readonly task?: Task;
}

/** The document as it was read. */
interface Reading {
  readonly state: State;
  /** All that are not as the ledger has them. */
  readonly items: readonly Item[];
  /** The iteration that ran meanwhile: what was edited then, an agent may have edited. */
  readonly during: number | undefined;
}

/** The document still says what was not taken from it before. */
const isRejected = ({ rejectedEdit }: Task, spec: TaskSpec): boolean =>
  rejectedEdit !== undefined &&
  sameRules(rejectedEdit, spec) &&
  (rejectedEdit.words === undefined || rejectedEdit.words === wordsHash(spec));

/** A person wrote what the document says about a known task, or has to approve it before it counts. */
function isTrusted({ state, during }: Reading, task: Task, spec: TaskSpec): boolean {
  const { approval, policy } = state.settings;
  if (approval) return true;
  if (during !== undefined) return false;
  return !policy.textFixedAtStart && !isRejected(task, spec);
}

/**
 * What is taken of an item. Without trust nothing that decides about "done"; where the document is the task, that is all of
 * its words. The right to change tests is given when a person's story is first read, and never by an edit.
 */
function believed(reading: Reading, { spec, task }: Item): TaskSpec {
  const { state, during } = reading;
  if (task === undefined && during === undefined) return spec;
  if (task === undefined) return { ...spec, mayChangeTests: undefined, done: false, skipped: false };
  const { mayChangeTests } = task.spec;
  if (isTrusted(reading, task, spec)) return { ...spec, mayChangeTests };
  const { title, description } = isSingleTask(state) ? task.spec : spec;
  return { ...spec, title, description, ...rulesOf(task.spec), mayChangeTests };
}

/** Edits that were made while an iteration ran: each is recorded once and not taken. */
function rejectedEdits({ state, items, during }: Reading): readonly EventWithReason[] {
  if (during === undefined || state.settings.approval) return [];
  const isWhole = isSingleTask(state);
  return items.flatMap(({ spec, task }) => {
    if (task === undefined || task.status === 'done' || isRejected(task, spec)) return [];
    const isReworded = isWhole && wordsHash(task.spec) !== wordsHash(spec);
    if (sameRules(task.spec, spec) && !isReworded) return [];
    const words = isWhole ? wordsHash(spec) : undefined;
    const what = isReworded ? 'the task itself' : `what ${spec.id} must meet, waits for or may take`;
    const because = `${what} was edited during iteration ${during} and is not taken: the old text holds. To change it, edit the document while no iteration runs (ralph pause)`;
    return [{ type: 'task.edit-rejected', task: spec.id, iteration: during, ...rulesOf(spec), words, because }];
  });
}

type EventWithReason = NewEvent & { readonly because: string };

const guidance = (text: string, because: string): NewEvent => ({ type: 'guidance.given', text, by: 'ralph', because });

/** What is put back is told when it is. */
function toldOfRejected(state: State, rejected: readonly EventWithReason[]): readonly NewEvent[] {
  if (rejected.length === 0 || isSingleTask(state)) return [];
  const text = rejected.map(({ because }) => `${because}.`).join('\n');
  return [guidance(text, 'edits of the document were not taken')];
}

/** A round of an interview and a goal have no place in their documents to show whether they are over. */
const hasStatus = ({ settings }: State, { round }: TaskSpec): boolean =>
  round === undefined && settings.policy.documentShows !== 'nothing';

const saidStatus = ({ done, skipped }: TaskSpec): 'done' | 'skipped' | 'open' =>
  done ? 'done' : skipped ? 'skipped' : 'open';

/** The status of an item by the ledger; a story that was added while an iteration ran begins open, whatever it says. */
const knownStatus = ({ task }: Item, during: number | undefined): TaskStatus | undefined =>
  task?.status ?? (during === undefined ? undefined : 'pending');

const aPerson = 'a person';
const how = 'in the document, between iterations';

/** While nobody works, only a person edits the document. A step that acts, or that was approved, is decided by commands alone. */
function isByPerson({ settings, live, claims }: State, { task }: Item, during: number | undefined): boolean {
  if (during !== undefined || live.length + claims.open.length > 0 || settings.approval) return false;
  const isOpen = task?.status === 'pending' || task?.status === 'blocked';
  return isOpen && task.spec.order === undefined && settings.policy.tasks === 'many';
}

const saidByPerson = (state: State, { id, done }: TaskSpec): readonly NewEvent[] => [
  ...closedWith(state, id, aPerson),
  done ? doneByPerson(id, aPerson, how) : taskSkipped(state, id, aPerson, how),
];

/** The ledger is the truth about statuses; a document that says otherwise is corrected, and that is recorded. */
function statusDrift({ state, items, during }: Reading): readonly NewEvent[] {
  const active = during === undefined ? undefined : liveIteration(state, during)?.task;
  return items.flatMap((item): readonly NewEvent[] => {
    const { spec } = item;
    const { id: task, done, skipped } = spec;
    const status = knownStatus(item, during);
    const isAsSaid = done === (status === 'done') && skipped === (status === 'skipped');
    const isClaim = task === active && done && !skipped;
    if (status === undefined || isAsSaid || isClaim) return [];
    if (!hasStatus(state, spec) || state.document.unsaved.includes(task)) return [];
    if (isByPerson(state, item, during)) return saidByPerson(state, spec);
    const because = `the document was edited to call ${task} ${saidStatus(spec)}; the ledger says ${status} and is put back (to decide it yourself: ralph task done|skip|retry ${task})`;
    const iteration = during ?? state.iterations.begun;
    return [{ type: 'signal.read', iteration, task, signal: 'status-edit', text: task, accepted: false, because }];
  });
}

/** A document may know of attempts that this ledger does not: where none is left, the task is blocked from the beginning. */
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

function shownIn({ items }: Reading, missing: readonly KnownItem[]): Shown {
  const gone = missing.filter(({ isAbsent, isOver, section }) => !isAbsent && (!isOver || section !== undefined));
  const back = items.filter(({ task }) => task?.missing === true);
  const open = gone.filter(item => !item.isOver);
  return { gone: gone.map(one => one.id), back: back.map(one => one.spec.id), open: open.map(one => one.id) };
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
    .filter(({ status }) => status === 'pending' || status === 'blocked')
    .filter(({ id, missing }) => missing || gone.includes(id))
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
  const items = reading.items.map(item => ({ ...item, spec: believed(reading, item) }));
  const added = items.filter(({ task }) => task === undefined).map(one => one.spec);
  const edited = items
    .filter(({ task, spec }) => task !== undefined && !sameText(task.spec, spec))
    .map(one => one.spec);
  const where = during === undefined ? 'the document changed' : `the document changed during iteration ${during}`;
  const events: NewEvent[] = [];
  if (added.length > 0)
    events.push({ type: 'tasks.added', tasks: added, because: `${where}: ${plural(added.length, 'new task')}` });
  events.push(...spentBefore(added));
  if (edited.length + gone.length + back.length > 0 || version.hash !== state.document.hash) {
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
  if (state.control.ended || (isDamaged && !isSingleTask(state))) return [];
  const version = { hash, substance };
  if (!state.document.isLoaded) {
    const because = `${plural(tasks.length, 'task')} read`;
    return [{ type: 'tasks.loaded', tasks, ...version, because }, ...spentBefore(tasks)];
  }
  // Whose iteration it is, or whose claim is being checked.
  const workedOn = [...state.live, ...state.claims.open].find(one => one.iteration === during)?.task;
  const { specs, missing } = identifyChanged(state.tasks, tasks, workedOn);
  const items = specs.map((spec): Item => ({ spec, task: findTask(state.tasks, spec.id) }));
  const reading = { state, items, during };
  const shown = shownIn(reading, missing);
  const rejected = rejectedEdits(reading);
  const isApproved =
    state.settings.approval && state.document.approval !== undefined && state.document.approval.hash === substance;
  return [
    ...textChanges(reading, shown, version),
    ...rejected,
    ...toldOfRejected(state, rejected),
    ...statusDrift(reading),
    ...toldOfGone(shown, during),
    ...(isApproved ? [...leftOut(state, shown.gone), ...approvalsOver(state, substance, true, 'ralph')] : []),
  ];
};
