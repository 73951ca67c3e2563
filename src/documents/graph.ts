// Reads the dependencies between tasks as a graph: is there a cycle, and which order do they allow?

/** The part of a task that the graph needs. Dependencies on ids that no task has are ignored; the first of equal ids counts. */
export interface Dependent {
  readonly id: string;
  readonly dependsOn: readonly string[];
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
  const missing = new Int32Array(tasks.length);
  const unlocks: number[][] = tasks.map(() => []);
  for (const [row, targets] of waitsFor.entries()) {
    missing[row] = targets.length;
    for (const target of targets) unlocks[target]!.push(row);
  }
  const ready: number[] = [];
  for (let row = 0; row < tasks.length; row++) if (missing[row] === 0) ready.push(row);
  const order: string[] = [];
  while (ready.length > 0) {
    const row = takeSmallest(ready);
    order.push(tasks[row]!.id);
    for (const next of unlocks[row]!) {
      missing[next]!--;
      if (missing[next] === 0) insert(ready, next);
    }
  }
  return order;
}

// A binary heap: the ready set may hold every task, so that a sorted list would cost the square of their number.

function insert(heap: number[], row: number): void {
  let at = heap.length;
  heap.push(row);
  while (at > 0) {
    const parent = (at - 1) >> 1;
    if (heap[parent]! <= row) break;
    heap[at] = heap[parent]!;
    at = parent;
  }
  heap[at] = row;
}

function takeSmallest(heap: number[]): number {
  const smallest = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return smallest;
  let at = 0;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && heap[child + 1]! < heap[child]!) child++;
    if (heap[child]! >= last) break;
    heap[at] = heap[child]!;
    at = child;
  }
  heap[at] = last;
  return smallest;
}
