// Reports by tools: which of them cannot be meant and are refused at once, and how one that is taken is recorded.

import { boundedReport, type ReportRefusal, type ToolReport } from '../../messages/tool-reports.ts';
import type { NewEvent } from '../event.ts';
import type { InputOf } from '../input.ts';
import { liveIteration, type State } from '../state.ts';
import { findTask } from '../task.ts';

/** Of one iteration: what it says must not make the state grow without a bound. */
const reportsMax = 100;

/** Undefined: it can be recorded. */
export function refusalOfReport(state: State, iteration: number, report: ToolReport): ReportRefusal | undefined {
  const live = liveIteration(state, iteration);
  if (live === undefined || state.control.ended !== undefined) return { why: 'iteration-over' };
  if ((live.reports?.length ?? 0) >= reportsMax) return { why: 'too-many-reports', most: reportsMax };
  if (report.type !== 'done') return undefined;
  if (report.task !== live.task) return { why: 'other-task', task: live.task };
  const { criteria = [] } = findTask(state.tasks, live.task)?.spec ?? {};
  const shown = new Set(report.evidence.map(one => one.criterion));
  if ([...shown].some(one => one < 1 || one > Math.max(1, criteria.length)))
    return { why: 'no-such-criterion', criteria: criteria.length };
  const missing = criteria.flatMap((_text, at) => (shown.has(at + 1) ? [] : [at + 1]));
  return missing.length === 0 ? undefined : { why: 'criteria-without-evidence', missing };
}

export function reported(state: State, { iteration, report }: InputOf<'reported'>): readonly NewEvent[] {
  const live = liveIteration(state, iteration);
  if (live === undefined || refusalOfReport(state, iteration, report) !== undefined) return [];
  return [{ type: 'iteration.reported', iteration, task: live.task, report: boundedReport(report) }];
}
