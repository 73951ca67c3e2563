// `ralph plan approve`: shows exactly what would be done, and records the yes of a person together with its hash.
import { createInterface } from 'node:readline/promises';
import { buildEngine, loopFolder, runEngine, storeError } from '../../../app/app.ts';
import { documentSource } from '../../../app/documents.ts';
import { withLease } from '../../../app/loops/find.ts';
import { prepareLoop } from '../../../app/session/prepare.ts';
import { lookInto, newLoop, previousLoop } from '../../../app/session/resume-rules.ts';
import { type Context, type Flags, placeOf, sayHeld, sendCommand, type Words } from '../../../cli/context.ts';
import { workWithoutReader } from '../../../cli/terminal.ts';
import type { Command, Input } from '../../../core/input.ts';
import type { Lease } from '../../../ledger/ledger.ts';
import { Bug, UsageError } from '../../../text/errors.ts';
import { stepPath } from '../../../text/step-path.ts';
import { changesSince, planWarnings, refuseRenumbered } from '../session/changes.ts';
import { loopOfPlan, planKey, refreshDashboard } from '../session/loops.ts';
import {
  type Approval,
  approvePlan,
  doubtfulBoxes,
  planAsRead,
  refuseApproval,
  refuseDoubtfulBoxes,
} from '../session/vault.ts';
import { isApprovedNow, type OpenPlan, openPlan, planArgument } from './open-plan.ts';
import { approvalState, approvalText } from './plan-text.ts';

/** Records a yes in the loop of the plan at this path, which is begun when there is none; gives the loop's name. */
export type RecordApproval = (path: string, approval: Approval) => Promise<string>;

/** Enter alone is no yes: what is approved may send mail. Undefined: the person left (Ctrl-C). */
async function saysYes(question: string): Promise<boolean | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    return ['y', 'yes'].includes((await lines.question(question, { signal: leave.signal })).trim().toLowerCase());
  } catch {
    process.stderr.write('\n');
    return undefined;
  } finally {
    lines.close();
  }
}

/** Nothing of the plan is done by it. */
export async function recordApproval(
  context: Context,
  path: string,
  approval: Approval,
  flags: Flags,
): Promise<string> {
  const { subject, hash, by, because } = approval;
  const yes: Command = { type: 'approve', subject, hash, because };
  const ledger = await context.ledger({ write: true, create: true });
  const [row] = await ledger.store.loops({ document: path, open: true });
  if (row !== undefined) {
    await sendCommand({ ...context, by }, row, [yes]);
    return row.name;
  }
  const place = placeOf(context);
  const { env, directory, home } = place;
  const request = { file: path, flags: { ...flags, mode: 'plan' }, isOnlyRecorded: true as const };
  const prepared = await prepareLoop(place, { ...request, remembered: previousLoop(home, true, lookInto(home, env)) });
  const { document, run } = prepared;
  const { loop, name } = await newLoop(ledger, prepared);
  const start: Input = {
    type: 'start',
    loop,
    name,
    goal: document.goal,
    document: prepared.path,
    directory,
    projectId: document.id ?? subject,
    taskId: run.config.taskId ?? '',
    settings: run.settings,
    by,
  };
  const folder = loopFolder(home, loop);
  const opened = await documentSource(env, {
    mode: prepared.run.settings.mode,
    path: prepared.path,
    directory,
    folder,
  });
  const where = { directory, document: prepared.path };
  const engine = await buildEngine({ home, env, ledger, loop, ...opened, place: where, warn: context.say, by });
  const read = await planAsRead(opened.source);
  const first: readonly Input[] = [start, { type: 'command', command: yes, by }, read];
  const result = await runEngine(engine, loop, { interrupt: new AbortController().signal, settleOnly: true, first });
  if (result.type === 'failed') throw storeError(result.failure);
  if (result.type !== 'waiting') throw new Bug(`a loop that was only begun is ${result.type}`);
  return name;
}

/** Who can be asked; absent: nobody. */
export type Ask = ((question: string) => Promise<boolean | undefined>) | undefined;

export const askHere = (flags: Flags): Ask =>
  process.stdin.isTTY === true && flags['input'] !== false ? saysYes : undefined;

/** Shows what a yes would be a yes to, and refuses what nobody can say yes to. */
async function present({ env, directory, out, ledger }: Context, found: OpenPlan, flags: Flags): Promise<void> {
  const { root, plan, loop } = found;
  refuseApproval(plan, loop);
  if (loop !== undefined) await refuseRenumbered(await ledger(), loop, plan);
  const changes = loop === undefined ? [] : await changesSince(await ledger(), loop, plan);
  const warnings = await planWarnings(plan.document.tasks, { env, directory, root, flags });
  out(approvalText({ plan, loop, changes, warnings, fileOf: path => stepPath(path, root, directory) }));
}

export interface ApprovalNeeds {
  readonly record: RecordApproval;
  readonly ask?: Ask;
  /** The yes was given with the command. */
  readonly isAgreed?: boolean;
  readonly flags?: Flags;
}

/** Asks about boxes that nobody knows of, then about the plan; an exit code when the answer is not yes. */
async function refusedBy(ask: NonNullable<Ask>, context: Context, { plan, loop }: OpenPlan, flags: Flags) {
  const doubt = flags['acceptTicked'] === true ? undefined : doubtfulBoxes(plan, loop);
  const boxes = `${doubt}\nAre these boxes right, so that nothing of them is done? Type y: `;
  const questions = [
    ...(doubt === undefined ? [] : [{ question: boxes, hint: ' Untick what is still to be done.' }]),
    { question: `Approve exactly this (${plan.hash.slice(0, 12)})? Type y: `, hint: '' },
  ];
  for (const { question, hint } of questions) {
    const said = await ask(question);
    if (said === true) continue;
    context.say(`Not approved; nothing was changed.${hint}`);
    return said === undefined ? 130 : 5;
  }
  return undefined;
}

/** The path that it runs from then; an exit code when it was not approved. */
export async function askAndApprove(
  context: Context,
  found: OpenPlan,
  { record, ask, isAgreed = false, flags = {} }: ApprovalNeeds,
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { root, plan } = found;
  await present(context, found, flags);
  if ((isAgreed || ask === undefined) && flags['acceptTicked'] !== true) refuseDoubtfulBoxes(plan, found.loop);
  if (!isAgreed && ask === undefined)
    throw new UsageError('Nobody is here to ask.', 'Read the plan (ralph plan show), then approve it with --yes.');
  const refused = isAgreed || ask === undefined ? undefined : await refusedBy(ask, context, found, flags);
  if (refused !== undefined) return { exitCode: refused };
  const ledger = await context.ledger({ write: true, create: true });
  let path = plan.path;
  const approve = async (): Promise<number> => {
    const loop = await loopOfPlan(ledger, plan);
    const because = isAgreed ? 'ralph plan approve --yes' : 'ralph plan approve, asked at the terminal';
    const approved = await approvePlan({ root, plan, loop, by: context.by, because, record });
    path = approved.path;
    await refreshDashboard(ledger, root);
    context.say(`Plan ${plan.id} is approved by ${context.by}: ${plan.hash.slice(0, 12)}, loop ${approved.loop}.`);
    return 0;
  };
  // Whoever runs it holds it, and may wait for just this yes; only one at a time begins its loop.
  const isBegun = (await loopOfPlan(ledger, plan)) !== undefined;
  const refuse = (held: Lease): number => sayHeld(context, held);
  const exitCode = await (isBegun ? approve() : withLease(ledger, planKey(plan.id), refuse, approve));
  return exitCode === 0 ? { path } : { exitCode };
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  workWithoutReader(); // an approval is recorded even when the output is closed early (| head)
  const ledger = await context.ledger({ write: true, create: true });
  const found = await openPlan(context, word, flags);
  const { plan, loop, root } = found;
  refuseApproval(plan, loop);
  if (isApprovedNow(plan, loop)) {
    context.say(`Plan ${plan.id} is approved ${approvalState(plan, loop)}.`);
    await refreshDashboard(ledger, root);
    return 0;
  }
  const record: RecordApproval = (path, approval) => recordApproval(context, path, approval, flags);
  const isAgreed = flags['yes'] === true;
  const approved = await askAndApprove(context, found, { record, ask: askHere(flags), isAgreed, flags });
  if ('exitCode' in approved) return approved.exitCode;
  const name = planArgument(context, { ...found, ...approved }, plan.id);
  context.say(`  It lies in ${approved.path} now.`);
  context.say(`  Start it: ralph plan run ${name} (a running ralph plan watch does)`);
  return 0;
}
