// Report of a loop when it is over (or so far): for people as Markdown, for programs as JSON.

import type { Event, EventOf } from '../core/event.ts';
import type { State } from '../core/state.ts';
import { allTasks } from '../core/task.ts';
import type { Report } from '../messages/report.ts';
import { formatDuration, isoTime } from '../text/format.ts';
import { costWords, endingOf, isVerified } from './ending.ts';
import { type Metrics, MetricsView } from './metrics.ts';
import { type IterationStatus, type LoopStatus, StatusView } from './status.ts';
import { isByReport } from './words.ts';

interface TaskReport {
  readonly id: string;
  readonly title: string;
  readonly status: string;
  readonly verified: boolean | null;
  readonly attempts: number;
  readonly note: string;
}

interface IterationReport extends IterationStatus {
  readonly task: string;
  readonly performer: string;
}

type CheckReport = Pick<EventOf<'check.ended'>, 'iteration' | 'task' | 'check' | 'passed'>;

export interface LoopReport {
  readonly version: 1;
  readonly loop_id: string;
  readonly name: string;
  readonly goal: string;
  readonly reason: string;
  readonly summary: string;
  readonly verified: boolean;
  readonly items: readonly TaskReport[];
  readonly iterations: readonly IterationReport[];
  readonly tokens: { readonly input: number; readonly output: number };
  readonly cost_usd: number;
  readonly cost_estimated: boolean;
  readonly active_minutes: number;
  readonly checks: readonly CheckReport[];
  readonly checkpoints: number;
  readonly errors: readonly string[];
  readonly metrics: Metrics;
  readonly started_at: string;
  readonly completed_at: string;
}

/** What the agent calls done, open and blocked (goal mode): its word, so never more than claimed. */
function reportedItems(report: Report | undefined): readonly TaskReport[] {
  if (report === undefined) return [];
  const rows = [
    ...report.completed.map(title => ({ title, status: 'done', verified: false, note: '' })),
    ...report.pending.map(title => ({ title, status: 'pending', verified: null, note: '' })),
    ...report.blocked.map(({ item, reason }) => ({ title: item, status: 'blocked', verified: null, note: reason })),
  ];
  return rows.map((row, at) => ({ id: `item-${at + 1}`, ...row, attempts: 0 }));
}

/** Folds events beside the state that the caller already has. */
export class ReportView {
  private readonly statusView = new StatusView();
  private readonly metricsView = new MetricsView();
  private readonly checks: CheckReport[] = [];
  private lastReport: Report | undefined;

  add(event: Event): void {
    this.statusView.add(event);
    this.metricsView.add(event);
    if (event.type === 'iteration.ended') this.lastReport = event.report ?? this.lastReport;
    if (event.type !== 'check.ended') return;
    const { iteration, task, check, passed } = event;
    this.checks.push({ iteration, task, check, passed });
  }

  /** After the events so far. */
  get state(): State {
    return this.statusView.state;
  }

  status(): LoopStatus {
    return this.statusView.status();
  }

  report(state: State): LoopReport {
    const status = this.statusView.status();
    const metrics = this.metricsView.metrics();
    const workers = this.statusView.workers();
    const items = [...allTasks(state.tasks)].map(task => ({
      id: task.id,
      title: task.spec.title,
      status: task.status,
      verified: task.status === 'done' ? (task.verified ?? null) : null,
      attempts: task.attempts,
      note: (task.parked ?? task.rejection)?.split('\n')[0] ?? '',
    }));
    return {
      version: 1,
      loop_id: state.loop.id,
      name: state.loop.name,
      goal: state.loop.goal,
      reason: state.control.ended?.reason ?? '',
      summary: endingOf(state).sentence,
      verified: isVerified(state),
      items: [...items, ...(isByReport(state) ? reportedItems(this.lastReport) : [])],
      iterations: status.iterations.map((row, at) => ({ ...row, task: '', performer: '', ...workers[at] })),
      tokens: { input: status.total_input_tokens, output: status.total_output_tokens },
      cost_usd: status.total_cost,
      cost_estimated: state.spend.usage.estimated,
      active_minutes: state.spend.activeMs / 60_000,
      checks: this.checks,
      checkpoints: metrics.checkpoints,
      errors: status.errors,
      metrics,
      started_at: isoTime(state.loop.startedAt),
      completed_at: isoTime(state.control.ended?.at ?? 0),
    };
  }
}

const statusWords: Readonly<Record<string, string>> = {
  done: 'done',
  pending: 'open',
  active: 'at work',
  blocked: 'parked',
  skipped: 'skipped',
};

/** What others wrote stays text: neither a new cell, nor a new line, nor HTML (B65). */
const cell = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '\\<').replaceAll('\n', ' ');

export function reportMarkdown(report: LoopReport, state: State): string {
  const lines = [
    `# ${cell(report.name)}`,
    '',
    cell(report.summary),
    '',
    `Goal: ${cell(report.goal)}  `,
    `Started ${report.started_at}, worked ${formatDuration(state.spend.activeMs)}, ${costWords(state)}, ${report.tokens.input + report.tokens.output} tokens.`,
    '',
    '| task | title | status | proof | attempts |',
    '|---|---|---|---|---|',
    ...report.items.map(item => {
      const proof =
        item.status !== 'done'
          ? cell(item.note)
          : item.verified === null
            ? 'done before the loop'
            : item.verified
              ? 'checked'
              : 'claimed, unverified';
      return `| ${cell(item.id)} | ${cell(item.title)} | ${statusWords[item.status] ?? item.status} | ${proof} | ${item.attempts} |`;
    }),
    '',
    `Checks: ${report.metrics.checks_passed} passed, ${report.metrics.checks_failed} failed. Claims refused: ${report.metrics.claims_refused}. Questions asked: ${report.metrics.escalations}.`,
  ];
  if (report.errors.length > 0)
    lines.push('', '## Errors', '', ...report.errors.slice(-20).map(error => `- ${cell(error)}`));
  return `${lines.join('\n')}\n`;
}
