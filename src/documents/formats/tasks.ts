// The tasks.json format of seed 002: an agent or a person lists tasks; read with defaults, marked without touching another byte.

import type { TaskSpec, TaskStatus } from '../../core/task.ts';
import { shown, suspicion } from '../../text/text.ts';
import type { IndexedFormat, ParsedDocument, TaskMark } from '../document.ts';
import { type JsonPath, parseJsonDocument, scanJson, stringAt } from '../json.ts';
import { type ProblemList, pathText, problemsMax } from '../problems.ts';
import { checkDependencies, checkIds, idPattern, idRule, type Wording } from '../task-checks.ts';

// Writes statuses and attempts into a tasks.json by replacing only their literals; an index makes a mark cost its task alone.

/** Where each task stands in one text. Treat it as opaque. */
interface TaskIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where the task's object starts and ends. */
  readonly spans: Int32Array;
}

interface Splice {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** A text that is no valid JSON gives an empty index, and so stays as it is. */
export function indexTasks(text: string): TaskIndex {
  const rows = new Map<string, number>();
  const spans: number[] = [];
  let id: string | undefined;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth === 3 && path[0] === 'tasks' && path[2] === 'id' && text.startsWith('"', start)) {
        id = stringAt(text, start, end);
      } else if (depth === 2 && path[0] === 'tasks') {
        if (id !== undefined && !rows.has(id)) {
          rows.set(id, spans.length / 2);
          spans.push(start, end);
        }
        id = undefined;
      }
    },
  });
  return fault ? { rows: new Map(), spans: new Int32Array() } : { rows, spans: Int32Array.from(spans) };
}

/** The text with the marks, and its index. The same text comes back when nothing changes. Unknown ids are ignored. */
export function markTasks(
  text: string,
  index: TaskIndex,
  marks: readonly TaskMark[],
): { readonly text: string; readonly index: TaskIndex } {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const splices = [...wanted].flatMap(([row, mark]) => {
    const [start, end] = [index.spans[2 * row]!, index.spans[2 * row + 1]!];
    const task = text.slice(start, end);
    const marked = markedTask(task, mark);
    return marked === task ? [] : [{ start, end, text: marked }];
  });
  if (splices.length === 0) return { text, index };
  splices.sort((one, other) => one.start - other.start);
  return { text: spliced(text, splices), index: { rows: index.rows, spans: shifted(index.spans, splices) } };
}

const statusOf: Readonly<Record<TaskStatus, WrittenStatus>> = {
  pending: 'pending',
  active: 'in_progress',
  done: 'completed',
  blocked: 'blocked',
  skipped: 'blocked',
};

/** What a human left out is blocked for every reader of the seed's format; `skipped` keeps the two apart for us. */
function markedTask(task: string, mark: TaskMark): string {
  const status = mark.status ?? (mark.done ? 'done' : mark.skipped ? 'skipped' : 'pending');
  const isBlocked = status === 'blocked' || status === 'skipped';
  const members = membersOf(task);
  const edit = new TaskEdit(task, members);
  const written = members.get('status');
  const before = written === undefined ? 'pending' : writtenStatus.get(stringAt(task, written.start, written.end));
  if (before !== statusOf[status]) edit.set('status', `"${statusOf[status]}"`);
  if (mark.attempts !== undefined) edit.set('attempts', String(mark.attempts), '0');
  edit.set('blocked', String(isBlocked), 'false');
  edit.set('skipped', String(status === 'skipped'), 'false');
  return edit.text();
}

interface Member {
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

function membersOf(task: string): ReadonlyMap<string, Member> {
  const members = new Map<string, Member>();
  let keyStart = 0;
  scanJson(task, {
    key(_path, depth, offset) {
      if (depth === 1) keyStart = offset;
    },
    value(path, depth, start, end) {
      if (depth === 1) members.set(path[0] as string, { keyStart, start, end });
    },
  });
  return members;
}

class TaskEdit {
  private readonly task: string;
  private readonly members: ReadonlyMap<string, Member>;
  private readonly splices: Splice[] = [];
  private added = '';

  constructor(task: string, members: ReadonlyMap<string, Member>) {
    this.task = task;
    this.members = members;
  }

  /** A key that is missing is added, unless the value is the one that a missing key stands for. */
  set(key: string, literal: string, whenMissing?: string): void {
    const member = this.members.get(key);
    if (member === undefined) {
      if (literal !== whenMissing) this.added += `${this.styled(key)}${literal}`;
    } else if (this.task.slice(member.start, member.end) !== literal) {
      this.splices.push({ start: member.start, end: member.end, text: literal });
    }
  }

  text(): string {
    const at = this.anchor().end;
    if (this.added !== '') this.splices.push({ start: at, end: at, text: this.added });
    this.splices.sort((one, other) => one.start - other.start || one.end - other.end);
    return spliced(this.task, this.splices);
  }

  /** New keys stand behind the status, or behind the id where there is no status. */
  private anchor(): Member {
    return this.members.get('status') ?? this.members.get('id')!;
  }

  /** Separator, key and colon as the anchor has them. */
  private styled(key: string): string {
    const { keyStart, start, end } = this.anchor();
    const colon = this.task.slice(this.task.lastIndexOf('"', start - 1) + 1, start);
    const before = /[\s,]*$/.exec(this.task.slice(Math.max(0, keyStart - styleCharsMax), keyStart))![0];
    // The first member has no comma before it; the one after it shows the style.
    const separator = before.includes(',') ? before : /^[\s,]*/.exec(this.task.slice(end, end + styleCharsMax))![0];
    return `${separator.includes(',') ? separator : ', '}"${key}"${colon}`;
  }
}

const styleCharsMax = 1000; // more space than this between two members is no style

function spliced(text: string, splices: readonly Splice[]): string {
  const pieces: string[] = [];
  let at = 0;
  for (const splice of splices) {
    pieces.push(text.slice(at, splice.start), splice.text);
    at = splice.end;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

/** Tasks do not overlap and stand in order, so that each change moves every later bound, and its own end. */
function shifted(spans: Int32Array, splices: readonly Splice[]): Int32Array {
  const moved = spans.slice();
  let at = 0;
  let shift = 0;
  for (let bound = 0; bound < spans.length; bound++) {
    while (at < splices.length && splices[at]!.end <= spans[bound]!) {
      const { start, end, text } = splices[at]!;
      shift += text.length - (end - start);
      at++;
    }
    moved[bound] = spans[bound]! + shift;
  }
  return moved;
}

export const projectTasks: IndexedFormat<TaskIndex> = {
  name: 'tasks',

  /** Also true for a broken document, so that its faults are told. An editor's tasks.json has none of the second keys. */
  recognises(fileName, text) {
    return (
      /\.json$/i.test(fileName) &&
      /"tasks"\s*:\s*\[/.test(text) &&
      /"(?:project_name"\s*:|max_attempts"\s*:|dependencies"\s*:\s*\[)/.test(text)
    );
  },

  parse(text) {
    return parseJsonDocument(text, 'tasks', readTasks);
  },

  mark(text, marks) {
    return markTasks(text, indexTasks(text), marks).text;
  },

  index: indexTasks,
  markWithIndex: markTasks,
};

// The rules that a tasks.json must keep, lenient where people leave things out and strict where a value could mislead.

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
function readTasks(value: unknown, problems: ProblemList): ParsedDocument | undefined {
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
