// `ralph plan show`: a plan's steps, how far it is, and whether its approval still holds.

import { type Context, type Flags, printJson, type Words } from '../../../cli/context.ts';
import { hanging, makeStyle } from '../../../cli/terminal.ts';
import { planRefusals, planWarnings } from '../session/changes.ts';
import { shownText } from '../session/files.ts';
import { planStatus } from '../views/dashboard.ts';
import { isApprovedNow, type OpenPlan, openPlan, planArgument } from './open-plan.ts';
import { approvalState, performerText, stepStates } from './plan-text.ts';

const marks = { done: '[x]', pending: '[ ]', active: '[~]', blocked: '[!]', skipped: '[-]' } as const;

function json({ plan, loop, path }: OpenPlan) {
  const given = loop?.state.document.approval;
  const approval = given && {
    by: given.by,
    at: given.at,
    because: given.because,
    hash: given.hash,
    holds: given.hash === plan.hash,
  };
  return {
    plan: plan.id,
    objective: plan.document.goal,
    file: path,
    hash: plan.hash,
    approvalRequired: plan.isApprovalRequired,
    approval: approval ?? null,
    loop: loop?.row.loop ?? null,
    name: loop?.row.name ?? null,
    status: loop === undefined ? null : planStatus(loop.state),
    steps: stepStates(plan, loop).map(({ task, status, attempts }) => ({
      id: task.id,
      title: task.title,
      status,
      attempts,
      dependsOn: task.dependsOn,
      performer: task.performer ?? 'agent',
      order: task.order ?? null,
    })),
  };
}

function statusWords({ loop }: OpenPlan): string {
  if (loop === undefined) return 'has not begun';
  const isIdle = loop.state.iterations.begun === 0 && loop.state.control.ended === undefined;
  return `${isIdle ? 'has not begun' : planStatus(loop.state)}, loop ${loop.row.name}`;
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const found = await openPlan(context, word, flags);
  const { plan, loop, path } = found;
  if (flags['json'] === true) {
    return printJson(context, json(found));
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
    const words = `${shownText(task.title)}  (${shownText(performerText(task))}${after}${tried})`;
    line(`${marks[step]} ${task.id}  `, words);
  }
  const { env, directory } = context;
  const place = { env, directory, root: found.root, flags: {} };
  const refusals = await planRefusals(plan.document.tasks, place);
  const warnings = [...refusals, ...(await planWarnings(plan.document.tasks, place))];
  for (const notice of [...warnings, ...plan.document.notices]) context.say(`note: ${shownText(notice)}`);
  if (plan.isApprovalRequired && !isApprovedNow(plan, loop))
    context.say(`  Approve it: ralph plan approve ${planArgument(context, found, plan.id, flags)}`);
  return 0;
}
