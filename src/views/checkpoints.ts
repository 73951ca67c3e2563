// The checkpoints of a loop as its ledger tells them: which there are, what stands in the tree now, and where undo leads.
import type { Event, EventOf } from '../core/event.ts';
import type { State } from '../core/state.ts';
import { allTasks } from '../core/task.ts';
import { stepPath, vaultFolders, vaultRootOf } from '../text/step-path.ts';

/** Iterations that went into a tree, newest first; some of them left nothing there. */
export interface Standing {
  readonly iteration: number;
  /** The checkpoint that the tree was when it began. */
  readonly before: number;
  readonly below: Standing | undefined;
}

export interface CheckpointRow extends Omit<EventOf<'checkpoint.made'>, 'type' | 'because' | 'fork'> {
  /** Of a task's fork: it can be looked at, but the loop's folder cannot be made like it. */
  readonly isFork: boolean;
  /** Up to here the ledger speaks of this tree: the claims that were made with it are checked after it was saved. */
  readonly settledSeq: number;
  readonly standing: Standing | undefined;
}

/** The newest restore that was done. */
export interface LastRestore {
  readonly to: number;
  /** The checkpoint that was made just before it. */
  readonly before: number;
  readonly by: string;
}

export interface CheckpointList {
  /** In order of their numbers. */
  readonly rows: readonly CheckpointRow[];
  /** The one that the loop's folder was last known to equal. */
  readonly current: number | undefined;
  readonly standing: Standing | undefined;
  readonly lastRestore: LastRestore | undefined;
  /** Nothing was begun since that restore. */
  readonly isRestored: boolean;
  /** Where each iteration began and what it became. */
  readonly iterations: ReadonlyMap<number, IterationSpan>;
}

interface IterationSpan {
  readonly before?: number;
  readonly after?: number;
  /** Its claim was believed. */
  readonly closed?: true;
}

const moving: readonly Event['type'][] = [
  'iteration.started',
  'checkpoint.made',
  'restore.asked',
  'checkpoint.restored',
];

export class CheckpointsView {
  private readonly rows = new Map<number, CheckpointRow>();
  private readonly iterations = new Map<number, IterationSpan>();
  private current: number | undefined;
  private newest: number | undefined;
  private standing: Standing | undefined;
  private lastRestore: LastRestore | undefined;
  private isRestored = false;
  private askedBy = '';
  /** The checkpoint of whose tree the ledger still speaks. */
  private open: number | undefined;

  add(seq: number, event: Event): void {
    if (moving.includes(event.type)) this.open = undefined;
    const row = this.open === undefined ? undefined : this.rows.get(this.open);
    if (row !== undefined) this.rows.set(row.number, { ...row, settledSeq: seq });
    if (event.type === 'iteration.started') this.started(event);
    else if (event.type === 'checkpoint.made') this.made(seq, event);
    else if (event.type === 'restore.asked') this.askedBy = event.by;
    else if (event.type === 'checkpoint.restored') this.restored(event);
    else if (event.type === 'task.closed' && event.by === undefined)
      this.iterations.set(event.iteration, { ...this.iterations.get(event.iteration), closed: true });
  }

  private started({ iteration, again }: EventOf<'iteration.started'>): void {
    if (again) return;
    this.isRestored = false;
    if (this.current === undefined) return;
    this.iterations.set(iteration, { before: this.current });
    this.standing = { iteration, before: this.current, below: this.standing };
  }

  private made(seq: number, event: EventOf<'checkpoint.made'>): void {
    const { type: _type, because: _because, fork, ...facts } = event;
    const isFork = fork === true;
    const standing = isFork ? undefined : this.standing;
    this.rows.set(event.number, { ...facts, isFork, settledSeq: seq, standing });
    this.open = event.number;
    if (event.task !== undefined) {
      this.iterations.set(event.iteration, { ...this.iterations.get(event.iteration), after: event.number });
    }
    if (isFork) return;
    this.current = event.number;
    this.newest = event.number;
  }

  private restored({ number, refused }: EventOf<'checkpoint.restored'>): void {
    if (refused !== undefined || this.newest === undefined) return;
    this.lastRestore = { to: number, before: this.newest, by: this.askedBy };
    this.isRestored = true;
    this.current = number;
    this.standing = this.rows.get(number)?.standing;
  }

  list(): CheckpointList {
    const { current, standing, lastRestore, isRestored, iterations } = this;
    const rows = [...this.rows.values()].sort((one, other) => one.number - other.number);
    return { rows, current, standing, lastRestore, isRestored, iterations };
  }
}

export interface UndoTarget {
  readonly number: number;
  /** What is taken back, for the ledger and for people. */
  readonly what: string;
}

/**
 * Without steps the last act is undone, which may be a restore; else so many of `work`: the iterations that stand in the
 * files, newest first.
 */
export function undoTarget(list: CheckpointList, work: readonly Standing[], steps?: number): UndoTarget | undefined {
  const { lastRestore, isRestored, standing } = list;
  if (steps === undefined && isRestored && lastRestore !== undefined) {
    return { number: lastRestore.before, what: `the restore of checkpoint ${lastRestore.to}` };
  }
  const last = work[(steps ?? 1) - 1];
  if (last === undefined) return undefined;
  const { iteration, before: number } = last;
  if (iteration === standing?.iteration) return { number, what: `iteration ${iteration}` };
  const isOne = steps === undefined || steps === 1;
  const what = isOne
    ? `iteration ${iteration}, the last that stands in the files`
    : `the last ${steps} iterations that stand in the files, from ${iteration} on`;
  return { number, what };
}

// What a restore leaves alone: the document that Ralph keeps, and in a plan everything that is not an agent's work.

/** Files, and folders with all that is in them. */
export function restoreExclusions({ settings, loop: { document, directory }, tasks }: State): readonly string[] {
  const { restoreKeepsDocument, vault } = settings.policy;
  const documents = restoreKeepsDocument ? [document] : [];
  if (!vault) return documents;
  const root = vaultRootOf(document, directory);
  const made = [...allTasks(tasks)].flatMap(({ spec: { order }, status }) =>
    order?.type === 'create_file' && status === 'done' ? [stepPath(order.path, root, directory)] : [],
  );
  return [...documents, ...vaultFolders.map(folder => `${root}/${folder}`), ...made];
}
