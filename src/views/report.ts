// Report of a loop when it is over (or so far): for people as Markdown, for programs as JSON.

import type { State } from '../core/state.ts';
import { allTasks, findTask, proofWords, type Task, type TaskStatus, toolOf } from '../core/task.ts';
import type { Report } from '../messages/report.ts';
import { formatDuration, isoTime, plural, someOf } from '../text/format.ts';
import { visible } from '../text/text.ts';
import { costWords, endingOf, isVerified } from './ending.ts';
import { type LoopHistory, taskView } from './loop.ts';
import type { Metrics } from './metrics.ts';
import { statusOf } from './status.ts';
import { statusWords } from './words.ts';

/** report.json, field by field. */
export type LoopReport = ReturnType<typeof reportOf>;

/** What an agent calls done is proven by nothing of its own: only the goal that it belongs to may be. */
function goalProof({ tasks, settings }: State): string {
  const [goal] = allTasks(tasks);
  if (goal?.status !== 'done' || goal.verified !== true) return 'claimed by the agent';
  return `with the goal: ${proofWords(goal)} (${someOf(settings.checks, 3)})`;
}

/** What the agent calls done, open and blocked (goal mode): its word, so never more than claimed. */
function reportedItems(report: Report | undefined, state: State) {
  if (report === undefined) return [];
  const note = goalProof(state);
  const rows = [
    ...report.completed.map(title => ({ title, status: 'done', verified: false, level: 'unverified' as const, note })),
    ...report.pending.map(title => ({ title, status: 'pending', verified: null, note: '' })),
    ...report.blocked.map(({ item, reason }) => ({ title: item, status: 'blocked', verified: null, note: reason })),
  ];
  return rows.map((row, at) => ({ id: `item-${at + 1}`, ...row, attempts: 0 }));
}

/** The row of one task. */
export function itemOf(task: Task) {
  const { verified, note, ...view } = taskView(task);
  return { ...view, verified: verified ?? null, note: note ?? '', tool: toolOf(task.spec) };
}

type Verdict =
  /** Its task is done, and the agent said what shows it. */
  | 'met'
  /** Its task is done, and nobody said what shows it. */
  | 'no-evidence'
  /** Its task is not done: what was said about it proves nothing. */
  | 'open';

/** What each criterion rests on, of the tasks for which an agent gave evidence: its own word, below the proof of the task. */
function criteriaOf(state: State, evidence: LoopHistory['evidence']) {
  const rows = Object.entries(evidence).flatMap(([id, shown]) => {
    const { status, spec } = findTask(state.tasks, id) ?? {};
    return (spec?.criteria ?? []).map((criterion, at) => {
      const said = shown.find(one => one.criterion === at + 1)?.evidence;
      const verdict: Verdict = status !== 'done' ? 'open' : said === undefined ? 'no-evidence' : 'met';
      return { task: id, criterion, verdict, evidence: said ?? '' };
    });
  });
  return rows.length === 0 ? undefined : rows;
}

const verdictWords: Readonly<Record<Verdict, string>> = {
  met: 'met, says the agent',
  'no-evidence': 'no evidence',
  open: 'open',
};

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
    items: [...items, ...reportedItems(history.reported, state)],
    criteria: criteriaOf(state, history.evidence),
    iterations: history.iterations.map(({ task, performer }, at) => ({ ...status.iterations[at]!, task, performer })),
    tokens: { input: status.total_input_tokens, output: status.total_output_tokens },
    cost_usd: status.total_cost,
    cost_estimated: state.spend.usage.estimated,
    active_minutes: state.spend.activeMs / 60_000,
    checks: history.checks,
    accepted: history.accepted.map(({ at, ...one }) => ({ ...one, at: isoTime(at) })),
    checkpoints: metrics.checkpoints,
    errors: status.errors,
    metrics,
    started_at: status.started_at,
    completed_at: status.completed_at,
  };
}

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

/** What the proof of an item that is done is, or why it is not. */
function proofOf(item: LoopReport['items'][number], state: State): string {
  const task = findTask(state.tasks, item.id);
  if (item.status !== 'done' || task === undefined) return item.note;
  const { completion } = task.spec;
  const tool = 'tool' in item && item.tool !== undefined ? ` with the tool ${item.tool}` : '';
  return completion !== undefined ? `${ownProof[completion]}${tool}` : proofWords(task);
}

/** The account in parts, so that a terminal can show it as it fits there. */
export type ReportPart =
  | { readonly is: 'title' | 'heading'; readonly text: string }
  | { readonly is: 'lines' | 'list'; readonly texts: readonly string[] }
  | {
      readonly is: 'tasks';
      readonly rows: readonly Readonly<Record<'id' | 'title' | 'status' | 'proof', string> & { attempts: number }>[];
    };

/** Only with --parallel is anything merged. */
const mergeWords = ({ merges, merges_refused: refused, merge_conflicts: conflicts }: Metrics): string =>
  merges + refused === 0 ? '' : `Merges: ${merges} done, ${refused} refused (${plural(conflicts, 'conflict')}). `;

export function reportParts(report: LoopReport, state: State): readonly ReportPart[] {
  const { metrics } = report;
  const part = (text: string, texts: readonly string[]): readonly ReportPart[] =>
    texts.length === 0
      ? []
      : [
          { is: 'heading', text },
          { is: 'list', texts },
        ];
  const open = state.control.ended === undefined ? state.questions.open : [];
  return [
    { is: 'title', text: report.name },
    { is: 'lines', texts: [report.summary] },
    {
      is: 'lines',
      texts: [
        `Goal: ${report.goal}`,
        `Started ${report.started_at}, worked ${formatDuration(state.spend.activeMs)}, ${costWords(state)}${tokenWords(report)}.`,
      ],
    },
    {
      is: 'tasks',
      rows: report.items.map(item => {
        const { id, title, attempts } = item;
        return {
          id,
          title,
          status: statusWords[item.status as TaskStatus] ?? item.status,
          proof: proofOf(item, state),
          attempts,
        };
      }),
    },
    {
      is: 'lines',
      texts: [
        `Checks: ${metrics.checks_passed} passed, ${metrics.checks_failed} failed. ${mergeWords(metrics)}Claims refused: ${metrics.claims_refused}. Questions asked: ${metrics.escalations}.`,
      ],
    },
    ...part(
      'Criteria, as agents showed them',
      (report.criteria ?? []).map(
        ({ task, criterion, verdict, evidence }) =>
          `${task}: ${criterion}: ${verdictWords[verdict]}${evidence === '' ? '' : ` (${evidence})`}`,
      ),
    ),
    ...part(
      'Accepted by a person',
      report.accepted.map(({ task, by, at, what }) => `${task}, accepted by ${by} at ${at}: ${what}`),
    ),
    ...part(
      'Open questions',
      open.map(({ id, summary }) => `${id}: ${summary} (\`ralph answer ${state.loop.name}/${id}\`)`),
    ),
    ...part('Errors', report.errors.slice(-20)),
  ];
}

function partMarkdown(part: ReportPart): string {
  switch (part.is) {
    case 'title':
      return `# ${cell(part.text)}`;
    case 'heading':
      return `## ${cell(part.text)}`;
    case 'lines':
      return part.texts.map(cell).join('  \n');
    case 'list':
      return part.texts.map(text => `- ${cell(text)}`).join('\n');
    case 'tasks':
      return [
        '| task | title | status | proof | attempts |',
        '|---|---|---|---|---|',
        ...part.rows.map(({ id, title, status, proof, attempts }) =>
          ['', ...[id, title, status, proof, `${attempts}`].map(text => ` ${cell(text)} `), ''].join('|'),
        ),
      ].join('\n');
  }
}

export const reportMarkdown = (report: LoopReport, state: State): string =>
  `${reportParts(report, state).map(partMarkdown).join('\n\n')}\n`;
