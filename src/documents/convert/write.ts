// Conversion of tasks to another format: the new document is read back, and what it could not say is listed.
import type { TaskSpec } from '../../core/task.ts';
import { type Format, lenient, type Refusal, statusOf } from '../document.ts';
import { checklist, leadingId } from '../formats/checklist.ts';
import { prd } from '../formats/prd.ts';
import { projectTasks } from '../formats/tasks.ts';
import { yamlTasks } from '../formats/yaml-tasks.ts';
import { boxCharacter } from '../markdown.ts';
import { topologicalOrder } from '../task-checks.ts';
import { yamlItem, yamlText } from './add-yaml.ts';
import { type Backlog, type Field, type Loss, lossesBetween } from './losses.ts';

// A Markdown checklist in which no text can pass for an item, a code block or a comment of its own.

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
const linesOf = (text: string): readonly string[] => text.trimEnd().split(/\r\n|\r|\n/);
const quoted = (text: string): readonly string[] => linesOf(text).map(line => `> ${line}`.trimEnd());
const indented = (lines: readonly string[]): readonly string[] => lines.map(line => (line === '' ? '' : `  ${line}`));

/** Whether it is read as it is meant, and everything behind it too: whatever it opens is closed here. */
function isSafe(description: string): boolean {
  const longest = Math.max(3, ...[...description.matchAll(/`+|~+/g)].map(([marks]) => marks.length));
  const closers = ['`'.repeat(longest), '~'.repeat(longest), '-->'];
  const text = ['- [ ] A', ...indented(linesOf(description)), '- [ ] B', ...closers].join('\n');
  const parsed = checklist.parse(text, { acceptTicked: true });
  if (!parsed.ok || parsed.document.tasks.length !== 2) return false;
  const [task] = parsed.document.tasks;
  return task!.description === description && task!.criteria.length === 0;
}

function itemLines(task: TaskSpec): readonly string[] {
  const box = boxCharacter[statusOf(task)];
  const title = oneLine(task.title);
  const leading = leadingId(`${task.id}: ${title}`);
  const isSaid = leading?.id === task.id && leading.rest === title;
  const label = isSaid ? `${task.id}: ${title}` : leadingId(title) === undefined ? title : `"${title}"`;
  const { description } = task;
  const below = description.trim() === '' ? [] : isSafe(description) ? linesOf(description) : quoted(description);
  const criteria = task.criteria.map(oneLine).filter(text => text !== '');
  return [`- [${box}] ${label}`, ...indented(below), ...criteria.map(text => `  - [${task.done ? 'x' : ' '}] ${text}`)];
}

function checklistText({ project, goal, tasks }: Backlog): string {
  const head = goal === project || goal.trim() === '' ? [] : [...quoted(goal), ''];
  return `${[`# ${oneLine(project)}`, '', ...head, ...tasks.flatMap(itemLines)].join('\n')}\n`;
}

export type WriterName = 'prd' | 'tasks' | 'checklist' | 'yaml';

interface Writer {
  readonly format: Format;
  write(backlog: Backlog): string;
  /** Why it has no word for something. */
  readonly reasons: Readonly<Partial<Record<Field, string>>>;
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

function prdText({ project, goal, tasks }: Backlog): string {
  return json({
    project,
    description: goal === project ? undefined : goal,
    userStories: tasks.map(task => ({
      id: task.id,
      title: task.title,
      description: task.description,
      criteria: task.criteria,
      passes: task.done,
      depends_on: task.dependsOn.length === 0 ? undefined : task.dependsOn,
      skipped: task.skipped ? true : undefined,
      mayChangeTests: task.mayChangeTests ? true : undefined,
    })),
  });
}

function tasksText({ project, tasks }: Backlog): string {
  return json({
    project_name: project,
    version: 1,
    tasks: tasks.map(task => ({
      id: task.id,
      title: task.title,
      description: task.description,
      criteria: task.criteria.length === 0 ? undefined : task.criteria,
      status: task.done ? 'completed' : task.skipped || task.blocked ? 'blocked' : 'pending',
      dependencies: task.dependsOn,
      attempts: task.attemptsBefore ?? 0,
      max_attempts: task.attemptsMax,
      blocked: task.skipped || task.blocked === true,
      skipped: task.skipped ? true : undefined,
      mayChangeTests: task.mayChangeTests ? true : undefined,
    })),
  });
}

const yamlStatus = { open: 'pending', done: 'completed', skipped: 'skipped', blocked: 'blocked' };

function yamlListText({ project, goal, tasks }: Backlog): string {
  const items = tasks.flatMap(task => {
    const { id, title, criteria: acceptance_criteria, dependsOn: depends_on } = task;
    const description = task.description || undefined;
    const status = yamlStatus[statusOf(task)];
    return yamlItem({ id, title, description, acceptance_criteria, depends_on, status }, '  - ');
  });
  const head = [`project: ${yamlText(project)}`, ...(goal === project ? [] : [`goal: ${yamlText(goal)}`])];
  return `${[...head, 'tasks:', ...items].join('\n')}\n`;
}

const writers: Readonly<Record<WriterName, Writer>> = {
  prd: {
    format: prd,
    write: prdText,
    reasons: {
      status: 'a PRD knows done, skipped and open: they are open',
      attempts: 'a PRD counts none',
      max_attempts: "a PRD has none: the loop's own limit holds",
    },
  },
  tasks: { format: projectTasks, write: tasksText, reasons: { goal: 'tasks.json has only the name of the project' } },
  checklist: {
    format: checklist,
    write: checklistText,
    reasons: {
      id: 'an item begins with its id only if that looks like one (T12, US-001); theirs are made from the titles',
      dependencies: 'a checklist has none; its order keeps them',
      goal: 'it stands below the heading, for people',
      attempts: 'a checklist counts none',
      max_attempts: "a checklist has none: the loop's own limit holds",
      description: 'it would be read as something else, so it is quoted',
    },
  },
  yaml: {
    format: yamlTasks,
    write: yamlListText,
    reasons: {
      attempts: 'a YAML list counts none',
      max_attempts: "a YAML list has none: the loop's own limit holds",
    },
  },
};

export type Written = { readonly ok: true; readonly text: string; readonly losses: readonly Loss[] } | Refusal;

/** Where there are no dependencies, the order stands for them. */
function inOrder({ tasks }: Backlog): readonly TaskSpec[] {
  const byId = new Map(tasks.map(task => [task.id, task]));
  return topologicalOrder(tasks).map(id => byId.get(id)!);
}

/** What was written is read back: a loss is what the reader does not find, not what the writer believes. */
export function writeTasks(name: WriterName, backlog: Backlog): Written {
  const { format, write, reasons } = writers[name];
  const given = name === 'checklist' ? { ...backlog, tasks: inOrder(backlog) } : backlog;
  const text = write(given);
  const parsed = format.parse(text, lenient);
  if (!parsed.ok) return parsed;
  if (parsed.document.tasks.length !== given.tasks.length)
    return { ok: false, problems: [{ message: `Some of the tasks would be lost in a document of the kind ${name}.` }] };
  return { ok: true, text, losses: lossesBetween(given, parsed.document, reasons) };
}

/** By its name: PRD.json, tasks.json, fix_plan.md, tasks.yaml. */
export function writerFor(fileName: string): WriterName | undefined {
  if (/(?:^|[._-])tasks?\.json$/i.test(fileName)) return 'tasks';
  if (/\.json$/i.test(fileName)) return 'prd';
  if (/\.ya?ml$/i.test(fileName)) return 'yaml';
  return /\.(?:md|markdown)$/i.test(fileName) ? 'checklist' : undefined;
}

export const isReadAs = (name: WriterName, format: string): boolean => writers[name].format.name === format;
