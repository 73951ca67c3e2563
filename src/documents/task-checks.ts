// Task ids and dependencies in every format: an id of its own for each task, dependencies that exist, no cycles.
import type { TaskSpec } from '../core/task.ts';
import { shown } from '../text/text.ts';
import type { Place } from './problems.ts';

export const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const isTaskId = (id: string): boolean => idPattern.test(id) && !id.includes('..');
export const idRule = 'Use 1 to 64 letters, digits, dots, hyphens or underscores, starting with a letter or digit.';

const cyclesMax = 20;

/** The part of a task that the graph needs. Dependencies on ids that no task has are ignored; the first of equal ids counts. */
export type Dependent = Pick<TaskSpec, 'id' | 'dependsOn'>;

/** How a format speaks of the ids of its tasks; a task with the id '' has been complained about before. */
export interface IdWording {
  readonly noun: string;
  /** `tasks[3]`, `line 4` */
  taskName(row: number): string;
  /** `tasks[3].id`, `Line 4: the id` */
  idName(row: number): string;
  idPlace(row: number): Place;
  add(place: Place, message: string, fix: string): void;
}

export interface DependencyWording extends Pick<IdWording, 'noun' | 'add'> {
  readonly plural: string;
  dependenciesName(row: number): string;
  dependenciesPlace(row: number): Place;
}

/** Ids that differ only by case would be one file on some disks. */
export function checkIds(tasks: readonly Dependent[], wording: IdWording): void {
  const rows = new Map<string, number>();
  for (const [row, { id }] of tasks.entries()) {
    if (id === '') continue;
    const first = rows.get(id.toLowerCase());
    if (first === undefined) {
      rows.set(id.toLowerCase(), row);
      continue;
    }
    const other = tasks[first]!.id;
    const clash = other === id ? 'is also the id' : `differs only by case from ${shown(other)}, the id`;
    wording.add(
      wording.idPlace(row),
      `${wording.idName(row)} ${shown(id)} ${clash} of ${wording.taskName(first)}.`,
      `Give each ${wording.noun} an id of its own.`,
    );
  }
}

export function checkDependencies(tasks: readonly Dependent[], wording: DependencyWording): void {
  const ids = new Set(tasks.map(task => task.id));
  for (const [row, task] of tasks.entries()) {
    for (const id of task.dependsOn) {
      if (id === '' || (ids.has(id) && id !== task.id)) continue;
      const isSelf = id === task.id;
      const what = isSelf ? `the ${wording.noun} itself` : `which no ${wording.noun} has as its id`;
      const fix = isSelf ? 'Remove it from the list.' : 'Correct the id or remove it from the list.';
      wording.add(wording.dependenciesPlace(row), `${wording.dependenciesName(row)} names ${shown(id)}, ${what}.`, fix);
    }
  }
  checkCycles(tasks, wording);
}

/** Finds cycles that share no task, until none or enough are found. */
function checkCycles(tasks: readonly Dependent[], wording: DependencyWording): void {
  let rest = tasks
    .map((task, row) => ({ id: task.id, row, dependsOn: task.dependsOn.filter(id => id !== task.id) }))
    .filter(task => task.id !== '');
  for (let found = 0; found < cyclesMax; found++) {
    const cycle = findCycle(rest);
    if (cycle === undefined) return;
    const members = new Set(cycle);
    wording.add(
      wording.dependenciesPlace(rest.find(task => task.id === cycle[0])!.row),
      `These ${cycle.length} ${wording.plural} wait for each other: ${cycleText(cycle)}.`,
      'Remove one of these dependencies.',
    );
    rest = rest.filter(task => !members.has(task.id));
  }
}

function cycleText(cycle: readonly string[]): string {
  const isLong = cycle.length > 8;
  const steps = isLong ? [...cycle.slice(0, 4), `… ${cycle.length - 6} more …`, ...cycle.slice(-2)] : cycle;
  return [...steps, cycle[0]].join(' -> ');
}

/** For each task the rows of the tasks that it waits for. */
function edges(tasks: readonly Dependent[]): readonly number[][] {
  const rows = new Map<string, number>();
  for (const [row, task] of tasks.entries()) {
    if (!rows.has(task.id)) rows.set(task.id, row);
  }
  return tasks.map(task => task.dependsOn.flatMap(id => rows.get(id) ?? []));
}

const unseen = 0;
const onPath = 1;
const finished = 2;

/** The ids of one cycle: each waits for the next, the last for the first. A task that waits for itself is a cycle of one. */
export function findCycle(tasks: readonly Dependent[]): readonly string[] | undefined {
  const waitsFor = edges(tasks);
  const colour = new Uint8Array(tasks.length);
  const nextEdge = new Int32Array(tasks.length);
  const path: number[] = [];
  for (let root = 0; root < tasks.length; root++) {
    if (colour[root] !== unseen) continue;
    colour[root] = onPath;
    path.push(root);
    while (path.length > 0) {
      const row = path.at(-1)!;
      const target = waitsFor[row]![nextEdge[row]!++];
      if (target === undefined) {
        colour[row] = finished;
        path.pop();
      } else if (colour[target] === onPath) {
        return path.slice(path.indexOf(target)).map(step => tasks[step]!.id);
      } else if (colour[target] === unseen) {
        colour[target] = onPath;
        path.push(target);
      }
    }
  }
  return undefined;
}

/**
 * The ids in an order in which every task comes after what it waits for; of several possible tasks the first in the
 * document goes first. Tasks in a cycle, and those that wait for one, are left out: they can never start.
 */
export function topologicalOrder(tasks: readonly Dependent[]): readonly string[] {
  const waitsFor = edges(tasks);
  const missing = Int32Array.from(waitsFor, targets => targets.length);
  const unlocks: number[][] = tasks.map(() => []);
  /** Both fall: the first row of the document stands last, where it is taken off and others are put in cheaply. */
  const ready: number[] = [];
  for (let row = tasks.length - 1; row >= 0; row--) {
    if (missing[row] === 0) ready.push(row);
    for (const target of waitsFor[row]!) unlocks[target]!.push(row);
  }
  const order: string[] = [];
  for (let row = ready.pop(); row !== undefined; row = ready.pop()) {
    order.push(tasks[row]!.id);
    for (const next of unlocks[row]!) {
      missing[next]!--;
      if (missing[next] === 0) ready.splice(placeIn(ready, next), 0, next);
    }
  }
  return order;
}

/** Where a row belongs in rows that fall. */
function placeIn(rows: readonly number[], row: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (rows[middle]! > row) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Gives tasks that have no id of their own one that is made from their text: it stays when lines are put in above.

const slugCharsMax = 40;

/** FNV-1a, for telling texts apart, not for safety. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return (hash >>> 0).toString(36);
}

/** Readable where the text is; a short hash stands for what the words alone would lose. */
function textId(text: string): string {
  const plain = text.trim().replace(/\s+/g, ' ');
  const slug = plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
  const isWhole = slug.length <= slugCharsMax && !/[^\u0000-\u007f]/.test(plain);
  if (isWhole && slug !== '') return slug;
  const cut = slug.slice(0, slugCharsMax).replace(/-[^-]*$/, '');
  return `${cut === '' ? 'task' : cut}-${shortHash(plain)}`;
}

/** Ids for one document: explicit ones are taken first, so that a made one never clashes with them. */
export class IdGiver {
  private readonly taken: Set<string>;
  private readonly counts = new Map<string, number>();

  constructor(explicit: Iterable<string>) {
    this.taken = new Set([...explicit].map(id => id.toLowerCase()));
  }

  /** The second of two equal texts gets `-2`. */
  idFor(text: string): string {
    const base = textId(text);
    let count = this.counts.get(base) ?? 0;
    let id: string;
    do {
      count += 1;
      id = count === 1 ? base : `${base}-${count}`;
    } while (this.taken.has(id));
    this.counts.set(base, count);
    this.taken.add(id);
    return id;
  }
}
