// A task is added to a document: its format says how it is written there, and the result is read back and compared.
import type { TaskSpec } from '../../core/task.ts';
import { shown } from '../../text/text.ts';
import { type Format, lenient, type Refusal } from '../document.ts';
import { IdGiver, idRule, isTaskId } from '../task-checks.ts';

export type NewTask = Pick<TaskSpec, 'title' | 'description' | 'criteria' | 'dependsOn'>;

/** How one format takes a new task. */
export interface Adder {
  readonly format: Format;
  /** What people call such a document. */
  readonly noun: string;
  readonly hasDependencies: boolean;
  /** Something must stand there that can be ticked. */
  readonly needsCriteria: boolean;
  /** Every task of such a document has a written id. */
  readonly needsId: boolean;
  /** `text` must parse. */
  open(text: string): OpenDocument;
}

interface OpenDocument {
  /** The ids that are written in the document; made ones are none. */
  readonly writtenIds: readonly string[];
  /** The text with this task. Without an id, the format makes one from the title. */
  put(task: NewTask, id: string | undefined): string;
}

export type Added = { readonly ok: true; readonly text: string; readonly task: TaskSpec } | Refusal;

const refused = (message: string, fix: string): Refusal => ({ ok: false, problems: [{ message, fix }] });

/** US-007 after US-006, in the style of the last one that ends with a number. */
export function nextId(ids: readonly string[]): string | undefined {
  const last = ids.findLast(id => /\d$/.test(id));
  if (last === undefined) return undefined;
  const prefix = last.replace(/\d+$/, '');
  const numbers = ids
    .filter(id => id.startsWith(prefix) && /^\d{1,9}$/.test(id.slice(prefix.length)))
    .map(id => id.slice(prefix.length));
  if (numbers.length === 0) return undefined;
  const taken = new Set(ids.map(id => id.toLowerCase()));
  const width = numbers.some(digits => digits.startsWith('0')) ? Math.max(...numbers.map(one => one.length)) : 0;
  for (let number = Math.max(...numbers.map(Number)) + 1; ; number += 1) {
    const id = `${prefix}${String(number).padStart(width, '0')}`;
    if (!taken.has(id.toLowerCase())) return id;
  }
}

function idProblem(id: string, tasks: readonly TaskSpec[]): Refusal | undefined {
  if (!isTaskId(id)) return refused(`${shown(id)} is not a valid id.`, idRule);
  const same = tasks.find(task => task.id.toLowerCase() === id.toLowerCase());
  if (same === undefined) return undefined;
  const how = same.id === id ? 'is there already' : `differs only by case from ${same.id}`;
  return refused(`The id ${id} ${how}: ${shown(same.title)}.`, 'Give the new task an id of its own.');
}

function dependencyProblem({ dependsOn }: NewTask, id: string | undefined, adder: Adder, tasks: readonly TaskSpec[]) {
  if (dependsOn.length > 0 && !adder.hasDependencies)
    return refused(
      `A ${adder.noun} has no dependencies: its order is the order of work, and a new task comes last.`,
      'Leave out --after.',
    );
  const known = new Set(tasks.map(task => task.id));
  const wrong = dependsOn.find(one => one === id || !known.has(one));
  if (wrong === undefined) return undefined;
  return wrong === id
    ? refused(`${shown(wrong)} cannot wait for itself.`, 'Name another task behind --after.')
    : refused(`There is no task ${shown(wrong)} to wait for.`, 'See them: ralph task list');
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** Which part of the task the document would say otherwise. */
function changedPart(task: NewTask, id: string | undefined, found: TaskSpec): string | undefined {
  if (id !== undefined && found.id !== id) return `the id ${shown(id)}`;
  if (found.title !== task.title) return 'the title';
  if (found.description !== task.description) return 'the description';
  if (!same(found.criteria, task.criteria)) return 'the criteria';
  if (!same(found.dependsOn, task.dependsOn)) return 'the dependencies';
  return found.done || found.skipped ? 'the status' : undefined;
}

/** The text with one task more; every byte that was there stays, and every task that was there means what it meant. */
export function addTask(adder: Adder, text: string, wanted: NewTask, givenId?: string): Added {
  // Of the existing tasks nothing is judged again: only that they stay what they are.
  const before = adder.format.parse(text, lenient);
  if (!before.ok) return before;
  const { tasks } = before.document;
  const opened = adder.open(text);
  const madeId = (): string => new IdGiver(tasks.map(task => task.id)).idFor(wanted.title);
  const id = givenId ?? nextId(opened.writtenIds) ?? (adder.needsId ? madeId() : undefined);
  const isBare = adder.needsCriteria && wanted.criteria.length === 0;
  const task = isBare ? { ...wanted, criteria: [wanted.title] } : wanted;
  const problem = (id === undefined ? undefined : idProblem(id, tasks)) ?? dependencyProblem(task, id, adder, tasks);
  if (problem !== undefined) return problem;
  const changed = opened.put(task, id);
  const after = adder.format.parse(changed, lenient);
  if (!after.ok) return refused(`The ${adder.noun} cannot hold this task: ${after.problems[0]?.message ?? ''}`, byHand);
  const known = new Set(tasks.map(one => one.id));
  const [found, ...more] = after.document.tasks.filter(one => !known.has(one.id));
  const rest = after.document.tasks.filter(one => known.has(one.id));
  if (found === undefined || more.length > 0 || !same(rest, tasks))
    return refused(`In this ${adder.noun} the new text would change what other tasks say.`, byHand);
  const part = changedPart(task, id, found);
  return part === undefined
    ? { ok: true, text: changed, task: found }
    : refused(`A ${adder.noun} would read ${part} as something else.`, byHand);
}

const byHand = 'Say it in simpler words, or write it into the file by hand.';
