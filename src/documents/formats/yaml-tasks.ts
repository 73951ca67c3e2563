// YAML task lists, as ralphy and others keep them: read leniently, marked by the place of a value, comments and all kept.
import { isAlias, isMap, isScalar, isSeq, type Node, type Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Json, TaskMark, TaskSpec } from '../../core/task.ts';
import { shown, suspicion } from '../../text/text.ts';
import {
  type IndexedFormat,
  markEdits,
  markedStatus,
  type ParsedDocument,
  statusFields,
  type TextIndex,
  type WrittenStatus,
} from '../document.ts';
import { type Edit, linesBehind, startOf, withEdits } from '../edits.ts';
import { firstNotices, ProblemList } from '../problems.ts';
import { checkDependencies, checkIds, IdGiver, idRule, isTaskId } from '../task-checks.ts';
import { readYaml } from '../yaml.ts';

const textCharsMax = 4 * 1024 * 1024;
const yamlNames = /\.ya?ml$/i;
/** The first line that says something is an item. */
const bareList = /^\uFEFF?(?:(?:[ \t]*(?:#[^\n]*)?|---[^\n]*)\n)*[ \t]*-[ \t]/;
const taskKey = /^ {0,6}(?:-[ \t]+)?(?:title|task|status|completed|done|passes|skipped)[ \t]*:/m;

export const yamlTasks: IndexedFormat<YamlIndex> = {
  name: 'yaml-tasks',
  fileNames: yamlNames,

  recognises(fileName, text) {
    if (!yamlNames.test(fileName)) return false;
    // A bare list of names may be anything, a playbook for one: something in it must speak of tasks.
    return /^tasks[ \t]*:/m.test(text) || (bareList.test(text) && taskKey.test(text));
  },

  parse(text) {
    const read = yamlTasks.read(text);
    return read.ok ? { ok: true, document: read.document } : read;
  },

  read(text) {
    const problems = new ProblemList();
    const list = readYamlList(text, problems);
    const document = list && readTasks(list, problems);
    if (list === undefined || document === undefined || problems.count > 0)
      return problems.refusal(text.slice(0, textCharsMax));
    return { ok: true, document, index: { ...indexOf(text, list.tasks), document } };
  },

  mark: (text, marks) => yamlTasks.markWithIndex(text, undefined, marks).text,

  markWithIndex(text, known, marks) {
    const problems = new ProblemList();
    const tasks = known === undefined ? readYamlList(text, problems)?.tasks : undefined;
    const index = known ?? indexOf(text, problems.count > 0 ? [] : (tasks ?? []));
    const edits = markEdits(index.rows, marks, (row, mark) => editsFor(text, row, mark, index.words));
    if (edits.length === 0) return { text, index };
    const marked = withEdits(text, edits);
    if (edits.every(edit => edit.start < edit.end)) return { text: marked, index: movedIndex(index, marked, edits) };
    // Odd YAML may read differently with one more line in it; then no change is the smaller fault.
    const read = yamlTasks.read(marked);
    return read.ok ? { text: marked, index: read.index } : { text, index };
  },
};

type TaskMap = YAMLMap<Scalar, Node | null>;
type Members = { readonly [key: string]: Json };

export interface YamlTask {
  readonly row: number;
  /** Where the task starts in the whole text, and what the YAML's own places are counted from. */
  readonly start: number;
  readonly offset: number;
  /** Undefined where something else stands, which was complained about. */
  readonly map: TaskMap | undefined;
  readonly value: Members;
}

export interface YamlList {
  /** What the document says beside its tasks. */
  readonly about: Members;
  readonly offset: number;
  readonly node: YAMLSeq;
  readonly tasks: readonly YamlTask[];
}

/** The tasks and where their members stand: a list, or the list under `tasks`. */
export function readYamlList(text: string, problems: ProblemList): YamlList | undefined {
  if (text.length > textCharsMax) {
    problems.add(0, 'The document is larger than 4 MB.', 'Split the work into several files.');
    return undefined;
  }
  const offset = startOf(text);
  const read = readYaml(text.slice(offset), problems, { offset });
  if (read === undefined || problems.count > 0) return undefined;
  const root = read.document.contents;
  const about = isMap(root) ? (read.value as Members) : {};
  const node = isMap(root) ? root.get('tasks', true) : root;
  const value = isMap(root) ? about['tasks'] : read.value;
  if (!isSeq(node) || !Array.isArray(value)) {
    const fix = 'Write "tasks:" and below it "- title: …" for each task.';
    problems.add(offset, 'The document has no list of tasks.', fix);
    return undefined;
  }
  if (node.items.length === 0) problems.add(offset + node.range![0], 'The list of tasks is empty.', 'Add a task.');
  const tasks = node.items.map((item, row) => {
    const start = offset + ((item as Scalar).range?.[0] ?? 0);
    if (isMap(item)) return { start, row, offset, map: item as TaskMap, value: value[row] as Members };
    const fix = 'Write it as "- title: …", with its other keys below.';
    problems.add(start, `tasks[${row}] must be keys and values, written out.`, fix);
    return { start, row, offset, map: undefined, value: {} };
  });
  return { about, offset, node, tasks };
}

/** The words for done and open that the document itself uses. */
export function statusWords(tasks: readonly YamlTask[]): { readonly done: string; readonly open: string } {
  const statuses = tasks.map(task => task.value['status']).filter(status => typeof status === 'string');
  return {
    done: statuses.find(status => meaningOf(status) === 'done') ?? 'completed',
    open: statuses.find(status => meaningOf(status) === 'open' && !/progress|active|doing/i.test(status)) ?? 'pending',
  };
}

// Marks: where the status of each task stands is kept, so that another mark reads nothing.

interface Place {
  readonly start: number;
  readonly end: number;
}

interface YamlRow {
  readonly id: string;
  /** The key that says whether it is done. */
  readonly key: string | undefined;
  /** What it says, and by which values. */
  readonly status: WrittenStatus;
  readonly places: Readonly<Record<string, Place>>;
  readonly isTrue: readonly string[];
  /** Where other members are added: behind the title, in lines that begin so; in braces without lines. */
  readonly titleEnd: number;
  readonly indent: string | undefined;
}

interface YamlIndex extends TextIndex {
  readonly rows: readonly YamlRow[];
  readonly words: ReturnType<typeof statusWords>;
}

function indexOf(text: string, tasks: readonly YamlTask[]): YamlIndex {
  const ids = idsOf(tasks);
  return { words: statusWords(tasks), rows: tasks.map((task, row) => rowOf(text, task, ids[row]!)) };
}

function rowOf(text: string, task: YamlTask, id: string): YamlRow {
  const { map, offset, value } = task;
  const key = statusKeyOf(task);
  const places = [key ?? 'completed', 'skipped'].flatMap(name => {
    const range = nodeOf(task, name)?.range;
    return range ? [[name, { start: offset + range[0], end: offset + range[1] }] as const] : [];
  });
  const isTrue = places.map(([name]) => name).filter(name => value[name] === true);
  const first = offset + (map?.range?.[0] ?? 0);
  const margin = first - Math.max(offset, text.lastIndexOf('\n', first - 1) + 1);
  return {
    id,
    key,
    status: key === 'status' ? (meaningOf(String(value['status'])) ?? 'open') : flagStatus(key, isTrue),
    places: Object.fromEntries(places),
    isTrue,
    titleEnd: offset + (nodeOf(task, keyOf(task, 'title') ?? 'title')?.range?.[1] ?? 0),
    indent: map?.flow === true ? undefined : ' '.repeat(margin),
  };
}

const flagStatus = (key = 'completed', isTrue: readonly string[]): WrittenStatus =>
  isTrue.includes(key) ? 'done' : isTrue.includes('skipped') ? 'skipped' : 'open';

function editsFor(text: string, row: YamlRow, mark: TaskMark, words: YamlIndex['words']): readonly Edit[] {
  const { key, places, isTrue } = row;
  if (key === 'status') {
    const next = markedStatus(mark, row.status);
    const word = next === 'done' || next === 'open' ? words[next] : next;
    return next === row.status ? [] : [{ ...places[key]!, text: word }];
  }
  const flags = [
    [key ?? 'completed', mark.done],
    ['skipped', mark.skipped],
  ] as const;
  const changed = flags.filter(([flag, value]) => isTrue.includes(flag) !== value);
  const edits = changed.flatMap(([flag, value]) => (flag in places ? [{ ...places[flag]!, text: String(value) }] : []));
  const added = changed.filter(([flag]) => !(flag in places)).map(([flag, value]) => `${flag}: ${value}`);
  return added.length === 0 ? edits : [...edits, withMembers(text, row, added)];
}

/** The index of a text in which values were replaced; nothing is read for it but those. */
function movedIndex({ document, rows, words }: YamlIndex, text: string, edits: readonly Edit[]): YamlIndex {
  const moved = (at: number): number =>
    edits.reduce((sum, edit) => (edit.end <= at ? sum + edit.text.length - (edit.end - edit.start) : sum), at);
  const starts = new Set(edits.map(edit => edit.start));
  const now = rows.map(row => {
    const places = Object.fromEntries(
      Object.entries(row.places).map(([name, { start, end }]) => [name, { start: moved(start), end: moved(end) }]),
    );
    const there = { ...row, places, titleEnd: moved(row.titleEnd) };
    return Object.values(row.places).some(place => starts.has(place.start)) ? restated(there, text) : there;
  });
  const tasks = document?.tasks.map((task, at) =>
    now[at]!.status === rows[at]!.status ? task : { ...task, ...statusFields(now[at]!.status) },
  );
  return { rows: now, words, document: document && tasks && { ...document, tasks } };
}

/** With what its values say now, as we wrote them. */
function restated(row: YamlRow, text: string): YamlRow {
  const saidBy = (name: string): string => text.slice(row.places[name]!.start, row.places[name]!.end);
  if (row.key === 'status') return { ...row, status: meaningOf(saidBy(row.key)) ?? 'open' };
  const isTrue = Object.keys(row.places).filter(name => saidBy(name) === 'true');
  return { ...row, isTrue, status: flagStatus(row.key, isTrue) };
}

function nodeOf(task: YamlTask, key: string): Node | null | undefined {
  return task.map?.items.find(pair => String(pair.key.value) === key)?.value;
}

/** New members stand right behind the title, in the shape that the task has: one line each, or one after the other. */
function withMembers(text: string, { titleEnd, indent }: YamlRow, members: readonly string[]): Edit {
  if (indent === undefined)
    return { start: titleEnd, end: titleEnd, text: members.map(member => `, ${member}`).join('') };
  return linesBehind(
    text,
    titleEnd,
    members.map(member => indent + member),
  );
}

const names = {
  title: ['title', 'name', 'task'],
  description: ['description', 'details', 'body', 'prompt'],
  criteria: ['acceptance_criteria', 'acceptanceCriteria', 'criteria', 'acceptance'],
  dependsOn: ['depends_on', 'dependsOn', 'dependencies', 'deps'],
  done: ['completed', 'done', 'passes'],
} as const;

const projectNames = ['project', 'project_name', 'name', 'title'];
const goalNames = ['goal', 'description'];
/** Everything that is read; the rest of a document is the writer's own. */
export const yamlKeys = {
  list: 'tasks',
  document: [...projectNames, ...goalNames, 'tasks'],
  row: ['id', ...Object.values(names).flat(), 'status', 'skipped'],
};

/** The status words of several tools; other words are refused, because a guess could skip work. */
const wordsFor: readonly (readonly [WrittenStatus, readonly string[]])[] = [
  ['open', ['pending', 'todo', 'to_do', 'open', 'not_started', 'ready', 'in_progress', 'active', 'doing']],
  ['done', ['done', 'complete', 'completed', 'closed']],
  ['skipped', ['skipped', 'cancelled', 'canceled']],
  ['blocked', ['blocked']],
];
const meanings = new Map(wordsFor.flatMap(([status, words]) => words.map(word => [word, status] as const)));

function meaningOf(status: string): WrittenStatus | undefined {
  return meanings.get(
    status
      .trim()
      .toLowerCase()
      .replace(/[\s-]+/g, '_'),
  );
}

export function keyOf(task: YamlTask, what: keyof typeof names): string | undefined {
  return names[what].find(name => name in task.value);
}

/** The key that says whether it is done. */
export function statusKeyOf(task: YamlTask): string | undefined {
  return keyOf(task, 'done') ?? ('status' in task.value ? 'status' : undefined);
}

function titleOf(task: YamlTask): string {
  const title = task.value[keyOf(task, 'title') ?? 'title'];
  return typeof title === 'string' ? title.trim() : typeof title === 'number' ? String(title) : '';
}

/** The id that stands in the task, or one that is made from its title. */
function idsOf(list: readonly YamlTask[]): readonly string[] {
  const explicit = list.map(({ value }) => (value['id'] === undefined ? undefined : String(value['id'])));
  const giver = new IdGiver(explicit.filter(id => id !== undefined));
  return list.map((task, row) => explicit[row] ?? giver.idFor(titleOf(task)));
}

function readTasks({ about, tasks: list }: YamlList, problems: ProblemList): ParsedDocument {
  const ids = idsOf(list);
  const byTitle = new Map(list.map((task, row) => [titleOf(task), ids[row]!]));
  const known = new Set(ids);
  const warnings: string[] = [];
  const idOf: IdOf = name => (known.has(name) ? name : byTitle.get(name));
  const tasks = list.map((task, row) => readTask(task, ids[row]!, idOf, taskReader(task, problems, warnings)));
  const wording = {
    noun: 'task',
    plural: 'tasks',
    taskName: (row: number) => `tasks[${row}]`,
    idName: (row: number) => `tasks[${row}].id`,
    dependenciesName: (row: number) => `tasks[${row}].${keyOf(list[row]!, 'dependsOn') ?? 'depends_on'}`,
    idPlace: (row: number) => list[row]!.start,
    dependenciesPlace: (row: number) => list[row]!.start,
    add: problems.add.bind(problems),
  };
  checkIds(tasks, wording);
  checkDependencies(tasks, wording);
  const say = (keys: readonly string[]) =>
    keys
      .map(key => about[key])
      .find(value => typeof value === 'string')
      ?.trim();
  const project = say(projectNames) || 'Tasks';
  const isGrouped = list.some(task => 'parallel_group' in task.value);
  const notices = isGrouped ? ['parallel_group is not used: tasks come one after the other.'] : [];
  notices.push(...firstNotices(warnings, 'texts look odd'));
  return { project, goal: say(goalNames) || project, tasks, notices };
}

type IdOf = (name: string) => string | undefined;

function readTask(task: YamlTask, id: string, idOf: IdOf, reader: TaskReader): TaskSpec {
  const title = titleOf(task);
  if (task.map !== undefined && title === '') reader.fail('title', 'is missing', 'Add "title: …".');
  if (task.map !== undefined && title !== '') checkId(task, id, reader);
  const status = readStatus(task, reader);
  const description = reader.text(keyOf(task, 'description'));
  const notes = reader.text('notes');
  reader.watch(title);
  return {
    id: task.map === undefined ? '' : id,
    title,
    description: [description, notes === '' ? '' : `Notes: ${notes}`].filter(part => part !== '').join('\n\n'),
    criteria: reader.list(keyOf(task, 'criteria')),
    dependsOn: [...new Set(reader.list(keyOf(task, 'dependsOn')).map(name => idOf(name) ?? name))],
    ...statusFields(status),
    section: task.value['id'] === undefined ? '' : undefined,
  };
}

function checkId({ value }: YamlTask, id: string, { fail }: TaskReader): void {
  const isText = value['id'] === undefined || typeof value['id'] === 'string' || typeof value['id'] === 'number';
  if (isText && isTaskId(id)) return;
  fail('id', `is not a valid id: ${shown(isText ? id : value['id'])}`, idRule);
}

function readStatus(task: YamlTask, { flag, mustBeOwn, fail }: TaskReader): WrittenStatus {
  const key = statusKeyOf(task);
  const skipped = flag('skipped');
  if (key === undefined) return skipped ? 'skipped' : 'open';
  if (key !== 'status') return flag(key) ? 'done' : skipped ? 'skipped' : 'open';
  mustBeOwn(key);
  const value = task.value[key];
  const meaning = typeof value === 'string' ? meaningOf(value) : undefined;
  if (meaning === undefined) {
    const fix = 'Write pending, in_progress, completed, blocked or skipped.';
    fail(key, `is no known status: ${shown(value)}`, fix);
  }
  return meaning ?? 'open';
}

type TaskReader = ReturnType<typeof taskReader>;

/** Readers of one task's values, each with its own complaints; the texts that look odd are added to the warnings. */
function taskReader(task: YamlTask, problems: ProblemList, warnings: string[]) {
  const { row, value: values } = task;

  function fail(key: string, what: string, fix: string): void {
    const range = nodeOf(task, key)?.range;
    problems.add(range ? task.offset + range[0] : task.start, `tasks[${row}].${key} ${what}.`, fix);
  }

  function watch(text: string): void {
    const warning = suspicion(text);
    if (warning !== undefined) warnings.push(`tasks[${row}] ${warning}`);
    if (text.includes('<!--')) warnings.push(`tasks[${row}] holds an HTML comment, which agents read.`);
  }

  /** What is shared through an anchor cannot be marked for one task alone. */
  function mustBeOwn(key: string): void {
    const node = nodeOf(task, key);
    if (isAlias(node) || (isScalar(node) && node.anchor !== undefined))
      fail(key, 'is shared through an anchor', 'Write the value out.');
  }

  /** Strict: "no", 0 and an empty value have meant both things to somebody. */
  function flag(key: string): boolean {
    const value = values[key];
    if (value === undefined) return false;
    mustBeOwn(key);
    if (typeof value !== 'boolean')
      fail(key, `must be true or false, not ${shown(value)}`, 'Write true or false, without quotes.');
    return value === true;
  }

  function text(key: string | undefined): string {
    if (key === undefined) return '';
    const value = values[key] ?? '';
    if (typeof value === 'object') fail(key, `must be text, not ${shown(value)}`, 'Write it as text.');
    else watch(String(value));
    return typeof value === 'object' ? '' : String(value).trim();
  }

  /** One text counts as a list of one. */
  function list(key: string | undefined): readonly string[] {
    if (key === undefined) return [];
    const value = values[key] ?? [];
    return (Array.isArray(value) ? (value as readonly Json[]) : [value]).flatMap(entry => {
      const words = typeof entry === 'number' ? String(entry) : entry;
      if (typeof words === 'string') watch(words);
      else fail(key, `must hold texts, not ${shown(entry)}`, 'Write one text for each.');
      return typeof words === 'string' && words.trim() !== '' ? [words.trim()] : [];
    });
  }

  return { fail, watch, mustBeOwn, flag, text, list };
}
