// What a task in a YAML list may look like: the names that tools use for the same thing, and what is wrong with a value.
import { isAlias, isScalar, type Node, type Scalar, type YAMLMap } from 'yaml';
import type { Json, TaskSpec } from '../../core/task.ts';
import type { ParsedDocument } from '../document.ts';
import { type ProblemList, problemsMax } from '../problems.ts';
import { shown, suspicion } from '../../text/shown-text.ts';
import { checkDependencies, checkIds, idPattern, idRule } from '../task-checks.ts';
import { IdGiver } from '../text-id.ts';

export type TaskMap = YAMLMap<Scalar, Node | null>;

export interface YamlTask {
  readonly row: number;
  /** Where the task starts in the whole text, and what the YAML's own places are counted from. */
  readonly start: number;
  readonly offset: number;
  /** Undefined where something else stands, which was complained about. */
  readonly map: TaskMap | undefined;
  readonly value: { readonly [key: string]: Json };
}

const names = {
  title: ['title', 'name', 'task'],
  description: ['description', 'details', 'body', 'prompt'],
  criteria: ['acceptance_criteria', 'acceptanceCriteria', 'criteria', 'acceptance'],
  dependsOn: ['depends_on', 'dependsOn', 'dependencies', 'deps'],
  done: ['completed', 'done', 'passes'],
} as const;

/** The status words of several tools; other words are refused, because a guess could skip work. */
const meanings: Readonly<Record<string, 'open' | 'done' | 'skipped' | 'blocked'>> = {
  pending: 'open',
  todo: 'open',
  to_do: 'open',
  open: 'open',
  not_started: 'open',
  ready: 'open',
  in_progress: 'open',
  active: 'open',
  doing: 'open',
  done: 'done',
  complete: 'done',
  completed: 'done',
  closed: 'done',
  skipped: 'skipped',
  cancelled: 'skipped',
  canceled: 'skipped',
  blocked: 'blocked',
};

export function meaningOf(status: string): 'open' | 'done' | 'skipped' | 'blocked' | undefined {
  const word = status
    .trim()
    .toLowerCase()
    .replace(/[\s-]+/g, '_');
  return Object.hasOwn(meanings, word) ? meanings[word] : undefined;
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
export function idsOf(list: readonly YamlTask[]): readonly string[] {
  const explicit = list.map(({ value }) => (value['id'] === undefined ? undefined : String(value['id'])));
  const giver = new IdGiver(explicit.filter(id => id !== undefined));
  return list.map((task, row) => explicit[row] ?? giver.idFor(titleOf(task)));
}

export function readTasks(root: Json, list: readonly YamlTask[], problems: ProblemList): ParsedDocument {
  const ids = idsOf(list);
  const byTitle = new Map(list.map((task, row) => [titleOf(task), ids[row]!]));
  const known = new Set(ids);
  const reader = new TaskReader(problems);
  const tasks = list.map((task, row) =>
    reader.read(task, ids[row]!, name => (known.has(name) ? name : byTitle.get(name))),
  );
  const wording = {
    noun: 'task',
    plural: 'tasks',
    idName: (row: number) => `tasks[${row}].id`,
    dependenciesName: (row: number) => `tasks[${row}].${keyOf(list[row]!, 'dependsOn') ?? 'depends_on'}`,
    idPlace: (row: number) => list[row]!.start,
    dependenciesPlace: (row: number) => list[row]!.start,
    add: (place: Parameters<ProblemList['add']>[0], message: string, fix: string) => problems.add(place, message, fix),
  };
  checkIds(tasks, wording);
  checkDependencies(tasks, wording);
  const about = root as { readonly [key: string]: Json };
  const say = (...keys: readonly string[]) =>
    keys.map(key => (Array.isArray(root) ? undefined : about[key])).find(value => typeof value === 'string');
  const project = (say('project', 'project_name', 'name', 'title') as string | undefined)?.trim() || 'Tasks';
  const goal = (say('goal', 'description') as string | undefined)?.trim() || project;
  return { project, goal, tasks, notices: reader.notices() };
}

class TaskReader {
  private readonly problems: ProblemList;
  private readonly warnings: string[] = [];
  private groups = 0;

  constructor(problems: ProblemList) {
    this.problems = problems;
  }

  notices(): readonly string[] {
    const rest = this.warnings.length - problemsMax;
    const texts = rest > 0 ? [...this.warnings.slice(0, problemsMax), `${rest} more texts look odd.`] : this.warnings;
    return this.groups === 0 ? texts : ['parallel_group is not used: tasks come one after the other.', ...texts];
  }

  read(task: YamlTask, id: string, idOf: (name: string) => string | undefined): TaskSpec {
    if ('parallel_group' in task.value) this.groups += 1;
    const title = titleOf(task);
    if (task.map !== undefined && title === '') this.fail(task, 'title', 'is missing', 'Add "title: …".');
    if (task.map !== undefined && title !== '') this.checkId(task, id);
    const status = this.status(task);
    const description = this.text(task, keyOf(task, 'description'));
    const notes = this.text(task, 'notes' in task.value ? 'notes' : undefined);
    this.watch(task, title);
    return {
      id: task.map === undefined ? '' : id,
      title,
      description: [description, notes === '' ? '' : `Notes: ${notes}`].filter(part => part !== '').join('\n\n'),
      criteria: this.list(task, keyOf(task, 'criteria')),
      dependsOn: [...new Set(this.list(task, keyOf(task, 'dependsOn')).map(name => idOf(name) ?? name))],
      done: status === 'done',
      skipped: status === 'skipped',
      under: task.value['id'] === undefined ? '' : undefined,
      blocked: status === 'blocked' ? true : undefined,
    };
  }

  private checkId(task: YamlTask, id: string): void {
    const value = task.value['id'];
    const isText = value === undefined || typeof value === 'string' || typeof value === 'number';
    if (isText && idPattern.test(id) && !id.includes('..')) return;
    this.fail(task, 'id', `is not a valid id: ${shown(isText ? id : value)}`, idRule);
  }

  private status(task: YamlTask): 'open' | 'done' | 'skipped' | 'blocked' {
    const key = statusKeyOf(task);
    const skipped = this.flag(task, 'skipped');
    if (key === undefined) return skipped ? 'skipped' : 'open';
    if (key !== 'status') return this.flag(task, key) ? 'done' : skipped ? 'skipped' : 'open';
    this.mustBeOwn(task, key);
    const value = task.value[key];
    const meaning = typeof value === 'string' ? meaningOf(value) : undefined;
    if (meaning === undefined) {
      this.fail(
        task,
        key,
        `is no known status: ${shown(value)}`,
        'Write pending, in_progress, completed, blocked or skipped.',
      );
    }
    return meaning ?? 'open';
  }

  /** Strict: "no", 0 and an empty value have meant both things to somebody. */
  private flag(task: YamlTask, key: string): boolean {
    const value = task.value[key];
    if (value === undefined) return false;
    this.mustBeOwn(task, key);
    if (typeof value !== 'boolean') {
      this.fail(task, key, `must be true or false, not ${shown(value)}`, 'Write true or false, without quotes.');
    }
    return value === true;
  }

  /** What is shared through an anchor cannot be marked for one task alone. */
  private mustBeOwn(task: YamlTask, key: string): void {
    const node = this.node(task, key);
    if (isAlias(node) || (isScalar(node) && node.anchor !== undefined)) {
      this.fail(task, key, 'is shared through an anchor', 'Write the value out.');
    }
  }

  private text(task: YamlTask, key: string | undefined): string {
    const value = key === undefined ? undefined : task.value[key];
    if (key === undefined || value === undefined || value === null) return '';
    if (typeof value === 'object') {
      this.fail(task, key, `must be text, not ${shown(value)}`, 'Write it as text.');
      return '';
    }
    this.watch(task, String(value));
    return String(value).trim();
  }

  /** One text counts as a list of one. */
  private list(task: YamlTask, key: string | undefined): readonly string[] {
    const value = key === undefined ? undefined : task.value[key];
    if (key === undefined || value === undefined || value === null) return [];
    return (Array.isArray(value) ? (value as readonly Json[]) : [value]).flatMap(entry => {
      const text = typeof entry === 'number' ? String(entry) : entry;
      if (typeof text === 'string') {
        this.watch(task, text);
        return text.trim() === '' ? [] : [text.trim()];
      }
      this.fail(task, key, `must hold texts, not ${shown(entry)}`, 'Write one text for each.');
      return [];
    });
  }

  private watch(task: YamlTask, text: string): void {
    const warning = suspicion(text);
    if (warning !== undefined) this.warnings.push(`tasks[${task.row}] ${warning}`);
    if (text.includes('<!--')) this.warnings.push(`tasks[${task.row}] holds an HTML comment, which agents read.`);
  }

  private node(task: YamlTask, key: string): Node | null | undefined {
    return task.map?.items.find(pair => String(pair.key.value) === key)?.value;
  }

  private fail(task: YamlTask, key: string, what: string, fix: string): void {
    const node = this.node(task, key);
    const place = node?.range ? task.offset + node.range[0] : task.start;
    this.problems.add(place, `tasks[${task.row}].${key} ${what}.`, fix);
  }
}
