// What one document says and another does not, field by field, for whoever decides whether that matters.
import type { TaskSpec } from '../../core/task.ts';
import type { ParsedDocument } from '../document.ts';

type Backlog = Pick<ParsedDocument, 'project' | 'goal' | 'tasks'>;

export interface Loss {
  readonly what: string;
  /** The tasks that it concerns; empty when it is the document itself. */
  readonly tasks: readonly string[];
  readonly because: string;
}

const status = (task: TaskSpec): string =>
  task.done ? 'done' : task.skipped ? 'skipped' : task.blocked ? 'blocked' : 'open';

/** In the order in which they are told. */
const fields = {
  id: (task: TaskSpec): unknown => task.id,
  title: (task: TaskSpec): unknown => task.title,
  description: (task: TaskSpec): unknown => task.description,
  criteria: (task: TaskSpec): unknown => task.criteria,
  dependencies: (task: TaskSpec): unknown => task.dependsOn,
  status: (task: TaskSpec): unknown => status(task),
  attempts: (task: TaskSpec): unknown => task.attemptsBefore ?? 0,
  max_attempts: (task: TaskSpec): unknown => task.attemptsMax,
  mayChangeTests: (task: TaskSpec): unknown => task.mayChangeTests === true,
  action: (task: TaskSpec): unknown => [task.performer, task.order],
  role: (task: TaskSpec): unknown => [task.reads, task.interactive, task.closing, task.round, task.role],
} as const;

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
  const losses: Loss[] = [];
  for (const field of ['project', 'goal'] as const) {
    if (from[field] !== to[field]) losses.push({ what: field, tasks: [], because: because(field) });
  }
  for (const [field, read] of Object.entries(fields) as [keyof typeof fields, (task: TaskSpec) => unknown][]) {
    const tasks = from.tasks
      .filter((task, row) => JSON.stringify(read(task)) !== JSON.stringify(read(to.tasks[row]!)))
      .map(task => task.id);
    if (tasks.length > 0) losses.push({ what: field, tasks, because: because(field) });
  }
  return losses;
}
