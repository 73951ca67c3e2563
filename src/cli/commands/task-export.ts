// `ralph task export`: the tasks of a loop, with the statuses that its ledger proves, or of a file, as another document.

import { realpathSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { type Subject, subjectOf } from '../../app/task-subject.ts';
import { converted, type Loss, visible, type WriterName, writeDocument, writerNamed } from '../../app/tasks.ts';
import { allTasks, type Task, type TaskSpec } from '../../core/task.ts';
import { UsageError } from '../../text/errors.ts';
import { plural, someOf } from '../../text/format.ts';
import { type Context, type Flags, taskPlace, textFlag, type Words } from '../context.ts';

const formats: readonly (WriterName | 'json')[] = ['prd', 'tasks', 'checklist', 'yaml', 'json'];

/** A task as a document would have it: what the ledger says of it, and nothing of what only a loop needs. */
function specOf(task: Task): TaskSpec {
  const { id, title, description, criteria, dependsOn, status, attempts } = task;
  const { mayChangeTests, performer, order, attemptsMax, readOnly, interactive, completion, round, role } = task;
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

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const to = textFlag(flags, 'to') ?? '-';
  const format = await formatOf(flags['format'], to);
  const subject = await subjectOf(await taskPlace(context), word);
  if (to !== '-') refuseItself(subject.path, pathOf(context, to));
  const backlog = backlogOf(subject);
  const { text, losses } = await converted(backlog, format);
  if (to === '-') context.out(text.trimEnd());
  else await writeDocument(pathOf(context, to), text, { writer: format, isForced: flags['force'] === true });
  const whose = subject.loop === undefined ? visible(basename(subject.path)) : `loop ${subject.loop.row.name}`;
  const said = subject.loop === undefined ? 'as the file says, which nobody has proven' : 'as the ledger has them';
  if (to !== '-')
    context.say(
      `${plural(backlog.tasks.length, 'task')} of ${whose} are in ${visible(basename(to))} (${format}); statuses ${said}.`,
    );
  if (to !== '-' || losses.length > 0) for (const line of lossLines(losses)) context.say(line);
  return 0;
}

// What a conversion could not carry over, as lines for people; and the files that one names.

const idsMax = 5;

/** The first line says whether there is anything to worry about. */
export function lossLines(losses: readonly Loss[]): readonly string[] {
  if (losses.length === 0) return ['  Everything was carried over.'];
  return [
    '  Not carried over:',
    ...losses.map(({ what, tasks, because }) => {
      const whose = tasks.length === 0 ? '' : ` of ${someOf(tasks, idsMax)}`;
      return `    ${visible(what)}${visible(whose)}: ${because}`;
    }),
  ];
}

export function pathOf({ directory }: Context, word: string): string {
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
export function refuseItself(from: string, to: string): void {
  const real = realPath(to);
  if (real === undefined || real !== realPath(from)) return;
  throw new UsageError(
    `${visible(basename(to))} is the file itself: what cannot be carried over would be lost.`,
    'Name another one: --to FILE',
  );
}
