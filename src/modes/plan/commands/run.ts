// `ralph plan run`: one plan, when it is approved as it stands or needs no approval; never approved by itself (F69).

import { resolveRunConfig } from '../../../app/app.ts';
import { refuseProblems } from '../../../app/problems.ts';
import { withLease } from '../../../app/session/begin.ts';
import type { Context, Flags, Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import { sayHeld } from '../../../cli/run-preparation.ts';
import type { Lease, Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { endingOf } from '../../../views/ending.ts';
import type { PlanFile } from '../session/files.ts';
import { isOwnLoop, loopOfPlan } from '../session/loops.ts';
import { finishPlan, otherFile, refuseDoubtfulBoxes } from '../session/vault.ts';
import { type Ask, askAndApprove, askHere, type Record, recordApproval } from './approve.ts';
import {
  approvalState,
  busyCode,
  isApprovedNow,
  namedPlan,
  type PlanCase,
  planCase,
  planKey,
  typedPlan,
} from './words.ts';

const lookMs = 2_000;

type Policy = 'fail' | 'skip' | 'wait';

export interface RunNeeds {
  /** Runs the loop of the plan at this path; its exit code. */
  readonly run: (path: string) => Promise<number>;
  readonly record: Record;
  readonly ask: Ask;
  /** What to do with a plan that is not approved; absent: ask, or fail where nobody is. */
  readonly policy: Policy | undefined;
}

async function policyOf({ env, directory }: Context, flags: Flags): Promise<Policy | undefined> {
  const resolved = await resolveRunConfig(env, directory, flags, 'plan');
  if (!resolved.ok) refuseProblems(resolved.problems);
  return resolved.run.config.onApproval;
}

/** Once it was approved, a plan cannot say that it needs none. */
const mayRun = ({ plan, loop }: PlanCase): boolean =>
  isApprovedNow(plan, loop) || (!plan.isApprovalRequired && loop?.state.approval === undefined);

function unlessUsage(error: unknown): undefined {
  if (!(error instanceof UsageError)) throw error;
}

/** Looks again whenever another process has written to the ledger. */
async function approved(context: Context, ledger: Ledger, { plan, root }: PlanCase): Promise<PlanCase | number> {
  const stop = watchSignals(() => context.say('Stopped waiting; nothing was started.'));
  let wake = (): void => {};
  const unwatch = ledger.mailbox.watch(() => wake());
  stop.signal.addEventListener('abort', () => wake());
  const looking = setInterval(() => wake(), lookMs); // also what keeps the process alive
  try {
    for (;;) {
      const woken = new Promise<void>(done => {
        wake = done;
      });
      // It may be on its way from one folder to another.
      const found = await planCase(context, plan.id, { vault: root }).catch(unlessUsage);
      // Only a yes ends the wait: a plan that says meanwhile that it needs none is not taken at its word.
      if (found !== undefined && isApprovedNow(found.plan, found.loop)) return found;
      if (stop.signal.aborted) return stop.exitCode() ?? 130;
      await woken;
    }
  } finally {
    clearInterval(looking);
    unwatch();
    stop.close();
  }
}

async function withApproval(
  context: Context,
  ledger: Ledger,
  found: PlanCase,
  { record, ask, policy }: RunNeeds,
  flags: Flags,
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { plan, loop } = found;
  // --yes says yes to the start, never to the plan.
  if (policy === undefined && ask !== undefined)
    return askAndApprove(context, found, record, ask, { isTickTrusted: flags['acceptTicked'] === true, flags });
  const name = typedPlan(context, found, plan.id, flags);
  const given = loop?.state.approval === undefined ? '' : 'approved ';
  context.say(`Plan ${plan.id} may not run: ${given}${approvalState(plan, loop)}.`);
  if (policy === 'wait') {
    context.say(`  Waiting for: ralph plan approve ${name} (Ctrl-C leaves)`);
    const waited = await approved(context, ledger, found);
    return typeof waited === 'number' ? { exitCode: waited } : { path: waited.path };
  }
  context.say(`  Read and approve it: ralph plan approve ${name}`);
  if (policy === 'skip') context.say('  Skipped (--on-approval skip).');
  return { exitCode: policy === 'skip' ? 0 : 5 };
}

/** What an approved plan is to do is settled with the approval, also where. */
function refuseElsewhere(isBegunByApproval: boolean, flags: Flags): void {
  const given = flags['worktree'] === true ? '--worktree' : flags['parallel'] === undefined ? undefined : '--parallel';
  if (given === undefined || !isBegunByApproval) return;
  throw new UsageError(`${given}: the loop of a plan begins with its approval, in this folder.`, 'Leave it out.');
}

/** Over: said again, put away if that was cut, and never begun anew. */
async function saidOver(context: Context, ledger: Ledger, root: string, plan: PlanFile): Promise<number | undefined> {
  const loop = await loopOfPlan(ledger, plan);
  if (loop === undefined) return undefined;
  if (loop.state.ended === undefined) {
    const foreign = otherFile(plan, loop);
    if (foreign !== undefined) throw foreign;
    return undefined;
  }
  if (isOwnLoop(loop, root, plan)) await finishPlan(ledger, root, loop);
  const { sentence, next, exitCode } = endingOf(loop.state);
  context.say(`Loop ${loop.row.name} of plan ${plan.id} is over, and no plan runs twice. ${sentence}`);
  for (const line of next) context.say(`  ${line}`);
  return exitCode;
}

async function carryOut(
  context: Context,
  ledger: Ledger,
  { root, plan }: Pick<PlanCase, 'root' | 'plan'>,
  run: RunNeeds['run'],
): Promise<number> {
  // Somebody may have begun or ended it meanwhile, also from another copy.
  const over = await saidOver(context, ledger, root, plan);
  if (over !== undefined) return over;
  const exitCode = await run(plan.path);
  const after = await loopOfPlan(ledger, plan);
  if (after === undefined || exitCode === busyCode) return exitCode;
  const { path } = await finishPlan(ledger, root, after);
  if (path !== undefined && path !== plan.path) context.say(`  The plan lies in ${path} now.`);
  return exitCode;
}

const handOverTries = 50;
const handOverMs = 100;

/** Whoever gave the yes that was waited for may hold the plan for another moment. */
async function aloneWith(
  context: Context,
  ledger: Ledger,
  id: string,
  triesMax: number,
  work: () => Promise<number>,
): Promise<number> {
  for (let tries = 1; ; tries += 1) {
    const refuse = (held: Lease): number | undefined => (tries < triesMax ? undefined : sayHeld(context, held));
    const exitCode = await withLease<number | undefined>(ledger, planKey(id), refuse, work);
    if (exitCode !== undefined) return exitCode;
    await new Promise(done => setTimeout(done, handOverMs));
  }
}

export async function runPlan(
  context: Context,
  word: string | undefined,
  flags: Flags,
  needs: RunNeeds,
): Promise<number> {
  if (flags['dryRun'] === true) return needs.run((await namedPlan(context, word, flags)).path);
  if (flags['new'] === true)
    throw new UsageError('--new: no plan runs twice.', 'Write another plan, with a plan_id of its own.');
  const ledger = await context.ledger({ write: true, create: true });
  const found = await planCase(context, word, flags);
  const { root, plan, loop } = found;
  const over = await saidOver(context, ledger, root, plan);
  if (over !== undefined) return over;
  refuseElsewhere(plan.isApprovalRequired || loop !== undefined, flags);
  if (mayRun(found) && flags['acceptTicked'] !== true) refuseDoubtfulBoxes(plan, loop);
  const cleared = mayRun(found) ? { path: found.path } : await withApproval(context, ledger, found, needs, flags);
  if ('exitCode' in cleared) return cleared.exitCode;
  const work = (): Promise<number> =>
    carryOut(context, ledger, { root, plan: { ...plan, path: cleared.path } }, needs.run);
  return aloneWith(context, ledger, plan.id, needs.policy === 'wait' ? handOverTries : 1, work);
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const { runPlanDocument } = await import('../../../cli/commands/run.ts');
  return runPlan(context, word, flags, {
    run: path => runPlanDocument(context, path, { ...flags, acceptTicked: true }), // asked before, or refused
    record: (path, approval) => recordApproval(context, path, approval, flags),
    ask: askHere(flags),
    policy: await policyOf(context, flags),
  });
}
