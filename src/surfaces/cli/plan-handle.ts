// What a watch does with one plan in Approved/Plans: exactly one loop, whatever was cut before and whoever else watches.
import { basename, extname } from 'node:path';
import { approvePlan, doubtfulBoxes, finishPlan } from '../../app/vault.ts';
import { isPlainFile, type PlanFile, readPlan } from '../../app/vault-files.ts';
import { loopOfPlan, type PlanLoop, refreshDashboard, writeViewFile } from '../../app/vault-loops.ts';
import { UsageError } from '../../core/errors.ts';
import type { Problem } from '../../ports/source.ts';
import type { Ledger } from '../../ports/store.ts';
import { brokenPlanFile } from '../../views/vault.ts';
import { holding } from './holding.ts';
import type { Record } from './plan-approve.ts';
import { busyCode, isApprovedNow, planKey } from './plan-place.ts';

export interface HandleNeeds {
  readonly ledger: Ledger;
  readonly root: string;
  readonly say: (text: string) => void;
  readonly run: (path: string) => Promise<number>;
  readonly record: Record;
  /** How a command names the plan at this path. */
  readonly name: (path: string, id: string) => string;
}

const movedIn = { by: 'file move', because: 'by file move: it was put into Approved/Plans' };

/** Says in Needs_Action why nothing is done with this plan. */
async function refuse(needs: HandleNeeds, id: string, problems: readonly Problem[], exitCode: number): Promise<number> {
  const { root, ledger, say } = needs;
  const file = brokenPlanFile(root, id, problems);
  await writeViewFile(file);
  await refreshDashboard(ledger, root);
  say(`Plan ${id} does not run: ${problems[0]?.message ?? 'it is broken.'}`);
  say(`  What to do: ${file.path}`);
  return exitCode;
}

/** The plan has a loop of its own or none; anything else is a reason to leave it alone. */
function objection(plan: PlanFile, loop: PlanLoop | undefined): Problem | undefined {
  if (loop === undefined) return undefined;
  const { row, state } = loop;
  if (row.document === plan.path) return undefined;
  const message =
    state.ended?.reason === 'goal_achieved'
      ? `plan_id ${plan.id} was carried out already, by loop ${row.name}.`
      : `plan_id ${plan.id} belongs to ${row.document}, loop ${row.name}.`;
  return { message, fix: 'No plan runs twice: give this one a plan_id of its own.' };
}

async function startOnce(needs: HandleNeeds, plan: PlanFile): Promise<number> {
  const { ledger, root, say, run, record } = needs;
  const { id, path } = plan;
  const loop = await loopOfPlan(ledger, root, plan);
  const problem = objection(plan, loop);
  if (problem !== undefined) return refuse(needs, basename(path, extname(path)), [problem], 2);
  if (loop?.state.ended !== undefined) {
    const { path: now } = await finishPlan(ledger, root, loop);
    if (now !== undefined && now !== path) say(`Plan ${id} was over already; it lies in ${now} now.`);
    return 0;
  }
  const doubt = doubtfulBoxes(plan, loop);
  if (doubt !== undefined) {
    const fix = `Untick what is still to be done; or, when the boxes are right: ralph plan approve ${needs.name(path, id)} --accept-ticked`;
    return refuse(needs, id, [{ message: doubt, fix }], 5);
  }
  const isNew = loop === undefined || (loop.state.approval === undefined && loop.state.iterations === 0);
  if (isNew) await approvePlan({ root, plan, loop, ...movedIn, record });
  else if (!isApprovedNow(plan, loop)) {
    const message = `It was edited after it had been approved (by ${loop.state.approval?.by ?? 'somebody'}).`;
    const fix = `Read what it says now, then: ralph plan approve ${needs.name(path, id)}`;
    return refuse(needs, id, [{ message, fix }], 5);
  }
  say(`Plan ${id}: ${isNew ? 'approved by file move, starts' : 'goes on'}.`);
  const exitCode = await run(path);
  const after = await loopOfPlan(ledger, root, plan);
  if (after !== undefined && exitCode !== busyCode) await finishPlan(ledger, root, after);
  return exitCode;
}

/** The exit code that `ralph plan run` would have had; 9: somebody else is at it. */
export async function handlePlan(needs: HandleNeeds, path: string): Promise<number> {
  if (!(await isPlainFile(path))) return 0;
  const read = await readPlan(path);
  if (read.type === 'missing') return 0;
  if (read.type === 'broken') return refuse(needs, read.id, read.problems, 2);
  const { plan } = read;
  const held = (): number => busyCode;
  try {
    return await holding(needs.ledger, planKey(needs.root, plan.id), held, () => startOnce(needs, plan));
  } catch (error) {
    // No agent, no such server, a secret in the plan: the others can go on.
    if (!(error instanceof UsageError)) throw error;
    return refuse(needs, plan.id, [{ message: error.message, fix: error.hint }], error.exitCode);
  }
}
