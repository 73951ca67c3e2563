// Restore of a checkpoint, for every surface: which one is meant, why it is refused, and what it would do.
import type { Command } from '../core/input.ts';
import { waitingFor } from '../core/next.ts';
import { hasStorageTrouble, type RestoreDue } from '../core/state.ts';
import { findTask, type TaskThen } from '../core/task.ts';
import type { RestorePlan } from '../git/checkpoints.ts';
import { UsageError } from '../text/errors.ts';
import { plural } from '../text/format.ts';
import { stripControls } from '../text/text.ts';
import { type CheckpointRow, restoreExclusions, type Standing, undoTarget } from '../views/checkpoints.ts';
import type { Sender, Sent } from './loops/commands.ts';
import {
  type CheckpointedLoop,
  commitOfNow,
  finishRewind,
  type History,
  type HistoryNeeds,
  isInterrupted,
  newestVerifiedNumber,
  openHistory,
  previewRestore,
  type RewindOrder,
  type Rewound,
  recordInterrupted,
  recordOf,
  restoreCommand,
  rewind,
  tasksThen,
} from './rewind.ts';

/** Refused where there can be no checkpoint; `say`: what was repaired on the way. */
export async function openCheckpoints(
  needs: HistoryNeeds,
  heals: boolean,
  say: (sentence: string) => void,
): Promise<CheckpointedLoop> {
  const history = await openHistory(needs, heals);
  for (const one of history.healed) say(`note: ${one}`);
  const { checkpoints, state, list, row } = history;
  if (list.rows.length === 0 && checkpoints !== undefined && state.settings.checkpoints)
    throw new UsageError(`Loop ${row.name} has no checkpoint yet.`, 'The first is made before its first iteration.');
  if (checkpoints === undefined && state.loop.branch !== undefined)
    throw new UsageError(
      `The worktree of loop ${row.name} is gone: ${state.loop.directory}.`,
      `It is made again, as its last checkpoint holds it, when the loop goes on: ralph resume ${row.name}`,
    );
  if (checkpoints === undefined)
    throw new UsageError(
      `${state.loop.directory} is not in a git repository, so its checkpoints are records without files: no diff, no undo, no restore.`,
      'Before the next loop: git init, and a first commit.',
    );
  if (list.rows.length === 0)
    throw new UsageError(
      `Loop ${row.name} keeps no checkpoints, so there is no undo.`,
      'It was started with --no-checkpoints, or before this folder became a git repository.',
    );
  return { ...history, checkpoints };
}

/** The range and what is gone, in words. */
function rangeWords({ list, missing, pruned }: History): string {
  const [first, last] = [list.rows[0]?.number ?? 0, list.rows.at(-1)?.number ?? 0];
  const gone = [...missing, ...pruned].sort((one, other) => one - other).map(String);
  const without = gone.length === 0 ? '' : `, but for ${gone.slice(0, 10).join(', ')}${gone.length > 10 ? ' ...' : ''}`;
  return `${first === last ? `There is only ${first}` : `There are ${first} to ${last}`}${without}.`;
}

export function rowOf(history: History, number: number | string): CheckpointRow {
  const isNumber = /^\d{1,9}$/.test(String(number));
  const found = isNumber ? history.list.rows.find(one => one.number === Number(number)) : undefined;
  if (found !== undefined) return found;
  const last = history.list.rows.at(-1)?.number ?? 0;
  if (Number(number) === last + 1 && history.state.control.ended?.reason === 'goal_achieved')
    throw new UsageError(
      `${Number(number)} is the record of the end, without files of its own: nothing can be restored from it.`,
      `The files of that moment: ralph checkpoint restore ${last} ${history.row.name}`,
    );
  const shown = JSON.stringify(String(number).slice(0, 40));
  throw new UsageError(
    `Loop ${history.row.name} has no checkpoint ${shown}. ${rangeWords(history)}`,
    `See them: ralph checkpoint list ${history.row.name}`,
  );
}

/** Its files are still in git. */
export function presentRow(history: History, number: number | string): CheckpointRow {
  const row = rowOf(history, number);
  const { pruned, missing } = history;
  if (pruned.has(row.number)) throw new UsageError(`Checkpoint ${row.number} was pruned. ${rangeWords(history)}`);
  if (missing.has(row.number))
    throw new UsageError(
      `Checkpoint ${row.number} is missing: git no longer holds its commit ${row.commit.slice(0, 12)}. ${rangeWords(history)}`,
      `See the others: ralph checkpoint list ${history.row.name}`,
    );
  return row;
}

/** What a restore may take: there, of the loop's folder, and with a record that verifies unless only files are asked for. */
async function wholeRow(history: History, number: number | string, codeOnly: boolean): Promise<CheckpointRow> {
  const row = presentRow(history, number);
  if (row.isFork)
    throw new UsageError(
      `Checkpoint ${row.number} is of the fork of ${row.task ?? 'a task'}, not of the loop's folder.`,
      `Look at it: ralph checkpoint diff ${row.number} ${history.row.name}`,
    );
  if (codeOnly) return row;
  const record = await recordOf(history, row);
  if (record.ok) return row;
  const whole = await newestVerifiedNumber(history);
  const instead = whole === undefined ? 'No other one verifies.' : `The newest that verifies is ${whole}.`;
  throw new UsageError(
    `Checkpoint ${row.number} is damaged: ${record.problem}. ${instead}`,
    `Its files are proven by git itself: ralph checkpoint restore ${row.number} ${history.row.name} --code-only`,
  );
}

async function latestRow(history: History): Promise<CheckpointRow> {
  const whole = await newestVerifiedNumber(history);
  if (whole !== undefined) return rowOf(history, whole);
  throw new UsageError(
    `No checkpoint of ${history.row.name} verifies. ${rangeWords(history)}`,
    'Files alone can still be restored: ralph checkpoint restore N --code-only',
  );
}

export function refuseStorageTrouble({ state, row }: History): void {
  if (hasStorageTrouble(state))
    throw new UsageError(`Loop ${row.name} has trouble with its disk or its files.`, 'Answer it first: ralph inbox', 5);
}

/** A restore needs quiet: nobody at work in the files, nothing wrong with the disk. */
function refuseUnquiet(history: History): void {
  const { state, row, isHeld } = history;
  if (state.settings.worktreePerTask)
    throw new UsageError(
      `Loop ${row.name} works on several tasks at a time (--parallel): each is one commit on ${state.loop.branch ?? 'its branch'}.`,
      'Take one back there: git revert COMMIT',
    );
  if (!state.settings.checkpoints)
    throw new UsageError(
      `Checkpoints are switched off in loop ${row.name}, so nothing can be kept before a restore.`,
      'Run it once without --no-checkpoints.',
    );
  refuseStorageTrouble(history);
  if (state.checkpoints.latest !== undefined && history.missing.has(state.checkpoints.latest.number))
    throw new UsageError(
      `Checkpoint ${state.checkpoints.latest.number} is missing, by which your own edits would be told from the loop's.`,
      `Keep what is there first: ralph checkpoint create ${row.name}`,
    );
  const isIdle = state.control.ended !== undefined || waitingFor(state, Date.now()) !== undefined;
  if (isHeld && !isIdle)
    throw new UsageError(
      `Loop ${row.name} is at work in these files.`,
      `Let it rest first: ralph pause ${row.name} --now (or Ctrl-C where it runs)`,
      9,
    );
}

/** Its plan has been put away, and no plan runs twice: there is nobody who could go on from an earlier state. */
function refuseFinishedPlan({ state, row }: History, codeOnly: boolean): void {
  if (!state.settings.policy.vault || state.control.ended?.reason !== 'goal_achieved' || codeOnly) return;
  throw new UsageError(
    `Plan ${state.loop.projectId} is over (loop ${row.name}): what it did in the world cannot be taken back.`,
    `Only the files that its agents changed: ralph checkpoint restore NUMBER ${row.name} --code-only`,
  );
}

/** A checkpoint, or how it was after an iteration (0: before the first); without either, the last acts are taken back. */
export interface RestoreOptions {
  /** So many iterations; without a number the last act, which may be a restore. */
  readonly steps?: number | undefined;
  readonly checkpoint?: number | string | 'latest' | undefined;
  readonly iteration?: number | string | undefined;
  /** Tasks stay as they are. */
  readonly codeOnly?: boolean;
  /** Takes the checkpoint's version where a person's cannot be merged with it. */
  readonly overwrite?: boolean;
}

export interface RestoreRequest {
  /** `Undo in loop shop: takes back iteration 3`. */
  readonly title: string;
  readonly to: CheckpointRow;
  readonly because: string;
  readonly codeOnly: boolean;
  readonly overwrite: boolean;
}

function afterIteration({ list, row, state }: CheckpointedLoop, iteration: number | string): number {
  const text = String(iteration);
  const number = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  const found = number === 0 ? list.rows[0]?.number : list.iterations.get(number)?.after;
  if (found !== undefined) return found;
  throw new UsageError(
    `Loop ${row.name} has no checkpoint of iteration ${JSON.stringify(text.slice(0, 40))}.`,
    `Give a number from 0 (before the first) to ${state.iterations.begun}.`,
  );
}

export async function restoreRequest(loop: CheckpointedLoop, options: RestoreOptions): Promise<RestoreRequest> {
  const { iteration, codeOnly = false, overwrite = false } = options;
  const number = iteration === undefined ? options.checkpoint : afterIteration(loop, iteration);
  if (number === undefined) return undoRequest(loop, options.steps, overwrite);
  const to = number === 'latest' ? await latestRow(loop) : await wholeRow(loop, number, codeOnly);
  const because = `ralph checkpoint restore ${to.number}`;
  return { to, because, title: `Restore in loop ${loop.row.name}`, codeOnly, overwrite };
}

/** Iterations that stand in the files, newest first: not those that asked, looked, or whose work was set aside. */
export async function workStanding(loop: CheckpointedLoop, most = Infinity): Promise<readonly Standing[]> {
  const found: Standing[] = [];
  for (let one = loop.list.standing; one !== undefined && found.length < most; one = one.below)
    if (await standsInFiles(loop, one)) found.push(one);
  return found;
}

/** Its files, or a claim that was believed without any. */
async function standsInFiles(loop: CheckpointedLoop, { iteration, before }: Standing): Promise<boolean> {
  const { list, state, checkpoints } = loop;
  const { after, closed } = list.iterations.get(iteration) ?? {};
  const rowAt = (number: number | undefined) => list.rows.find(one => one.number === number);
  const [began, ended] = [rowAt(before), rowAt(after)];
  const task = ended?.task === undefined ? undefined : findTask(state.tasks, ended.task);
  if (ended !== undefined && ended.number <= (task?.aside?.checkpoint ?? 0)) return false;
  if (closed && task?.spec.readOnly !== true) return true;
  if (began === undefined || began.tree === ended?.tree) return began === undefined;
  // Cut, and in no checkpoint yet: what is there now is its work.
  const now = ended?.commit ?? (isInterrupted(loop) ? await commitOfNow(loop) : began.commit);
  const except = restoreExclusions(state);
  const plan = await checkpoints.plan({ to: began.commit, base: now, now, except, left: began.left ?? [] });
  return !plan.ok || plan.written.length + plan.deleted.length > 0;
}

/** Refused where nothing stands that could be undone. */
async function undoRequest(
  loop: CheckpointedLoop,
  steps: number | undefined,
  overwrite: boolean,
): Promise<RestoreRequest> {
  const { list, row } = loop;
  const target = undoTarget(list, await workStanding(loop, steps ?? 1), steps);
  if (target === undefined)
    throw new UsageError(
      `There is nothing to undo in loop ${row.name}: no iteration ${steps === undefined ? '' : 'so far back '}stands in these files.`,
      `All its checkpoints: ralph checkpoint list ${row.name}`,
    );
  const to = await wholeRow(loop, target.number, false);
  const what = `takes back ${target.what}`;
  return { to, because: `undo: ${what}`, title: `Undo in loop ${row.name}: ${what}`, codeOnly: false, overwrite };
}

export interface Preview {
  readonly plan: RestorePlan;
  readonly tasks: readonly TaskThen[];
}

/** Files and tasks are as at that checkpoint already. */
export const isNothing = ({ plan, tasks }: Preview): boolean =>
  plan.written.length + plan.deleted.length + plan.merged.length + tasks.length === 0;

/** How many paths of a restore are named. */
export const pathsMax = 10;

function conflictError(conflicts: readonly string[]): UsageError {
  const named = conflicts.slice(0, pathsMax).map(path => {
    const line = stripControls(path).replaceAll('\n', ' ');
    return `\n    ${line.length <= 70 ? line : `${line.slice(0, 67)}...`}`;
  });
  const more = conflicts.length > pathsMax ? `\n    ... and ${conflicts.length - pathsMax} more` : '';
  return new UsageError(
    `${plural(conflicts.length, 'file')} changed by you since the last checkpoint cannot be merged. Nothing was restored.`,
    `${named.join('').trimStart()}${more}\n  --overwrite takes the checkpoint's version; yours is kept in a checkpoint that is made first.`,
  );
}

/** What a restore would do; refused before anything is asked of the loop. */
async function previewOf(
  loop: CheckpointedLoop,
  { to, overwrite, codeOnly }: Omit<RestoreRequest, 'title'>,
): Promise<Preview> {
  const plan = await previewRestore(loop, to, overwrite);
  if (plan.ok) return { plan, tasks: codeOnly ? [] : await tasksThen(loop, to.settledSeq) };
  throw plan.conflicts.length > 0 ? conflictError(plan.conflicts) : new UsageError(plan.problem, plan.fix ?? '');
}

/** Work that was cut is kept first, so that it can be told from a person's edits, and come back. */
async function withCutWorkKept(given: CheckpointedLoop, sender: Sender): Promise<CheckpointedLoop> {
  const loop = await recordInterrupted(given, sender);
  const [live] = loop.state.live;
  if (live === undefined) return loop;
  throw new UsageError(
    `Loop ${loop.row.name} was cut when iteration ${live.iteration} began, and goes on with it.`,
    `Let it: the same \`ralph run\` as before. Or end it first: ralph stop ${loop.row.name}`,
    9,
  );
}

/** `due`: an earlier restore was cut, and comes first (F07). */
export type PreparedRestore =
  | { readonly type: 'due'; readonly loop: CheckpointedLoop; readonly due: RestoreDue }
  | { readonly type: 'ready'; readonly loop: CheckpointedLoop; readonly preview: Preview; readonly order: RewindOrder };

/** Without a sender nothing is written, also not what was cut. */
export async function prepareRestore(
  given: CheckpointedLoop,
  request: Omit<RestoreRequest, 'title'>,
  sender?: Sender,
): Promise<PreparedRestore> {
  refuseFinishedPlan(given, request.codeOnly);
  refuseUnquiet(given);
  const loop = isInterrupted(given) && sender !== undefined ? await withCutWorkKept(given, sender) : given;
  const { restoreDue: due } = loop.state.checkpoints;
  if (due !== undefined) return { type: 'due', loop, due };
  const preview = await previewOf(loop, request);
  const order = { ...request, tasks: request.codeOnly ? undefined : preview.tasks };
  return { type: 'ready', loop, preview, order };
}

/** What a restore would change, and the commands that do it; none: one that was cut is finished first, which is all it does. */
export interface RestoreView extends RestorePlan {
  readonly loop: string;
  readonly name: string;
  readonly title: string;
  readonly to: number;
  readonly tasks: readonly TaskThen[];
  readonly commands: readonly Command[];
}

const nothingChanges: RestorePlan = { written: [], deleted: [], merged: [], kept: [] };

export async function viewRestore(needs: HistoryNeeds, options: RestoreOptions): Promise<RestoreView> {
  const opened = await openCheckpoints(needs, false, () => {});
  const request = await restoreRequest(opened, options);
  const prepared = await prepareRestore(opened, request);
  const { loop, name } = opened.row;
  if (prepared.type === 'due') {
    const { number } = prepared.due.to;
    const title = `Restore of checkpoint ${number}, which was cut`;
    return { ...nothingChanges, loop, name, title, to: number, tasks: [], commands: [] };
  }
  const { plan, tasks } = prepared.preview;
  const { written, deleted, merged, kept } = plan;
  const { title, to } = request;
  const commands = [restoreCommand(prepared.order)];
  return { loop, name, title, to: to.number, written, deleted, merged, kept, tasks, commands };
}

const sentBy = (isHeld: boolean, done: Rewound): Sent => {
  if (done.type === 'asked') return { became: 'waiting' };
  if (done.type === 'failed')
    return { became: 'failed', failure: { kind: 'io', detail: done.problem, hint: 'See its question: ralph inbox' } };
  if (done.event.refused !== undefined) return { became: 'refused', why: 'not-restored' };
  return { became: isHeld ? 'taken' : 'decided' };
};

/** Does it: here, or by the process that holds the loop. Only the number of its checkpoint is taken from the command. */
export async function sendRestore(needs: HistoryNeeds, sender: Sender, wanted: Command | undefined): Promise<Sent> {
  const opened = await openCheckpoints(needs, true, sender.warn);
  const { isHeld, state } = opened;
  const finished = async (loop: CheckpointedLoop, due: RestoreDue) =>
    sentBy(isHeld, await finishRewind(loop, sender, due));
  if (wanted?.type !== 'restore') {
    const { restoreDue: due } = state.checkpoints;
    return due === undefined ? { became: 'decided' } : finished(opened, due);
  }
  const { because, overwrite = false, tasks } = wanted;
  const codeOnly = tasks === undefined;
  const request = { to: await wholeRow(opened, wanted.to.number, codeOnly), because, overwrite, codeOnly };
  const prepared = await prepareRestore(opened, request, sender);
  const { loop } = prepared;
  return prepared.type === 'due'
    ? finished(loop, prepared.due)
    : sentBy(isHeld, await rewind(loop, sender, prepared.order));
}
