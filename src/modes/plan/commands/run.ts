// `ralph plan run`: one plan, when it is approved as it stands or needs no approval; never approved by itself (F69).

import { resolveRunConfig } from '../../../app/app.ts';
import { withLease } from '../../../app/loops/find.ts';
import { refuseProblems } from '../../../app/problems.ts';
import { type Context, type Flags, placeOf, sayHeld, type Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import type { Lease, Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { endingOf } from '../../../views/ending.ts';
import { modeName } from '../../registry.ts';
import type { RecordApproval } from '../session/approve.ts';
import { planKey } from '../session/loops.ts';
import { takeNoteAnswers } from '../session/note-answers.ts';
import { endedLoopOf, mayRun, putAway, refuseDoubtfulBoxes } from '../session/vault.ts';
import { type Ask, askAndApprove, askHere } from './approve.ts';
import {
  findNamedPlan,
  heldExitCode,
  isApprovedNow,
  noteNeeds,
  type OpenPlan,
  openPlan,
  planArgument,
} from './open-plan.ts';
import { approvalState } from './plan-text.ts';

const lookMs = 2_000;
const handOverTries = 50;
const handOverMs = 100;

export interface RunNeeds {
  /** Runs the loop of the plan at this path; its exit code. */
  readonly run: (path: string) => Promise<number>;
  readonly record?: RecordApproval;
  readonly ask: Ask;
  /** What to do with a plan that is not approved; absent: ask, or fail where nobody is. */
  readonly policy: 'fail' | 'skip' | 'wait' | undefined;
}

interface PlanRun extends RunNeeds {
  readonly context: Context;
  readonly ledger: Ledger;
  readonly flags: Flags;
}

function unlessUsage(error: unknown): undefined {
  if (!(error instanceof UsageError)) throw error;
}

/** Looks again whenever another process has written to the ledger. */
async function waitForApproval({ context, ledger }: PlanRun, { plan, root }: OpenPlan): Promise<OpenPlan | number> {
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
      const found = await openPlan(context, plan.id, { vault: root }).catch(unlessUsage);
      // Only a yes ends the wait: a plan that says meanwhile that it needs none is not taken at its word.
      const isThere = found?.loop?.row.document === found?.path; // else it was moved while we looked
      if (found !== undefined && isThere && isApprovedNow(found.plan, found.loop)) return found;
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
  run: PlanRun,
  found: OpenPlan,
): Promise<{ readonly path: string } | { readonly exitCode: number }> {
  const { context, record, ask, policy, flags } = run;
  const { plan, loop } = found;
  // --yes says yes to the start, never to the plan.
  if (policy === undefined && ask !== undefined) return askAndApprove(context, found, { record, ask, flags });
  const name = planArgument(context, found, plan.id, flags);
  const given = loop?.state.document.approval === undefined ? '' : 'approved ';
  context.say(`Plan ${plan.id} may not run: ${given}${approvalState(plan, loop)}.`);
  if (policy === 'wait') {
    context.say(`  Waiting for: ralph plan approve ${name} (Ctrl-C leaves)`);
    const waited = await waitForApproval(run, found);
    return typeof waited === 'number' ? { exitCode: waited } : waited;
  }
  context.say(`  Read and approve it: ralph plan approve ${name}`);
  if (policy === 'skip') context.say('  Skipped (--on-approval skip).');
  return { exitCode: policy === 'skip' ? 0 : 5 };
}

/** An approval settles what a plan is to do, and where. */
function refuseOtherPlace({ plan, loop }: OpenPlan, flags: Flags): void {
  const given = flags['worktree'] === true ? '--worktree' : flags['parallel'] === undefined ? undefined : '--parallel';
  if (given === undefined || (!plan.isApprovalRequired && loop === undefined)) return;
  throw new UsageError(`${given}: the loop of a plan begins with its approval, in this folder.`, 'Leave it out.');
}

type Target = Pick<OpenPlan, 'root' | 'plan'>;

/** A loop that is over: said again, and never begun anew. */
async function endedExitCode({ context, ledger }: PlanRun, { root, plan }: Target): Promise<number | undefined> {
  const loop = await endedLoopOf(ledger, root, plan);
  if (loop === undefined) return undefined;
  const { sentence, next, exitCode } = endingOf(loop.state);
  context.say(`Loop ${loop.row.name} of plan ${plan.id} is over, and no plan runs twice. ${sentence}`);
  for (const line of next) context.say(`  ${line}`);
  return exitCode;
}

async function carryOut(run: PlanRun, { root, plan }: Target): Promise<number> {
  const { context, ledger } = run;
  // Somebody may have begun or ended it meanwhile, also from another copy.
  const ended = await endedExitCode(run, { root, plan });
  if (ended !== undefined) return ended;
  const exitCode = await run.run(plan.path);
  const path = exitCode === heldExitCode ? undefined : await putAway(ledger, root, plan);
  if (path !== undefined && path !== plan.path) context.say(`  The plan lies in ${path} now.`);
  return exitCode;
}

/** Under the plan's lease. Whoever gave the yes that was waited for may hold it for another moment. */
async function carryOutAlone(run: PlanRun, target: Target): Promise<number> {
  const { context, ledger, policy } = run;
  const triesMax = policy === 'wait' ? handOverTries : 1;
  for (let tries = 1; ; tries += 1) {
    const refuse = (held: Lease): number | undefined => (tries < triesMax ? undefined : sayHeld(context, held));
    const work = (): Promise<number> => carryOut(run, target);
    const exitCode = await withLease<number | undefined>(ledger, planKey(target.plan.id), refuse, work);
    if (exitCode !== undefined) return exitCode;
    await new Promise(done => setTimeout(done, handOverMs));
  }
}

/** With what a person has ticked in the note about it. */
async function openAnswered({ context, ledger, flags }: PlanRun, word: string | undefined): Promise<OpenPlan> {
  const found = await openPlan(context, word, flags);
  const isAnswered =
    found.loop?.row.document === found.path &&
    (await takeNoteAnswers(noteNeeds(context, ledger, found.root, flags), found.loop)) === 'taken';
  return isAnswered ? openPlan(context, word, flags) : found;
}

export async function runPlan(
  context: Context,
  word: string | undefined,
  flags: Flags,
  needs: RunNeeds,
): Promise<number> {
  if (flags['dryRun'] === true) return needs.run((await findNamedPlan(context, word, flags)).path);
  if (flags['new'] === true)
    throw new UsageError('--new: no plan runs twice.', 'Write another plan, with a plan_id of its own.');
  const run = { ...needs, context, flags, ledger: await context.ledger({ write: true, create: true }) };
  const found = await openAnswered(run, word);
  const { root, plan, loop } = found;
  const ended = await endedExitCode(run, found);
  if (ended !== undefined) return ended;
  refuseOtherPlace(found, flags);
  const isFree = mayRun(plan, loop);
  if (isFree && flags['acceptTicked'] !== true) refuseDoubtfulBoxes(plan, loop);
  const cleared = isFree ? found : await withApproval(run, found);
  if ('exitCode' in cleared) return cleared.exitCode;
  return carryOutAlone(run, { root, plan: { ...plan, path: cleared.path } });
}

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const { runDraft } = await import('../../../cli/commands/run.ts');
  const resolved = await resolveRunConfig(context.env, context.directory, flags, { mode: modeName('plan') });
  if (!resolved.ok) refuseProblems(resolved.problems);
  return runPlan(context, word, flags, {
    run: path =>
      runDraft(context, { ...placeOf(context), file: path, flags: { ...flags, mode: 'plan', acceptTicked: true } }), // asked before, or refused
    ask: askHere(flags),
    policy: resolved.config.onApproval,
  });
}
