// The rules that a tasks.json must keep, lenient where people leave things out and strict where a value could mislead.
import type { TaskSpec } from '../../core/task.ts';
import type { ParsedDocument } from '../document.ts';
import type { JsonPath } from '../json.ts';
import { type ProblemList, pathText, problemsMax } from '../problems.ts';
import { shown, suspicion } from '../../text/shown-text.ts';
import { checkDependencies, checkIds, idPattern, idRule, type Wording } from '../task-checks.ts';

/** The names of seed 002; only these are written. */
export type WrittenStatus = 'pending' | 'in_progress' | 'completed' | 'blocked';

/** What may stand in the file. The second group are our own names, which agents that read our status use too. */
export const writtenStatus: ReadonlyMap<string, WrittenStatus> = new Map([
  ['pending', 'pending'],
  ['in_progress', 'in_progress'],
  ['completed', 'completed'],
  ['blocked', 'blocked'],
  ['active', 'in_progress'],
  ['done', 'completed'],
  ['skipped', 'blocked'],
]);

const attemptsHighest = 1_000_000;
const noTask: TaskSpec = {
  id: '',
  title: '',
  description: '',
  criteria: [],
  dependsOn: [],
  done: false,
  skipped: false,
};

type JsonObject = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Undefined when the value is no task list at all; with problems added, the document is not to be used. */
export function readTasks(value: unknown, problems: ProblemList): ParsedDocument | undefined {
  if (!isObject(value)) {
    problems.add([], `The document must be an object, not ${shown(value)}.`, 'Start it with { "project_name": … }.');
    return undefined;
  }
  const fields = new Fields(problems);
  const project = fields.text(value, [], 'project_name', 'Name the project.');
  const { version } = value;
  if (version !== undefined && version !== 1) fields.notice(`version is ${shown(version)}; it is read as version 1.`);
  const rows = fields.list(value, [], 'tasks');
  if (rows === undefined && value['tasks'] === undefined) {
    problems.add([], 'tasks is missing.', 'Add "tasks": [ … ].');
  }
  if (rows?.length === 0) problems.add(['tasks'], 'tasks is empty.', 'Add at least one task.');
  const tasks = (rows ?? []).map((row, at) => readTask(row, ['tasks', at], fields));
  checkIds(tasks, wordingFor(problems));
  checkDependencies(tasks, wordingFor(problems));
  return { project, goal: project, tasks, notices: fields.notices() };
}

function wordingFor(problems: ProblemList): Wording {
  return {
    noun: 'task',
    plural: 'tasks',
    idName: row => `tasks[${row}].id`,
    dependenciesName: row => `tasks[${row}].dependencies`,
    idPlace: row => ['tasks', row, 'id'],
    dependenciesPlace: row => ['tasks', row, 'dependencies'],
    add: (place, message, fix) => problems.add(place, message, fix),
  };
}

function readTask(value: unknown, at: JsonPath, fields: Fields): TaskSpec {
  if (!isObject(value)) {
    fields.wrong(at, 'an object', value, 'Write it as { "id": … }.');
    return noTask;
  }
  return {
    id: readId(value, at, fields),
    title: fields.text(value, at, 'title', 'Give the task a short title.'),
    description: fields.optionalText(value, at, 'description'),
    criteria: fields.texts(value, at, 'criteria', 'text in double quotes', 'State what must be true, in quotes.'),
    dependsOn: [...new Set(fields.texts(value, at, 'dependencies', 'an id', 'Write the id in quotes.'))],
    ...readStatus(value, at, fields),
    ...readAttempts(value, at, fields),
    mayChangeTests: fields.boolean(value, at, 'mayChangeTests') ? true : undefined,
  };
}

function readId(task: JsonObject, at: JsonPath, fields: Fields): string {
  const id = fields.text(task, at, 'id', idRule);
  if (id.trim() === '' || (idPattern.test(id) && !id.includes('..'))) return id.trim();
  const rule = id.includes('..') ? 'must not hold two dots in a row' : 'is not a valid id';
  fields.problems.add([...at, 'id'], `${pathText([...at, 'id'])} ${rule}: ${shown(id)}.`, idRule);
  return '';
}

/** `in_progress` is a task that somebody began and nobody finished: it is open. */
function readStatus(task: JsonObject, at: JsonPath, fields: Fields): Pick<TaskSpec, 'done' | 'skipped' | 'blocked'> {
  const written = Object.hasOwn(task, 'status') ? task['status'] : 'pending';
  const status = typeof written === 'string' ? writtenStatus.get(written) : undefined;
  const name = pathText([...at, 'status']);
  if (status === undefined) {
    const rule = '"pending", "in_progress", "completed" or "blocked"';
    fields.wrong([...at, 'status'], rule, written, 'Write one of these four.');
  } else if (written !== status) {
    fields.notice(`${name} ${shown(written)} is read as ${shown(status)}.`);
  }
  const isBlocked = fields.boolean(task, at, 'blocked') || status === 'blocked';
  const isSkipped = fields.boolean(task, at, 'skipped');
  if (status === 'completed') {
    if (isBlocked || isSkipped)
      fields.notice(`${pathText(at)} is completed and also blocked: it is read as completed.`);
    return { done: true, skipped: false };
  }
  return { done: false, skipped: isSkipped, blocked: isBlocked && !isSkipped ? true : undefined };
}

/** B49: numbers that cannot be meant are brought into order, and said. */
function readAttempts(
  task: JsonObject,
  at: JsonPath,
  fields: Fields,
): Pick<TaskSpec, 'attemptsBefore' | 'attemptsMax'> {
  const most = fields.wholeNumber(task, at, 'max_attempts');
  const before = fields.wholeNumber(task, at, 'attempts') ?? 0;
  const mostName = pathText([...at, 'max_attempts']);
  const beforeName = pathText([...at, 'attempts']);
  if (most !== undefined && most < 1) {
    fields.notice(`${mostName} is ${most}: the loop's own limit of attempts holds instead.`);
  }
  const attemptsMax = most === undefined || most < 1 ? undefined : most;
  if (before < 0) fields.notice(`${beforeName} is ${before}: it is read as 0.`);
  if (attemptsMax !== undefined && before > attemptsMax) {
    fields.notice(
      `${beforeName} is ${before}, more than max_attempts: it is read as ${attemptsMax}, so that no attempt is left.`,
    );
  }
  const attemptsBefore = Math.min(Math.max(0, before), attemptsMax ?? attemptsHighest);
  return {
    attemptsBefore: attemptsBefore > 0 ? attemptsBefore : undefined,
    attemptsMax,
  };
}

/** Reads typed fields, complains with their path, and watches the texts for what a reader would not see. */
class Fields {
  readonly problems: ProblemList;
  private readonly said: string[] = [];

  constructor(problems: ProblemList) {
    this.problems = problems;
  }

  notice(sentence: string): void {
    this.said.push(sentence);
  }

  notices(): readonly string[] {
    const rest = this.said.length - problemsMax;
    return rest > 0 ? [...this.said.slice(0, problemsMax), `${rest} more things are worth a look.`] : this.said;
  }

  wrong(path: JsonPath, rule: string, value: unknown, fix: string): void {
    this.problems.add(path, `${pathText(path)} must be ${rule}, not ${shown(value)}.`, fix);
  }

  /** A text that must be there and say something. */
  text(from: JsonObject, at: JsonPath, key: string, fix: string): string {
    const path = [...at, key];
    if (!Object.hasOwn(from, key)) {
      this.problems.add(at, `${pathText(path)} is missing.`, `Add "${key}": "…".`);
      return '';
    }
    const value = this.optionalText(from, at, key);
    if (typeof from[key] === 'string' && value.trim() === '') {
      this.problems.add(path, `${pathText(path)} is empty.`, fix);
    }
    return value;
  }

  optionalText(from: JsonObject, at: JsonPath, key: string): string {
    if (!Object.hasOwn(from, key)) return '';
    const value = from[key];
    if (typeof value === 'string') return this.watched(value, [...at, key]);
    this.wrong([...at, key], 'text in double quotes', value, `Write "${key}": "…".`);
    return '';
  }

  texts(from: JsonObject, at: JsonPath, key: string, rule: string, fix: string): readonly string[] {
    return (this.list(from, at, key) ?? []).map((entry, row) => {
      const path = [...at, key, row];
      if (typeof entry === 'string' && entry.trim() !== '') return this.watched(entry, path);
      this.wrong(path, rule, entry, fix);
      return '';
    });
  }

  /** Undefined when it is not there or is none. */
  list(from: JsonObject, at: JsonPath, key: string): readonly unknown[] | undefined {
    const value = from[key];
    if (!Object.hasOwn(from, key) || Array.isArray(value)) return value as readonly unknown[] | undefined;
    this.wrong([...at, key], 'a list', value, `Write "${key}": [ … ].`);
    return undefined;
  }

  boolean(from: JsonObject, at: JsonPath, key: string): boolean {
    const value = from[key];
    if (!Object.hasOwn(from, key) || typeof value === 'boolean') return value === true;
    const meant = value === 'true' || value === 1 ? 'true' : 'false';
    this.wrong([...at, key], 'true or false', value, `Write ${meant}, without quotes.`);
    return false;
  }

  wholeNumber(from: JsonObject, at: JsonPath, key: string): number | undefined {
    if (!Object.hasOwn(from, key)) return undefined;
    const value = from[key];
    if (Number.isSafeInteger(value) && Math.abs(value as number) <= attemptsHighest) return value as number;
    this.wrong([...at, key], `a whole number up to ${attemptsHighest}`, value, `Write "${key}": 0 or more.`);
    return undefined;
  }

  private watched(value: string, path: JsonPath): string {
    const warning = suspicion(value);
    if (warning !== undefined) this.notice(`${pathText(path)} ${warning}`);
    return value;
  }
}
