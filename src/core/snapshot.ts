// The state as plain data and back: a snapshot is discardable, so a shape that does not fit is simply not used.
import { defaultSettings } from './limits.ts';
import { initialState, type State } from './state.ts';
import { addTasks, allTasks, emptyTable, setTask, type Task } from './task.ts';

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
