// What a newly read document means: new tasks, new texts, and statuses that the ledger does not believe.
import { canonical } from './canonical.ts';
import type { Event } from './event.ts';
import { plural } from './format.ts';
import type { InputOf } from './input.ts';
import { liveIteration, type State } from './state.ts';
import { findTask, type Task, type TaskSpec } from './task.ts';

const sameList = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((text, at) => text === other[at]);

const sameText = (task: Task, spec: TaskSpec): boolean =>
  task.title === spec.title &&
  task.description === spec.description &&
  sameList(task.criteria, spec.criteria) &&
  sameList(task.dependsOn, spec.dependsOn) &&
  (task.mayChangeTests ?? false) === (spec.mayChangeTests ?? false) &&
  task.performer === spec.performer &&
  task.attemptsMax === spec.attemptsMax &&
  canonical(task.order ?? null) === canonical(spec.order ?? null);

const isHeldBack = ({ held }: Task, { criteria, dependsOn }: TaskSpec): boolean =>
  held !== undefined && sameList(held.criteria, criteria) && sameList(held.dependsOn, dependsOn);

/**
 * What decides about "done" is not taken from a document that was edited while an iteration or its checks ran: an agent may
 * have done it. The right to change tests is given when a story is first read, and never by an edit.
 */
function believed(state: State, spec: TaskSpec, during: number | undefined): TaskSpec {
  const { mayChangeTests: _right, ...plain } = spec;
  const task = findTask(state.tasks, spec.id);
  if (task === undefined) return during === undefined ? spec : { ...plain, done: false, skipped: false };
  const { criteria, dependsOn, mayChangeTests, performer, order, attemptsMax } = task;
  const right = mayChangeTests === undefined ? {} : { mayChangeTests };
  const { performer: _performer, order: _order, attemptsMax: _attempts, ...words } = plain;
  const deed = Object.fromEntries(
    Object.entries({ performer, order, attemptsMax }).filter(([, value]) => value !== undefined),
  );
  // Where nothing begins before a person has approved the whole text, just that text must be done.
  if (state.settings.approval || (during === undefined && !isHeldBack(task, spec))) return { ...plain, ...right };
  return { ...words, criteria, dependsOn, ...right, ...deed };
}

function keptTexts(
  state: State,
  specs: readonly TaskSpec[],
  during: number | undefined,
  now: number,
): readonly Event[] {
  if (during === undefined || state.settings.approval) return [];
  return specs.flatMap((spec): readonly Event[] => {
    const { id, criteria, dependsOn } = spec;
    const task = findTask(state.tasks, id);
    if (task === undefined || task.status === 'done' || isHeldBack(task, spec)) return [];
    if (sameList(task.criteria, criteria) && sameList(task.dependsOn, dependsOn)) return [];
    const because = `what ${id} must meet or waits for was edited during iteration ${during} and is not taken: the old text holds. To change it, edit the document while no iteration runs (ralph pause)`;
    return [{ type: 'task.kept', at: now, task: id, iteration: during, criteria, dependsOn, because }];
  });
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
    // A round of an interview has no place in its document to show whether it is over.
    if (
      spec.round !== undefined ||
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

export function documentRead(
  state: State,
  { tasks: read, hash, substance, during }: InputOf<'document'>,
  now: number,
): readonly Event[] {
  if (state.ended) return [];
  const tasks = read.map(spec => believed(state, spec, during));
  const text = { hash, ...(substance === undefined ? {} : { substance }) };
  if (!state.loaded) {
    const because = `${plural(tasks.length, 'task')} read`;
    return [{ type: 'tasks.loaded', at: now, tasks, ...text, because }, ...spentBefore(tasks, now)];
  }
  const where = during === undefined ? 'the document changed' : `the document changed during iteration ${during}`;
  const added = tasks.filter(spec => findTask(state.tasks, spec.id) === undefined);
  const edited = tasks.filter(spec => {
    const task = findTask(state.tasks, spec.id);
    return task !== undefined && !sameText(task, spec);
  });
  const events: Event[] = [];
  if (added.length > 0)
    events.push({
      type: 'tasks.added',
      at: now,
      tasks: added,
      because: `${where}: ${plural(added.length, 'new task')}`,
    });
  events.push(...spentBefore(added, now));
  const because = `${where}: ${edited.length === 0 ? 'no task text differs' : `${plural(edited.length, 'task text')} ${edited.length === 1 ? 'differs' : 'differ'}`}`;
  if (edited.length > 0 || hash !== state.documentHash)
    events.push({ type: 'tasks.loaded', at: now, tasks: edited, ...text, because });
  return [...events, ...keptTexts(state, read, during, now), ...statusDrift(state, read, during, now)];
}
