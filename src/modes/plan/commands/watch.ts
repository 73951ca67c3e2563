// `ralph plan watch`: starts every plan that is moved into Approved/Plans, one after the other, each once.

import { basename, extname } from 'node:path';
import { isConfined } from '../../../app/agents/process-limits.ts';
import { resolveRunConfig } from '../../../app/app.ts';
import { withLease } from '../../../app/loops/find.ts';
import { type Context, type Flags, placeOf, type Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import type { Problem } from '../../../documents/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { modeName } from '../../registry.ts';
import { type RecordApproval, recordApproval } from '../session/approve.ts';
import { agentAtMove } from '../session/file-move.ts';
import { isPlainFile, isSettled, type PlanFile, plansIn, readPlan } from '../session/files.ts';
import { loopOfPlan, type PlanLoop, planKey, refreshDashboard, writeViewFile } from '../session/loops.ts';
import { approvePlan, doubtfulBoxes, finishPlan, makeVault } from '../session/vault.ts';
import { brokenPlanFile } from '../views/files.ts';
import { vaultPaths } from '../views/paths.ts';
import { heldExitCode, isApprovedNow, planArgument, vaultFolder } from './open-plan.ts';

const heldRetryMs = 5_000;
const settleMs = 100;
const settleTriesMax = 50;
const writtenAfterMs = 300; // a plan whose size and time stand still so long is completely written
const lookMs = 50;

/** What is there now, and nothing that comes later; the first exit code that is not 0. */
export async function watchOnce(needs: WatchNeeds, stop: AbortSignal): Promise<number> {
  let exitCode = 0;
  for (const path of await plansIn(vaultPaths(needs.root).approved)) {
    if (stop.aborted) break;
    for (let tries = 1; tries < settleTriesMax && !(await isSettled(path, settleMs)); tries += 1);
    const code = await startApprovedPlan(needs, path);
    if (code === heldExitCode) needs.say(`${path}: another process is at it.`);
    if (exitCode === 0) exitCode = code;
  }
  await writeDashboard(needs);
  return exitCode;
}

/** Paths to look at, each at most once, in the order in which they came. */
class Queue {
  private readonly paths = new Set<string>();
  private readonly stop: AbortSignal;
  private wake = (): void => {};

  constructor(stop: AbortSignal) {
    this.stop = stop;
    stop.addEventListener('abort', () => this.wake(), { once: true });
  }

  readonly add = (path: string): void => {
    this.paths.add(path);
    this.wake();
  };

  /** Undefined once it was stopped. */
  async next(): Promise<string | undefined> {
    while (!this.stop.aborted) {
      const [first] = this.paths;
      if (first !== undefined) {
        this.paths.delete(first);
        return first;
      }
      await new Promise<void>(done => {
        this.wake = done;
      });
    }
    return undefined;
  }
}

/** Somebody answered, resumed or approved in another process: the loop of a plan that waits has new events. */
function watchLedger(ledger: Ledger, seen: ReadonlyMap<string, number>, changed: (path: string) => void): () => void {
  const look = async (): Promise<void> => {
    for (const path of [...seen.keys()]) {
      const seq = await lastSeq(ledger, path);
      if (seen.get(path) !== seq) changed(path);
    }
  };
  return ledger.mailbox.watch(() => void look().catch(() => {})); // the next start of a plan says what is wrong
}

const lastSeq = async ({ store }: Ledger, document: string): Promise<number> =>
  (await store.loops({ document }))[0]?.seq ?? 0;

/** Until it is stopped. `ready` is called when every plan that was there at the start is in the queue. */
export async function watchPlans(needs: WatchNeeds, stop: AbortSignal, ready: () => void = () => {}): Promise<void> {
  const { ledger, root, say } = needs;
  const queue = new Queue(stop);
  const seen = new Map<string, number>();
  const retries = new Map<string, NodeJS.Timeout>();
  const unwatch = watchLedger(ledger, seen, queue.add);
  const closeFolder = await watchFolder(vaultPaths(root).approved, queue.add, error =>
    say(`The folder cannot be watched: ${String(error)}`),
  );
  const retry = (path: string): NodeJS.Timeout => setTimeout(() => queue.add(path), heldRetryMs);
  try {
    ready();
    for (let path = await queue.next(); path !== undefined; path = await queue.next()) {
      const code = await startApprovedPlan(needs, path);
      clearTimeout(retries.get(path));
      if (code === heldExitCode) retries.set(path, retry(path));
      seen.set(path, await lastSeq(ledger, path));
    }
  } finally {
    for (const timer of retries.values()) clearTimeout(timer);
    unwatch();
    await closeFolder();
  }
}

/** Calls `arrived` for every plan that is there or comes; resolves, when all that are there were told, to its end. */
async function watchFolder(
  folder: string,
  arrived: (path: string) => void,
  failed: (error: unknown) => void,
): Promise<() => Promise<void>> {
  const { watch } = await import('chokidar'); // slow to load, and only a watch needs it
  const watcher = watch(folder, {
    depth: 0,
    followSymlinks: false,
    ignored: (path, stats) => stats?.isFile() === true && !/\/[^./][^/]*\.md$/i.test(path),
    awaitWriteFinish: { stabilityThreshold: writtenAfterMs, pollInterval: lookMs },
  });
  watcher.on('add', arrived).on('change', arrived).on('error', failed);
  await new Promise<void>(done => {
    watcher.once('ready', done);
  });
  return () => watcher.close();
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { runDraft } = await import('../../../cli/commands/run.ts');
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  await makeVault(vaultFolder(context, flags));
  const root = vaultFolder(context, flags); // its real path, now that it is there
  const unattended = { ...flags, mode: 'plan', yes: true, input: false, acceptTicked: true }; // `startApprovedPlan` refuses them
  const needs: WatchNeeds = {
    ledger,
    root,
    say: context.say,
    run: path => runDraft(context, { ...placeOf(context), file: path, flags: unattended }),
    record: (path, approval) =>
      recordApproval({ ...placeOf(context), flags: unattended, warn: context.say }, ledger, path, approval),
    name: (path, id) => planArgument(context, { path, root }, id),
    areConfined: async () => {
      const resolved = await resolveRunConfig(context.env, context.directory, flags, { mode: modeName('plan') });
      return resolved.ok && isConfined(resolved.config.sandbox);
    },
  };
  const stop = watchSignals(() => {}); // a loop at work says so itself
  try {
    await writeDashboard(needs);
    const { approved } = vaultPaths(root);
    const ready = (): void =>
      context.say(`Watching ${approved}: a plan that is moved there is approved and starts. Ctrl-C ends.`);
    const exitCode = flags['once'] === true ? await watchOnce(needs, stop.signal) : undefined;
    if (exitCode === undefined) await watchPlans(needs, stop.signal, ready);
    if (stop.exitCode() !== undefined)
      context.say('Stopped watching: no other plan is started. What was recorded is kept; the same command goes on.');
    return stop.exitCode() ?? exitCode ?? 0;
  } finally {
    stop.close();
  }
}

// One plan in Approved/Plans becomes exactly one loop, whatever was cut before and whoever else watches.

export interface WatchNeeds {
  readonly ledger: Ledger;
  readonly root: string;
  readonly say: (text: string) => void;
  readonly run: (path: string) => Promise<number>;
  readonly record: RecordApproval;
  /** How a command names the plan at this path. */
  readonly name: (path: string, id: string) => string;
  /** Whether agents are kept from what they may not write. */
  readonly areConfined: () => Promise<boolean>;
}

const movedIn = { by: 'file move', because: 'by file move: it was put into Approved/Plans' };

/** A dashboard that cannot be written is only told: the plans do not wait for it. */
async function writeDashboard({ ledger, root, say }: WatchNeeds): Promise<void> {
  const problem = await refreshDashboard(ledger, root);
  if (problem !== undefined) say(`Not written: ${problem}.`);
}

/** Says in Needs_Action why nothing is done with this plan. */
async function refuse(needs: WatchNeeds, id: string, problems: readonly Problem[], exitCode: number): Promise<number> {
  const { root, say } = needs;
  const file = brokenPlanFile(root, id, problems);
  const unwritten = await writeViewFile(root, file);
  const [problem] = problems;
  say(`Plan ${id} does not run: ${problem?.message ?? 'it is broken.'}`);
  if (unwritten === undefined) say(`  What to do: ${file.path}`);
  else say(`  ${problem?.fix ?? 'Mend it.'} (Not written: ${unwritten}.)`);
  await writeDashboard(needs);
  return exitCode;
}

/** A plan may have a loop of its own; a loop of another file is a reason to leave it alone. */
function otherLoopProblem({ id, path }: PlanFile, loop: PlanLoop | undefined): Problem | undefined {
  if (loop === undefined || loop.row.document === path) return undefined;
  const { row, state } = loop;
  const message =
    state.control.ended?.reason === 'goal_achieved'
      ? `plan_id ${id} was carried out already, by loop ${row.name}.`
      : `plan_id ${id} belongs to ${row.document}, loop ${row.name}.`;
  return { message, fix: 'No plan runs twice: give this one a plan_id of its own.' };
}

/** Why a person must approve it first: a move says yes only to a new plan, and where no agent can have made it. */
async function approvalProblem(
  needs: WatchNeeds,
  plan: PlanFile,
  loop: PlanLoop | undefined,
): Promise<Problem | undefined> {
  const { path, id } = plan;
  const approve = `ralph plan approve ${needs.name(path, id)}`;
  const doubt = doubtfulBoxes(plan, loop);
  if (doubt !== undefined) {
    const fix = `Untick what is still to be done; or, when the boxes are right: ${approve} --accept-ticked`;
    return { message: doubt, fix };
  }
  if (!isNew(loop)) {
    if (isApprovedNow(plan, loop)) return undefined;
    const message = `It was edited after it had been approved (by ${loop?.state.document.approval?.by ?? 'somebody'}).`;
    return { message, fix: `Read what it says now, then: ${approve}` };
  }
  const agent = await agentAtMove(needs.ledger, needs.root, path, needs.areConfined);
  if (agent === undefined) return undefined;
  const who = `an agent of loop ${agent.loop} (iteration ${agent.iteration})`;
  const message = `It came into Approved/Plans while ${who} was at work, who could have put it there.`;
  return { message, fix: `Read it, then: ${approve}` };
}

/** Nobody has approved it yet, and nothing of it was done. */
const isNew = (loop: PlanLoop | undefined): boolean =>
  loop === undefined || (loop.state.document.approval === undefined && loop.state.iterations.begun === 0);

/** Puts a plan away whose loop is over or stands still; where it lies now. */
async function finish({ ledger, root, say }: WatchNeeds, id: string, loop: PlanLoop): Promise<string | undefined> {
  const { path, problem } = await finishPlan(ledger, root, loop);
  if (problem !== undefined) say(`Plan ${id} was not put away: ${problem}`);
  return path;
}

async function startAlone(needs: WatchNeeds, plan: PlanFile): Promise<number> {
  const { ledger, root, say, run, record } = needs;
  const { id, path } = plan;
  const loop = await loopOfPlan(ledger, plan);
  const other = otherLoopProblem(plan, loop);
  if (other !== undefined) return refuse(needs, basename(path, extname(path)), [other], 2);
  if (loop?.state.control.ended !== undefined) {
    const now = await finish(needs, id, loop);
    if (now !== undefined && now !== path) say(`Plan ${id} was over already; it lies in ${now} now.`);
    return 0;
  }
  const problem = await approvalProblem(needs, plan, loop);
  if (problem !== undefined) return refuse(needs, id, [problem], 5);
  if (isNew(loop)) await approvePlan({ root, plan, loop, ...movedIn, record });
  say(`Plan ${id}: ${isNew(loop) ? 'approved by file move, starts' : 'goes on'}.`);
  const exitCode = await run(path);
  const after = await loopOfPlan(ledger, plan);
  if (after !== undefined && exitCode !== heldExitCode) await finish(needs, id, after);
  return exitCode;
}

/** The exit code that `ralph plan run` would have had; 9: another process holds the plan. */
export async function startApprovedPlan(needs: WatchNeeds, path: string): Promise<number> {
  if (!(await isPlainFile(path))) return 0;
  const read = await readPlan(path);
  if (read.type === 'missing') return 0;
  if (read.type === 'broken') return refuse(needs, read.id, read.problems, 2);
  const { plan } = read;
  try {
    return await withLease(
      needs.ledger,
      planKey(plan.id),
      () => heldExitCode,
      () => startAlone(needs, plan),
    );
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
