// A plan in words for the terminal: exactly what would be done, and what a reader could miss.
import { type PlanFile, shownText, unseenIn } from '../../app/vault-files.ts';
import type { PlanLoop } from '../../app/vault-loops.ts';
import { isoTime } from '../../core/format.ts';
import { findTask, type Order, type TaskSpec, type TaskStatus } from '../../core/task.ts';

const indent = (text: string, by: string): string => shownText(text).replaceAll('\n', `\n${by}`);

export function performerWords({ order, performer }: TaskSpec): string {
  if (order?.type === 'mcp') return `MCP server ${order.server}, tool ${order.tool}`;
  return order?.type ?? performer ?? 'agent';
}

function orderLines(order: Order | undefined, description: string): readonly string[] {
  switch (order?.type) {
    case 'mcp':
      return [`params ${JSON.stringify(order.params, null, 2)}`];
    case 'create_file':
      return [`file ${order.path}`, `content ${order.content === '' ? '(empty)' : `\n${order.content}`}`];
    case 'notify_human':
      return [`message ${order.message}`];
    default:
      return description === '' ? [] : [`what ${description}`];
  }
}

/** Everything that a yes is a yes to; nothing of it is cut. */
export function approvalWords(plan: PlanFile): string {
  const { document } = plan;
  const steps = document.tasks.flatMap(task => [
    `  ${task.id}  ${indent(task.title, '    ')}`,
    `    by ${indent(performerWords(task), '    ')}; after ${task.dependsOn.length === 0 ? 'nothing' : task.dependsOn.join(', ')}`,
    ...orderLines(task.order, task.description).map(line => `    ${indent(line, '      ')}`),
    ...task.criteria.map(line => `    done when ${indent(line, '      ')}`),
  ]);
  const care = [...document.notices.map(shownText), ...unseenIn(plan.text)];
  return [
    `Plan ${plan.id}: ${indent(document.goal, '  ')}`,
    `  file    ${indent(plan.path, '  ')}`,
    `  SHA-256 ${plan.hash}`,
    '',
    'Steps',
    ...steps,
    ...(care.length === 0 ? [] : ['', 'Read with care', ...care.map(line => `  ${line}`)]),
  ].join('\n');
}

export interface StepState {
  readonly task: TaskSpec;
  readonly status: TaskStatus;
  readonly attempts: number;
}

/** As the ledger has it; before there is a loop, as the boxes say. */
export function stepStates(plan: PlanFile, loop: PlanLoop | undefined): readonly StepState[] {
  return plan.document.tasks.map(task => {
    const known = loop === undefined ? undefined : findTask(loop.state.tasks, task.id);
    const written: TaskStatus = task.done ? 'done' : task.skipped ? 'skipped' : task.blocked ? 'blocked' : 'pending';
    return { task, status: known?.status ?? written, attempts: known?.attempts ?? 0 };
  });
}

export function approvalState(plan: PlanFile, loop: PlanLoop | undefined): string {
  const given = loop?.state.approval;
  if (given === undefined) return plan.isApprovalRequired ? 'not approved' : 'not needed (approval_required: false)';
  const holds = given.hash === plan.hash ? 'it holds' : 'NO LONGER VALID: the plan was edited afterwards';
  return `by ${shownText(given.by)} at ${isoTime(given.at)} (${shownText(given.because)}), SHA-256 ${given.hash.slice(0, 12)}: ${holds}`;
}
