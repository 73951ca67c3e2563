// The small steps that every fold is made of: time, a task, a live iteration, the list of what is not written yet.
import type { ModeName } from './settings.ts';
import { type CheckpointDue, isWorking, type LiveIteration, type State } from './state.ts';
import { findTask, setTask, type Task } from './task.ts';

/** Work counts as active time; the events of people and of starting again only move the clock. */
export function clocked(state: State, at: number): State {
  if (!isWorking(state)) return { ...state, clockedAt: at };
  return {
    ...state,
    activeMs: state.activeMs + Math.max(0, at - state.clockedAt),
    clockedAt: Math.max(at, state.clockedAt),
  };
}

export function withTask(state: State, id: string, change: (task: Task) => Task): State {
  const task = findTask(state.tasks, id);
  return task === undefined ? state : { ...state, tasks: setTask(state.tasks, change(task)) };
}

export function withLive(state: State, iteration: number, change: (live: LiveIteration) => LiveIteration): State {
  return { ...state, live: state.live.map(one => (one.iteration === iteration ? change(one) : one)) };
}

/** What is to be saved, in order: the one before a restore waits for quiet, and nothing waits behind it. */
export const withDue = (state: State, due: CheckpointDue): State => {
  const { checkpointsDue } = state;
  const waiting = checkpointsDue.filter(one => one.beforeRestore);
  return { ...state, checkpointsDue: [...checkpointsDue.filter(one => !one.beforeRestore), due, ...waiting] };
};

/** Without what is undefined: an optional field is there or it is not. */
export function present<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<Fields>;
}

/** Whose documents show who is at work and how often it was tried, not just what is done. */
export const showsProgress: Readonly<Partial<Record<ModeName, boolean>>> = { project: true };

/** For such a document the task is to be written. */
export const shown = (state: State, id: string): State =>
  showsProgress[state.settings.mode] ? unsaved(state, id) : state;

/** The document does not show this task's status yet. */
export const unsaved = (state: State, id: string): State => ({
  ...state,
  unsaved: [...state.unsaved.filter(one => one !== id), id],
});
