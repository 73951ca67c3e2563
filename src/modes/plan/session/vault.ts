// Vault of plans: finds a plan, moves an approved one to where it will run, and puts it away when its loop is over.
import { existsSync } from 'node:fs';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { refuseProblems } from '../../../app/problems.ts';
import type { Input } from '../../../core/input.ts';
import type { State } from '../../../core/state.ts';
import { findTask, progress } from '../../../core/task.ts';
import type { TaskSource } from '../../../documents/document.ts';
import { replaceFile } from '../../../documents/replace-file.ts';
import { documentInput } from '../../../engine/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { isWithin, personsFolders, vaultFolders, vaultRootOf } from '../../../text/step-path.ts';
import type { ModeSession } from '../../mode.ts';
import { setPlanFacts, type WrittenFacts } from '../document/marks.ts';
import { isCarriedOut, planStatus } from '../views/dashboard.ts';
import type { NoteFacts } from '../views/files.ts';
import { vaultPaths } from '../views/paths.ts';
import { isFolderOf, movePlan, movePlanToFreeName, type PlanFile, plansOf, readPlan } from './files.ts';
import { isOwnLoop, loopOfPlan, type PlanLoop, refreshDashboard, writeLoopViews } from './loops.ts';

const triesMax = 5;

/** A yes to exactly one text. */
export interface Approval {
  readonly subject: string;
  readonly hash: string;
  readonly by: string;
  readonly because: string;
}

/** Makes sure that a vault has its folders. */
export async function makeVault(root: string): Promise<void> {
  const { approved } = vaultPaths(root);
  await mkdir(root, { recursive: true });
  for (const folder of [...vaultFolders.map(name => join(root, name)), approved])
    if (!(await isFolderOf(root, folder))) throw outsideError(folder);
}

const outsideError = (folder: string): UsageError =>
  new UsageError(`${folder} is a link that leads out of the vault, or no folder.`, 'Put a plain folder in its place.');

/** A plan that can run as it is written; anything else is refused with all its problems. */
export async function planAt(path: string, name = path): Promise<PlanFile> {
  const read = await readPlan(path);
  return read.type === 'read' ? read.plan : refuseProblems(read.problems, name);
}

/** A file, or the plan of this vault that has this id or file name. */
export async function findPlan(directory: string, root: string, word: string): Promise<string> {
  const path = resolve(directory, word);
  if ((await stat(path).catch(() => undefined))?.isFile()) return path;
  const matches: string[] = [];
  for (const file of await plansOf(vaultPaths(root))) {
    const read = await readPlan(file);
    const id = read.type === 'read' ? read.plan.id : read.type === 'broken' ? read.id : undefined;
    if (id === word || file.endsWith(`/${word}`) || file.endsWith(`/${word}.md`)) matches.push(file);
  }
  const [only, second] = matches;
  if (only === undefined)
    throw new UsageError(
      `There is no plan ${JSON.stringify(word.slice(0, 200))}, neither as a file nor in ${root}.`,
      'Name its file or its plan_id; another vault: --vault DIR',
    );
  if (second !== undefined)
    throw new UsageError(`Several plans are called ${word}: ${matches.join(', ')}.`, 'Name the file.');
  return only;
}

/**
 * Steps whose boxes say that nothing is left to do, and of which the ledger knows nothing (B48), as a sentence: only a person
 * can know whether they are right. Undefined when there are none.
 */
export function doubtfulBoxes({ document }: PlanFile, loop: PlanLoop | undefined): string | undefined {
  const isKnown = (id: string): boolean => loop !== undefined && findTask(loop.state.tasks, id) !== undefined;
  const steps = document.tasks.filter(
    task => (task.done || task.skipped || task.blocked === true) && !isKnown(task.id),
  );
  if (steps.length === 0) return undefined;
  const names = steps.slice(0, 5).map(task => task.id);
  const which = `${names.join(', ')}${steps.length > 5 ? ', …' : ''} ${steps.length === 1 ? 'is' : 'are'}`;
  return `${which} marked in the plan as done, failed or left out, and Ralph has no record of that.`;
}

/** Never trusted in silence: refused unless somebody says that the boxes are right. */
export function refuseDoubtfulBoxes(plan: PlanFile, loop: PlanLoop | undefined): void {
  const doubt = doubtfulBoxes(plan, loop);
  if (doubt === undefined) return;
  throw new UsageError(doubt, 'Untick what is still to be done, or say that the boxes are right: --accept-ticked', 5);
}

/** The plan as it stands when its loop begins: from then on a box that somebody ticks is an edit, and not believed. */
export async function planAsRead(source: TaskSource): Promise<Input> {
  const loaded = await source.load();
  if (loaded.type === 'loaded') return documentInput(loaded);
  refuseProblems(loaded.type === 'failed' ? loaded.problems : []);
}

/** A plan whose loop is over, or that is another file's, cannot be approved any more. */
export function refuseApproval(plan: PlanFile, loop: PlanLoop | undefined): void {
  if (loop === undefined) return;
  const { row, state } = loop;
  if (state.control.ended?.reason === 'goal_achieved')
    throw new UsageError(
      `Plan ${plan.id} was ${isCarriedOut(state) ? 'carried out' : 'left out'} by loop ${row.name}, and no plan runs twice.`,
      'Give the new one a plan_id of its own.',
    );
  if (state.control.ended !== undefined)
    throw new UsageError(
      `Loop ${row.name} of plan ${plan.id} has ended.`,
      `Reopen it, counters kept: ralph resume ${row.name}; then approve what was edited.`,
    );
  refuseOtherFile(plan, loop);
}

/** No plan runs twice, not even under another name, in another vault, or as a copy. */
function refuseOtherFile({ id, path }: PlanFile, { row: { document, name } }: PlanLoop): void {
  if (document === path) return;
  const way = existsSync(document) ? 'Run that file' : 'Move the file back there';
  throw new UsageError(
    `Plan ${id} belongs to ${document} (loop ${name}), and no plan runs twice.`,
    `${way}; or, if this is another plan, give it a plan_id of its own.`,
  );
}

/** Once it was approved, a plan cannot say that it needs none. */
export const mayRun = (plan: PlanFile, loop: PlanLoop | undefined): boolean =>
  loop?.state.document.approval === undefined
    ? !plan.isApprovalRequired
    : loop.state.document.approval.hash === plan.hash;

/** The plan's loop when it is over: put away if that was cut. No plan runs twice, also not as another file. */
export async function endedLoopOf(ledger: Ledger, root: string, plan: PlanFile): Promise<PlanLoop | undefined> {
  const loop = await loopOfPlan(ledger, plan);
  if (loop === undefined) return undefined;
  if (loop.state.control.ended === undefined) {
    refuseOtherFile(plan, loop);
    return undefined;
  }
  if (isOwnLoop(loop, root, plan)) await finishPlan(ledger, root, loop);
  return loop;
}

/** What is left to do when its loop is over or stands still; gives the path where the plan lies then. */
export async function putAway(ledger: Ledger, root: string, plan: PlanFile): Promise<string | undefined> {
  const loop = await loopOfPlan(ledger, plan);
  return loop && isOwnLoop(loop, root, plan) ? (await finishPlan(ledger, root, loop)).path : undefined;
}

export interface ApproveNeeds {
  readonly root: string;
  readonly plan: PlanFile;
  /** The loop of this plan, when there is one. */
  readonly loop: PlanLoop | undefined;
  readonly by: string;
  readonly because: string;
  /** Records it in the loop of the plan at this path, which is begun when there is none; gives the loop's name. */
  readonly record: (path: string, approval: Approval) => Promise<string>;
}

/**
 * The file goes first: a crash before the record leaves an approved plan that nobody has recorded, which a watch then takes
 * for what it is, approved by its place.
 */
export async function approvePlan(needs: ApproveNeeds): Promise<{ readonly path: string; readonly loop: string }> {
  const { root, plan, loop, by, because, record } = needs;
  refuseApproval(plan, loop);
  const { yes, approved } = vaultPaths(root);
  const isThere = loop !== undefined || isWithin(yes, plan.path);
  const moved = isThere ? undefined : await movePlan(plan.path, root, approved);
  if (moved?.type === 'outside') throw outsideError(moved.path);
  if (moved?.type === 'in-the-way')
    throw new UsageError(
      `${moved.path} is there already.`,
      'Move that one away or rename this one; nothing was approved.',
    );
  const path = moved?.path ?? plan.path;
  const name = await record(path, { subject: plan.id, hash: plan.hash, by, because }).catch(async error => {
    // Not recorded, so not approved: it must not lie there as if it were.
    if (path !== plan.path) await movePlan(path, dirname(plan.path), dirname(plan.path));
    throw error;
  });
  if (loop === undefined || loop.state.iterations.begun === 0) await writeFacts(path, plan.id, { status: 'approved' });
  return { path, loop: name };
}

/** Facts in the front matter, as the ledger has them; false: it is another plan, or somebody keeps writing the file. */
async function writeFacts(path: string, id: string, facts: WrittenFacts): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const read = await readPlan(path);
    if (read.type !== 'read' || read.plan.id !== id) return false;
    const { text, mode, identity } = read.plan;
    const changed = setPlanFacts(text, facts);
    if (changed === text) return true;
    const replaced = await replaceFile(path, Buffer.from(changed, 'utf8'), { mode, expected: identity });
    if (replaced.type === 'replaced') return true;
  }
  return false;
}

function factsOf(state: State): WrittenFacts {
  const isIdle = state.iterations.begun === 0 && state.control.ended === undefined && state.questions.open.length === 0;
  return {
    status: isIdle && state.document.approval !== undefined ? 'approved' : planStatus(state),
    completed_steps: progress(state.tasks).done,
    iterations_used: state.iterations.begun,
  };
}

/**
 * Writes the views and the facts of a loop that is over or stands still, and puts a carried out plan into Done; as often as
 * it is asked, with one result. `path`: where the plan lies now; undefined when it is no longer where its loop worked on it.
 * `problem`: why it was not put away.
 */
export async function finishPlan(
  ledger: Ledger,
  root: string,
  { row, state }: PlanLoop,
  facts: NoteFacts = {},
): Promise<{ readonly path?: string; readonly problem?: string }> {
  const paths = vaultPaths(root);
  await writeLoopViews(ledger, root, row, facts);
  const isCompleted = isCarriedOut(state);
  const isThere = state.document.isLoaded && (await writeFacts(row.document, state.loop.projectId, factsOf(state)));
  const isInVault = row.document.startsWith(`${root}/`);
  const moved =
    isThere && isCompleted && isInVault ? await movePlanToFreeName(row.document, root, paths.done) : undefined;
  // Only when it is empty: what somebody else put there is theirs.
  if (isCompleted) await rmdir(paths.stateFolder(state.loop.projectId)).catch(() => {});
  await refreshDashboard(ledger, root);
  return {
    path: moved?.type === 'moved' ? moved.path : isThere ? row.document : undefined,
    problem: moved?.type === 'outside' ? outsideError(moved.path).message : undefined,
  };
}

/** What says yes to plans and answers questions, and which programs are servers. */
export const planSession: ModeSession = {
  readOnly: ({ path, directory }, { mcpConfig }) => [
    ...personsFolders.map(name => join(vaultRootOf(path, directory), name)),
    ...(mcpConfig === undefined ? [] : [resolve(directory, mcpConfig)]),
  ],
};
