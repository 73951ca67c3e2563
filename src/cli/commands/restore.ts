// `ralph undo` and `ralph checkpoint restore`: what will happen, a yes, what happened, and how to take it back.
import { basename } from 'node:path';
import {
  isNothing,
  type Preview,
  pathsMax,
  prepareRestore,
  type RestoreRequest,
  restoreRequest,
  workStanding,
} from '../../app/restore.ts';
import { type CheckpointedLoop, finishRewind, type RewindOrder, type Rewound, rewind } from '../../app/rewind.ts';
import { hasUserDocument, type RestoreDue, type State } from '../../core/state.ts';
import { allTasks, mayHaveHappened, type TaskThen } from '../../core/task.ts';
import type { RestorePlan } from '../../git/checkpoints.ts';
import { UsageError } from '../../text/errors.ts';
import { plural } from '../../text/format.ts';
import { newLoop, reopenLine } from '../../views/ending.ts';
import { checkpointsOf, countOf, rowWords } from '../checkpoints.ts';
import { type Context, type Flags, printJson, senderOf, type Words } from '../context.ts';
import { confirm, fitted, hanging, makeStyle, plain, type Style } from '../terminal.ts';

const taskWords: Readonly<Record<TaskThen['status'], string>> = {
  pending: 'open again',
  done: 'done again',
  skipped: 'skipped again',
};

function tasksLine(tasks: readonly TaskThen[]): string {
  const groups = (['pending', 'done', 'skipped'] as const).flatMap(status => {
    const ids = tasks.filter(one => one.status === status).map(one => one.id);
    const named = ids.slice(0, 8).join(', ') + (ids.length > 8 ? ` and ${ids.length - 8} more` : '');
    return ids.length === 0 ? [] : [`${taskWords[status]}: ${named}`];
  });
  return groups.join('; ') || 'all stay as they are';
}

function pathLines(plan: RestorePlan, style: Style): readonly string[] {
  const rows = [
    ...plan.written.map(path => ['write ', path]),
    ...plan.deleted.map(path => ['delete', path]),
    ...plan.merged.map(path => ['merge ', path]),
    ...plan.kept.map(path => ['keep  ', path]),
  ];
  const lines = rows
    .slice(0, pathsMax)
    .map(([how, path]) => `    ${how} ${fitted(path ?? '', style.columns() - 12, style)}`);
  return rows.length > pathsMax ? [...lines, `    ... and ${rows.length - pathsMax} more (--json names all)`] : lines;
}

type Counts = Readonly<Record<keyof RestorePlan, number>>;

const countWords = (counts: Counts, verb: 'done' | 'to do', overwrite: boolean): string => {
  const { written, deleted, merged, kept } = counts;
  const [write, remove, merge] =
    verb === 'done' ? ['written', 'deleted', 'merged'] : ['to write', 'to delete', 'to merge'];
  const yours = [
    ...(merged > 0 ? [`${merged} ${merge} with your edits${overwrite ? ' or put over them' : ''}`] : []),
    ...(kept > 0 ? [`${kept} of yours kept as they are`] : []),
  ];
  return [`${plural(written, 'file')} ${write}`, `${deleted} ${remove}`, ...yours].join(', ');
};

/** The document is no file of the checkpoint: Ralph writes the tasks into it as they are then. */
const documentWords = (state: State): string =>
  hasUserDocument(state) && state.settings.policy.achievedBy !== 'rounds'
    ? `; ${plain(basename(state.loop.document))} will show it`
    : '';

/** What an action did in the world is not in the files. */
const hasActed = ({ tasks }: State): boolean => [...allTasks(tasks)].some(mayHaveHappened);

function announcement(
  { state }: CheckpointedLoop,
  { title, to, overwrite, codeOnly }: RestoreRequest,
  { plan, tasks }: Preview,
  style: Style,
): readonly string[] {
  const { written, deleted, merged, kept } = plan;
  const counts = { written: written.length, deleted: deleted.length, merged: merged.length, kept: kept.length };
  const line = (name: string, text: string): string => hanging(`  ${name.padEnd(9)} `, text, style.columns());
  return [
    hanging('', `${title}, to ${plain(rowWords(to))}.`, style.columns()),
    line('files', countWords(counts, 'to do', overwrite)),
    ...pathLines(plan, style),
    line(
      'tasks',
      codeOnly ? 'left alone (--code-only)' : `${tasksLine(tasks)}${tasks.length === 0 ? '' : documentWords(state)}`,
    ),
    ...(hasActed(state) ? [line('actions', 'stay done: what a plan did in the world cannot be taken back')] : []),
    ...(state.settings.commits ? [line('commits', 'stay: git status will show the difference as changes')] : []),
    line('counters', 'go on: iterations, cost and time are never given back'),
  ];
}

function json({ row }: CheckpointedLoop, { to }: RestoreRequest, { plan, tasks }: Preview, done?: Rewound) {
  const { written, deleted, merged, kept } = plan;
  const isRestored = done?.type === 'done';
  const outcome = { restored: isRestored, before: isRestored ? done.before : null };
  const files = { written, deleted, merged, kept };
  return { loop: row.loop, name: row.name, to: to.number, ...outcome, ...files, tasks };
}

function report(context: Context, loop: CheckpointedLoop, order: RewindOrder, done: Rewound): void {
  const { name } = loop.row;
  if (done.type === 'failed') throw new UsageError(`Not restored: ${plain(done.problem)}`, 'ralph inbox', 5);
  if (done.type === 'asked') {
    context.say(`The restore of checkpoint ${order.to.number} is asked for, and is done as soon as ${name} rests.`);
    context.say(`  Watch it: ralph events ${name} -f`);
    return;
  }
  const { refused, written, deleted, merged, kept } = done.event;
  if (refused !== undefined) throw new UsageError(`Not restored: ${plain(refused)}`, `ralph explain ${name}`);
  const counts = countWords({ written, deleted, merged: merged.length, kept: kept.length }, 'done', order.overwrite);
  context.say(`Restored checkpoint ${order.to.number}: ${counts}.`);
  context.say(`  Take it back: ralph undo ${name}   # checkpoint ${done.before} holds what was there`);
  const next = nextWords(loop, order);
  if (next !== undefined) context.say(`  Go on: ${next}`);
}

function nextWords({ state, isHeld, row }: CheckpointedLoop, { tasks = [] }: RewindOrder): string | undefined {
  if (isHeld && state.control.ended === undefined)
    return state.control.paused === undefined ? undefined : `ralph resume ${row.name}`;
  if (state.control.ended?.reason !== 'goal_achieved') return reopenLine(state) ?? `ralph resume ${row.name}`;
  const isOpen = tasks.some(one => one.status === 'pending');
  if (!isOpen) return undefined;
  return state.mode.achieved === undefined ? `ralph resume ${row.name}` : newLoop;
}

/** Where nobody can be asked, the yes must be said by a flag. */
function refuseUnasked(flags: Flags): void {
  if (flags['yes'] === true || flags['dryRun'] === true) return;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true)
    throw new UsageError(
      'This changes files, and there is no terminal to ask at.',
      'Say --yes, or look with --dry-run.',
    );
}

const agreed = async (question: string, flags: Flags): Promise<boolean> => flags['yes'] === true || confirm(question);

/** A restore that was cut comes first, and running again completes it (F07). */
async function finish(context: Context, loop: CheckpointedLoop, due: RestoreDue, isDry: boolean): Promise<number> {
  const what = `The restore of checkpoint ${due.to.number} that ${due.by} asked for`;
  if (isDry) context.say(`${what} was cut, and is finished first. Dry run: nothing was changed.`);
  else {
    context.say(`${what} was cut: it is finished now, and nothing else.`);
    report(context, loop, due, await finishRewind(loop, senderOf(context), due));
  }
  return 0;
}

async function carryOut(
  context: Context,
  given: CheckpointedLoop,
  request: RestoreRequest,
  flags: Flags,
): Promise<number> {
  const isDry = flags['dryRun'] === true;
  refuseUnasked(flags);
  const prepared = await prepareRestore(given, request, isDry ? undefined : senderOf(context));
  const { loop } = prepared;
  if (prepared.type === 'due') return finish(context, loop, prepared.due, isDry);
  const { preview, order } = prepared;
  const printed = (done?: Rewound): number =>
    flags['json'] === true ? printJson(context, json(loop, request, preview, done)) : 0;
  if (isNothing(preview)) {
    context.say(`Nothing to do: files and tasks are as at ${plain(rowWords(request.to))}.`);
    if (hasActed(loop.state)) context.say('  What a plan did in the world cannot be taken back.');
    return printed();
  }
  if (flags['json'] !== true)
    for (const line of announcement(loop, request, preview, makeStyle(flags))) context.say(line);
  if (isDry) {
    printed();
    context.say('Dry run: nothing was changed.');
    return 0;
  }
  if (!(await agreed('Press Enter to do it, Ctrl-C to leave ', flags))) {
    context.say('Nothing was changed.');
    return 130;
  }
  const done = await rewind(loop, senderOf(context), order);
  report(context, loop, order, done);
  return printed(done);
}

/** The last act: the last iteration, or the last restore. */
export async function undo(context: Context, [name]: Words, flags: Flags): Promise<number> {
  const loop = await checkpointsOf(context, name, { writes: flags['dryRun'] !== true });
  const count = flags['steps'] === undefined ? 0 : (await workStanding(loop)).length;
  const hint = count === 0 ? 'No iteration stands in these files.' : `Give a number from 1 to ${count}.`;
  const options = { steps: countOf(flags, 'steps', count, hint), overwrite: flags['overwrite'] === true };
  return carryOut(context, loop, await restoreRequest(loop, options), flags);
}

/** Files, untracked files and task states as they were at a checkpoint. */
export async function restore(context: Context, [first, second]: Words, flags: Flags): Promise<number> {
  const isNumber = first !== undefined && (second !== undefined || /^\d+$/.test(first));
  const [number, name] = isNumber ? [first, second] : [undefined, first];
  const loop = await checkpointsOf(context, name, { writes: flags['dryRun'] !== true });
  const { iteration } = flags;
  if (iteration !== undefined && number !== undefined && number !== 'latest')
    throw new UsageError('Give a checkpoint or --iteration, not both.', 'ralph help checkpoint restore');
  const options = {
    checkpoint: number ?? 'latest',
    iteration: iteration === undefined ? undefined : String(iteration),
    codeOnly: flags['codeOnly'] === true,
    overwrite: flags['overwrite'] === true,
  };
  return carryOut(context, loop, await restoreRequest(loop, options), flags);
}
