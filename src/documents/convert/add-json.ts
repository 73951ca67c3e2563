// A new object at the end of a JSON list, written as the one before it is: key names, order, spaces, line ends.
import { byteOrderMark, scanJson, stringAt } from '../json.ts';
import type { Adder, NewTask } from './new-task.ts';

type Value = string | number | boolean | readonly string[];
type Row = Readonly<Record<string, unknown>>;

interface Span {
  readonly start: number;
  readonly end: number;
}

interface Member extends Span {
  readonly name: string;
  readonly keyStart: number;
  readonly parts: readonly Span[];
}

function listOf(text: string, key: string): { readonly start: number; readonly rows: readonly Span[] } {
  const rows: Span[] = [];
  let start = 0;
  scanJson(text, {
    value(path, depth, from, end) {
      if (depth === 2 && path[0] === key) rows.push({ start: from, end });
      if (depth === 1 && path[0] === key) start = from;
    },
  });
  return { start, rows };
}

function membersOf(row: string): readonly Member[] {
  const members: Member[] = [];
  let parts: Span[] = [];
  let keyStart = 0;
  scanJson(row, {
    key(_path, depth, offset) {
      if (depth === 1) keyStart = offset;
    },
    value(path, depth, start, end) {
      if (depth === 2) parts.push({ start, end });
      if (depth !== 1) return;
      members.push({ name: String(path[0]), keyStart, start, end, parts });
      parts = [];
    },
  });
  return members;
}

interface Around {
  readonly open: string;
  readonly between: string;
  readonly close: string;
}

const inline: Around = { open: '', between: ', ', close: '' };

/** What stands around and between the pieces of an object or a list. */
function around(text: string, whole: Span, pieces: readonly Span[]): Around | undefined {
  const [first, second] = pieces;
  const last = pieces.at(-1);
  if (first === undefined || last === undefined) return undefined;
  const open = text.slice(whole.start + 1, first.start);
  const between = second === undefined ? `,${open === '' ? ' ' : open}` : text.slice(first.end, second.start);
  return { open, between, close: text.slice(last.end, whole.end - 1) };
}

const joined = (pieces: readonly string[], { open, between, close }: Around): string =>
  `${open}${pieces.join(between)}${close}`;

/** The object before the new one shows how. */
class Style {
  private readonly row: string;
  private readonly members: readonly Member[];

  constructor(row: string) {
    this.row = row;
    this.members = membersOf(row);
  }

  object(values: ReadonlyMap<string, Value>): string {
    const known = this.members.map(member => member.name).filter(name => values.has(name));
    const names = [...known, ...[...values.keys()].filter(name => !known.includes(name))];
    const pieces = this.members.map(({ keyStart, end }) => ({ start: keyStart, end }));
    const look = around(this.row, { start: 0, end: this.row.length }, pieces) ?? inline;
    const colon = this.colon();
    return `{${joined(
      names.map(name => `${JSON.stringify(name)}${colon}${this.value(values.get(name)!, look)}`),
      look,
    )}}`;
  }

  private colon(): string {
    const first = this.members[0];
    return first === undefined ? ': ' : this.row.slice(this.row.lastIndexOf('"', first.start - 1) + 1, first.start);
  }

  private value(value: Value, { between }: Around): string {
    if (typeof value !== 'object') return JSON.stringify(value);
    const shown = this.members.find(member => this.row[member.start] === '[' && member.parts.length > 0);
    const plain = between === ',' ? { ...inline, between } : inline;
    const look = (shown && around(this.row, shown, shown.parts)) ?? plain;
    return value.length === 0
      ? '[]'
      : `[${joined(
          value.map(one => JSON.stringify(one)),
          look,
        )}]`;
  }
}

function rowsIn(text: string, key: string): readonly Row[] {
  const document = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text) as Readonly<
    Record<string, readonly Row[]>
  >;
  return document[key] ?? [];
}

/** The list of a document that parses has at least one row. */
function withRow(text: string, key: string, valuesFor: (rows: readonly Row[]) => ReadonlyMap<string, Value>): string {
  const { start, rows } = listOf(text, key);
  const last = rows.at(-1)!;
  const before = rows.at(-2);
  const between = before === undefined ? `,${text.slice(start + 1, last.start)}` : text.slice(before.end, last.start);
  const object = new Style(text.slice(last.start, last.end)).object(valuesFor(rowsIn(text, key)));
  return `${text.slice(0, last.end)}${between}${object}${text.slice(last.end)}`;
}

/** The name that the document itself uses, the last row first. */
function usedName(rows: readonly Row[], [own, ...others]: readonly [string, ...string[]]): string {
  const row = rows.findLast(one => [own, ...others].some(name => Array.isArray(one[name])));
  return [own, ...others].find(name => Array.isArray(row?.[name])) ?? own;
}

const idsIn = (text: string, key: string): readonly string[] => {
  const ids: string[] = [];
  scanJson(text, {
    value(path, depth, start, end) {
      if (depth === 3 && path[0] === key && path[2] === 'id' && text[start] === '"')
        ids.push(stringAt(text, start, end));
    },
  });
  return ids;
};

function storyValues(rows: readonly Row[], task: NewTask, id: string): ReadonlyMap<string, Value> {
  const last = rows.at(-1) ?? {};
  const dependencies = usedName(rows, ['depends_on', 'dependsOn', 'dependencies']);
  const values = new Map<string, Value>([
    ['id', id],
    ['title', task.title],
  ]);
  if (task.description !== '' || 'description' in last) values.set('description', task.description);
  values.set(usedName(rows, ['criteria', 'acceptanceCriteria']), task.criteria);
  // Where every story has a priority, one without would be the odd one out for the tools that order by it.
  const priorities = rows.map(row => row['priority']);
  if (priorities.every(one => Number.isSafeInteger(one)))
    values.set('priority', Math.max(...(priorities as readonly number[])) + 1);
  values.set('passes', false);
  if (rows.every(row => typeof row['notes'] === 'string')) values.set('notes', '');
  if (task.dependsOn.length > 0 || Array.isArray(last[dependencies])) values.set(dependencies, task.dependsOn);
  return values;
}

function taskValues(rows: readonly Row[], task: NewTask, id: string): ReadonlyMap<string, Value> {
  const last = rows.at(-1) ?? {};
  const most = last['max_attempts'];
  const values = new Map<string, Value>([
    ['id', id],
    ['title', task.title],
  ]);
  if (task.description !== '' || 'description' in last) values.set('description', task.description);
  if (task.criteria.length > 0 || Array.isArray(last['criteria'])) values.set('criteria', task.criteria);
  values.set('status', 'pending');
  if (task.dependsOn.length > 0 || Array.isArray(last['dependencies'])) values.set('dependencies', task.dependsOn);
  if ('attempts' in last) values.set('attempts', 0);
  if (Number.isSafeInteger(most) && (most as number) > 0) values.set('max_attempts', most as number);
  if ('blocked' in last) values.set('blocked', false);
  return values;
}

const jsonAdder = (
  noun: string,
  key: string,
  valuesFor: (rows: readonly Row[], task: NewTask, id: string) => ReadonlyMap<string, Value>,
): Adder => ({
  noun,
  hasDependencies: true,
  needsCriteria: false,
  needsId: true,
  open: text => ({
    writtenIds: idsIn(text, key),
    put: (task, id = '') => withRow(text, key, rows => valuesFor(rows, task, id)),
  }),
});

export const prdAdder: Adder = jsonAdder('PRD', 'userStories', storyValues);
export const tasksAdder: Adder = jsonAdder('task list', 'tasks', taskValues);
