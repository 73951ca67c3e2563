// Text of a plan for the terminal: exactly what would be done, and what a reader could miss.

import { findTask, type Order, type TaskSpec, type TaskStatus } from '../../../core/task.ts';
import { isoTime } from '../../../text/format.ts';
import { hiddenIn, type PlanFile, shownText } from '../session/files.ts';
import type { PlanLoop } from '../session/loops.ts';

const indent = (text: string, by: string): string => shownText(text).replaceAll('\n', `\n${by}`);

export function performerText({ order, performer }: TaskSpec): string {
  if (order?.type === 'mcp') return `MCP server ${order.server}, tool ${order.tool}`;
  return order?.type ?? performer ?? 'agent';
}

function orderLines(order: Order | undefined, description: string, fileOf: FileOf): readonly string[] {
  switch (order?.type) {
    case 'mcp':
      return [`params ${JSON.stringify(order.params, null, 2)}`];
    case 'create_file':
      return [
        `file ${order.path}`,
        `that is ${fileOf(order.path)}`,
        `content ${order.content === '' ? '(empty)' : `\n${order.content}`}`,
      ];
    case 'notify_human':
      return [`message ${order.message}`];
    default:
      return description === '' ? [] : [`what ${description}`];
  }
}

/** Where a path of the plan leads. */
type FileOf = (path: string) => string;

interface PlanDetails {
  readonly plan: PlanFile;
  readonly loop: PlanLoop | undefined;
  readonly fileOf: FileOf;
  /** Since it was approved before. */
  readonly changes: readonly string[];
  /** What this machine could not do today. */
  readonly warnings: readonly string[];
}

const stateWords: Readonly<Partial<Record<TaskStatus, string>>> = {
  done: '  (DONE, is not done again)',
  skipped: '  (LEFT OUT, is not done)',
};

function changeLines({ plan, loop, changes }: PlanDetails): readonly string[] {
  const before = loop?.state.document.approval;
  if (before === undefined || (before.hash === plan.hash && changes.length === 0)) return [];
  const since = before.hash === plan.hash ? 'its text is the same; since then' : 'and edited since';
  return [
    '',
    `Approved before by ${shownText(before.by)} at ${isoTime(before.at)} (${before.hash.slice(0, 12)}), ${since}:`,
    ...changes.map(line => `  ${shownText(line)}`),
  ];
}

/** Everything that is approved; nothing of it is cut. */
export function approvalText(details: PlanDetails): string {
  const { plan, loop, fileOf, warnings } = details;
  const { document } = plan;
  const steps = stepStates(plan, loop).flatMap(({ task, status }) => [
    `  ${task.id}  ${indent(task.title, '    ')}${stateWords[status] ?? ''}`,
    `    by ${indent(performerText(task), '    ')}; after ${task.dependsOn.length === 0 ? 'nothing' : task.dependsOn.join(', ')}`,
    ...orderLines(task.order, task.description, fileOf).map(line => `    ${indent(line, '      ')}`),
    ...task.criteria.map(line => `    done when ${indent(line, '      ')}`),
  ]);
  const notes = [...[...warnings, ...document.notices].map(shownText), ...hiddenIn(plan.text)];
  return [
    `Plan ${plan.id}: ${indent(document.goal, '  ')}`,
    `  file    ${indent(plan.path, '  ')}`,
    `  SHA-256 ${plan.hash}`,
    ...changeLines(details),
    '',
    'Steps',
    ...steps,
    ...(notes.length === 0 ? [] : ['', 'Read with care', ...notes.map(line => `  ${line}`)]),
  ].join('\n');
}

/** As the ledger has it; before there is a loop, as the boxes say. */
export function stepStates(plan: PlanFile, loop: PlanLoop | undefined) {
  return plan.document.tasks.map(task => {
    const known = loop && findTask(loop.state.tasks, task.id);
    const written: TaskStatus = task.done ? 'done' : task.skipped ? 'skipped' : task.blocked ? 'blocked' : 'pending';
    return { task, status: known?.status ?? written, attempts: known?.attempts ?? 0 };
  });
}

export function approvalState(plan: PlanFile, loop: PlanLoop | undefined): string {
  const given = loop?.state.document.approval;
  if (given === undefined) return plan.isApprovalRequired ? 'not approved' : 'not needed (approval_required: false)';
  const holds = given.hash === plan.hash ? 'it holds' : 'NO LONGER VALID: the plan was edited afterwards';
  return `by ${shownText(given.by)} at ${isoTime(given.at)} (${shownText(given.because)}), SHA-256 ${given.hash.slice(0, 12)}: ${holds}`;
}
