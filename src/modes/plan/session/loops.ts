// Loops of a vault's plans, from the ledger: which plan each is of, its files written anew, and the dashboard of all plans.
import { existsSync } from 'node:fs';
import { lstat, readFile } from 'node:fs/promises';
import { dirname, relative } from 'node:path';
import { stateOf } from '../../../app/app.ts';
import { eventsIn } from '../../../app/loops/find.ts';
import { initialState, type State } from '../../../core/state.ts';
import { progress } from '../../../core/task.ts';
import { putView } from '../../../engine/publish.ts';
import type { Ledger, LoopRow } from '../../../ledger/ledger.ts';
import { isWithin } from '../../../text/step-path.ts';
import { evolve } from '../../evolve.ts';
import type { ViewFile } from '../../mode.ts';
import { isSameNote } from '../views/answers.ts';
import { type DashboardRow, dashboard, isCarriedOut, planStatus } from '../views/dashboard.ts';
import { type NoteFacts, VaultView } from '../views/files.ts';
import { type VaultPaths, vaultPaths } from '../views/paths.ts';
import { type PlanFile, plansOf, readPlan } from './files.ts';

export interface PlanLoop {
  readonly row: LoopRow;
  readonly state: State;
}

const loopsMax = 1_000;

/** The newest loop of each plan of this vault, by plan id; of very many the newest. */
async function loopsOf(ledger: Ledger, root: string): Promise<ReadonlyMap<string, PlanLoop>> {
  const rows = (await ledger.store.loops()).filter(row => row.document.startsWith(`${root}/`)).slice(0, loopsMax);
  const found = new Map<string, PlanLoop>();
  for (const row of rows) {
    const { state } = await stateOf(ledger, row.loop);
    if (state.settings.policy.vault && !found.has(state.loop.projectId))
      found.set(state.loop.projectId, { row, state });
  }
  return found;
}

/**
 * By its id, over the whole ledger: one plan has one loop for good, wherever its file lies, whatever it is called, and however
 * many copies there are of it.
 */
export async function loopOfPlan(
  ledger: Ledger,
  { path, id }: Pick<PlanFile, 'path' | 'id'>,
): Promise<PlanLoop | undefined> {
  let newest: PlanLoop | undefined;
  for (const row of await ledger.store.loops({ project: id })) {
    const { state } = await stateOf(ledger, row.loop);
    if (!state.settings.policy.vault || state.loop.projectId !== id) continue;
    if (row.document === path) return { row, state };
    newest ??= { row, state };
  }
  return newest;
}

/** The lease of whoever begins or runs a plan, wherever its file lies. */
export const planKey = (id: string): string => `plan:${id}`;

/** Whether it is this file's loop, or was before the plan was put away in the same vault. */
export const isOwnLoop = ({ row, state }: PlanLoop, root: string, { path }: PlanFile): boolean =>
  row.document === path || (state.control.ended !== undefined && row.document.startsWith(`${root}/`));

/**
 * Written only where it differs, so that nobody who watches the folder is woken for nothing; never out of the vault.
 * Undefined, or why it was not written.
 */
export async function writeViewFile(root: string, file: ViewFile): Promise<string | undefined> {
  const { path, text } = file;
  const there = await lstat(path).catch(() => undefined);
  if (there === undefined && text === null) return undefined;
  // A pipe would be read for ever.
  const before = there?.isFile() ? await readFile(path, 'utf8').catch(() => undefined) : undefined;
  const isThere = before !== undefined && text !== null && isSameNote(before, text);
  return isThere ? undefined : putView([root], file);
}

/** For a loop whose own process ended before it had written its last word. */
export async function writeLoopViews(ledger: Ledger, root: string, row: LoopRow, facts?: NoteFacts): Promise<void> {
  const view = new VaultView(root, facts);
  let state: State = initialState;
  for await (const { event } of eventsIn(ledger, row.loop)) {
    state = evolve(state, event);
    view.add(event);
  }
  for (const file of view.files(state)) await writeViewFile(root, file);
}

/** The part of a row that the ledger knows. */
function loopFields({ state }: PlanLoop): Partial<DashboardRow> {
  const { done, total } = progress(state.tasks);
  const isIdle = state.iterations.begun === 0 && state.control.ended === undefined;
  const isLeftOut = state.control.ended?.reason === 'goal_achieved' && !isCarriedOut(state);
  const ended =
    state.control.ended?.reason === 'explicit_stop' ? 'stopped' : isLeftOut ? 'left_out' : planStatus(state);
  const status = isIdle ? 'approved' : ended;
  const at = state.control.ended?.at ?? (isIdle ? 0 : state.loop.startedAt);
  const counts = total > 0 ? { completed: done, total } : {};
  return { status, iterations: state.iterations.begun, at, ...counts };
}

/** A note in Needs_Action says why nobody goes on with it, and goes away with the reason. */
const isRefused = (paths: VaultPaths, { plan, status }: DashboardRow): boolean =>
  (status === 'approved' || status === 'executing') && existsSync(paths.blocked(plan));

async function dashboardRow(
  path: string,
  paths: VaultPaths,
  loops: ReadonlyMap<string, PlanLoop>,
): Promise<DashboardRow | undefined> {
  const read = await readPlan(path);
  const folder = dirname(path);
  const empty = { file: relative(paths.root, path), objective: '', completed: 0, total: 0, iterations: 0, at: 0 };
  if (read.type === 'missing') return undefined;
  if (read.type === 'broken')
    return read.isMeant || isWithin(paths.approved, folder) ? { ...empty, plan: read.id, status: 'broken' } : undefined;
  const { id, document } = read.plan;
  const loop = loops.get(id);
  const row: DashboardRow = {
    ...empty,
    plan: id,
    objective: document.goal,
    completed: document.tasks.filter(task => task.done).length,
    total: document.tasks.length,
    status: isWithin(paths.yes, folder) ? 'approved' : 'awaiting_approval',
    ...(loop && loopFields(loop)),
  };
  if (folder === paths.done) return { ...row, status: 'completed' };
  return isRefused(paths, row) ? { ...row, status: 'blocked' } : row;
}

/** Undefined, or why it was not written. */
export async function refreshDashboard(ledger: Ledger | undefined, root: string): Promise<string | undefined> {
  const paths = vaultPaths(root);
  const loops = ledger === undefined ? new Map<string, PlanLoop>() : await loopsOf(ledger, root);
  const rows: DashboardRow[] = [];
  for (const path of await plansOf(paths)) {
    const row = await dashboardRow(path, paths, loops);
    if (row !== undefined) rows.push(row);
  }
  return writeViewFile(root, { path: paths.dashboard, text: dashboard(rows) });
}
