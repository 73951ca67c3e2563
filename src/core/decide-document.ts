// What a newly read document means: new tasks, new texts, and statuses that the ledger does not believe.
import type { Event } from './event.ts';
import { plural } from './format.ts';
import type { InputOf } from './input.ts';
import { liveIteration, type State } from './state.ts';
import { findTask, type Task, type TaskSpec } from './task.ts';

const sameText = (task: Task, spec: TaskSpec): boolean =>
  task.title === spec.title &&
  task.description === spec.description &&
  task.criteria.length === spec.criteria.length &&
  task.criteria.every((text, at) => text === spec.criteria[at]) &&
  task.dependsOn.length === spec.dependsOn.length &&
  task.dependsOn.every((id, at) => id === spec.dependsOn[at]);

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
    const task = findTask(state.tasks, spec.id);
    if (task === undefined || (spec.id === active && spec.done && !spec.skipped) || state.unsaved.includes(spec.id))
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

export function documentRead(
  state: State,
  { tasks, hash, during }: InputOf<'document'>,
  now: number,
): readonly Event[] {
  if (state.ended) return [];
  if (!state.loaded)
    return [{ type: 'tasks.loaded', at: now, tasks, hash, because: `${plural(tasks.length, 'task')} read` }];
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
  const because = `${where}: ${edited.length === 0 ? 'no task text differs' : `${plural(edited.length, 'task text')} ${edited.length === 1 ? 'differs' : 'differ'}`}`;
  if (edited.length > 0 || hash !== state.documentHash)
    events.push({ type: 'tasks.loaded', at: now, tasks: edited, hash, because });
  return [...events, ...statusDrift(state, tasks, during, now)];
}
