// Losses of a conversion: what one document says and another does not, field by field, named so that nobody misses it later.
import type { Json, TaskSpec } from '../../core/task.ts';
import type { Fields } from '../../text/fields.ts';
import { visible } from '../../text/text.ts';
import { type ParsedDocument, statusOf } from '../document.ts';
import { startOf } from '../edits.ts';
import { checklistItems } from '../formats/checklist.ts';
import { prdKeys } from '../formats/prd.ts';
import { planOf } from '../formats/sectioned-plan.ts';
import { tasksKeys } from '../formats/tasks.ts';
import { yamlKeys } from '../formats/yaml-tasks.ts';
import { readFrontMatter } from '../frontmatter.ts';
import { parseJson } from '../json-tasks.ts';
import { boxLine, boxMeaning, heading, type MarkdownLine, markdownLines } from '../markdown.ts';
import { ProblemList } from '../problems.ts';
import { readYaml } from '../yaml.ts';

export type Backlog = Pick<ParsedDocument, 'project' | 'goal' | 'tasks'>;

export interface Loss {
  readonly what: string;
  /** The tasks that it concerns; empty when it is the document itself. */
  readonly tasks: readonly string[];
  readonly because: string;
}

/** In the order in which they are told. */
const fields = {
  id: task => task.id,
  title: task => task.title,
  description: task => task.description,
  criteria: task => task.criteria,
  dependencies: task => task.dependsOn,
  status: statusOf,
  attempts: task => task.attemptsBefore ?? 0,
  max_attempts: task => task.attemptsMax,
  mayChangeTests: task => task.mayChangeTests === true,
  action: task => [task.performer, task.order],
  role: task => [task.readOnly, task.interactive, task.completion, task.round, task.role],
} satisfies Readonly<Record<string, (task: TaskSpec) => unknown>>;

export type Field = keyof typeof fields | 'project' | 'goal';

const general: Readonly<Partial<Record<Field, string>>> = {
  title: 'spaces and line breaks are not kept there',
  description: 'spaces or line ends around or in it are not kept there',
  criteria: 'spaces and line breaks are not kept there',
  action: 'these steps would be done by a program, not by an agent; only their text is left',
  role: 'the rounds and roles of a review or an interview stand in no document',
};
const noWord = 'the format has no word for it';

/** Both have the same tasks in the same order. */
export function lossesBetween(
  from: Backlog,
  to: Backlog,
  reasons: Readonly<Partial<Record<Field, string>>>,
): readonly Loss[] {
  const because = (field: Field): string => reasons[field] ?? general[field] ?? noWord;
  const lost = (['project', 'goal'] as const).filter(field => from[field] !== to[field]);
  const losses: Loss[] = lost.map(field => ({ what: field, tasks: [], because: because(field) }));
  for (const [field, read] of Object.entries(fields) as [keyof typeof fields, (task: TaskSpec) => unknown][]) {
    const said = (task: TaskSpec): string => JSON.stringify(read(task));
    const tasks = from.tasks.filter((task, row) => said(task) !== said(to.tasks[row]!)).map(task => task.id);
    if (tasks.length > 0) losses.push({ what: field, tasks, because: because(field) });
  }
  return losses;
}

// Parts of a document that are not taken along when its tasks are.

type KnownKeys = typeof prdKeys;

const reasons: Readonly<Record<string, string>> = {
  priority: 'the order of the tasks says it now',
  notes: 'they are the end of the description now',
  completionNotes: 'they are the end of the description now',
  parallel_group: 'tasks come one after the other',
};
const unknownKey = 'Ralph does not know this key';
const keysMax = 20;
const keyCharsMax = 40;

function unreadKeys(value: unknown, { list, document, row }: KnownKeys): readonly Loss[] {
  const root = (Array.isArray(value) ? { [list]: value } : value) as Fields;
  const rows = (Array.isArray(root[list]) ? root[list] : []) as readonly Fields[];
  const unread = rows.flatMap((one, at) =>
    keysBut(row, one).map(key => ({ key, id: visible(String(one['id'] ?? `#${at + 1}`)) })),
  );
  const tasks = Map.groupBy(unread, ({ key }) => key);
  const named = (key: string): string => visible(key.slice(0, keyCharsMax));
  const of = (key: string): string => reasons[key] ?? unknownKey;
  const losses: readonly Loss[] = [
    ...keysBut(document, root).map(key => ({ what: `${named(key)} of the document`, tasks: [], because: of(key) })),
    ...[...tasks].map(([key, each]) => ({ what: named(key), tasks: each.map(({ id }) => id), because: of(key) })),
  ];
  const rest = losses.length - keysMax;
  if (rest <= 0) return losses;
  return [...losses.slice(0, keysMax), { what: `${rest} more keys`, tasks: [], because: unknownKey }];
}

/** The other keys that say something. */
const keysBut = (known: readonly string[], row: Fields): readonly string[] =>
  Object.keys(row).filter(key => !known.includes(key) && row[key] !== '' && row[key] !== null);

/** `inside`: the lines that belong to a task. */
function unreadLines(
  lines: readonly MarkdownLine[],
  inside: readonly MarkdownLine[],
  title: MarkdownLine | undefined,
): readonly Loss[] {
  const known = new Set([...inside, title]);
  const outside = lines.filter(line => !known.has(line) && line.text.trim() !== '');
  const headings = outside.filter(line => heading(line) !== undefined).length;
  const ticked = inside.filter(isTicked).length;
  return [
    ...lossOf(headings, 'heading', 'headings', 'tasks stand in one list'),
    ...lossOf(outside.length - headings, 'line of text', 'lines of text', 'they belong to no task'),
    ...lossOf(ticked, 'ticked box', 'ticked boxes', 'criteria have no status of their own'),
  ];
}

const isTicked = (line: MarkdownLine): boolean => {
  const box = boxLine(line);
  return box !== undefined && boxMeaning(box.state) === 'done';
};

const lossOf = (count: number, one: string, many: string, because: string): readonly Loss[] =>
  count === 0 ? [] : [{ what: count === 1 ? `1 ${one}` : `${count} ${many}`, tasks: [], because }];

function unreadInChecklist(text: string): readonly Loss[] {
  const lines = markdownLines(text);
  const items = checklistItems(lines);
  const heads = new Set(items.map(item => item.head));
  return unreadLines(
    lines.filter(line => !heads.has(line)),
    items.flatMap(item => item.below),
    lines.find(line => (heading(line)?.text ?? '') !== ''),
  );
}

function unreadInSections(text: string): readonly Loss[] {
  const lines = markdownLines(text);
  return unreadLines(
    lines,
    planOf(lines).sections.flatMap(({ head, below }) => [head, ...below]),
    lines.find(line => heading(line)?.depth === 1),
  );
}

function unreadInFrontMatter(text: string): readonly Loss[] {
  const matter = readFrontMatter(text);
  if (!matter.ok || !matter.isPresent) return [];
  const keys = Object.keys(matter.values);
  const shownKeys = keys.slice(0, keysMax).map(key => visible(key.slice(0, keyCharsMax)));
  const because = 'limits, promises and approvals are given to ralph run, not to a task list';
  return [{ what: `front matter (${shownKeys.join(', ')}${keys.length > keysMax ? ', …' : ''})`, tasks: [], because }];
}

const yamlComment = /^[^"'\n]*(?:^|\s)#/m;

/** `text` must parse as this format. */
export function unreadParts(format: string, text: string): readonly Loss[] {
  if (format === 'prd') return unreadKeys(parseJson(text), prdKeys);
  if (format === 'tasks') return unreadKeys(parseJson(text), tasksKeys);
  if (format === 'yaml-tasks') {
    const value: Json = readYaml(text.slice(startOf(text)), new ProblemList())?.value ?? {};
    const comments = yamlComment.test(text) ? [{ what: 'comments', tasks: [], because: 'they belong to no task' }] : [];
    return [...unreadKeys(value, yamlKeys), ...comments];
  }
  if (format === 'checklist') return unreadInChecklist(text);
  if (format === 'sectioned-plan') return unreadInSections(text);
  return unreadInFrontMatter(text);
}
