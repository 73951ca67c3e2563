// `ralph task list`: every task in the order of the document, what became of it, and what it waits for.

import { type Subject, subjectOf } from '../../app/task-subject.ts';
import { allTasks, levelWords, type Task } from '../../core/task.ts';
import { columnsOf, padColumns } from '../../text/columns.ts';
import { plural } from '../../text/format.ts';
import { visible } from '../../text/text.ts';
import { statusWords } from '../../views/words.ts';
import { type Context, type Flags, printJson, taskPlace, type Words } from '../context.ts';
import { isCut, isOrphaned, taskJson, waitWords } from '../task-words.ts';
import { fitted, makeStyle, type Style, type Tone } from '../terminal.ts';

const idColumnsMax = 20;
const tones: Readonly<Partial<Record<string, Tone>>> = {
  done: 'good',
  [statusWords.active]: 'attention',
  cut: 'attention',
  blocked: 'bad',
};

interface Line {
  readonly id: string;
  readonly status: string;
  readonly attempts: number;
  readonly title: string;
  readonly waits: string;
}

function linesOf({ table, loop, unread }: Subject): readonly Line[] {
  const known = [...allTasks(table)].map((task: Task) => ({
    id: task.id,
    status: isCut(task, loop) ? 'cut' : statusWords[task.status],
    attempts: task.attempts,
    title: task.spec.title,
    waits: waitWords(table, task, loop),
  }));
  const waits = loop?.state.control.ended === undefined ? 'not read yet' : 'for a new loop';
  const fresh = unread.map(({ id, title }) => ({ id, status: 'new', attempts: 0, title, waits }));
  return [...known, ...fresh];
}

/** What it waits for is worth more than the end of a long title. */
function printed(line: Line, idColumns: number, columns: number, style: Style): string {
  const tries = line.attempts === 0 ? '' : `${line.attempts}x`;
  const status = style.paint(tones[line.status] ?? 'quiet', line.status.padEnd(7));
  const room = columns - idColumns - 16;
  const waits = line.waits === '' ? '' : fitted(`  (${visible(line.waits)})`, Math.floor(room * 0.6), style);
  const title = fitted(visible(line.title), room - columnsOf(waits), style);
  return `${padColumns(fitted(line.id, idColumns, style), idColumns)}  ${status}  ${tries.padEnd(3)}  ${title}${waits}`;
}

/** `7 tasks: 3 done, 1 at work, 3 open` */
function countWords({ table, unread, loop }: Subject): string {
  const { counts, size, unverified } = table;
  const ofDone =
    unverified === 0 ? '' : ` (${unverified === counts.done ? '' : `${unverified} of them `}${levelWords.unverified})`;
  const named = (['done', 'active', 'pending', 'blocked', 'skipped'] as const)
    .filter(status => counts[status] > 0)
    .map(
      status =>
        `${counts[status]} ${status === 'active' && isOrphaned(loop) ? 'cut' : statusWords[status]}${status === 'done' ? ofDone : ''}`,
    );
  const fresh = unread.length === 0 ? [] : [`${unread.length} new`];
  return `${plural(size + unread.length, 'task')}: ${[...named, ...fresh].join(', ')}`;
}

const json = ({ loop, path, table, unread }: Subject) => ({
  loop: loop?.row.loop ?? null,
  name: loop?.row.name ?? null,
  ended: loop?.row.reason ?? null,
  running: loop?.isAlive ?? false,
  document: path,
  tasks: [...allTasks(table)].map(task => taskJson(table, task)),
  unread: unread.map(({ id, title }) => ({ id, title })),
  counts: table.counts,
});

export async function execute(context: Context, [word]: Words, flags: Flags): Promise<number> {
  const subject = await subjectOf(await taskPlace(context), word);
  if (flags['json'] === true) return printJson(context, json(subject));
  const style = makeStyle(flags, process.stdout);
  const columns = process.stdout.isTTY ? style.columns() : Number.POSITIVE_INFINITY;
  const lines = linesOf(subject);
  const idColumns = Math.min(
    process.stdout.isTTY ? idColumnsMax : columns,
    Math.max(...lines.map(line => columnsOf(line.id))),
  );
  for (const line of lines) context.out(printed(line, idColumns, columns, style));
  const { loop } = subject;
  const whose = loop === undefined ? 'no loop yet' : `loop ${loop.row.name}`;
  context.out(
    `${countWords(subject)}  (${whose}${loop?.row.reason ? `, ended: ${loop.row.reason.replaceAll('_', ' ')}` : ''})`,
  );
  for (const notice of subject.notices) context.say(`note: ${visible(notice)}`);
  return 0;
}
