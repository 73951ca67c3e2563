// `ralph plan watch`: starts every plan that is moved into Approved/Plans, one after the other, each once.

import { basename, extname } from 'node:path';
import { serversPath } from '../../../app/actions.ts';
import { resolveRunConfig } from '../../../app/app.ts';
import { withLease } from '../../../app/loops/find.ts';
import { type Context, type Flags, placeOf, type Words } from '../../../cli/context.ts';
import { watchSignals } from '../../../cli/interrupt.ts';
import type { Problem } from '../../../documents/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { isWithin } from '../../../text/step-path.ts';
import { endingOf } from '../../../views/ending.ts';
import { modeName } from '../../registry.ts';
import { type RecordApproval, recordApproval } from '../session/approve.ts';
import { agentAtMove } from '../session/file-move.ts';
import { isPlainFile, isSettled, type PlanFile, plansUnder, readPlan } from '../session/files.ts';
import { loopOfPlan, type PlanLoop, planKey, refreshDashboard, writeViewFile } from '../session/loops.ts';
import { type NoteNeeds, takeNoteAnswers } from '../session/note-answers.ts';
import { approvePlan, doubtfulBoxes, finishPlan, makeVault } from '../session/vault.ts';
import { cannotGoOn } from '../views/dashboard.ts';
import { type BrokenPlan, brokenPlanFile } from '../views/notes.ts';
import { vaultPaths } from '../views/paths.ts';
import { heldExitCode, isApprovedNow, noteNeeds, planArgument, vaultFolder } from './open-plan.ts';
import { Queue, watchFiles } from './watch-files.ts';

const heldRetryMs = 5_000;
const settleMs = 100;
const settleTriesMax = 50;

/** What is there now, and nothing that comes later; the first exit code that is not 0. */
export async function watchOnce(needs: WatchNeeds, stop: AbortSignal): Promise<number> {
  let exitCode = 0;
  for (const path of await plansUnder(vaultPaths(needs.root).yes)) {
    if (stop.aborted) break;
    for (let tries = 1; tries < settleTriesMax && !(await isSettled(path, settleMs)); tries += 1);
    const code = await startApprovedPlan(needs, path);
    if (code === heldExitCode) needs.say(`${path}: another process is at it.`);
    if (exitCode === 0) exitCode = code;
  }
  await writeDashboard(needs);
  return exitCode;
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

async function answeredIn(needs: WatchNeeds, id: string, changed: (path: string) => void): Promise<void> {
  const loop = await loopOfPlan(needs.ledger, { id, path: '' });
  if (loop === undefined || !isWithin(needs.root, loop.row.document)) return;
  if ((await takeNoteAnswers(needs, loop)) === 'taken') changed(loop.row.document);
}

/** Until it is stopped. `ready` is called when every plan that was there at the start is in the queue. */
export async function watchPlans(needs: WatchNeeds, stop: AbortSignal, ready: () => void = () => {}): Promise<void> {
  const { ledger, root, say } = needs;
  const queue = new Queue(stop);
  const seen = new Map<string, number>();
  const retries = new Map<string, NodeJS.Timeout>();
  const unwatch = watchLedger(ledger, seen, queue.add);
  const paths = vaultPaths(root);
  const closeFiles = await watchFiles(paths, needs.servers, {
    plan: queue.add,
    // Also while another plan, or this one, is at work.
    note: id => void answeredIn(needs, id, queue.add).catch(error => say(`A note cannot be read: ${String(error)}`)),
    // What was refused for a server may run now; what waits for a person still waits.
    servers: () => void plansUnder(paths.yes).then(all => all.forEach(queue.add)),
    failed: error => say(`The folder cannot be watched: ${String(error)}`),
  });
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
    await closeFiles();
  }
}

export async function execute(context: Context, _words: Words, flags: Flags): Promise<number> {
  const { runDraft } = await import('../../../cli/commands/run.ts');
  const ledger = await context.ledger({ write: true, create: true, quickCheck: true });
  await makeVault(vaultFolder(context, flags));
  const root = vaultFolder(context, flags); // its real path, now that it is there
  const unattended = { ...flags, mode: 'plan', yes: true, input: false, acceptTicked: true }; // `startApprovedPlan` refuses them
  const resolved = await resolveRunConfig(context.env, context.directory, flags, { mode: modeName('plan') });
  const needs: WatchNeeds = {
    ...noteNeeds(context, ledger, root, flags),
    servers: resolved.ok ? serversPath({ ...context, config: resolved.config }) : undefined,
    settles: resolved.ok && resolved.config.onEscalation === 'skip',
    waiting: new Set(),
    run: path => runDraft(context, { ...placeOf(context), file: path, flags: unattended }),
    record: (path, approval) =>
      recordApproval({ ...placeOf(context), flags: unattended, warn: context.say }, ledger, path, approval),
    name: (path, id) => planArgument(context, { path, root }, id),
  };
  const stop = watchSignals(() => {}); // a loop at work says so itself
  try {
    await writeDashboard(needs);
    const { approved } = vaultPaths(root);
    const ready = (): void =>
      context.say(
        `Watching ${approved} and the folders in it: a plan that is moved there is approved and starts. Ctrl-C ends.`,
      );
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

export interface WatchNeeds extends NoteNeeds {
  /** The file that names the MCP servers. */
  readonly servers?: string | undefined;
  /** A run answers questions by itself (--on-escalation skip). */
  readonly settles?: boolean;
  /** Loops that stand still, with the questions of which it was said that they wait for a person. */
  readonly waiting: Set<string>;
  readonly run: (path: string) => Promise<number>;
  readonly record: RecordApproval;
  /** How a command names the plan at this path. */
  readonly name: (path: string, id: string) => string;
}

const movedIn = { by: 'file move', because: 'by file move: it was put into Approved/Plans' };

/** A dashboard that cannot be written is only told: the plans do not wait for it. */
async function writeDashboard({ ledger, root, say }: WatchNeeds): Promise<void> {
  const problem = await refreshDashboard(ledger, root);
  if (problem !== undefined) say(`Not written: ${problem}.`);
}

/** Says in Needs_Action why nothing is done with this plan. */
async function refuse(
  needs: WatchNeeds,
  plan: BrokenPlan,
  problems: readonly Problem[],
  exitCode: number,
): Promise<number> {
  const { root, say } = needs;
  const { id } = plan;
  const file = brokenPlanFile(root, plan, problems);
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
async function finish(
  { ledger, root, say, areConfined }: WatchNeeds,
  id: string,
  loop: PlanLoop,
): Promise<string | undefined> {
  const isKept = loop.state.questions.open.length > 0 && (await areConfined());
  const { path, problem } = await finishPlan(ledger, root, loop, { areConfined: () => isKept });
  if (problem !== undefined) say(`Plan ${id} was not put away: ${problem}`);
  return path;
}

const waitKey = ({ row, state }: PlanLoop): string => [row.loop, ...state.questions.open.map(one => one.id)].join(' ');

/** A plan that waits for a person is not begun again before they have said something: it is said once. */
async function waits(needs: WatchNeeds, { id }: PlanFile, loop: PlanLoop): Promise<number> {
  const key = waitKey(loop);
  if (!needs.waiting.has(key)) {
    needs.waiting.add(key);
    const names = loop.state.questions.open.map(one => one.id).join(', ');
    needs.say(`Plan ${id} waits for you (${names}): ${vaultPaths(needs.root).blocked(id)}`);
    for (const line of endingOf(loop.state).next) needs.say(`  ${line}`);
    await finish(needs, id, loop);
  }
  return endingOf(loop.state).exitCode;
}

/** Its loop, with what a person has ticked in the note about it. */
async function answeredLoop(needs: WatchNeeds, plan: PlanFile): Promise<PlanLoop | undefined> {
  const loop = await loopOfPlan(needs.ledger, plan);
  if (loop?.row.document !== plan.path) return loop;
  const became = await takeNoteAnswers(needs, loop);
  if (became === 'refused') needs.waiting.add(waitKey(loop)); // said, and written into the note
  return became === 'taken' ? loopOfPlan(needs.ledger, plan) : loop;
}

async function startAlone(needs: WatchNeeds, plan: PlanFile): Promise<number> {
  const { ledger, root, say, run, record } = needs;
  const { id, path } = plan;
  const about = { id, path, objective: plan.document.goal };
  const loop = await answeredLoop(needs, plan);
  const other = otherLoopProblem(plan, loop);
  if (other !== undefined) return refuse(needs, { ...about, id: basename(path, extname(path)) }, [other], 2);
  if (loop?.state.control.ended !== undefined) {
    const now = await finish(needs, id, loop);
    if (now !== undefined && now !== path) say(`Plan ${id} was over already; it lies in ${now} now.`);
    return 0;
  }
  const problem = await approvalProblem(needs, plan, loop);
  if (problem !== undefined) return refuse(needs, about, [problem], 5);
  if (loop !== undefined && cannotGoOn(loop.state) && needs.settles !== true) return waits(needs, plan, loop);
  if (isNew(loop)) await approvePlan({ root, plan, loop, ...movedIn, record });
  say(`Plan ${id}: ${isNew(loop) ? 'approved by file move, starts' : 'goes on'}.`);
  const exitCode = await run(path);
  const after = await loopOfPlan(ledger, plan);
  if (after !== undefined && exitCode !== heldExitCode) {
    if (cannotGoOn(after.state)) needs.waiting.add(waitKey(after)); // the run has said so
    await finish(needs, id, after);
  }
  return exitCode;
}

/** The exit code that `ralph plan run` would have had; 9: another process holds the plan. */
export async function startApprovedPlan(needs: WatchNeeds, path: string): Promise<number> {
  if (!(await isPlainFile(path))) return 0;
  const read = await readPlan(path);
  if (read.type === 'missing') return 0;
  const { approved } = vaultPaths(needs.root);
  // Elsewhere in Approved other things may lie that people said yes to.
  if (read.type === 'broken' && !read.isMeant && !isWithin(approved, path)) return 0;
  if (read.type === 'broken') return refuse(needs, { ...read, path }, read.problems, 2);
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
    const about = { id: plan.id, path, objective: plan.document.goal };
    return refuse(needs, about, [{ message: known.message, fix: known.hint }], known.exitCode);
  }
}

/** No agent, no such server, a secret in the plan, a folder that cannot be written: the others can go on. */
function refusalIn(error: unknown): UsageError | undefined {
  if (error instanceof UsageError) return error;
  if (!(error instanceof Error) || !('syscall' in error)) return undefined;
  return new UsageError(`The system refused something (${error.message}).`, 'Look at that place.', 5);
}
