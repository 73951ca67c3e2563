// One restore at the terminal: what will happen, a yes, what happened, and how to take it back.
import {
  finishRewind,
  isInterrupted,
  previewRestore,
  type RewindOrder,
  type Rewound,
  recordInterrupted,
  rewind,
  tasksThen,
} from '../app/rewind.ts';
import type { TaskThen } from '../core/event.ts';
import type { RestoreDue, State } from '../core/state.ts';
import { allTasks, mayHaveHappened } from '../core/task.ts';
import type { RestorePlan } from '../git/workspace.ts';
import { UsageError } from '../text/errors.ts';
import { plural } from '../text/format.ts';
import type { CheckpointRow } from '../views/checkpoints.ts';
import { fileWords, type Kept, refuseUnquiet, rowWords } from './checkpoints.ts';
import type { Context, Flags } from './context.ts';
import { confirm, fitted, hanging, makeStyle, plain, type Style } from './terminal.ts';

export interface RewindWish {
  readonly to: CheckpointRow;
  readonly because: string;
  /** `Undo in loop shop: takes back iteration 3`. */
  readonly title: string;
  readonly codeOnly: boolean;
  readonly overwrite: boolean;
}

interface Foreseen {
  readonly plan: RestorePlan;
  readonly tasks: readonly TaskThen[];
}

const pathsMax = 10;

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
  return [`${fileWords(written)} ${write}`, `${deleted} ${remove}`, ...yours].join(', ');
};

const countsOf = (plan: RestorePlan): Counts => ({
  written: plan.written.length,
  deleted: plan.deleted.length,
  merged: plan.merged.length,
  kept: plan.kept.length,
});

function announce(context: Context, { history }: Kept, wish: RewindWish, foreseen: Foreseen, style: Style): void {
  const { plan, tasks } = foreseen;
  const columns = style.columns();
  const line = (name: string, text: string): void => context.say(hanging(`  ${name.padEnd(9)} `, text, columns));
  context.say(hanging('', `${wish.title}, to ${plain(rowWords(wish.to))}.`, columns));
  line('files', countWords(countsOf(plan), 'to do', wish.overwrite));
  for (const path of pathLines(plan, style)) context.say(path);
  line('tasks', wish.codeOnly ? 'left alone (--code-only)' : tasksLine(tasks));
  if (hasDeeds(history.state)) line('actions', 'stay done: what a plan did in the world cannot be taken back');
  if (history.state.settings.commits) line('commits', 'stay: git status will show the difference as changes');
  line('counters', 'go on: iterations, cost and time are never given back');
}

const hasDeeds = ({ tasks }: State): boolean => [...allTasks(tasks)].some(mayHaveHappened);

/** Its plan has been put away, and no plan runs twice: there is nobody who could go on from an earlier state. */
function refuseOver({ history: { state, row } }: Kept, codeOnly: boolean): void {
  if (state.settings.mode !== 'plan' || state.ended?.reason !== 'goal_achieved' || codeOnly) return;
  throw new UsageError(
    `Plan ${state.projectId} is over (loop ${row.name}): what it did in the world cannot be taken back.`,
    `Only the files that its agents changed: ralph checkpoint restore NUMBER ${row.name} --code-only`,
  );
}

/** Refused before anything is asked of the loop. */
async function foresee({ history, workspace }: Kept, wish: RewindWish): Promise<Foreseen> {
  const { to, overwrite, codeOnly } = wish;
  const plan = await previewRestore(history, workspace, to, overwrite);
  if (!plan.ok) {
    const { conflicts } = plan;
    const list = conflicts.slice(0, pathsMax).map(path => `\n    ${fitted(path, 70, { ascii: true })}`);
    const more = conflicts.length > pathsMax ? `\n    ... and ${conflicts.length - pathsMax} more` : '';
    throw new UsageError(
      conflicts.length === 0
        ? plan.problem
        : `${fileWords(conflicts.length)} changed by you since the last checkpoint cannot be merged. Nothing was restored.`,
      conflicts.length === 0
        ? (plan.fix ?? '')
        : `${list.join('').trimStart()}${more}\n  --overwrite takes the checkpoint's version; yours is kept in a checkpoint that is made first.`,
    );
  }
  return { plan, tasks: codeOnly ? [] : await tasksThen(history, to.settledSeq) };
}

const isNothing = ({ plan, tasks }: Foreseen): boolean =>
  plan.written.length + plan.deleted.length + plan.merged.length + tasks.length === 0;

function json({ history }: Kept, wish: RewindWish, { plan, tasks }: Foreseen, done: Rewound | undefined): string {
  const { written, deleted, merged, kept } = plan;
  const outcome = done?.type === 'done' ? { restored: true, before: done.before } : { restored: false, before: null };
  const { loop, name } = history.row;
  const { number } = wish.to;
  const files = { written, deleted, merged, kept };
  return JSON.stringify({ version: 1, loop_id: loop, name, to: number, ...outcome, ...files, tasks }, null, 2);
}

function report(context: Context, { history }: Kept, order: RewindOrder, done: Rewound): number {
  const { name } = history.row;
  if (done.type === 'failed') throw new UsageError(`Not restored: ${plain(done.problem)}`, 'ralph inbox', 5);
  if (done.type === 'asked') {
    context.say(`The restore of checkpoint ${order.to.number} is asked for, and is done as soon as ${name} rests.`);
    context.say(`  Watch it: ralph events ${name} -f`);
    return 0;
  }
  const { refused, written, deleted, merged, kept } = done.event;
  if (refused !== undefined) throw new UsageError(`Not restored: ${plain(refused)}`, `ralph explain ${name}`);
  const counts = countWords({ written, deleted, merged: merged.length, kept: kept.length }, 'done', order.overwrite);
  context.say(`Restored checkpoint ${order.to.number}: ${counts}.`);
  context.say(`  Take it back: ralph undo ${name}   # checkpoint ${done.before} holds what was there`);
  const go = goOnWords(history, order);
  if (go !== undefined) context.say(`  Go on: ${go}`);
  return 0;
}

function goOnWords({ state, isHeld, row }: Kept['history'], { tasks = [] }: RewindOrder): string | undefined {
  if (isHeld && state.ended === undefined) return state.paused === undefined ? undefined : `ralph resume ${row.name}`;
  if (state.ended?.reason !== 'goal_achieved') return 'the same command as before';
  const isOpen = tasks.some(one => one.status === 'pending');
  return isOpen ? 'the same command as before; it starts a new loop' : undefined;
}

/** A restore that was cut comes first, and running again completes it (F07). */
async function finish(context: Context, kept: Kept, due: RestoreDue, isDry: boolean): Promise<number> {
  const what = `The restore of checkpoint ${due.to.number} that ${due.by} asked for`;
  if (isDry) {
    context.say(`${what} was cut, and is finished first. Dry run: nothing was changed.`);
    return 0;
  }
  context.say(`${what} was cut: it is finished now, and nothing else.`);
  const { env, by, say } = context;
  return report(context, kept, due, await finishRewind(kept.history, { env, by, warn: say }, kept.workspace, due));
}

/** Where nobody can be asked, the yes must be said by a flag. */
export function refuseUnasked(flags: Flags): void {
  if (flags['yes'] === true || flags['dryRun'] === true) return;
  if (process.stdin.isTTY !== true || process.stderr.isTTY !== true)
    throw new UsageError(
      'This changes files, and there is no terminal to ask at.',
      'Say --yes, or look with --dry-run.',
    );
}

export const agreed = async (question: string, flags: Flags): Promise<boolean> =>
  flags['yes'] === true || confirm(question);

/** Work that was cut is kept first, so that it can be told from a person's edits, and come back. */
async function settled(context: Context, kept: Kept): Promise<Kept> {
  const { env, by, say } = context;
  const { workspace } = kept;
  const history = await recordInterrupted(kept.history, { env, by, warn: say }, workspace);
  const [live] = history.state.live;
  if (live === undefined) return { history, workspace };
  throw new UsageError(
    `Loop ${history.row.name} was cut when iteration ${live.iteration} began, and goes on with it.`,
    `Let it: the same \`ralph run\` as before. Or end it first: ralph stop ${history.row.name}`,
    9,
  );
}

export async function carryOut(context: Context, given: Kept, wish: RewindWish, flags: Flags): Promise<number> {
  const isDry = flags['dryRun'] === true;
  const isJson = flags['json'] === true;
  refuseUnasked(flags);
  refuseOver(given, wish.codeOnly);
  refuseUnquiet(given);
  const kept = isInterrupted(given.history) && !isDry ? await settled(context, given) : given;
  if (kept.history.state.restoreDue !== undefined) return finish(context, kept, kept.history.state.restoreDue, isDry);
  const style = makeStyle(flags);
  const foreseen = await foresee(kept, wish);
  if (isNothing(foreseen)) {
    context.say(`Nothing to do: files and tasks are as at ${plain(rowWords(wish.to))}.`);
    if (hasDeeds(kept.history.state)) context.say('  What a plan did in the world cannot be taken back.');
    if (isJson) context.out(json(kept, wish, foreseen, undefined));
    return 0;
  }
  if (!isJson) announce(context, kept, wish, foreseen, style);
  if (isDry) {
    if (isJson) context.out(json(kept, wish, foreseen, undefined));
    context.say('Dry run: nothing was changed.');
    return 0;
  }
  if (!(await agreed('Press Enter to do it, Ctrl-C to leave ', flags))) return 130;
  const { env, by, say } = context;
  const tasks = wish.codeOnly ? undefined : foreseen.tasks;
  const order = { to: wish.to, because: wish.because, overwrite: wish.overwrite, tasks };
  const done = await rewind(kept.history, { env, by, warn: say }, kept.workspace, order);
  const code = report(context, kept, order, done);
  if (isJson) context.out(json(kept, wish, foreseen, done));
  return code;
}

export const stepsHint = (count: number): string =>
  count === 0 ? 'No iteration stands in these files.' : `${plural(count, 'iteration')} can be taken back.`;
