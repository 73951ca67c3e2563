// What a newly read document means: new tasks, new texts, and statuses that the ledger does not believe.
import { canonical } from '../../text/canonical.ts';
import { plural, someOf } from '../../text/format.ts';
import type { Event } from '../event.ts';
import type { InputOf } from '../input.ts';
import { prefixHash } from '../memory.ts';
import { liveIteration, type State } from '../state.ts';
import { allTasks, findTask, type Task, type TaskSpec } from '../task.ts';
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
  task.under === spec.under &&
  task.called === spec.called &&
  sameDeed(task, spec);

type Deed = Pick<TaskSpec, 'performer' | 'order' | 'attemptsMax'>;
type Held = NonNullable<Task['held']>;

const sameDeed = (one: Deed, other: Deed): boolean =>
  one.performer === other.performer &&
  one.attemptsMax === other.attemptsMax &&
  canonical(one.order ?? null) === canonical(other.order ?? null);

/** All that decides about who does it, how often, and when it is done. */
const sameRules = (one: Held, other: Held): boolean =>
  sameList(one.criteria, other.criteria) && sameList(one.dependsOn, other.dependsOn) && sameDeed(one, other);

const wordsHash = ({ title, description }: TaskSpec): string => prefixHash(`${title}\n${description}`);

const isHeldBack = ({ held }: Task, spec: TaskSpec): boolean =>
  held !== undefined && sameRules(held, spec) && (held.words === undefined || held.words === wordsHash(spec));

/**
 * What decides about "done" is not taken from a document that was edited while an iteration or its checks ran: an agent may
 * have done it. Where the document is the task, that is all of its words, and those of a goal hold for ever. The right to
 * change tests is given when a story is first read, and never by an edit.
 */
function believed(state: State, spec: TaskSpec, during: number | undefined): TaskSpec {
  const task = findTask(state.tasks, spec.id);
  if (task === undefined)
    return during === undefined ? spec : { ...spec, mayChangeTests: undefined, done: false, skipped: false };
  const { title, description, criteria, dependsOn, mayChangeTests, performer, order, attemptsMax } = task;
  const { approval, stepwise, mode } = state.settings;
  // Where nothing begins before a person has approved the whole text, just that text must be done.
  if (approval || (during === undefined && mode !== 'goal' && !isHeldBack(task, spec)))
    return { ...spec, mayChangeTests };
  const words = stepwise ? { title, description } : undefined;
  return { ...spec, ...words, criteria, dependsOn, mayChangeTests, performer, order, attemptsMax };
}

function keptTexts(
  state: State,
  specs: readonly TaskSpec[],
  during: number | undefined,
  now: number,
): readonly Event[] {
  const { approval, stepwise } = state.settings;
  if (during === undefined || approval) return [];
  return specs.flatMap((spec): readonly Event[] => {
    const { id, criteria, dependsOn, performer, order, attemptsMax } = spec;
    const task = findTask(state.tasks, id);
    if (task === undefined || task.status === 'done' || isHeldBack(task, spec)) return [];
    const isReworded = stepwise && wordsHash(task) !== wordsHash(spec);
    if (sameRules(task, spec) && !isReworded) return [];
    const more = { performer, order, attemptsMax, words: stepwise ? wordsHash(spec) : undefined };
    const what = isReworded ? 'the task itself' : `what ${id} must meet, waits for or may take`;
    const because = `${what} was edited during iteration ${during} and is not taken: the old text holds. To change it, edit the document while no iteration runs (ralph pause)`;
    return [
      { type: 'task.edit-rejected', at: now, task: id, iteration: during, criteria, dependsOn, ...more, because },
    ];
  });
}

/** What is put back is told when it is. */
function toldOfKept({ settings }: State, kept: readonly Event[], now: number): readonly Event[] {
  const said = kept.flatMap(event => (event.type === 'task.edit-rejected' ? [`${event.because}.`] : []));
  if (said.length === 0 || settings.stepwise) return [];
  const because = 'edits of the document were not taken';
  return [{ type: 'guidance.given', at: now, text: said.join('\n'), by: 'ralph', because }];
}

/** The ledger is the truth about statuses; a document that says otherwise is corrected, and that is recorded. */
function statusDrift(
  state: State,
  specs: readonly TaskSpec[],
  during: number | undefined,
  now: number,
): readonly Event[] {
  const events: Event[] = [];
  const active = during === undefined ? undefined : liveIteration(state, during)?.task;
  for (const spec of specs) {
    // A story that was added while an iteration ran begins open, whatever it says.
    const task = findTask(state.tasks, spec.id) ?? (during === undefined ? undefined : { status: 'pending' });
    // A round of an interview and a goal have no place in their documents to show whether they are over.
    if (
      spec.round !== undefined ||
      (spec.id === 'goal' && state.settings.mode === 'goal') ||
      task === undefined ||
      (spec.id === active && spec.done && !spec.skipped) ||
      state.unsaved.includes(spec.id)
    )
      continue;
    const same = spec.done === (task.status === 'done') && spec.skipped === (task.status === 'skipped');
    if (same) continue;
    const said = spec.done ? 'done' : spec.skipped ? 'skipped' : 'open';
    const because = `the document was edited to call ${spec.id} ${said}; the ledger says ${task.status} and is put back`;
    events.push({
      type: 'signal.read',
      at: now,
      iteration: during ?? state.iterations,
      task: spec.id,
      signal: 'status-edit',
      text: spec.id,
      accepted: false,
      because,
    });
  }
  return events;
}

/** A document may know of attempts that this ledger does not: where none is left, the task is parked from the beginning. */
const spentBefore = (specs: readonly TaskSpec[], now: number): readonly Event[] =>
  specs.flatMap(({ id, attemptsBefore = 0, attemptsMax, done, skipped, blocked = false }): readonly Event[] => {
    if (attemptsMax === undefined || attemptsBefore < attemptsMax || done || skipped || blocked) return [];
    const because = `${plural(attemptsBefore, 'attempt')} made before this loop, ${attemptsMax} allowed`;
    return [{ type: 'task.blocked', at: now, task: id, because }];
  });

/** Tasks that the document does not show any more, and those that it shows again. */
interface Shown {
  readonly gone: readonly string[];
  readonly back: readonly string[];
  /** Of the gone ones, those that are not over. */
  readonly open: readonly string[];
}

function shownIn(state: State, read: readonly TaskSpec[], missing: readonly KnownItem[]): Shown {
  const isWorthSaying = ({ isAbsent, isOver, under }: KnownItem): boolean =>
    !isAbsent && (!isOver || under !== undefined);
  const gone = missing.filter(isWorthSaying);
  const back = read.filter(({ id }) => findTask(state.tasks, id)?.absent === true);
  const open = gone.filter(item => !item.isOver);
  return { gone: gone.map(one => one.id), back: back.map(one => one.id), open: open.map(one => one.id) };
}

/** The agent that works next must know: whoever worked before it took them out. */
function toldAgent({ open }: Shown, during: number | undefined, now: number): readonly Event[] {
  if (during === undefined || open.length === 0) return [];
  const text = `In iteration ${during} the task document lost ${someOf(open, 5)}, which ${open.length === 1 ? 'is' : 'are'} still to be done. Add tasks to it if need be, but take none out of it, and do not reword those of others.`;
  return [{ type: 'guidance.given', at: now, text, by: 'ralph', because: 'open tasks are gone from the document' }];
}

/** What a person approved is all that is to be done: steps that are no longer in it are left out. */
export function leftOut(state: State, gone: readonly string[], now: number): readonly Event[] {
  const because = 'the approved plan does not hold it any more';
  return [...allTasks(state.tasks)]
    .filter(({ id, status, absent }) => (absent || gone.includes(id)) && (status === 'pending' || status === 'blocked'))
    .map(({ id }) => ({ type: 'task.skipped', at: now, task: id, by: 'ralph', because }));
}

function changeWords(during: number | undefined, edited: number, { open, back }: Shown): string {
  const where = during === undefined ? 'the document changed' : `the document changed during iteration ${during}`;
  const parts = [
    ...(edited === 0 ? [] : [`${plural(edited, 'task text')} ${edited === 1 ? 'differs' : 'differ'}`]),
    ...(open.length === 0
      ? []
      : [`gone from it and still open here: ${someOf(open, 5)} (to leave one out: ralph task skip ID)`]),
    ...(back.length === 0 ? [] : [`shown again: ${someOf(back, 5)}`]),
  ];
  return `${where}: ${parts.length === 0 ? 'no task text differs' : parts.join('; ')}`;
}

/** Whose iteration it is, or whose claim is being checked. */
const workedOn = (state: State, during: number | undefined): string | undefined =>
  [...state.live, ...state.claims].find(one => one.iteration === during)?.task;

export function documentRead(state: State, input: InputOf<'document'>, now: number): readonly Event[] {
  const { hash, substance, during } = input;
  // What is put back is not taken; the status of the task at work is a claim all the same.
  if (state.ended || (input.isDamaged && !state.settings.stepwise)) return [];
  const text = { hash, substance };
  if (!state.loaded) {
    const { tasks } = input;
    const because = `${plural(tasks.length, 'task')} read`;
    return [{ type: 'tasks.loaded', at: now, tasks, ...text, because }, ...spentBefore(tasks, now)];
  }
  const { specs: read, missing } = identify(knownTasks(state.tasks), input.tasks, workedOn(state, during));
  const shown = shownIn(state, read, missing);
  const tasks = read.map(spec => believed(state, spec, during));
  const added = tasks.filter(spec => findTask(state.tasks, spec.id) === undefined);
  const edited = tasks.filter(spec => {
    const task = findTask(state.tasks, spec.id);
    return task !== undefined && !sameText(task, spec);
  });
  const events: Event[] = [];
  const where = during === undefined ? 'the document changed' : `the document changed during iteration ${during}`;
  if (added.length > 0)
    events.push({
      type: 'tasks.added',
      at: now,
      tasks: added,
      because: `${where}: ${plural(added.length, 'new task')}`,
    });
  events.push(...spentBefore(added, now));
  const { gone, back } = shown;
  const turns = { gone: gone.length === 0 ? undefined : gone, back: back.length === 0 ? undefined : back };
  if (edited.length + gone.length + back.length > 0 || hash !== state.documentHash) {
    const because = changeWords(during, edited.length, shown);
    events.push({ type: 'tasks.loaded', at: now, tasks: edited, ...text, ...turns, because });
  }
  const kept = keptTexts(state, read, during, now);
  const isApproved = state.settings.approval && state.approval !== undefined && state.approval.hash === substance;
  return [
    ...events,
    ...kept,
    ...toldOfKept(state, kept, now),
    ...statusDrift(state, read, during, now),
    ...toldAgent(shown, during, now),
    ...(isApproved ? [...leftOut(state, gone, now), ...approvalsOver(state, substance, true, 'ralph', now)] : []),
  ];
}
