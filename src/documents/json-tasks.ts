// JSON task lists (PRD.json, tasks.json): one reader of their fields and one writer of marks serve every such format.
import type { TaskMark, TaskSpec } from '../core/task.ts';
import { type Fields, isFields } from '../text/fields.ts';
import { shown, suspicion } from '../text/text.ts';
import type { Format, FormatOptions, IndexedFormat, Parsed, ParsedDocument } from './document.ts';
import { type Edit, startOf, withEdits } from './edits.ts';
import { type JsonPart, type JsonPath, keyWatcher, partsOf, scanJson, stringAt } from './json.ts';
import { conflictOffset, firstNotices, ProblemList, pathText, sizeRefusal } from './problems.ts';
import { checkDependencies, checkIds, idRule, isTaskId } from './task-checks.ts';

interface JsonTaskList extends Pick<Format, 'name' | 'recognises'> {
  /** The key of the list. */
  readonly list: string;
  /** How such a document begins. */
  readonly example: string;
  /** With problems added, the document is not used. */
  read(fields: JsonFields, options: FormatOptions): ParsedDocument;
  /** Keys that are added to a task stand behind the first of these that it has; a task with none of them stays as it is. */
  readonly anchors: readonly string[];
  mark(task: TaskEdit, mark: TaskMark): void;
}

export function jsonTaskFormat({ name, recognises, ...list }: JsonTaskList): IndexedFormat<TaskIndex> {
  const markWithIndex: IndexedFormat<TaskIndex>['markWithIndex'] = (text, index, marks) =>
    markTasks(text, index ?? indexTasks(text, list.list), marks, (start, end, mark) => {
      const task = taskEdit(text.slice(start, end), start, list.anchors);
      list.mark(task, mark);
      return task.edits();
    });
  return {
    name,
    recognises,
    parse: (text, options = {}) => parseList(text, options, list),
    mark: (text, marks) => markWithIndex(text, undefined, marks).text,
    markWithIndex,
  };
}

// Reading: faults, doubled keys and dangerous keys are told by place, then the fields with their paths.

const textCharsMax = 64 * 1024 * 1024;

/** The value of a JSON text; a leading byte order mark is none of it. */
export const parseJson = (text: string): unknown => JSON.parse(text.slice(startOf(text)));

type Reading = Pick<JsonTaskList, 'list' | 'example' | 'read'>;

function parseList(text: string, options: FormatOptions, { list, example, read }: Reading): Parsed {
  const tooLarge = sizeRefusal(text, textCharsMax, '64 MB', 'Split the work into several files.');
  if (tooLarge !== undefined) return tooLarge;
  const problems = new ProblemList();
  const isForeign = (path: JsonPath, depth: number): boolean => depth !== 1 && (depth !== 3 || path[0] !== list);
  const fault = scanJson(
    text,
    keyWatcher((what, key, offset) => {
      const isTwice = what === 'twice';
      const message = `The key ${shown(key)} ${isTwice ? 'stands twice' : 'is not allowed'}.`;
      problems.add(offset, message, isTwice ? 'Keep one of the two.' : 'Rename or remove it.');
    }, isForeign),
  );
  if (fault !== undefined) {
    const faults = new ProblemList();
    const conflict = conflictOffset(text);
    if (conflict === undefined) faults.add(fault.offset, fault.message, fault.fix);
    else faults.addMerge(conflict);
    return faults.refusal(text);
  }
  const value = parseJson(text);
  if (!isFields(value)) {
    problems.add([], `The document must be an object, not ${shown(value)}.`, `Start it with ${example}.`);
    return problems.refusal(text);
  }
  const document = read(new JsonFields(value, [], problems, []), options);
  return problems.count > 0 ? problems.refusal(text) : { ok: true, document };
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
    const { noun, plural, dependenciesKey } = wording;
    const list = this.require(key, `Add "${key}": [ … ].`).list(key, wording.fix);
    if (list?.length === 0) this.fail([key], 'is empty.', `Add at least one ${noun}.`);
    const rows = list ?? [];
    const tasks = rows.map((value, row) => {
      if (isFields(value)) return read(new JsonFields(value, [...this.at, key, row], this.problems, this.said));
      this.wrong([key, row], 'an object', value, 'Write it as { "id": … }.');
      return { id: '', title: '', description: '', criteria: [], dependsOn: [], done: false, skipped: false };
    });
    const names = {
      noun,
      plural,
      taskName: (row: number) => `${key}[${row}]`,
      idName: (row: number) => `${key}[${row}].id`,
      dependenciesName: (row: number) => `${key}[${row}].${dependenciesKey(rows[row])}`,
      idPlace: (row: number) => [key, row, 'id'],
      dependenciesPlace: (row: number) => [key, row, dependenciesKey(rows[row])],
      add: this.problems.add.bind(this.problems),
    };
    checkIds(tasks, names);
    checkDependencies(tasks, names);
    return tasks;
  }
}

interface ListWording {
  readonly noun: string;
  readonly plural: string;
  /** What to do when the list is none. */
  readonly fix?: string;
  dependenciesKey(row: unknown): string;
}

// Writing: only the literals of the marks are replaced, and an index makes a mark cost its task alone.

/** Where each task stands in one text. Treat it as opaque. */
export interface TaskIndex {
  readonly rows: ReadonlyMap<string, number>;
  /** Two numbers per row in document order: where the task's object starts and ends. */
  readonly spans: Int32Array;
}

/** A text that is no valid JSON gives an empty index, and so stays as it is. */
function indexTasks(text: string, list: string): TaskIndex {
  const rows = new Map<string, number>();
  const spans: number[] = [];
  let id: string | undefined;
  const fault = scanJson(text, {
    value(path, depth, start, end) {
      if (depth < 2 || depth > 3 || path[0] !== list) return;
      if (depth === 3) {
        if (path[2] === 'id' && text[start] === '"') id = stringAt(text, start, end);
        return;
      }
      if (id !== undefined && !rows.has(id)) {
        rows.set(id, spans.length / 2);
        spans.push(start, end);
      }
      id = undefined;
    },
  });
  return fault ? { rows: new Map(), spans: new Int32Array() } : { rows, spans: Int32Array.from(spans) };
}

/** The text with the marks, and its index. The same text comes back when nothing changes. Unknown ids are ignored. */
function markTasks(
  text: string,
  index: TaskIndex,
  marks: readonly TaskMark[],
  editsOf: (start: number, end: number, mark: TaskMark) => readonly Edit[],
): { readonly text: string; readonly index: TaskIndex } {
  const wanted = new Map<number, TaskMark>();
  for (const mark of marks) {
    const row = index.rows.get(mark.id);
    if (row !== undefined) wanted.set(row, mark);
  }
  const edits = [...wanted].flatMap(([row, mark]) => editsOf(index.spans[2 * row]!, index.spans[2 * row + 1]!, mark));
  if (edits.length === 0) return { text, index };
  edits.sort((one, other) => one.start - other.start);
  return { text: withEdits(text, edits), index: { rows: index.rows, spans: shifted(index.spans, edits) } };
}

/** Tasks do not overlap and stand in order, so that each change moves every later bound, and its own task's end. */
function shifted(spans: Int32Array, edits: readonly Edit[]): Int32Array {
  let at = 0;
  let shift = 0;
  return spans.map(bound => {
    for (; at < edits.length && edits[at]!.end <= bound; at++) {
      const { start, end, text } = edits[at]!;
      shift += text.length - (end - start);
    }
    return bound + shift;
  });
}

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
