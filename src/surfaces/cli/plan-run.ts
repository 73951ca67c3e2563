// `ralph plan run`: one plan, when it is approved as it stands or needs no approval; never approved by itself (F69).
import { finishPlan } from '../../app/vault.ts';
import { loopOfPlan, refreshDashboard } from '../../app/vault-loops.ts';
import { UsageError } from '../../core/errors.ts';
import type { Ledger } from '../../ports/store.ts';
import { endingOf } from '../../views/ending.ts';
import type { Context } from './context.ts';
import { watchSignals } from './interrupt.ts';
import { askAndApprove, atTerminal, type Record } from './plan-approve.ts';
import { type Flags, isApprovedNow, type PlanCase, planCase } from './plan-place.ts';
import { recordApproval } from './plan-start.ts';
import { approvalState } from './plan-words.ts';

type Policy = 'fail' | 'skip' | 'wait';

export interface RunNeeds {
  /** Runs the loop of the plan at this path; its exit code. */
  readonly run: (path: string) => Promise<number>;
  readonly record: Record;
}

function policyOf(flags: Flags): Policy | undefined {
  const given = flags['onApproval'];
  if (given === undefined || given === 'fail' || given === 'skip' || given === 'wait') return given;
  throw new UsageError(`--on-approval ${JSON.stringify(given)} is not known.`, 'Use fail, skip or wait.');
}

/** Once it was approved, a plan cannot say that it needs none. */
const mayRun = ({ plan, loop }: PlanCase): boolean =>
  isApprovedNow(plan, loop) || (!plan.isApprovalRequired && loop?.state.approval === undefined);

/** Looks again whenever another process has written to the ledger. */
async function approved(context: Context, ledger: Ledger, id: string, flags: Flags): Promise<PlanCase | number> {
  const stop = watchSignals(() => context.say('Stopped waiting; nothing was started.'));
  let wake = (): void => {};
  const unwatch = ledger.mailbox.watch(() => wake());
  stop.signal.addEventListener('abort', () => wake());
  try {
    for (;;) {
      const woken = new Promise<void>(done => {
        wake = done;
      });
      const found = await planCase(context, id, flags);
      if (mayRun(found)) return found;
      if (stop.signal.aborted) return stop.exitCode() ?? 130;
      await woken;
    }
  } finally {
    unwatch();
    stop.close();
  }
}

async function withApproval(context: Context, ledger: Ledger, found: PlanCase, flags: Flags, record: Record) {
  const { plan, loop } = found;
  const policy = policyOf(flags);
  if (policy === undefined && atTerminal(flags)) return askAndApprove(context, found, flags, record);
  context.say(`Plan ${plan.id} may not run: ${approvalState(plan, loop)}.`);
  if (policy === 'wait') {
    context.say(`  Waiting for: ralph plan approve ${plan.id} (Ctrl-C leaves)`);
    const waited = await approved(context, ledger, plan.id, flags);
    return typeof waited === 'number' ? { exitCode: waited } : { path: waited.path };
  }
  context.say(`  Read and approve it: ralph plan approve ${plan.id}`);
  if (policy === 'skip') context.say('  Skipped (--on-approval skip).');
  return { exitCode: policy === 'skip' ? 0 : 5 };
}

export async function runPlan(
  context: Context,
  word: string | undefined,
  flags: Flags,
  { run, record }: RunNeeds,
): Promise<number> {
  policyOf(flags);
  const ledger = await context.ledger({ write: true, create: true });
  const found = await planCase(context, word, flags);
  const { root, plan, loop } = found;
  if (loop?.state.ended !== undefined) {
    await finishPlan(ledger, root, loop);
    const { sentence, next, exitCode } = endingOf(loop.state);
    context.say(`Loop ${loop.row.name} of plan ${plan.id} is over, and no plan runs twice. ${sentence}`);
    for (const line of next) context.say(`  ${line}`);
    return exitCode;
  }
  const cleared = mayRun(found) ? { path: found.path } : await withApproval(context, ledger, found, flags, record);
  if ('exitCode' in cleared) return cleared.exitCode;
  const exitCode = await run(cleared.path);
  const after = await loopOfPlan(ledger, root, { ...plan, path: cleared.path });
  if (after?.state.ended === undefined) await refreshDashboard(ledger, root);
  else {
    const { path } = await finishPlan(ledger, root, after);
    if (path !== undefined && path !== cleared.path) context.say(`  The plan lies in ${path} now.`);
  }
  return exitCode;
}

export async function execute(
  context: Context,
  [word]: readonly (string | undefined)[],
  flags: Flags,
): Promise<number> {
  const { execute: run } = await import('./run.ts');
  return runPlan(context, word, flags, {
    run: path => run(context, [path], { ...flags, mode: 'plan' }),
    record: (path, approval) => recordApproval(context, path, approval, flags),
  });
}
