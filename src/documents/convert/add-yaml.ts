// A new task at the end of a YAML list, with the key names, the dash and the line ends of the one before it.
import { linesBehind, withEdits } from '../edits.ts';
import {
  keyOf,
  readYamlList,
  statusKeyOf,
  statusWords,
  type YamlList,
  type YamlTask,
  yamlTasks,
} from '../formats/yaml-tasks.ts';
import { ProblemList } from '../problems.ts';
import { yamlScalar } from '../yaml.ts';
import type { Adder, NewTask } from './new-task.ts';

function membersFor(tasks: readonly YamlTask[], task: NewTask, id: string | undefined): YamlMembers {
  const last = tasks.at(-1)!;
  const named = (what: 'description' | 'criteria' | 'dependsOn', own: string): string =>
    tasks.map(one => keyOf(one, what)).findLast(key => key !== undefined) ?? own;
  const status = statusKeyOf(last);
  return {
    id,
    [keyOf(last, 'title') ?? 'title']: task.title,
    [named('description', 'description')]: task.description || undefined,
    [named('criteria', 'acceptance_criteria')]: task.criteria,
    [named('dependsOn', 'depends_on')]: task.dependsOn,
    [status ?? 'status']: status === undefined ? undefined : status === 'status' ? statusWords(tasks).open : false,
  };
}

/** `  - ` as the last task has it. */
function prefixOf(text: string, { offset, node, tasks }: YamlList): string {
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

function withTask(text: string, list: YamlList, task: NewTask, id: string | undefined): string {
  const { offset, node, tasks } = list;
  const members = membersFor(tasks, task, id);
  const last = tasks.at(-1)!.map!;
  const end = offset + last.range![1];
  if (node.flow === true) return withEdits(text, [{ start: end, end, text: `, ${yamlFlow(members)}` }]);
  const prefix = prefixOf(text, list);
  const lines = last.flow === true ? [`${prefix}${yamlFlow(members)}`] : yamlItem(members, prefix);
  return withEdits(text, [linesBehind(text, end, lines)]);
}

export const yamlAdder: Adder = {
  noun: 'YAML list',
  format: yamlTasks,
  hasDependencies: true,
  needsCriteria: false,
  needsId: false,

  open(text) {
    const list = readYamlList(text, new ProblemList())!;
    return { writtenIds: writtenIds(list.tasks), put: (task, id) => withTask(text, list, task, id) };
  },
};

// One task as YAML, line by line: plain where that is safe, quoted as JSON where it is not.

/** In the order of the keys; what is undefined or an empty list is left out. */
type YamlMembers = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
type YamlMember = readonly [key: string, value: string | boolean | readonly string[]];

const membersIn = (members: YamlMembers): readonly YamlMember[] =>
  Object.entries(members).flatMap(([key, value]) =>
    value === undefined || (typeof value === 'object' && value.length === 0) ? [] : [[key, value] as const],
  );

const plain = /^[A-Za-z](?:[A-Za-z0-9 _.()/'-]*[A-Za-z0-9.)])?$/;
/** What a block of text may hold so that every reader of YAML gives it back. */
const blockLine = /^(?:[\p{L}\p{N}\p{P}\p{S}](?:[\p{L}\p{M}\p{N}\p{P}\p{S} ]*[\p{L}\p{M}\p{N}\p{P}\p{S}])?)?$/u;

export const yamlText = (text: string): string => yamlScalar(text, plain);

const isBlock = (text: string): boolean => text.includes('\n') && text.split('\n').every(line => blockLine.test(line));

function memberLines([key, value]: YamlMember): readonly string[] {
  if (typeof value === 'boolean') return [`${key}: ${value}`];
  if (typeof value === 'string') {
    if (!isBlock(value)) return [`${key}: ${yamlText(value)}`];
    return [`${key}: |-`, ...value.split('\n').map(line => (line === '' ? '' : `  ${line}`))];
  }
  if (key.startsWith('dep')) return [`${key}: [${value.map(yamlText).join(', ')}]`];
  return [`${key}:`, ...value.map(one => `  - ${yamlText(one)}`)];
}

/** The lines of a list item; `prefix` ends with the dash and its spaces. */
export function yamlItem(members: YamlMembers, prefix: string): readonly string[] {
  const indent = ' '.repeat(prefix.length);
  return membersIn(members)
    .flatMap(memberLines)
    .map((line, row) => (row === 0 ? prefix + line : line === '' ? '' : indent + line));
}

/** The same in one line, between braces. */
const yamlFlow = (members: YamlMembers): string =>
  `{${membersIn(members)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}`)
    .join(', ')}}`;
