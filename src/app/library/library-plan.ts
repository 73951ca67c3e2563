// A plan in a program's hands: its approval is asked for, it never runs twice, and it is put away when its loop is over.
import { UsageError } from '../../text/errors.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { vaultRootOf } from '../../modes/plan/views/paths.ts';
import type { Prepared } from '../session/prepare.ts';
import { refuseProblems } from '../problems.ts';
import { finishPlan, otherFile, refuseDoubtfulBoxes } from '../../modes/plan/session/vault.ts';
import { readPlan } from '../../modes/plan/session/files.ts';
import { isOwnLoop, loopOfPlan, type PlanLoop } from '../../modes/plan/session/loops.ts';

export interface PlanAtHand {
  /** Its loop, when it had one and that is over. */
  readonly over?: PlanLoop;
  /** What is left to do when a loop is over or stands still. */
  readonly finish: () => Promise<void>;
}

/** `canAsk`: somebody answers questions, and so may approve it. */
export async function planAtHand(ledger: Ledger, prepared: Prepared, canAsk: boolean): Promise<PlanAtHand> {
  const { path, directory } = prepared;
  const root = vaultRootOf(path, directory);
  const read = await readPlan(path);
  if (read.type !== 'plan') refuseProblems(read.problems, path);
  const { plan } = read;
  const loop = await loopOfPlan(ledger, plan);
  const finish = async (): Promise<void> => {
    const after = await loopOfPlan(ledger, plan);
    if (after !== undefined && isOwnLoop(after, root, plan)) await finishPlan(ledger, root, after);
  };
  if (loop?.state.ended !== undefined) {
    await finish();
    return { over: loop, finish };
  }
  const foreign = loop && otherFile(plan, loop);
  if (foreign !== undefined) throw foreign;
  if (prepared.options.acceptTicked !== true) refuseDoubtfulBoxes(plan, loop);
  const approval = loop?.state.approval;
  const mayRun = approval?.hash === plan.hash || (!plan.isApprovalRequired && approval === undefined);
  if (!mayRun && !canAsk)
    throw new UsageError(
      `Plan ${plan.id} may not run: nobody has approved it as it stands now.`,
      `Approve it (ralph plan approve ${plan.id}), or answer its question with onEscalation.`,
      5,
    );
  return { finish };
}
