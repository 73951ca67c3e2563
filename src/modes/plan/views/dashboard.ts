// Dashboard.md: every plan of a vault at a glance.
import { isoTime, plural } from '../../../text/format.ts';
import type { PlanStatus } from './vault-status.ts';
import { inline } from './vault-text.ts';

export interface DashboardRow {
  readonly plan: string;
  readonly objective: string;
  readonly status: PlanStatus | 'awaiting_approval' | 'approved' | 'stopped' | 'left_out' | 'broken';
  readonly completed: number;
  readonly total: number;
  readonly iterations: number;
  /** When it ended or began; 0: it has not begun. */
  readonly at: number;
  /** Relative to the vault. */
  readonly file: string;
}

const order: readonly DashboardRow['status'][] = [
  'blocked',
  'escalated',
  'broken',
  'executing',
  'approved',
  'awaiting_approval',
  'stopped',
  'left_out',
  'completed',
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
