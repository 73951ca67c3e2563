// The tasks.json format: an agent or a person lists tasks; read with defaults, marked without touching another byte.
import type { TaskMark, TaskSpec, TaskStatus } from '../../core/task.ts';
import { shown } from '../../text/text.ts';
import { type JsonFields, jsonTaskFormat, type TaskEdit } from '../json-tasks.ts';
import { idRule } from '../task-checks.ts';

export const projectTasks = jsonTaskFormat({
  name: 'tasks',
  list: 'tasks',
  example: '{ "project_name": … }',
  anchors: ['status', 'id'],

  /** Also true for a broken document, so that its faults are told. An editor's tasks.json has none of the second keys. */
  recognises(fileName, text) {
    return (
      /\.json$/i.test(fileName) &&
      /"tasks"\s*:\s*\[/.test(text) &&
      /"(?:project_name"\s*:|max_attempts"\s*:|dependencies"\s*:\s*\[)/.test(text)
    );
  },

  wording: { noun: 'task', plural: 'tasks', dependenciesKey: () => 'dependencies' },
  about: readAbout,
  task: () => readTask,
  moreNotices: 'things are worth a look',
  mark: markTask,
});

/** Everything that is read; the rest of a document is the writer's own. */
export const tasksKeys = {
  list: 'tasks',
  document: ['project_name', 'version', 'tasks'],
  row: [
    ...['id', 'title', 'description', 'criteria', 'status', 'dependencies', 'attempts', 'max_attempts', 'blocked'],
    ...['blocked_reason', 'skipped', 'mayChangeTests'],
  ],
};

/** The names of seed 002; only these are written. */
type WrittenStatus = 'pending' | 'in_progress' | 'completed' | 'blocked';

/** What may stand in the file. The second group are our own names, which agents that read our status use too. */
const writtenStatus: ReadonlyMap<string, WrittenStatus> = new Map([
  ['pending', 'pending'],
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
  ['blocked', 'blocked'],
  ['active', 'in_progress'],
  ['done', 'completed'],
  ['skipped', 'blocked'],
]);

/** What a human left out is blocked for every reader of the format; `skipped` keeps the two apart for us. */
function markTask(task: TaskEdit, mark: TaskMark): void {
  const status: TaskStatus = mark.status ?? (mark.done ? 'done' : mark.skipped ? 'skipped' : 'pending');
  const written = writtenStatus.get(status)!;
  if (writtenStatus.get(task.string('status') ?? 'pending') !== written) task.set('status', `"${written}"`);
  if (mark.attempts !== undefined) task.set('attempts', String(mark.attempts), '0');
  task.set('blocked', String(written === 'blocked'), 'false');
  task.set('skipped', String(status === 'skipped'), 'false');
}

const attemptsHighest = 1_000_000;

/** Lenient where people leave things out, strict where a value could mislead. */
function readAbout(fields: JsonFields) {
  const project = fields.text('project_name', 'Name the project.');
  const { version } = fields.value;
  if (version !== undefined && version !== 1) fields.notice(`version is ${shown(version)}; it is read as version 1.`);
  return { project, goal: project };
}

function readTask(fields: JsonFields): TaskSpec {
  const id = fields.text('id', idRule);
  return {
    id: id.trim() === '' ? '' : fields.validId(id),
    title: fields.text('title', 'Give the task a short title.'),
    description: fields.optionalText('description'),
    criteria: readTexts(fields, 'criteria', 'text in double quotes', 'State what must be true, in quotes.'),
    dependsOn: [...new Set(readTexts(fields, 'dependencies', 'an id', 'Write the id in quotes.'))],
    ...readStatus(fields),
    ...readAttempts(fields),
    mayChangeTests: fields.boolean('mayChangeTests') || undefined,
  };
}

function readTexts(fields: JsonFields, key: string, rule: string, fix: string): readonly string[] {
  return (fields.list(key) ?? []).map((entry, row) => {
    if (typeof entry === 'string' && entry.trim() !== '') return fields.watched(entry, key, row);
    fields.wrong([key, row], rule, entry, fix);
    return '';
  });
}

/** `in_progress` is a task that somebody began and nobody finished: it is open. */
function readStatus(fields: JsonFields): Pick<TaskSpec, 'done' | 'skipped' | 'blocked' | 'blockedReason'> {
  const written = fields.has('status') ? fields.value['status'] : 'pending';
  const status = typeof written === 'string' ? writtenStatus.get(written) : undefined;
  if (status === undefined) {
    const rule = '"pending", "in_progress", "completed" or "blocked"';
    fields.wrong(['status'], rule, written, 'Write one of these four.');
  } else if (written !== status) {
    fields.notice(`${fields.name('status')} ${shown(written)} is read as ${shown(status)}.`);
  }
  const isBlocked = fields.boolean('blocked') || status === 'blocked';
  const isSkipped = fields.boolean('skipped');
  if (status !== 'completed')
    return {
      done: false,
      skipped: isSkipped,
      blocked: (isBlocked && !isSkipped) || undefined,
      blockedReason: isBlocked && !isSkipped ? reasonOf(fields) : undefined,
    };
  if (isBlocked || isSkipped) fields.notice(`${fields.name()} is completed and also blocked: it is read as completed.`);
  return { done: true, skipped: false };
}

/** The rest of a document is its writer's own: what is no text says nothing. */
const reasonOf = (fields: JsonFields): string | undefined =>
  typeof fields.value['blocked_reason'] === 'string' ? fields.optionalText('blocked_reason') || undefined : undefined;

/** B49: numbers that cannot be meant are brought into order, and said. */
function readAttempts(fields: JsonFields): Pick<TaskSpec, 'attemptsBefore' | 'attemptsMax'> {
  const most = readCount(fields, 'max_attempts');
  const before = readCount(fields, 'attempts') ?? 0;
  const name = fields.name('attempts');
  if (most !== undefined && most < 1) {
    fields.notice(`${fields.name('max_attempts')} is ${most}: the loop's own limit of attempts holds instead.`);
  }
  const attemptsMax = most === undefined || most < 1 ? undefined : most;
  if (before < 0) fields.notice(`${name} is ${before}: it is read as 0.`);
  if (attemptsMax !== undefined && before > attemptsMax) {
    fields.notice(
      `${name} is ${before}, more than max_attempts: it is read as ${attemptsMax}, so that no attempt is left.`,
    );
  }
  const attemptsBefore = Math.min(Math.max(0, before), attemptsMax ?? attemptsHighest);
  return { attemptsBefore: attemptsBefore || undefined, attemptsMax };
}

function readCount(fields: JsonFields, key: string): number | undefined {
  const value = fields.value[key];
  if (!fields.has(key)) return undefined;
  if (Number.isSafeInteger(value) && Math.abs(value as number) <= attemptsHighest) return value as number;
  fields.wrong([key], `a whole number up to ${attemptsHighest}`, value, `Write "${key}": 0 or more.`);
  return undefined;
}
