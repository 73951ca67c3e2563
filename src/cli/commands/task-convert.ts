// `ralph task export` and `ralph task import`: the tasks of a loop or of a document as another document.

import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { newestLoop } from '../../app/loops/find.ts';
import { type Subject, subjectOf } from '../../app/task-subject.ts';
import {
  converted,
  type Loss,
  readTaskFile,
  suspiciousComments,
  type TaskFile,
  unreadParts,
  type WriterName,
  writeDocument,
  writerNamed,
} from '../../app/tasks.ts';
import { allTasks, type Task, type TaskSpec } from '../../core/task.ts';
import { UsageError } from '../../text/errors.ts';
import { plural, someOf } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import { type Context, type Flags, ledgerIfAny, taskPlace, textFlag, type Words } from '../context.ts';
import { runWords, undoWords } from '../task-words.ts';

const lossIdsMax = 5;
const openIdsMax = 10;

/** The first line says whether there is anything to worry about. */
function lossLines(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return ['  Everything was carried over.'];
  return [
    '  Not carried over:',
    ...losses.map(({ what, tasks, because }) => {
      const whose = tasks.length === 0 ? '' : ` of ${someOf(tasks, lossIdsMax)}`;
      return `    ${visible(what)}${visible(whose)}: ${because}`;
    }),
  ];
}

function pathOf({ directory }: Context, word: string): string {
  if (word === '') throw new UsageError('The file has no name.', 'ralph task import fix_plan.md --to PRD.json');
  if (word.includes('\0')) throw new UsageError('The file name holds a NUL character.');
  return resolve(directory, word);
}

const realPath = (path: string): string | undefined => {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
};

/** Also when it is told to replace what is there. */
function refuseItself(from: string, to: string): void {
  const real = realPath(to);
  if (real === undefined || real !== realPath(from)) return;
  throw new UsageError(
    `${visible(basename(to))} is the file itself: what cannot be carried over would be lost.`,
    'Name another one: --to FILE',
  );
}

const formats: readonly (WriterName | 'json')[] = ['prd', 'tasks', 'checklist', 'yaml', 'json'];

/** A task as a document would have it: what the ledger says of it, and nothing of what only a loop needs. */
function specOf(task: Task): TaskSpec {
  const { id, status, attempts } = task;
  const { title, description, criteria, dependsOn } = task.spec;
  const { mayChangeTests, performer, order, attemptsMax, readOnly, interactive, completion, round, role } = task.spec;
  return {
    id,
    title,
    description,
    criteria,
    dependsOn,
    done: status === 'done',
    skipped: status === 'skipped',
    blocked: status === 'blocked' ? true : undefined,
    attemptsBefore: attempts > 0 ? attempts : undefined,
    mayChangeTests,
    performer,
    order,
    attemptsMax,
    readOnly,
    interactive,
    completion,
    round,
    role,
  };
}

function formatOf(flag: unknown, to: string): Promise<WriterName | 'json'> {
  if (flag === undefined) return to === '-' ? Promise.resolve('json') : writerNamed(to);
  const format = formats.find(one => one === flag);
  if (format !== undefined) return Promise.resolve(format);
  throw new UsageError(
    `There is no format ${JSON.stringify(visible(String(flag).slice(0, 40)))}.`,
    `Say one of ${formats.join(', ')}.`,
  );
}

const backlogOf = ({ project, goal, table, unread }: Subject) => ({
  project,
  goal,
  tasks: [...[...allTasks(table)].map(specOf), ...unread],
});

/** With the statuses that the ledger of a loop proves. */
export async function exportTasks(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const to = textFlag(flags, 'to') ?? '-';
  const format = await formatOf(flags['format'], to);
  const subject = await subjectOf(await taskPlace(context), word);
  if (to !== '-') refuseItself(subject.path, pathOf(context, to));
  const backlog = backlogOf(subject);
  const { text, losses } = await converted(backlog, format);
  const path = pathOf(context, to);
  const order = { writer: format, isForced: flags['force'] === true };
  const written = to === '-' ? undefined : await writeDocument(path, text, order);
  if (written === undefined) context.out(text.trimEnd());
  const whose = subject.loop === undefined ? visible(basename(subject.path)) : `loop ${subject.loop.row.name}`;
  const said = subject.loop === undefined ? 'as the file says, which nobody has proven' : 'as the ledger has them';
  if (to !== '-')
    context.say(
      `${plural(backlog.tasks.length, 'task')} of ${whose} are in ${visible(basename(to))} (${format}); statuses ${said}.`,
    );
  if (to !== '-' || losses.length > 0) for (const line of lossLines(losses)) context.say(line);
  if (written !== undefined) context.say(undoWords(context.directory, path, written));
  return 0;
}

/** What a loop of this very file has brought to an end, by its ledger. */
async function recordedIn(context: Context, path: string): Promise<ReadonlySet<string>> {
  const { closedIn } = await import('../../app/session/earlier-loop.ts');
  return closedIn((await newestLoop(await ledgerIfAny(context), realpathSync(path)))?.state);
}

/** Nobody knows who ticked it before there was a record (B48). */
function reopened(
  tasks: readonly TaskSpec[],
  recorded: ReadonlySet<string>,
): { tasks: readonly TaskSpec[]; ticked: readonly string[] } {
  const isDoubtful = ({ id, done, skipped }: TaskSpec): boolean => (done || skipped) && !recorded.has(id);
  return {
    tasks: tasks.map(task => (isDoubtful(task) ? { ...task, done: false, skipped: false } : task)),
    ticked: tasks.filter(isDoubtful).map(task => task.id),
  };
}

/** JSON formats do not look for comments themselves. */
const noticesOf = ({ format, document }: TaskFile): readonly string[] => {
  const comments = format.name === 'prd' || format.name === 'tasks' ? suspiciousComments(document.tasks) : [];
  return [...document.notices, ...comments];
};

/** As a new document, with a list of what was left behind. */
export async function importTasks(context: Context, [from = '']: Words, flags: Flags): Promise<number> {
  const source = pathOf(context, from);
  const target = pathOf(context, textFlag(flags, 'to') ?? 'PRD.json');
  const name = visible(basename(target));
  const writer = await writerNamed(target);
  const file = await readTaskFile(source);
  refuseItself(source, target);
  const all = file.document.tasks;
  const { tasks, ticked } =
    flags['acceptTicked'] === true ? { tasks: all, ticked: [] } : reopened(all, await recordedIn(context, source));
  const { text, losses } = await converted({ ...file.document, tasks }, writer);
  const [was, is, them] = ticked.length === 1 ? ['was', 'is', 'it'] : ['were', 'are', 'them'];
  const isDry = flags['dryRun'] === true;
  const order = { writer, isForced: flags['force'] === true };
  const written = isDry ? undefined : await writeDocument(target, text, order);
  if (isDry) context.out(text.trimEnd());
  context.say(
    `${plural(tasks.length, 'task')} of ${visible(basename(source))} (${file.format.name}) ${isDry ? 'would be' : 'are'} in ${name} (${writer}).`,
  );
  if (ticked.length > 0)
    context.say(
      `  ${plural(ticked.length, 'task')} that ${was} ticked or skipped ${is} open there: ${someOf(ticked, openIdsMax)}. Nobody knows who ticked ${them}; to keep that: --accept-ticked`,
    );
  for (const line of lossLines([...(await unreadParts(file)), ...losses])) context.say(line);
  const bare = writer === 'prd' ? tasks.filter(task => task.criteria.length === 0).map(task => task.id) : [];
  if (bare.length > 0)
    context.say(
      `  Without criteria: ${someOf(bare, openIdsMax)}. Write some (how will we know it is done?), or run with --no-criteria.`,
    );
  for (const notice of noticesOf(file)) context.say(`note: ${visible(notice)}`);
  if (written === undefined) return 0;
  context.say(`  ${visible(basename(source))} is as it was. Next: ${runWords(context.directory, target)}`);
  context.say(undoWords(context.directory, target, written));
  return 0;
}
