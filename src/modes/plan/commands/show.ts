// `ralph plan show`: a plan's steps, how far it is, and whether its approval still holds.

import type { Context, Flags, Words } from '../../../cli/context.ts';
import { hanging, makeStyle } from '../../../cli/terminal.ts';
import { isoTime } from '../../../text/format.ts';
import { planCares } from '../session/changes.ts';
import { shownText } from '../session/files.ts';
import { planStatus } from '../views/dashboard.ts';
import {
  approvalState,
  isApprovedNow,
  type PlanCase,
  performerWords,
  planCase,
  stepStates,
  typedPlan,
} from './words.ts';

const marks = { done: '[x]', pending: '[ ]', active: '[~]', blocked: '[!]', skipped: '[-]' } as const;

function json({ plan, loop, path }: PlanCase): string {
  const given = loop?.state.approval;
  const approval =
    given === undefined
      ? null
      : {
          by: given.by,
          at: isoTime(given.at),
          because: given.because,
          hash: given.hash,
          holds: given.hash === plan.hash,
        };
  return JSON.stringify(
    {
      version: 1,
      plan_id: plan.id,
      objective: plan.document.goal,
      file: path,
      hash: plan.hash,
      approval_required: plan.isApprovalRequired,
      approval,
      loop: loop?.row.name ?? null,
      status: loop === undefined ? null : planStatus(loop.state),
      steps: stepStates(plan, loop).map(({ task, status, attempts }) => ({
        id: task.id,
        title: task.title,
        status,
        attempts,
        depends_on: task.dependsOn,
        performer: task.performer ?? 'agent',
        order: task.order ?? null,
      })),
    },
    null,
    2,
  );
}

function statusWords({ loop }: PlanCase): string {
  if (loop === undefined) return 'has not begun';
  const isIdle = loop.state.iterations === 0 && loop.state.ended === undefined;
  return `${isIdle ? 'has not begun' : planStatus(loop.state)}, loop ${loop.row.name}`;
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const found = await planCase(context, word, flags);
  const { plan, loop, path } = found;
  if (flags['json'] === true) {
    context.out(json(found));
    return 0;
  }
  context.print(`Plan ${plan.id}: ${shownText(plan.document.goal)}`);
  context.print(`  file      ${shownText(path)}`);
  context.print(`  status    ${statusWords(found)}`);
  context.out(`  SHA-256   ${plan.hash}`);
  const columns = process.stdout.isTTY === true ? makeStyle(flags, process.stdout).columns() : undefined;
  const line = (first: string, text: string): void =>
    context.out(columns === undefined ? `${first}${text}` : hanging(first, text, columns));
  line('  approval  ', approvalState(plan, loop));
  context.out('');
  for (const { task, status: step, attempts } of stepStates(plan, loop)) {
    const after = task.dependsOn.length === 0 ? '' : `, after ${task.dependsOn.join(', ')}`;
    const tried = attempts === 0 ? '' : `, attempt ${attempts}`;
    const words = `${shownText(task.title)}  (${shownText(performerWords(task))}${after}${tried})`;
    line(`${marks[step]} ${task.id}  `, words);
  }
  const { env, directory } = context;
  const cares = await planCares(plan.document.tasks, { env, directory, root: found.root, flags: {} });
  for (const notice of [...cares, ...plan.document.notices]) context.say(`note: ${shownText(notice)}`);
  if (plan.isApprovalRequired && !isApprovedNow(plan, loop))
    context.say(`  Approve it: ralph plan approve ${typedPlan(context, found, plan.id, flags)}`);
  return 0;
}
