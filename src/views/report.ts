// Report of a loop when it is over (or so far): for people as Markdown, for programs as JSON.

import type { State } from '../core/state.ts';
import { findTask, proofWords, type Task } from '../core/task.ts';
import type { Report } from '../messages/report.ts';
import { formatDuration } from '../text/format.ts';
import { visible } from '../text/text.ts';
import { costWords, endingOf, isVerified } from './ending.ts';
import { type LoopHistory, taskView } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { statusOf } from './status.ts';

/** report.json, field by field. */
export type LoopReport = ReturnType<typeof reportOf>;

/** What the agent calls done, open and blocked (goal mode): its word, so never more than claimed. */
function reportedItems(report: Report | undefined) {
  if (report === undefined) return [];
  const rows = [
    ...report.completed.map(title => ({
      title,
      status: 'done',
      verified: false,
      level: 'unverified' as const,
      note: '',
    })),
    ...report.pending.map(title => ({ title, status: 'pending', verified: null, note: '' })),
    ...report.blocked.map(({ item, reason }) => ({ title: item, status: 'blocked', verified: null, note: reason })),
  ];
  return rows.map((row, at) => ({ id: `item-${at + 1}`, ...row, attempts: 0 }));
}

/** The row of one task. */
export function itemOf(task: Task) {
  const { verified, note, ...view } = taskView(task);
  return { ...view, verified: verified ?? null, note: note ?? '' };
}

interface ReportInput {
  readonly state: State;
  readonly history: LoopHistory;
  readonly metrics: Metrics;
  readonly items: readonly ReturnType<typeof itemOf>[];
}

export function reportOf({ state, history, metrics, items }: ReportInput) {
  const status = statusOf(state, history);
  return {
    version: 1 as const,
    loop_id: state.loop.id,
    name: state.loop.name,
    goal: state.loop.goal,
    reason: status.termination_reason,
    summary: endingOf(state).sentence,
    verified: isVerified(state),
    items: [...items, ...reportedItems(history.reported)],
    iterations: history.iterations.map(({ task, performer }, at) => ({ ...status.iterations[at]!, task, performer })),
    tokens: { input: status.total_input_tokens, output: status.total_output_tokens },
    cost_usd: status.total_cost,
    cost_estimated: state.spend.usage.estimated,
    active_minutes: state.spend.activeMs / 60_000,
    checks: history.checks,
    checkpoints: metrics.checkpoints,
    errors: status.errors,
    metrics,
    started_at: status.started_at,
    completed_at: status.completed_at,
  };
}

const statusWords: Readonly<Record<string, string>> = {
  done: 'done',
  pending: 'open',
  active: 'at work',
  blocked: 'blocked',
  skipped: 'skipped',
};

/** What others wrote stays text: neither a new cell, nor a new line, nor HTML (B65). */
const cell = (text: string): string =>
  visible(text.replaceAll('\n', ' ')).replaceAll('\\', '\\\\').replaceAll('|', '\\|').replaceAll('<', '\\<');

/** An agent that reports none has not used 0. */
const tokenWords = ({ tokens: { input, output } }: LoopReport): string =>
  input + output === 0 ? '' : `, ${input + output} tokens`;

/** What speaks for itself: no check decides about it. */
const ownProof: Readonly<Record<NonNullable<Task['spec']['completion']>, string>> = {
  findings: 'answered',
  result: 'carried out',
};

export function reportMarkdown(report: LoopReport, state: State): string {
  const lines = [
    `# ${cell(report.name)}`,
    '',
    cell(report.summary),
    '',
    `Goal: ${cell(report.goal)}  `,
    `Started ${report.started_at}, worked ${formatDuration(state.spend.activeMs)}, ${costWords(state)}${tokenWords(report)}.`,
    '',
    '| task | title | status | proof | attempts |',
    '|---|---|---|---|---|',
    ...report.items.map(item => {
      const { completion } = findTask(state.tasks, item.id)?.spec ?? {};
      const proof =
        item.status !== 'done'
          ? cell(item.note)
          : completion !== undefined
            ? ownProof[completion]
            : proofWords({ verified: item.verified ?? undefined, level: 'level' in item ? item.level : undefined });
      return `| ${cell(item.id)} | ${cell(item.title)} | ${statusWords[item.status] ?? item.status} | ${proof} | ${item.attempts} |`;
    }),
    '',
    `Checks: ${report.metrics.checks_passed} passed, ${report.metrics.checks_failed} failed. Claims refused: ${report.metrics.claims_refused}. Questions asked: ${report.metrics.escalations}.`,
  ];
  const { open } = state.questions;
  if (open.length > 0 && state.control.ended === undefined)
    lines.push(
      '',
      '## Open questions',
      '',
      ...open.map(({ id, summary }) => `- ${id}: ${cell(summary)} (\`ralph answer ${cell(state.loop.name)}/${id}\`)`),
    );
  if (report.errors.length > 0)
    lines.push('', '## Errors', '', ...report.errors.slice(-20).map(error => `- ${cell(error)}`));
  return `${lines.join('\n')}\n`;
}
