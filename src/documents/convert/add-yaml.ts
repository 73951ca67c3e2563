// A new task at the end of a YAML list, with the key names, the dash and the line ends of the one before it.
import { isMap, type YAMLSeq } from 'yaml';
import type { Json } from '../../core/task.ts';
import { byteOrderMark } from '../json.ts';
import type { Adder, NewTask } from './new-task.ts';
import { ProblemList } from '../problems.ts';
import { withEdits } from '../edits.ts';
import { type YamlMember, yamlFlow, yamlItem } from './yaml-lines.ts';
import { keyOf, meaningOf, statusKeyOf, type TaskMap, type YamlTask } from '../formats/yaml-task-rules.ts';
import { readYaml } from '../yaml.ts';

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
