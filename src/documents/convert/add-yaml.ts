// A new task at the end of a YAML list, with the key names, the dash and the line ends of the one before it.
import { isMap, type YAMLSeq } from 'yaml';
import type { Json } from '../../core/task.ts';
import { withEdits } from '../edits.ts';
import { keyOf, meaningOf, statusKeyOf, type TaskMap, type YamlTask } from '../formats/yaml-tasks.ts';
import { byteOrderMark } from '../json.ts';
import { ProblemList } from '../problems.ts';
import { readYaml } from '../yaml.ts';
import type { Adder, NewTask } from './new-task.ts';

interface List {
  readonly offset: number;
  readonly node: YAMLSeq;
  readonly tasks: readonly YamlTask[];
}

/** The text parses as a task list, so that all of this is there. */
function listOf(text: string): List {
  const offset = text.startsWith(byteOrderMark) ? 1 : 0;
  const read = readYaml(text.slice(offset), new ProblemList())!;
  const root = read.document.contents;
  const node = (isMap(root) ? root.get('tasks', true) : root) as YAMLSeq;
  const value = (
    isMap(root) ? (read.value as { readonly [key: string]: Json })['tasks'] : read.value
  ) as readonly Json[];
  const tasks = value.map((one, row) => ({
    row,
    start: 0,
    offset,
    map: node.items[row] as TaskMap,
    value: one as YamlTask['value'],
  }));
  return { offset, node, tasks };
}

const openWord = (tasks: readonly YamlTask[]): string => {
  const words = tasks.map(task => task.value['status']).filter(one => typeof one === 'string');
  return words.find(word => meaningOf(word) === 'open' && !/progress|active|doing/i.test(word)) ?? 'pending';
};

function membersFor(tasks: readonly YamlTask[], task: NewTask, id: string | undefined): readonly YamlMember[] {
  const last = tasks.at(-1)!;
  const named = (what: 'description' | 'criteria' | 'dependsOn', own: string): string =>
    tasks.map(one => keyOf(one, what)).findLast(key => key !== undefined) ?? own;
  const status = statusKeyOf(last);
  const members: (YamlMember | undefined)[] = [
    id === undefined ? undefined : ['id', id],
    [keyOf(last, 'title') ?? 'title', task.title],
    task.description === '' ? undefined : [named('description', 'description'), task.description],
    task.criteria.length === 0 ? undefined : [named('criteria', 'acceptance_criteria'), task.criteria],
    task.dependsOn.length === 0 ? undefined : [named('dependsOn', 'depends_on'), task.dependsOn],
    status === undefined ? undefined : [status, status === 'status' ? openWord(tasks) : false],
  ];
  return members.filter(member => member !== undefined);
}

/** `  - ` as the last task has it. */
function prefixOf(text: string, { offset, node, tasks }: List): string {
  const lineStart = (at: number): number => Math.max(offset, text.lastIndexOf('\n', at - 1) + 1);
  const key = offset + tasks.at(-1)!.map!.items[0]!.key.range![0];
  const before = text.slice(lineStart(key), key);
  if (/^ *- +$/.test(before)) return before;
  const dash = offset + node.range![0];
  return `${' '.repeat(dash - lineStart(dash))}- `;
}

/** A list whose last task has no id of its own goes without. */
function writtenIds(tasks: readonly YamlTask[]): readonly string[] {
  if (tasks.at(-1)?.value['id'] === undefined) return [];
  return tasks.flatMap(({ value }) => (value['id'] === undefined ? [] : [String(value['id'])]));
}

function withTask(text: string, list: List, task: NewTask, id: string | undefined): string {
  const { offset, node, tasks } = list;
  const members = membersFor(tasks, task, id);
  const last = tasks.at(-1)!.map!;
  const end = offset + last.range![1];
  if (node.flow === true) return withEdits(text, [{ start: end, end, text: `, ${yamlFlow(members)}` }]);
  const prefix = prefixOf(text, list);
  const lines = last.flow === true ? [`${prefix}${yamlFlow(members)}`] : yamlItem(members, prefix);
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  const at = newline === -1 ? text.length : newline + 1;
  const added = lines.map(line => (newline === -1 ? lineEnd + line : line + lineEnd)).join('');
  return withEdits(text, [{ start: at, end: at, text: added }]);
}

export const yamlAdder: Adder = {
  noun: 'YAML list',
  hasDependencies: true,
  needsCriteria: false,
  needsId: false,

  open(text) {
    const list = listOf(text);
    return { writtenIds: writtenIds(list.tasks), put: (task, id) => withTask(text, list, task, id) };
  },
};

// Writes one task as YAML, line by line: plain where that is safe, quoted as JSON where it is not.

type YamlValue = string | boolean | readonly string[];
export type YamlMember = readonly [key: string, value: YamlValue];

const plain = /^[A-Za-z](?:[A-Za-z0-9 _.()/'-]*[A-Za-z0-9.)])?$/;
const words = /^(?:true|false|null|yes|no|on|off|y|n)$/i;
/** What a block of text may hold so that every reader of YAML gives it back. */
const blockLine = /^(?:[\p{L}\p{N}\p{P}\p{S}](?:[\p{L}\p{M}\p{N}\p{P}\p{S} ]*[\p{L}\p{M}\p{N}\p{P}\p{S}])?)?$/u;

export const yamlScalar = (text: string): string =>
  plain.test(text) && !words.test(text)
    ? text
    : JSON.stringify(text).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/g, escaped);

const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;

const isBlock = (text: string): boolean => text.includes('\n') && text.split('\n').every(line => blockLine.test(line));

function memberLines([key, value]: YamlMember): readonly string[] {
  if (typeof value === 'boolean') return [`${key}: ${value}`];
  if (typeof value === 'string') {
    if (!isBlock(value)) return [`${key}: ${yamlScalar(value)}`];
    return [`${key}: |-`, ...value.split('\n').map(line => (line === '' ? '' : `  ${line}`))];
  }
  if (key.startsWith('dep')) return [`${key}: [${value.map(yamlScalar).join(', ')}]`];
  return [`${key}:`, ...value.map(one => `  - ${yamlScalar(one)}`)];
}

/** The lines of a list item; `prefix` ends with the dash and its spaces. */
export function yamlItem(members: readonly YamlMember[], prefix: string): readonly string[] {
  const indent = ' '.repeat(prefix.length);
  return members
    .flatMap(memberLines)
    .map((line, row) => (row === 0 ? prefix + line : line === '' ? '' : indent + line));
}

/** The same in one line, between braces. */
function yamlFlow(members: readonly YamlMember[]): string {
  const shown = ([key, value]: YamlMember): string => `${key}: ${JSON.stringify(value)}`;
  return `{${members.map(shown).join(', ')}}`;
}
