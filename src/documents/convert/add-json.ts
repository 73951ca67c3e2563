// A new object at the end of a JSON list, written as the one before it is: key names, order, spaces, line ends.
import type { Fields } from '../../text/fields.ts';
import type { IndexedFormat } from '../document.ts';
import { withEdits } from '../edits.ts';
import { prd } from '../formats/prd.ts';
import { projectTasks } from '../formats/tasks.ts';
import { partsOf } from '../json.ts';
import { colonOf, parseJson } from '../json-tasks.ts';
import type { Adder, NewTask } from './new-task.ts';

type Value = string | number | boolean | readonly string[];
/** In the order of the keys; what is undefined is left out. */
type Values = Readonly<Record<string, Value | undefined>>;

interface Around {
  readonly open: string;
  readonly between: string;
  readonly close: string;
}

const inline: Around = { open: '', between: ', ', close: '' };

/** What stands around and between the parts of an object or a list. */
function around(text: string): Around | undefined {
  const parts = partsOf(text);
  const [first, second] = parts;
  if (first === undefined) return undefined;
  const open = text.slice(1, first.keyStart);
  const between = second === undefined ? `,${open === '' ? ' ' : open}` : text.slice(first.end, second.keyStart);
  return { open, between, close: text.slice(parts.at(-1)!.end, -1) };
}

const joined = (pieces: readonly string[], { open, between, close }: Around): string =>
  `${open}${pieces.join(between)}${close}`;

/** An object of these values, written as `row` is. */
function objectLike(row: string, values: Values): string {
  const members = partsOf(row);
  const look = around(row) ?? inline;
  const lists = members.map(({ start, end }) => row.slice(start, end)).filter(text => text.startsWith('['));
  const listLook = lists.map(around).find(each => each !== undefined) ?? {
    ...inline,
    between: look.between === ',' ? ',' : ', ',
  };
  const written = (value: Value): string => {
    if (typeof value !== 'object') return JSON.stringify(value);
    const parts = value.map(one => JSON.stringify(one));
    return parts.length === 0 ? '[]' : `[${joined(parts, listLook)}]`;
  };
  const names = new Set([...members.map(member => member.name), ...Object.keys(values)]);
  const colon = colonOf(row, members[0]!);
  const added = [...names].flatMap(name => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return value === undefined ? [] : [`${JSON.stringify(name)}${colon}${written(value)}`];
  });
  return `{${joined(added, look)}}`;
}

/** The list of a document that parses has at least one row. */
function withRow(text: string, key: string, values: Values): string {
  const { start, end } = partsOf(text).find(({ name }) => name === key)!;
  const list = text.slice(start, end);
  const rows = partsOf(list);
  const last = rows.at(-1)!;
  const before = rows.at(-2);
  const between = before === undefined ? `,${list.slice(1, last.start)}` : list.slice(before.end, last.start);
  const object = objectLike(list.slice(last.start, last.end), values);
  const at = start + last.end;
  return withEdits(text, [{ start: at, end: at, text: between + object }]);
}

/** The name that the document itself uses, the last row first. */
function usedName(rows: readonly Fields[], names: readonly [string, ...string[]]): string {
  const row = rows.findLast(one => names.some(name => Array.isArray(one[name])));
  return names.find(name => Array.isArray(row?.[name])) ?? names[0];
}

type ValuesFor = (rows: readonly Fields[], task: NewTask, id: string) => Values;

const storyValues: ValuesFor = (rows, task, id) => {
  const last = rows.at(-1)!;
  const dependencies = usedName(rows, ['depends_on', 'dependsOn', 'dependencies']);
  const priorities = rows.map(row => row['priority']);
  return {
    id,
    title: task.title,
    description: task.description !== '' || 'description' in last ? task.description : undefined,
    [usedName(rows, ['criteria', 'acceptanceCriteria'])]: task.criteria,
    // Where every story has a priority, one without would be the odd one out for the tools that order by it.
    priority: priorities.every(Number.isSafeInteger) ? Math.max(...(priorities as readonly number[])) + 1 : undefined,
    passes: false,
    notes: rows.every(row => typeof row['notes'] === 'string') ? '' : undefined,
    [dependencies]: task.dependsOn.length > 0 || Array.isArray(last[dependencies]) ? task.dependsOn : undefined,
  };
};

const taskValues: ValuesFor = (rows, task, id) => {
  const last = rows.at(-1)!;
  const most = Number.isSafeInteger(last['max_attempts']) ? (last['max_attempts'] as number) : 0;
  const hasList = (key: string): boolean => Array.isArray(last[key]);
  return {
    id,
    title: task.title,
    description: task.description !== '' || 'description' in last ? task.description : undefined,
    criteria: task.criteria.length > 0 || hasList('criteria') ? task.criteria : undefined,
    status: 'pending',
    dependencies: task.dependsOn.length > 0 || hasList('dependencies') ? task.dependsOn : undefined,
    attempts: 'attempts' in last ? 0 : undefined,
    max_attempts: most > 0 ? most : undefined,
    blocked: 'blocked' in last ? false : undefined,
  };
};

interface JsonList {
  readonly noun: string;
  readonly key: string;
  readonly format: IndexedFormat;
  readonly values: ValuesFor;
}

const jsonAdder = ({ noun, key, format, values }: JsonList): Adder => ({
  noun,
  format,
  hasDependencies: true,
  needsCriteria: false,
  needsId: true,

  open(text) {
    const rows = (parseJson(text) as Readonly<Record<string, readonly Fields[]>>)[key] ?? [];
    return {
      writtenIds: rows.map(row => row['id']).filter(id => typeof id === 'string'),
      put: (task, id = '') => withRow(text, key, values(rows, task, id)),
    };
  },
});

export const prdAdder = jsonAdder({ noun: 'PRD', key: 'userStories', format: prd, values: storyValues });
export const tasksAdder = jsonAdder({ noun: 'task list', key: 'tasks', format: projectTasks, values: taskValues });
