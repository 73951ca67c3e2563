// How many iterations may begin now, and which: money, the count, who shares the tree with whom.
import { affordable, checkBudget } from './spend.ts';
import type { State } from './state.ts';
import { findTask, readyTasks, type Task } from './task.ts';

/** Everybody at work only looks: others that only look may join them. */
const onlyReaders = (state: State): boolean =>
  state.claims.length === 0 && state.live.every(one => findTask(state.tasks, one.task)?.reads === true);

/** Side by side in one tree only tasks that change nothing; else as many as have a tree of their own. */
const sideBySide = (state: State, task: Task): number =>
  task.reads === true && onlyReaders(state) ? state.settings.readersMax : state.settings.parallel;

export const hasRoomFor = (state: State, task: Task): boolean =>
  state.live.length + state.claims.length < sideBySide(state, task);

/** In the last twentieth of the money only one iteration runs at a time. */
function roomBeside(state: State, task: Task): number {
  const { costUsdMicrosMax, iterationsMax } = state.settings.limits;
  const usedUsdMicros = state.usage.costUsdMicros;
  const verdict = checkBudget([{ scope: 'task', usedUsdMicros, limitUsdMicros: costUsdMicrosMax }]);
  const most = verdict.action === 'throttle' ? 1 : sideBySide(state, task);
  const byCount = iterationsMax === null ? most : iterationsMax - state.iterations;
  const byMoney = affordable({
    usedUsdMicros,
    limitUsdMicros: costUsdMicrosMax,
    dearestUsdMicros: state.dearestUsdMicros,
    liveUsdMicros: state.live.map(one => one.usage.costUsdMicros),
  });
  return Math.min(most - state.live.length - state.claims.length, byCount, byMoney);
}

/** The first ready tasks for which there is room; undefined: none is ready at all. */
export function startable(state: State): readonly Task[] | undefined {
  const [first] = readyTasks(state.tasks, 1);
  if (first === undefined) return undefined;
  const room = roomBeside(state, first);
  if (room <= 0) return [];
  if (first.reads !== true) return readyTasks(state.tasks, room).filter(task => task.reads !== true);
  return readyTasks(state.tasks, room).filter(task => task.reads === true);
}
