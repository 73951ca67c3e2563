// YAML task lists, as ralphy and others keep them: read leniently, marked by the place of a value, comments and all kept.
import { isMap, isSeq, type Scalar } from 'yaml';
import type { Json } from '../../core/task.ts';
import type { Format, Parsed, TaskMark } from '../document.ts';
import { byteOrderMark } from '../json.ts';
import { ProblemList } from '../problems.ts';
import { type Edit, withEdits } from '../edits.ts';
import { idsOf, keyOf, meaningOf, readTasks, statusKeyOf, type TaskMap, type YamlTask } from './yaml-task-rules.ts';
import { readYaml, type YamlText } from '../yaml.ts';

const textCharsMax = 4 * 1024 * 1024;
/** The first line that says something is an item. */
const bareList = /^\uFEFF?(?:(?:[ \t]*(?:#[^\n]*)?|---[^\n]*)\n)*[ \t]*-[ \t]/;
const taskKey = /^ {0,6}(?:-[ \t]+)?(?:title|task|status|completed|done|passes|skipped)[ \t]*:/m;

export const yamlTasks: Format = {
  name: 'yaml-tasks',

  recognises(fileName, text) {
    if (!/\.ya?ml$/i.test(fileName)) return false;
    // A bare list of names may be anything, a playbook for one: something in it must speak of tasks.
    return /^tasks[ \t]*:/m.test(text) || (bareList.test(text) && taskKey.test(text));
  },

  parse(text) {
    const problems = new ProblemList();
    const read = readText(text, problems);
    const list = read === undefined ? undefined : listOf(read, problems, startOf(text));
    const document = list === undefined ? undefined : readTasks(read!.value, list, problems);
    return document === undefined || problems.count > 0 ? refused(text, problems) : { ok: true, document };
  },

  mark(text, marks) {
    const problems = new ProblemList();
    const read = readText(text, problems);
    const list = read === undefined ? undefined : listOf(read, problems, startOf(text));
    if (list === undefined || problems.count > 0) return text;
    const wanted = new Map(marks.map(mark => [mark.id, mark]));
    const words = wordsOf(list);
    const ids = idsOf(list);
    const edits = list.flatMap((task, row) => {
      const mark = wanted.get(ids[row]!);
      return mark === undefined ? [] : editsFor(text, task, mark, words);
    });
    const marked = withEdits(text, edits);
    // Odd YAML may read differently with one more line in it; then no change is the smaller fault.
    return edits.some(edit => edit.start === edit.end) && !yamlTasks.parse(marked).ok ? text : marked;
  },
};

const startOf = (text: string): number => (text.startsWith(byteOrderMark) ? 1 : 0);

function refused(text: string, problems: ProblemList): Parsed {
  return { ok: false, problems: problems.located(text.slice(0, textCharsMax)) };
}

function readText(text: string, problems: ProblemList): YamlText | undefined {
  if (text.length > textCharsMax) {
    problems.add(0, 'The document is larger than 4 MB.', 'Split the work into several files.');
    return undefined;
  }
  const offset = startOf(text);
  const read = readYaml(text.slice(offset), problems, { offset });
  return problems.count > 0 ? undefined : read;
}

/** The tasks and where their members stand: a list, or the list under `tasks`. */
function listOf(read: YamlText, problems: ProblemList, offset: number): readonly YamlTask[] | undefined {
  const root = read.document.contents;
  const node = isMap(root) ? root.get('tasks', true) : root;
  const value = isMap(root) ? (read.value as { readonly [key: string]: Json })['tasks'] : read.value;
  if (!isSeq(node) || !Array.isArray(value)) {
    problems.add(
      offset,
      'The document has no list of tasks.',
      'Write "tasks:" and below it "- title: …" for each task.',
    );
    return undefined;
  }
  if (node.items.length === 0) problems.add(offset + node.range![0], 'The list of tasks is empty.', 'Add a task.');
  return node.items.map((item, row) => {
    const start = offset + ((item as Scalar).range?.[0] ?? 0);
    if (isMap(item)) return { start, row, offset, map: item as TaskMap, value: value[row] as YamlTask['value'] };
    const fix = 'Write it as "- title: …", with its other keys below.';
    problems.add(start, `tasks[${row}] must be keys and values, written out.`, fix);
    return { start, row, offset, map: undefined, value: {} };
  });
}

interface Words {
  readonly done: string;
  readonly open: string;
}

/** The words for done and open that the document itself uses. */
function wordsOf(list: readonly YamlTask[]): Words {
  const statuses = list.map(task => task.value['status']).filter(status => typeof status === 'string');
  return {
    done: statuses.find(status => meaningOf(status) === 'done') ?? 'completed',
    open: statuses.find(status => meaningOf(status) === 'open' && !/progress|active|doing/i.test(status)) ?? 'pending',
  };
}

function editsFor(text: string, task: YamlTask, mark: TaskMark, words: Words): readonly Edit[] {
  const key = statusKeyOf(task);
  if (key === 'status') {
    const now = meaningOf(String(task.value['status']));
    const next = mark.done ? 'done' : mark.skipped ? 'skipped' : mark.status === 'blocked' ? 'blocked' : 'open';
    if (now === next || (next === 'open' && now === 'blocked' && mark.status === undefined)) return [];
    const word = next === 'done' || next === 'open' ? words[next] : next;
    return [replaced(task, 'status', word)];
  }
  const edits: Edit[] = [];
  const added: string[] = [];
  const flags = [
    [key ?? 'completed', mark.done],
    ['skipped', mark.skipped],
  ] as const;
  for (const [flag, value] of flags) {
    if ((task.value[flag] === true) === value) continue;
    if (flag in task.value) edits.push(replaced(task, flag, String(value)));
    else added.push(`${flag}: ${value}`);
  }
  return added.length === 0 ? edits : [...edits, withMembers(text, task, added)];
}

function replaced({ map, offset }: YamlTask, key: string, value: string): Edit {
  const node = map!.items.find(pair => String(pair.key.value) === key)!.value as Scalar;
  return { start: offset + node.range![0], end: offset + node.range![1], text: value };
}

/** New members stand right behind the title, in the shape that the task has: one line each, or one after the other. */
function withMembers(text: string, task: YamlTask, members: readonly string[]): Edit {
  const { map, offset } = task;
  const titleKey = keyOf(task, 'title');
  const title = map!.items.find(pair => String(pair.key.value) === titleKey)!;
  const end = offset + (title.value as Scalar).range![1];
  if (map!.flow === true) return { start: end, end, text: members.map(member => `, ${member}`).join('') };
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const first = offset + map!.range![0];
  const indent = ' '.repeat(first - Math.max(offset, text.lastIndexOf('\n', first - 1) + 1));
  const lines = members.map(member => indent + member);
  const newline = text[end - 1] === '\n' ? end - 1 : text.indexOf('\n', end);
  if (newline === -1) return { start: text.length, end: text.length, text: lines.map(line => lineEnd + line).join('') };
  return { start: newline + 1, end: newline + 1, text: lines.map(line => line + lineEnd).join('') };
}
