// `ralph plan approve`: shows exactly what would be done, and records the yes of a person together with its hash.
import { createInterface } from 'node:readline/promises';
import { buildEngine, freshId, loopFolder, loopName, runEngine, storeError } from '../../../app/app.ts';
import { documentSource } from '../../../app/modes.ts';
import { withLease } from '../../../app/session/begin.ts';
import { prepareLoop } from '../../../app/session/prepare.ts';
import { type Context, type Flags, sendCommand, type Words } from '../../../cli/context.ts';
import { rememberedBy, sayHeld } from '../../../cli/run-preparation.ts';
import { workWithoutReader } from '../../../cli/terminal.ts';
import type { Command, Input } from '../../../core/input.ts';
import type { Lease } from '../../../ledger/ledger.ts';
import { Bug, UsageError } from '../../../text/errors.ts';
import { stepPath } from '../../../text/step-path.ts';
import { changesSince, planCares, refuseRenumbered } from '../session/changes.ts';
import { loopOfPlan, refreshDashboard } from '../session/loops.ts';
import {
  type Approval,
  approvePlan,
  doubtfulBoxes,
  planAsRead,
  refusalOf,
  refuseDoubtfulBoxes,
} from '../session/vault.ts';
import { approvalState, approvalWords, isApprovedNow, type PlanCase, planCase, planKey, typedPlan } from './words.ts';

export type Record = (path: string, approval: Approval) => Promise<string>;

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

/** Records a yes: begins the loop of the plan at this path with it, or gives it to the open loop. The loop's name. */
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
  const place = { env: context.env, directory: context.directory, home: context.home() };
  const prepared = await prepareLoop(place, {
    file: path,
    flags: { ...flags, mode: 'plan' },
    remembered: rememberedBy(context, true),
    isOnlyRecorded: true,
  });
  const { document, run } = prepared;
  const loop = await freshId();
  const taken = new Set((await ledger.store.loops()).map(one => one.name));
  const name = await loopName(run.config.name, document.id ?? document.project, loop, taken);
  const start: Input = {
    type: 'start',
    loop,
    name,
    goal: document.goal,
    document: prepared.path,
    directory: context.directory,
    projectId: document.id ?? subject,
    taskId: run.config.taskId ?? '',
    settings: run.settings,
    by,
  };
  const { directory, home, env } = place;
  const folder = loopFolder(home, loop);
  const opened = await documentSource(env, { mode: 'plan', path: prepared.path, directory, folder });
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

/** The exit code of a plan that is not approved; of a person who left. */
const notApproved = (said: boolean | undefined): number => (said === undefined ? 130 : 5);

export const askHere = (flags: Flags): Ask =>
  process.stdin.isTTY === true && flags['input'] !== false ? saysYes : undefined;

interface Agreement {
  readonly isAgreed?: boolean;
  readonly isTickTrusted?: boolean;
  readonly flags?: Flags;
}

/** Shows what a yes would be a yes to, and refuses what nobody can say yes to. */
async function present({ env, directory, out, ledger }: Context, found: PlanCase, flags: Flags): Promise<void> {
  const { root, plan, loop } = found;
  const refusal = refusalOf(plan, loop);
  if (refusal !== undefined) throw refusal;
  if (loop !== undefined) await refuseRenumbered(await ledger(), loop, plan);
  const changes = loop === undefined ? [] : await changesSince(await ledger(), loop, plan);
  const cares = await planCares(plan.document.tasks, { env, directory, root, flags });
  out(approvalWords({ plan, loop, changes, cares, fileOf: path => stepPath(path, root, directory) }));
}

/** The path that it runs from then; an exit code when it was not approved. */
export async function askAndApprove(
  context: Context,
  found: PlanCase,
  record: Record,
  ask: Ask,
  { isAgreed = false, isTickTrusted = false, flags = {} }: Agreement = {},
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { root, plan } = found;
  await present(context, found, flags);
  const doubt = isTickTrusted ? undefined : doubtfulBoxes(plan, found.loop);
  if (isAgreed || ask === undefined) {
    if (!isTickTrusted) refuseDoubtfulBoxes(plan, found.loop);
  } else if (doubt !== undefined) {
    const said = await ask(`${doubt}\nAre these boxes right, so that nothing of them is done? Type y: `);
    if (said !== true) {
      context.say('Not approved; nothing was changed. Untick what is still to be done.');
      return { exitCode: notApproved(said) };
    }
  }
  if (!isAgreed && ask === undefined)
    throw new UsageError('Nobody is here to ask.', 'Read the plan (ralph plan show), then approve it with --yes.');
  const said = isAgreed || (await ask?.(`Approve exactly this (${plan.hash.slice(0, 12)})? Type y: `));
  if (said !== true) {
    context.say('Not approved; nothing was changed.');
    return { exitCode: notApproved(said) };
  }
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
  workWithoutReader(); // a yes is a yes, also when nobody reads to the end (| head)
  const ledger = await context.ledger({ write: true, create: true });
  const found = await planCase(context, word, flags);
  const refusal = refusalOf(found.plan, found.loop);
  if (refusal !== undefined) throw refusal;
  if (isApprovedNow(found.plan, found.loop)) {
    context.say(`Plan ${found.plan.id} is approved ${approvalState(found.plan, found.loop)}.`);
    await refreshDashboard(ledger, found.root);
    return 0;
  }
  const record: Record = (path, approval) => recordApproval(context, path, approval, flags);
  const agreed = { isAgreed: flags['yes'] === true, isTickTrusted: flags['acceptTicked'] === true, flags };
  const approved = await askAndApprove(context, found, record, askHere(flags), agreed);
  if ('exitCode' in approved) return approved.exitCode;
  context.say(`  It lies in ${approved.path} now.`);
  context.say(
    `  Start it: ralph plan run ${typedPlan(context, { ...found, ...approved }, found.plan.id)} (a running ralph plan watch does)`,
  );
  return 0;
}
