// What every list of tasks must keep, whatever its format: ids of their own, dependencies that exist, no circles.
import { findCycle } from './graph.ts';
import type { TaskSpec } from '../core/task.ts';
import type { Place } from './problems.ts';
import { shown } from '../text/shown-text.ts';

export const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
export const idRule = 'Use 1 to 64 letters, digits, dots, hyphens or underscores, starting with a letter or digit.';

const cyclesMax = 20;

type Linked = Pick<TaskSpec, 'id' | 'dependsOn'>;

/** How a format speaks of its tasks; a task with the id '' has been complained about before. */
export interface Wording {
  readonly noun: string;
  readonly plural: string;
  /** `tasks[3].id`, `Step 4` */
  idName(row: number): string;
  dependenciesName(row: number): string;
  idPlace(row: number): Place;
  dependenciesPlace(row: number): Place;
  add(place: Place, message: string, fix: string): void;
}

/** Ids that differ only by case would be one file on some disks. */
export function checkIds(tasks: readonly Linked[], wording: Wording): void {
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
      `${wording.idName(row)} ${shown(id)} ${clash} of ${wording.idName(first).replace(/\.id$/, '')}.`,
      `Give each ${wording.noun} an id of its own.`,
    );
  }
}

export function checkDependencies(tasks: readonly Linked[], wording: Wording): void {
  const ids = new Set(tasks.map(task => task.id));
  for (const [row, task] of tasks.entries()) {
    for (const id of task.dependsOn) {
      if (id === '' || (ids.has(id) && id !== task.id)) continue;
      const isSelf = id === task.id;
      wording.add(
        wording.dependenciesPlace(row),
        `${wording.dependenciesName(row)} names ${shown(id)}, ${isSelf ? `the ${wording.noun} itself` : `which no ${wording.noun} has as its id`}.`,
        isSelf ? 'Remove it from the list.' : 'Correct the id or remove it from the list.',
      );
    }
  }
  checkCycles(tasks, wording);
}

/** Finds cycles that share no task, until none or enough are found. */
function checkCycles(tasks: readonly Linked[], wording: Wording): void {
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
  const steps =
    cycle.length > 8
      ? [...cycle.slice(0, 4), `… ${cycle.length - 6} more …`, ...cycle.slice(-2), cycle[0]!]
      : [...cycle, cycle[0]!];
  return steps.join(' -> ');
}
