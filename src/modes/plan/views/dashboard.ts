// Dashboard.md, every plan of a vault at a glance, and the status of a plan's loop.

import type { State } from '../../../core/state.ts';
import { allTasks, findTask, progress, readyTasks, type Task } from '../../../core/task.ts';
import { isoTime, plural } from '../../../text/format.ts';
import { endedByLimit } from '../../../views/ending.ts';
import type { PlanStatus } from '../document/front-matter.ts';
import { inline } from './markdown.ts';

export interface DashboardRow {
  readonly plan: string;
  readonly objective: string;
  readonly status: PlanStatus | 'stopped' | 'left_out' | 'broken';
  readonly completed: number;
  readonly total: number;
  readonly iterations: number;
  /** When it ended or began; 0: it has not begun. */
  readonly at: number;
  /** Relative to the vault. */
  readonly file: string;
}

/** The most urgent first. */
const order: readonly DashboardRow['status'][] = [
  ...(['blocked', 'escalated', 'broken', 'executing', 'approved', 'awaiting_approval'] as const),
  ...(['stopped', 'left_out', 'completed'] as const),
];
const completedMax = 100;

const byUrgency = (a: DashboardRow, b: DashboardRow): number =>
  order.indexOf(a.status) - order.indexOf(b.status) || b.at - a.at || (a.file < b.file ? -1 : a.file > b.file ? 1 : 0);

export function dashboard(rows: readonly DashboardRow[]): string {
  const sorted = [...rows].sort(byUrgency);
  const completed = sorted.filter(row => row.status === 'completed');
  const shown = [...sorted.filter(row => row.status !== 'completed'), ...completed.slice(0, completedMax)];
  const counts = order
    .map(status => ({ status, count: rows.filter(row => row.status === status).length }))
    .filter(({ count }) => count > 0)
    .map(({ status, count }) => `${count} ${status.replace('_', ' ')}`);
  const left = completed.length - completedMax;
  return [
    '# Plans',
    '',
    rows.length === 0 ? 'No plan yet.' : `${plural(rows.length, 'plan')}: ${counts.join(', ')}.`,
    '',
    '| plan | objective | status | progress | iterations | when | file |',
    '|---|---|---|---|---|---|---|',
    ...shown.map(
      row =>
        `| ${inline(row.plan, 100)} | ${inline(row.objective, 120)} | ${row.status} | ${row.completed}/${row.total} | ${row.iterations} | ${isoTime(row.at)} | ${inline(row.file, 200)} |`,
    ),
    ...(left > 0 ? ['', `and ${left} more in Done`] : []),
    '',
    'Made by Ralph after each plan; what is written here by hand is lost.',
    '',
  ].join('\n');
}

/** Nothing of it can be done before a person has said something. */
export const cannotGoOn = (state: State): boolean =>
  state.questions.open.length > 0 &&
  state.live.length === 0 &&
  state.claims.open.length === 0 &&
  (state.questions.open.some(one => one.kind === 'approval') || readyTasks(state.tasks, 1).length === 0);

/** Over, and a step of it was done: a plan that was left out altogether is no plan that was carried out. */
export const isCarriedOut = ({ control: { ended }, tasks }: State): boolean =>
  ended?.reason === 'goal_achieved' && progress(tasks).done > 0;

export function planStatus(state: State): 'executing' | 'completed' | 'blocked' | 'escalated' {
  if (isCarriedOut(state)) return 'completed';
  if (endedByLimit(state)) return 'escalated';
  return state.control.ended !== undefined || cannotGoOn(state) ? 'blocked' : 'executing';
}

/** The number that the plan gives a step; 0 for none. */
export function stepNumber(task: string): number {
  return Number(/(\d{1,9})$/.exec(task)?.[1] ?? 0);
}

/** The step at work, else the first that is not closed, else one past the last. */
export function currentStep(state: State): number {
  const live = state.live[0]?.task;
  if (live !== undefined) return stepNumber(live);
  for (const task of allTasks(state.tasks))
    if (task.status === 'pending' || task.status === 'blocked') return stepNumber(task.id);
  return state.tasks.size + 1;
}

export interface Trouble {
  readonly task?: Task;
  readonly what: string;
  /** Every error of its attempts, the newest last. */
  readonly details: readonly string[];
}

/** Why a person must look: steps that were given up, questions that are open, an end that nobody wanted. */
export function troubles(state: State, errors: ReadonlyMap<string, readonly string[]>): readonly Trouble[] {
  if (isCarriedOut(state)) return [];
  if (state.control.ended?.reason === 'goal_achieved')
    return [{ what: 'Every step was left out: nothing of this plan was done', details: [] }];
  const failed = [...allTasks(state.tasks)]
    .filter(task => task.status === 'blocked')
    .map(task => ({ task, what: task.blockedBecause ?? 'given up', details: errors.get(task.id) ?? [] }));
  // "Nothing is ready" says no more than the steps that were given up.
  const open = state.questions.open.filter(one => one.kind !== 'blocked' || failed.length === 0);
  const asked = open.map(one => {
    const task = one.task === undefined ? undefined : findTask(state.tasks, one.task);
    return { task, what: `${one.id}: ${one.summary}`, details: [one.context] };
  });
  const isBadEnd =
    state.control.ended !== undefined && state.control.ended.reason !== 'explicit_stop' && !endedByLimit(state);
  const ended =
    isBadEnd && failed.length === 0
      ? [{ what: state.control.ended?.because ?? '', details: [state.streaks.lastError] }]
      : [];
  return [...failed, ...asked, ...ended];
}
