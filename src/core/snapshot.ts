// The state as plain data and back: a snapshot is discardable, so a shape that does not fit is simply not used.
import { defaultSettings } from './settings.ts';
import { initialState, type State } from './state.ts';
import { addTasks, allTasks, emptyTable, setTask, type Task } from './task.ts';

/**
 * The version of the packed state; a snapshot of another version is not used and costs one full replay. Raise it by one
 * when a field of State, of its tasks or of its settings is added, removed, renamed or regrouped, and when `evolve` or the
 * reading of stored events gives another state for the same ledger. The package's version has nothing to do with it.
 */
export const stateVersion = 5;

interface Packed extends Omit<State, 'tasks'> {
  readonly tasks: readonly Task[];
}

export function packState(state: State): unknown {
  const packed: Packed = { ...state, tasks: [...allTasks(state.tasks)] };
  return packed;
}

export function unpackState(packed: unknown): State {
  const { tasks, ...rest } = packed as Packed;
  let table = addTasks(emptyTable, tasks);
  for (const task of tasks) table = setTask(table, task);
  const settings = { ...defaultSettings(rest.settings.mode), ...rest.settings };
  return { ...initialState, ...rest, settings, tasks: table };
}
