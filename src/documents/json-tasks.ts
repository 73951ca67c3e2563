// JSON task lists (PRD.json, tasks.json): one reader of their fields and one writer of marks serve every such format.
import { sameList, type TaskMark, type TaskSpec } from '../core/task.ts';
import { type Fields, fieldsOf, isFields, listOf } from '../text/fields.ts';
import { shown, suspicion } from '../text/text.ts';
import type { Format, FormatOptions, Indexed, IndexedFormat, IndexedRead, ParsedDocument } from './document.ts';
import { type Edit, startOf } from './edits.ts';
import { type JsonPart, type JsonPath, keyWatcher, partsOf, scanJson, stringAt } from './json.ts';
import {
  changedRows,
  indexTasks,
  inOrder,
  markRows,
  type RowsChange,
  rowsOf,
  spliced,
  splicedSpans,
  type TaskIndex,
} from './json-rows.ts';
import { conflictOffset, firstNotices, ProblemList, pathText, sizeRefusal } from './problems.ts';
import { checkDependencies, checkIds, idRule, isTaskId } from './task-checks.ts';

interface JsonTaskList extends Pick<Format, 'name' | 'recognises'> {
  /** The key of the list. */
  readonly list: string;
  /** How such a document begins. */
  readonly example: string;
  readonly wording: ListWording;
  /** What it says beside its tasks. With problems added, the document is not used. */
  about(fields: JsonFields): Pick<ParsedDocument, 'project' | 'goal'> & { readonly notices?: readonly string[] };
  /** The reader of one task. */
  task(options: FormatOptions): (task: JsonFields) => TaskSpec;
  /** The lower one goes first; without it the document's order stands. */
  rank?(task: Fields): number;
  /** What the notices are about that are too many to be said. */
  readonly moreNotices: string;
  /** Keys that are added to a task stand behind the first of these that it has; a task with none of them stays as it is. */
  readonly anchors: readonly string[];
  mark(task: TaskEdit, mark: TaskMark): void;
}

export function jsonTaskFormat(list: JsonTaskList): IndexedFormat<TaskIndex> {
  const { name, recognises } = list;
  const markWithIndex: IndexedFormat<TaskIndex>['markWithIndex'] = (text, known, marks, options = {}) => {
    const index = known ?? indexTasks(text, list.list);
    const marked = markRows(text, index, marks, (start, end, mark) => {
      const task = taskEdit(text.slice(start, end), start, list.anchors);
      list.mark(task, mark);
      return task.edits();
    });
    if (marked === undefined) return { text, index };
    const { rows } = index;
    return { text: marked.text, index: { rows, spans: marked.spans, ...rereadMarked(index, marked, list, options) } };
  };
  return {
    name,
    recognises,
    parse(text, options = {}) {
      const read = readWhole(text, options, list);
      return read.ok ? { ok: true, document: read.document } : read;
    },
    read: (text, options = {}, before) =>
      (before && readChanged(text, options, list, before)) ?? readWhole(text, options, list),
    mark: (text, marks) => markWithIndex(text, undefined, marks).text,
    markWithIndex,
  };
}

// Reading: faults, doubled keys and dangerous keys are told by place, then the fields with their paths.

const textCharsMax = 64 * 1024 * 1024;

/** The value of a JSON text; a leading byte order mark is none of it. */
export const parseJson = (text: string): unknown => JSON.parse(text.slice(startOf(text)));

type Read = IndexedRead<TaskIndex>;

function readWhole(text: string, options: FormatOptions, list: JsonTaskList): Read {
  const tooLarge = sizeRefusal(text, textCharsMax, '64 MB', 'Split the work into several files.');
  if (tooLarge !== undefined) return tooLarge;
  const problems = new ProblemList();
  const { fault, spans } = scanList(text, list.list, problems);
  if (fault !== undefined) {
    const faults = new ProblemList();
    const conflict = conflictOffset(text);
    if (conflict === undefined) faults.add(fault.offset, fault.message, fault.fix);
    else faults.addMerge(conflict);
    return faults.refusal(text);
  }
  const value = parseJson(text);
  if (!isFields(value)) {
    problems.add([], `The document must be an object, not ${shown(value)}.`, `Start it with ${list.example}.`);
    return problems.refusal(text);
  }
  const fields = new JsonFields(value, [], problems, []);
  const { notices = [], ...about } = list.about(fields);
  const noticed = fields.noticed;
  const specs = fields.tasks(list.list, list.wording, list.task(options));
  if (problems.count > 0) return problems.refusal(text);
  const { rank } = list;
  const ranks = rank === undefined ? [] : listOf(value[list.list]).map(row => rank(fieldsOf(row)));
  const read = { specs, ranks, isNoted: fields.noticed > noticed };
  const document = { ...about, tasks: inOrder(read), notices: [...notices, ...fields.notices(list.moreNotices)] };
  return { ok: true, document, index: { document, rows: rowsOf(specs), spans: Int32Array.from(spans), read } };
}

interface Scanned {
  readonly fault: ReturnType<typeof scanJson>;
  /** Where the elements of the list start and end. */
  readonly spans: readonly number[];
  /** How many members the whole has. */
  readonly members: number;
}

function scanList(text: string, list: string, problems: ProblemList): Scanned {
  const isForeign = (path: JsonPath, depth: number): boolean => depth !== 1 && (depth !== 3 || path[0] !== list);
  const keys = keyWatcher((what, key, offset) => {
    const isTwice = what === 'twice';
    const message = `The key ${shown(key)} ${isTwice ? 'stands twice' : 'is not allowed'}.`;
    problems.add(offset, message, isTwice ? 'Keep one of the two.' : 'Rename or remove it.');
  }, isForeign);
  const spans: number[] = [];
  let members = 0;
  const fault = scanJson(text, {
    key: keys.key,
    value(path, depth, start, end) {
      keys.value(path, depth, start, end);
      if (depth === 1) members++;
      else if (depth === 2 && path[0] === list) spans.push(start, end);
    },
  });
  return { fault, spans, members };
}

/**
 * Reads only the rows within which the text differs. Undefined whenever there is anything to say about them, or something
 * else differs: then all is read, and all is said.
 */
function readChanged(
  text: string,
  options: FormatOptions,
  list: JsonTaskList,
  before: Indexed<TaskIndex>,
): Read | undefined {
  const { document, read } = before.index;
  if (document === undefined || read === undefined || read.isNoted || text.length > textCharsMax) return undefined;
  const change = changedRows(before.text, text, before.index.spans);
  if (change === undefined) return undefined;
  if (change === 'space') return { ok: true, document, index: before.index };
  const fresh = readPart(text.slice(change.start, change.end), change, list, options);
  if (fresh === undefined) return undefined;
  const { first, last } = change;
  const specs = spliced(read.specs, change, fresh.specs);
  const isSame = sameGraph(read.specs.slice(first, last + 1), fresh.specs);
  if (!isSame && !isSound(specs, list)) return undefined;
  const ranks = spliced(read.ranks, change, fresh.ranks);
  const rows = isSame ? before.index.rows : rowsOf(specs);
  const changed = { ...document, tasks: inOrder({ specs, ranks }) };
  const spans = splicedSpans(before.index.spans, change, fresh.spans);
  return {
    ok: true,
    document: changed,
    index: { document: changed, rows, spans, read: { specs, ranks, isNoted: false } },
  };
}

/** Rows that stand one after the other; undefined when they do not, or are not as they should be. */
function readPart(
  part: string,
  { first, start }: Pick<RowsChange, 'first' | 'start'>,
  list: JsonTaskList,
  options: FormatOptions,
) {
  const opening = `{${JSON.stringify(list.list)}:[`;
  const whole = `${opening}${part}]}`;
  const problems = new ProblemList();
  const { fault, spans, members } = scanList(whole, list.list, problems);
  if (fault !== undefined || members !== 1 || spans.length === 0) return undefined;
  const said: string[] = [];
  const readTask = list.task(options);
  const values = listOf(fieldsOf(JSON.parse(whole))[list.list]).map(fieldsOf);
  const specs = values.map((value, row) => readTask(new JsonFields(value, [list.list, first + row], problems, said)));
  if (problems.count > 0 || said.length > 0) return undefined;
  const { rank } = list;
  const ranks = rank === undefined ? [] : values.map(rank);
  return { specs, ranks, spans: spans.map(at => at - opening.length + start) };
}

/** Neither ids nor what waits for what differ. */
const sameGraph = (before: readonly TaskSpec[], now: readonly TaskSpec[]): boolean =>
  before.length === now.length &&
  before.every(({ id, dependsOn }, row) => id === now[row]!.id && sameList(dependsOn, now[row]!.dependsOn));

function isSound(specs: readonly TaskSpec[], list: JsonTaskList): boolean {
  const problems = new ProblemList();
  checkTasks(specs, { key: list.list, rows: [], ...list.wording }, problems);
  return problems.count === 0;
}

/** What the marked rows say now. */
function rereadMarked(
  { document, read }: TaskIndex,
  { text, rows, spans }: NonNullable<ReturnType<typeof markRows>>,
  list: JsonTaskList,
  options: FormatOptions,
): Pick<TaskIndex, 'document' | 'read'> {
  if (document === undefined || read === undefined || read.isNoted) return {};
  const specs = [...read.specs];
  for (const row of rows) {
    const [start, end] = [spans[2 * row]!, spans[2 * row + 1]!];
    const part = readPart(text.slice(start, end), { first: row, start }, list, options);
    if (part === undefined) return {};
    specs[row] = part.specs[0]!;
  }
  const changed = { ...read, specs };
  return { document: { ...document, tasks: inOrder(changed) }, read: changed };
}

/** Typed fields of one object: complains with their path, and watches the texts for what a reader would not see. */
export class JsonFields {
  readonly value: Fields;
  private readonly at: JsonPath;
  private readonly problems: ProblemList;
  private readonly said: string[];

  constructor(value: Fields, at: JsonPath, problems: ProblemList, said: string[]) {
    this.value = value;
    this.at = at;
    this.problems = problems;
    this.said = said;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.value, key);
  }

  /** `tasks[3].id`; of the object itself without a key. */
  name(...keys: JsonPath): string {
    return pathText([...this.at, ...keys]);
  }

  notice(sentence: string): void {
    this.said.push(sentence);
  }

  /** How many things were noticed so far. */
  get noticed(): number {
    return this.said.length;
  }

  notices(moreWords: string): readonly string[] {
    return firstNotices(this.said, moreWords);
  }

  fail(path: JsonPath, what: string, fix: string): void {
    this.problems.add([...this.at, ...path], `${this.name(...path)} ${what}`, fix);
  }

  wrong(path: JsonPath, rule: string, value: unknown, fix: string): void {
    this.fail(path, `must be ${rule}, not ${shown(value)}.`, fix);
  }

  /** A problem when there is no such key. */
  require(key: string, fix: string): this {
    if (!this.has(key)) this.problems.add(this.at, `${this.name(key)} is missing.`, fix);
    return this;
  }

  /** Empty where there is no such key. */
  optionalText(key: string): string {
    const value = this.value[key];
    if (typeof value === 'string') return this.watched(value, key);
    if (this.has(key)) this.wrong([key], 'text in double quotes', value, `Write "${key}": "…".`);
    return '';
  }

  string(key: string): string {
    return this.require(key, `Add "${key}": "…".`).optionalText(key);
  }

  /** A string with something in it. */
  text(key: string, fix: string): string {
    const text = this.string(key);
    if (typeof this.value[key] === 'string' && text.trim() === '') this.fail([key], 'is empty.', fix);
    return text;
  }

  boolean(key: string): boolean {
    const value = this.value[key];
    if (!this.has(key) || typeof value === 'boolean') return value === true;
    const meant = value === 'true' || value === 1 ? 'true' : 'false';
    this.wrong([key], 'true or false', value, `Write ${meant}, without quotes.`);
    return false;
  }

  /** Undefined when it is not there or is none. */
  list(key: string, fix = `Write "${key}": [ … ].`): readonly unknown[] | undefined {
    const value = this.value[key];
    if (!this.has(key) || Array.isArray(value)) return value as readonly unknown[] | undefined;
    this.wrong([key], 'a list', value, fix);
    return undefined;
  }

  /** The text at this path with its odd characters noted. */
  watched(text: string, ...path: JsonPath): string {
    const warning = suspicion(text);
    if (warning !== undefined) this.notice(`${this.name(...path)} ${warning}`);
    return text;
  }

  /** The id unless it is one that no task may have. */
  validId(id: string): string {
    if (typeof this.value['id'] !== 'string' || isTaskId(id)) return id;
    const rule = id.includes('..') ? 'must not hold two dots in a row' : 'is not a valid id';
    this.fail(['id'], `${rule}: ${shown(id)}.`, idRule);
    return '';
  }

  /** The tasks of a list that must be there, their ids and dependencies checked. */
  tasks(key: string, wording: ListWording, read: (row: JsonFields) => TaskSpec): readonly TaskSpec[] {
    const list = this.require(key, `Add "${key}": [ … ].`).list(key, wording.fix);
    if (list?.length === 0) this.fail([key], 'is empty.', `Add at least one ${wording.noun}.`);
    const rows = list ?? [];
    const tasks = rows.map((value, row) => {
      if (isFields(value)) return read(new JsonFields(value, [...this.at, key, row], this.problems, this.said));
      this.wrong([key, row], 'an object', value, 'Write it as { "id": … }.');
      return { id: '', title: '', description: '', criteria: [], dependsOn: [], done: false, skipped: false };
    });
    checkTasks(tasks, { key, rows, ...wording }, this.problems);
    return tasks;
  }
}

function checkTasks(
  tasks: readonly TaskSpec[],
  {
    key,
    rows,
    noun,
    plural,
    dependenciesKey,
  }: ListWording & { readonly key: string; readonly rows: readonly unknown[] },
  problems: ProblemList,
): void {
  const names = {
    noun,
    plural,
    taskName: (row: number) => `${key}[${row}]`,
    idName: (row: number) => `${key}[${row}].id`,
    dependenciesName: (row: number) => `${key}[${row}].${dependenciesKey(rows[row])}`,
    idPlace: (row: number) => [key, row, 'id'],
    dependenciesPlace: (row: number) => [key, row, dependenciesKey(rows[row])],
    add: problems.add.bind(problems),
  };
  checkIds(tasks, names);
  checkDependencies(tasks, names);
}

interface ListWording {
  readonly noun: string;
  readonly plural: string;
  /** What to do when the list is none. */
  readonly fix?: string;
  dependenciesKey(row: unknown): string;
}

// Writing: only the literals of the marks are replaced.

/** What stands between the key and the value. */
export const colonOf = (text: string, { start }: JsonPart): string =>
  text.slice(text.lastIndexOf('"', start - 1) + 1, start);

const styleCharsMax = 1000; // more space than this between two members is no style

export type TaskEdit = ReturnType<typeof taskEdit>;

/** Changes the literals of one task, which starts here in the whole text; keys that are added look like the one before them. */
function taskEdit(task: string, start: number, anchors: readonly string[]) {
  const members = partsOf(task);
  const memberOf = (key: string): JsonPart | undefined => members.find(({ name }) => name === key);
  /** New keys stand behind it. */
  const anchor = anchors.map(memberOf).find(member => member !== undefined);
  const changed: Edit[] = [];
  let added = '';
  return {
    /** The text of a string; undefined when there is no such key. */
    string(key: string): string | undefined {
      const member = memberOf(key);
      return member && stringAt(task, member.start, member.end);
    },
    /** A key that is missing is added, unless the value is the one that a missing key stands for. */
    set(key: string, literal: string, whenMissing?: string): void {
      const member = memberOf(key);
      if (member === undefined) {
        if (literal !== whenMissing && anchor !== undefined) added += styled(task, key, anchor) + literal;
      } else if (task.slice(member.start, member.end) !== literal)
        changed.push({ start: start + member.start, end: start + member.end, text: literal });
    },
    /** Of the whole text. */
    edits(): readonly Edit[] {
      const at = start + (anchor?.end ?? 0);
      return added === '' ? changed : [...changed, { start: at, end: at, text: added }];
    },
  };
}

/** Separator, key and colon as the anchor has them. */
function styled(task: string, key: string, anchor: JsonPart): string {
  const { keyStart, end } = anchor;
  const before = /[\s,]*$/.exec(task.slice(Math.max(0, keyStart - styleCharsMax), keyStart))![0];
  // The first member has no comma before it; the one after it shows the style.
  const separator = before.includes(',') ? before : /^[\s,]*/.exec(task.slice(end, end + styleCharsMax))![0];
  return `${separator.includes(',') ? separator : ', '}"${key}"${colonOf(task, anchor)}`;
}
