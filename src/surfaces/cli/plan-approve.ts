// `ralph plan approve`: shows exactly what would be done, and records the yes of a person together with its hash.
import { createInterface } from 'node:readline/promises';
import { type Approval, approvePlan, doubtfulBoxes, refusalOf, refuseDoubtfulBoxes } from '../../app/vault.ts';
import { loopOfPlan, refreshDashboard } from '../../app/vault-loops.ts';
import { UsageError } from '../../core/errors.ts';
import type { Context } from './context.ts';
import { holding, sayHeld } from './holding.ts';
import { workWithoutAudience } from './output.ts';
import { type Flags, isApprovedNow, type PlanCase, planCase, planKey, typedPlan } from './plan-place.ts';
import { recordApproval } from './plan-start.ts';
import { approvalState, approvalWords } from './plan-words.ts';

export type Record = (path: string, approval: Approval) => Promise<string>;

/** Enter alone is no yes: what is approved may send mail. */
async function saysYes(question: string): Promise<boolean> {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const leave = new AbortController();
  lines.on('SIGINT', () => leave.abort());
  lines.on('close', () => leave.abort());
  try {
    return ['y', 'yes'].includes((await lines.question(question, { signal: leave.signal })).trim().toLowerCase());
  } catch {
    process.stderr.write('\n');
    return false;
  } finally {
    lines.close();
  }
}

/** Who can be asked; absent: nobody. */
export type Ask = ((question: string) => Promise<boolean>) | undefined;

export const askHere = (flags: Flags): Ask =>
  process.stdin.isTTY === true && flags['input'] !== false ? saysYes : undefined;

/** The path that it runs from then; an exit code when it was not approved. */
export async function askAndApprove(
  context: Context,
  found: PlanCase,
  record: Record,
  ask: Ask,
  { isAgreed = false, isTickTrusted = false }: { readonly isAgreed?: boolean; readonly isTickTrusted?: boolean } = {},
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { root, plan } = found;
  const refusal = refusalOf(plan, found.loop);
  if (refusal !== undefined) throw refusal;
  context.out(approvalWords(plan));
  const doubt = isTickTrusted ? undefined : doubtfulBoxes(plan, found.loop);
  if (isAgreed || ask === undefined) {
    if (!isTickTrusted) refuseDoubtfulBoxes(plan, found.loop);
  } else if (
    doubt !== undefined &&
    !(await ask(`${doubt}\nAre these boxes right, so that nothing of them is done? Type y: `))
  ) {
    context.say('Not approved; nothing was changed. Untick what is still to be done.');
    return { exitCode: 130 };
  }
  if (!isAgreed && ask === undefined)
    throw new UsageError('Nobody is here to ask.', 'Read the plan (ralph plan show), then approve it with --yes.');
  if (!isAgreed && !(await ask?.(`Approve exactly this (${plan.hash.slice(0, 12)})? Type y: `))) {
    context.say('Not approved; nothing was changed.');
    return { exitCode: 130 };
  }
  const ledger = await context.ledger({ write: true, create: true });
  let path = plan.path;
  const exitCode = await holding(
    ledger,
    planKey(root, plan.id),
    held => sayHeld(context, held),
    async () => {
      const loop = await loopOfPlan(ledger, root, plan);
      const because = isAgreed ? 'ralph plan approve --yes' : 'ralph plan approve, asked at the terminal';
      const approved = await approvePlan({ root, plan, loop, by: context.by, because, record });
      path = approved.path;
      await refreshDashboard(ledger, root);
      context.say(`Plan ${plan.id} is approved by ${context.by}: ${plan.hash.slice(0, 12)}, loop ${approved.loop}.`);
      return 0;
    },
  );
  return exitCode === 0 ? { path } : { exitCode };
}

export async function execute(
  context: Context,
  [word]: readonly (string | undefined)[],
  flags: Flags,
): Promise<number> {
  workWithoutAudience(); // a yes is a yes, also when nobody reads to the end (| head)
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
  const agreed = { isAgreed: flags['yes'] === true, isTickTrusted: flags['acceptTicked'] === true };
  const approved = await askAndApprove(context, found, record, askHere(flags), agreed);
  if ('exitCode' in approved) return approved.exitCode;
  context.say(`  It lies in ${approved.path} now.`);
  context.say(
    `  Start it: ralph plan run ${typedPlan(context, { ...found, ...approved }, found.plan.id)} (a running ralph plan watch does)`,
  );
  return 0;
}
