// A plan in words for the terminal: exactly what would be done, and what a reader could miss.

import { existsSync, realpathSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { refuseProblems } from '../../../app/problems.ts';
import type { Context, Flags } from '../../../cli/context.ts';
import { findTask, type Order, type TaskSpec, type TaskStatus } from '../../../core/task.ts';
import { UsageError } from '../../../text/errors.ts';
import { isoTime } from '../../../text/format.ts';
import { type PlanFile, readPlan, shownText, unseenIn, withRecord } from '../session/files.ts';
import { loopOfPlan, type PlanLoop, planKey } from '../session/loops.ts';
import { findPlan } from '../session/vault.ts';
import { planName, vaultRootOf } from '../views/paths.ts';

const indent = (text: string, by: string): string => shownText(text).replaceAll('\n', `\n${by}`);

export function performerWords({ order, performer }: TaskSpec): string {
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

export interface Reading {
  readonly plan: PlanFile;
  readonly loop: PlanLoop | undefined;
  readonly fileOf: FileOf;
  /** What is different since it was approved before. */
  readonly changes: readonly string[];
  /** What this machine could not do today. */
  readonly cares: readonly string[];
}

const stateWords: Readonly<Partial<Record<TaskStatus, string>>> = {
  done: '  (DONE, is not done again)',
  skipped: '  (LEFT OUT, is not done)',
};

function changeLines({ plan, loop, changes }: Reading): readonly string[] {
  const before = loop?.state.approval;
  if (before === undefined || before.hash === plan.hash) return [];
  return [
    '',
    `Approved before by ${shownText(before.by)} at ${isoTime(before.at)} (${before.hash.slice(0, 12)}), and edited since:`,
    ...changes.map(line => `  ${shownText(line)}`),
  ];
}

/** Everything that a yes is a yes to; nothing of it is cut. */
export function approvalWords(reading: Reading): string {
  const { plan, loop, fileOf, cares } = reading;
  const { document } = plan;
  const steps = stepStates(plan, loop).flatMap(({ task, status }) => [
    `  ${task.id}  ${indent(task.title, '    ')}${stateWords[status] ?? ''}`,
    `    by ${indent(performerWords(task), '    ')}; after ${task.dependsOn.length === 0 ? 'nothing' : task.dependsOn.join(', ')}`,
    ...orderLines(task.order, task.description, fileOf).map(line => `    ${indent(line, '      ')}`),
    ...task.criteria.map(line => `    done when ${indent(line, '      ')}`),
  ]);
  const care = [...cares.map(shownText), ...document.notices.map(shownText), ...unseenIn(plan.text)];
  return [
    `Plan ${plan.id}: ${indent(document.goal, '  ')}`,
    `  file    ${indent(plan.path, '  ')}`,
    `  SHA-256 ${plan.hash}`,
    ...changeLines(reading),
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

// What every `ralph plan` command begins with: the vault, the plan that was named, and the loop it may have.

export { planKey };

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** As told, else this folder when it is a vault itself, else `vault` in it. */
export function vaultHere({ directory }: Context, flags: Flags): string {
  const given = flags['vault'];
  if (typeof given === 'string') {
    if (given === '' || given.includes('\0')) throw new UsageError('--vault names no folder.', 'Give a folder.');
    return real(resolve(directory, given));
  }
  const isVault = ['Plans', 'Approved'].every(name => existsSync(join(directory, name)));
  return real(isVault ? directory : join(directory, 'vault'));
}

export interface NamedPlan {
  readonly root: string;
  readonly path: string;
}

export async function namedPlan(context: Context, word: string | undefined, flags: Flags): Promise<NamedPlan> {
  if (word === undefined || word === '' || word.includes('\0'))
    throw new UsageError('Which plan?', 'Name its file or its plan_id.');
  const here = vaultHere(context, flags);
  const path = real(await findPlan(context.directory, here, word));
  return { path, root: flags['vault'] === undefined ? vaultRootOf(path, real(context.directory)) : here };
}

export interface PlanCase extends NamedPlan {
  readonly plan: PlanFile;
  readonly loop: PlanLoop | undefined;
}

/** A plan that can run as it is written; anything else is refused with all its problems. */
export async function planCase(context: Context, word: string | undefined, flags: Flags): Promise<PlanCase> {
  const named = await namedPlan(context, word, flags);
  const read = await readPlan(named.path);
  if (read.type !== 'plan') refuseProblems(read.problems, basename(named.path));
  const loop = context.hasLedger() ? await loopOfPlan(await context.ledger(), read.plan) : undefined;
  return { ...named, plan: loop?.state.loaded === true ? withRecord(read.plan) : read.plan, loop };
}

/** As it is to be typed in a command that works. */
export function typedPlan({ directory }: Context, { path, root }: NamedPlan, id: string, flags: Flags = {}): string {
  const isOutside = typeof flags['vault'] === 'string' && !path.startsWith(`${root}/`);
  return `${planName(path, real(directory), id)}${isOutside ? ` --vault ${root}` : ''}`;
}

/** The exit code when another process is at it. */
export const busyCode = 9;

/** Whether this loop may do what the file says now. */
export const isApprovedNow = (plan: PlanFile, loop: PlanLoop | undefined): boolean =>
  loop?.state.approval?.hash === plan.hash;
