// What Ralph does in a vault: finds a plan, records its approval where it will run, and puts it away when its loop is over.
import { existsSync } from 'node:fs';
import { mkdir, rmdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { refuseProblems } from '../../../app/problems.ts';
import type { Input } from '../../../core/input.ts';
import type { State } from '../../../core/state.ts';
import { findTask, progress, type TaskSpec } from '../../../core/task.ts';
import type { TaskSource } from '../../../documents/document.ts';
import { replaceFile } from '../../../documents/replace-file.ts';
import { readText } from '../../../documents/text-file.ts';
import { documentInput } from '../../../engine/document.ts';
import type { Ledger } from '../../../ledger/ledger.ts';
import { UsageError } from '../../../text/errors.ts';
import { vaultFolders } from '../../../text/step-path.ts';
import { setPlanFacts, type WrittenFacts } from '../document/marks.ts';
import { lintPlan, type PlanLint } from '../document/plan.ts';
import { isCarriedOut, planStatus } from '../views/dashboard.ts';
import { vaultPaths } from '../views/paths.ts';
import { isFolderOf, movePlan, movePlanAside, type PlanFile, plansOf, readPlan } from './files.ts';
import { type PlanLoop, refreshDashboard, writeLoopViews } from './loops.ts';

const planBytesMax = 16 * 1024 * 1024;
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
    if (!(await isFolderOf(root, folder))) throw leadsOut(folder);
}

const leadsOut = (folder: string): UsageError =>
  new UsageError(`${folder} is a link that leads out of the vault, or no folder.`, 'Put a plain folder in its place.');

/** Every problem of a plan file, and what is worth a look; no problem: it can run. */
export async function lintPlanFile(path: string): Promise<PlanLint> {
  const read = await readText(path, planBytesMax);
  return read.type === 'text' ? lintPlan(read.text) : { problems: [read.problem], notices: [] };
}

/** A file, or the plan of this vault that has this id or file name. */
export async function findPlan(directory: string, root: string, word: string): Promise<string> {
  const path = resolve(directory, word);
  if ((await stat(path).catch(() => undefined))?.isFile()) return path;
  const matches: string[] = [];
  for (const file of await plansOf(vaultPaths(root))) {
    const read = await readPlan(file);
    const id = read.type === 'plan' ? read.plan.id : read.type === 'broken' ? read.id : undefined;
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

/** Steps whose boxes say that nothing is left to do, and of which the ledger knows nothing (B48). */
function unrecorded({ document }: PlanFile, loop: PlanLoop | undefined): readonly TaskSpec[] {
  const isKnown = (id: string): boolean => loop !== undefined && findTask(loop.state.tasks, id) !== undefined;
  return document.tasks.filter(task => (task.done || task.skipped || task.blocked === true) && !isKnown(task.id));
}

/** What a person must say yes to, because nobody else can know it; undefined when there is nothing of the kind. */
export function doubtfulBoxes(plan: PlanFile, loop: PlanLoop | undefined): string | undefined {
  const steps = unrecorded(plan, loop);
  const [only] = steps;
  if (only === undefined) return undefined;
  const names = steps.slice(0, 5).map(task => task.id);
  const which = steps.length === 1 ? `${only.id} is` : `${names.join(', ')}${steps.length > 5 ? ', …' : ''} are`;
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

/** Why this plan cannot be approved any more; undefined when it can. */
export function refusalOf(plan: PlanFile, loop: PlanLoop | undefined): UsageError | undefined {
  if (loop === undefined) return undefined;
  const { row, state } = loop;
  if (state.ended?.reason === 'goal_achieved')
    return new UsageError(
      `Plan ${plan.id} was ${isCarriedOut(state) ? 'carried out' : 'left out'} by loop ${row.name}, and no plan runs twice.`,
      'Give the new one a plan_id of its own.',
    );
  if (state.ended !== undefined)
    return new UsageError(
      `Loop ${row.name} of plan ${plan.id} has ended.`,
      `Reopen it, counters kept: ralph resume ${row.name}; then approve what was edited.`,
    );
  return otherFile(plan, loop);
}

/** No plan runs twice, not even under another name, in another vault, or as a copy. */
export function otherFile({ id, path }: Pick<PlanFile, 'id' | 'path'>, loop: PlanLoop): UsageError | undefined {
  const { document, name } = loop.row;
  if (document === path) return undefined;
  return new UsageError(
    `Plan ${id} belongs to ${document} (loop ${name}), and no plan runs twice.`,
    existsSync(document)
      ? 'Run that file; or, if this is another plan, give it a plan_id of its own.'
      : 'Move the file back there; or, if this is another plan, give it a plan_id of its own.',
  );
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
  const refusal = refusalOf(plan, loop);
  if (refusal !== undefined) throw refusal;
  const moved = loop === undefined ? await movePlan(plan.path, root, vaultPaths(root).approved) : undefined;
  if (moved?.type === 'outside') throw leadsOut(moved.path);
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
  if (loop === undefined || loop.state.iterations === 0) await writeFacts(path, plan.id, { status: 'approved' });
  return { path, loop: name };
}

/** Facts in the front matter, as the ledger has them; false: it is another plan, or somebody keeps writing the file. */
async function writeFacts(path: string, id: string, facts: WrittenFacts): Promise<boolean> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const read = await readPlan(path);
    if (read.type !== 'plan' || read.plan.id !== id) return false;
    const { text, mode, identity } = read.plan;
    const changed = setPlanFacts(text, facts);
    if (changed === text) return true;
    const replaced = await replaceFile(path, Buffer.from(changed, 'utf8'), { mode, expected: identity });
    if (replaced.type === 'replaced') return true;
  }
  return false;
}

function factsOf(state: State): WrittenFacts {
  const { done } = progress(state.tasks);
  const isIdle = state.iterations === 0 && state.ended === undefined && state.escalations.length === 0;
  return {
    status: isIdle && state.approval !== undefined ? 'approved' : planStatus(state),
    completed_steps: done,
    iterations_used: state.iterations,
  };
}

export interface Finished {
  /** Where the plan lies now; undefined when it is no longer where its loop worked on it. */
  readonly path?: string;
  /** Why it was not put away. */
  readonly problem?: string;
}

/** What is left to do when a loop is over or stands still; as often as it is asked, with one result. */
export async function finishPlan(ledger: Ledger, root: string, { row, state }: PlanLoop): Promise<Finished> {
  const paths = vaultPaths(root);
  await writeLoopViews(ledger, root, row);
  let [path, problem]: readonly (string | undefined)[] = [];
  const isCompleted = isCarriedOut(state);
  if (state.loaded && (await writeFacts(row.document, state.projectId, factsOf(state)))) {
    const isOurs = row.document.startsWith(`${root}/`) && dirname(row.document) !== paths.done;
    const moved = isCompleted && isOurs ? await movePlanAside(row.document, root, paths.done) : undefined;
    path = moved?.type === 'moved' ? moved.path : row.document;
    if (moved?.type === 'outside') problem = leadsOut(moved.path).message;
  }
  // Only when it is empty: what somebody else put there is theirs.
  if (isCompleted) await rmdir(paths.stateFolder(state.projectId)).catch(() => {});
  await refreshDashboard(ledger, root);
  return { path, problem };
}
