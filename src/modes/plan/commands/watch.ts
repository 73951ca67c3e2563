// `ralph plan watch`: starts every plan that is moved into Approved/Plans, one after the other, each once.

import { basename, extname } from 'node:path';
import { isConfined } from '../../../app/agents/process-limits.ts';
import { resolveRunConfig } from '../../../app/app.ts';
import { withLease } from '../../../app/session/begin.ts';
import type { Context, Flags, Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import type { Problem } from '../../../documents/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { agentAtArrival, isPlainFile, isSettled, type PlanFile, plansIn, readPlan } from '../session/files.ts';
import { loopOfPlan, type PlanLoop, refreshDashboard, writeViewFile } from '../session/loops.ts';
import { approvePlan, doubtfulBoxes, finishPlan, makeVault } from '../session/vault.ts';
import { brokenPlanFile } from '../views/files.ts';
import { vaultPaths } from '../views/paths.ts';
import { type Record, recordApproval } from './approve.ts';
import { busyCode, isApprovedNow, planKey, typedPlan, vaultHere } from './words.ts';

const busyMs = 5_000;
const settleMs = 100;
const settleTriesMax = 50;

/** What is there now, and nothing that comes later; the first exit code that is not 0. */
export async function watchOnce(needs: HandleNeeds, stop: AbortSignal): Promise<number> {
  let exitCode = 0;
  for (const path of await plansIn(vaultPaths(needs.root).approved)) {
    if (stop.aborted) break;
    for (let tries = 1; tries < settleTriesMax && !(await isSettled(path, settleMs)); tries += 1);
    const code = await handlePlan(needs, path);
    if (code === busyCode) needs.say(`${path}: another process is at it.`);
    if (exitCode === 0) exitCode = code;
  }
  sayUnwritten(needs.say, await refreshDashboard(needs.ledger, needs.root));
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
  return ledger.mailbox.watch(() => {
    void seqsOf(ledger, [...seen.keys()])
      .then(now => {
        for (const [path, seq] of now) if (seen.has(path) && seen.get(path) !== seq) changed(path);
      })
      .catch(() => {}); // the next handling of a plan says what is wrong with the ledger
  });
}

async function seqsOf(ledger: Ledger, paths: readonly string[]): Promise<ReadonlyMap<string, number>> {
  const found = new Map<string, number>();
  for (const path of paths) found.set(path, (await ledger.store.loops({ document: path }))[0]?.seq ?? 0);
  return found;
}

/** Until it is stopped. `ready` is called when every plan that was there at the start is in the queue. */
export async function watchPlans(needs: HandleNeeds, stop: AbortSignal, ready: () => void = () => {}): Promise<void> {
  const { ledger, root, say } = needs;
  const queue = new Queue(stop);
  const seen = new Map<string, number>();
  const retries = new Map<string, NodeJS.Timeout>();
  const unwatch = watchLedger(ledger, seen, queue.add);
  const arrivals = await watchArrivals(vaultPaths(root).approved, queue.add, error =>
    say(`The folder cannot be watched: ${String(error)}`),
  );
  try {
    ready();
    for (let path = await queue.next(); path !== undefined; path = await queue.next()) {
      const handled = path;
      const code = await handlePlan(needs, handled);
      clearTimeout(retries.get(handled));
      if (code === busyCode)
        retries.set(
          handled,
          setTimeout(() => queue.add(handled), busyMs),
        );
      for (const [each, seq] of await seqsOf(ledger, [handled])) seen.set(each, seq);
    }
  } finally {
    for (const retry of retries.values()) clearTimeout(retry);
    unwatch();
    await arrivals.close();
  }
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { runPlanDocument } = await import('../../../cli/commands/run.ts');
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  await makeVault(vaultHere(context, flags));
  const root = vaultHere(context, flags); // its real path, now that it is there
  const unattended = { ...flags, yes: true, input: false, acceptTicked: true }; // `handlePlan` refuses them
  const needs: HandleNeeds = {
    ledger,
    root,
    say: context.say,
    run: path => runPlanDocument(context, path, unattended),
    record: (path, approval) => recordApproval(context, path, approval, unattended),
    name: (path, id) => typedPlan(context, { path, root }, id),
    areConfined: async () => {
      const resolved = await resolveRunConfig(context.env, context.directory, flags, 'plan');
      return resolved.ok && isConfined(resolved.run.config.sandbox);
    },
  };
  const stop = watchSignals(() => {}); // a loop at work says so itself
  try {
    sayUnwritten(needs.say, await refreshDashboard(ledger, root));
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

// What a watch does with one plan in Approved/Plans: exactly one loop, whatever was cut before and whoever else watches.

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
function sayUnwritten(say: HandleNeeds['say'], problem: string | undefined): void {
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
    return await withLease(needs.ledger, planKey(plan.id), held, () => startOnce(needs, plan));
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

// Watches the folder of approved plans; the only file that knows chokidar, which is loaded when somebody watches.

const writtenAfterMs = 300; // a plan whose size and time stand still so long is completely written
const lookMs = 50;

export interface Arrivals {
  /** No call comes after it. */
  readonly close: () => Promise<void>;
}

/** Resolves when everything that is there already was told. */
async function watchArrivals(
  folder: string,
  arrived: (path: string) => void,
  failed: (error: unknown) => void,
): Promise<Arrivals> {
  const { watch } = await import('chokidar');
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
  return { close: () => watcher.close() };
}
