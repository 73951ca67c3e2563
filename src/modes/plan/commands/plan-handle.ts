// What a watch does with one plan in Approved/Plans: exactly one loop, whatever was cut before and whoever else watches.
import { basename, extname } from 'node:path';
import { holding } from '../../../app/session/holding.ts';
import { approvePlan, doubtfulBoxes, finishPlan } from '../session/vault.ts';
import { agentAtArrival } from '../session/vault-arrivals.ts';
import { isPlainFile, type PlanFile, readPlan } from '../session/files.ts';
import { loopOfPlan, type PlanLoop, refreshDashboard, writeViewFile } from '../session/loops.ts';
import { UsageError } from '../../../text/errors.ts';
import type { Problem } from '../../../documents/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { brokenPlanFile } from '../views/files.ts';
import type { Record } from './approve.ts';
import { busyCode, isApprovedNow, planKey } from './plan-place.ts';

export interface HandleNeeds {
  readonly ledger: Ledger;
  readonly root: string;
  readonly say: (text: string) => void;
  readonly run: (path: string) => Promise<number>;
  readonly record: Record;
  /** How a command names the plan at this path. */
  readonly name: (path: string, id: string) => string;
  /** Whether agents are kept from what they may not write. */
  readonly areConfined: () => Promise<boolean>;
}

const movedIn = { by: 'file move', because: 'by file move: it was put into Approved/Plans' };

/** A view that cannot be written is only told: the plans do not wait for it. */
export function sayUnwritten(say: HandleNeeds['say'], problem: string | undefined): void {
  if (problem !== undefined) say(`Not written: ${problem}.`);
}

function sayLeft({ say }: HandleNeeds, id: string, problem: string | undefined): void {
  if (problem !== undefined) say(`Plan ${id} was not put away: ${problem}`);
}

/** Says in Needs_Action why nothing is done with this plan. */
async function refuse(needs: HandleNeeds, id: string, problems: readonly Problem[], exitCode: number): Promise<number> {
  const { root, ledger, say } = needs;
  const file = brokenPlanFile(root, id, problems);
  const unwritten = await writeViewFile(root, file);
  const [problem] = problems;
  say(`Plan ${id} does not run: ${problem?.message ?? 'it is broken.'}`);
  if (unwritten === undefined) say(`  What to do: ${file.path}`);
  else say(`  ${problem?.fix ?? 'Mend it.'} (Not written: ${unwritten}.)`);
  sayUnwritten(say, await refreshDashboard(ledger, root));
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

/** A move says yes only where nobody but a person can have made it. */
async function foreignHand(needs: HandleNeeds, { path, id }: PlanFile): Promise<Problem | undefined> {
  const agent = await agentAtArrival(needs.ledger, needs.root, path, needs.areConfined);
  if (agent === undefined) return undefined;
  const who = `an agent of loop ${agent.loop} (iteration ${agent.iteration})`;
  return {
    message: `It came into Approved/Plans while ${who} was at work, who could have put it there.`,
    fix: `Read it, then: ralph plan approve ${needs.name(path, id)}`,
  };
}

async function startOnce(needs: HandleNeeds, plan: PlanFile): Promise<number> {
  const { ledger, root, say, run, record } = needs;
  const { id, path } = plan;
  const loop = await loopOfPlan(ledger, plan);
  const problem = objection(plan, loop);
  if (problem !== undefined) return refuse(needs, basename(path, extname(path)), [problem], 2);
  if (loop?.state.ended !== undefined) {
    const { path: now, problem: left } = await finishPlan(ledger, root, loop);
    sayLeft(needs, id, left);
    if (now !== undefined && now !== path) say(`Plan ${id} was over already; it lies in ${now} now.`);
    return 0;
  }
  const doubt = doubtfulBoxes(plan, loop);
  if (doubt !== undefined) {
    const fix = `Untick what is still to be done; or, when the boxes are right: ralph plan approve ${needs.name(path, id)} --accept-ticked`;
    return refuse(needs, id, [{ message: doubt, fix }], 5);
  }
  const isNew = loop === undefined || (loop.state.approval === undefined && loop.state.iterations === 0);
  const foreign = isNew ? await foreignHand(needs, plan) : undefined;
  if (foreign !== undefined) return refuse(needs, id, [foreign], 5);
  if (isNew) await approvePlan({ root, plan, loop, ...movedIn, record });
  else if (!isApprovedNow(plan, loop)) {
    const message = `It was edited after it had been approved (by ${loop.state.approval?.by ?? 'somebody'}).`;
    const fix = `Read what it says now, then: ralph plan approve ${needs.name(path, id)}`;
    return refuse(needs, id, [{ message, fix }], 5);
  }
  say(`Plan ${id}: ${isNew ? 'approved by file move, starts' : 'goes on'}.`);
  const exitCode = await run(path);
  const after = await loopOfPlan(ledger, plan);
  if (after !== undefined && exitCode !== busyCode) sayLeft(needs, id, (await finishPlan(ledger, root, after)).problem);
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
    return await holding(needs.ledger, planKey(plan.id), held, () => startOnce(needs, plan));
  } catch (error) {
    const known = refusalIn(error);
    if (known === undefined) throw error;
    return refuse(needs, plan.id, [{ message: known.message, fix: known.hint }], known.exitCode);
  }
}

/** No agent, no such server, a secret in the plan, a folder that cannot be written: the others can go on. */
function refusalIn(error: unknown): UsageError | undefined {
  if (error instanceof UsageError) return error;
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  return new UsageError(`The system refused something (${error.message}).`, 'Look at that place.', 5);
}
