// Tasks, their table and their order: what is ready, what waits for what, how far the loop has come.
import type { Step } from '../messages/progress/progress.ts';
import { canonical } from '../text/canonical.ts';

export interface TaskSpec {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly string[];
  readonly dependsOn: readonly string[];
  /** What the document said when it was read. */
  readonly done: boolean;
  readonly skipped: boolean;
  /** The work may delete or weaken tests: it says so itself. */
  readonly mayChangeTests?: boolean;
  /** The document says that nobody can go on with it. */
  readonly blocked?: boolean;
  /** Why, in the words of whoever wrote it. */
  readonly blockedReason?: string;
  /** Who does it, and nobody else: an action. Absent: the loop's chain of agents. */
  readonly performer?: string;
  /** What an action is to do; only its performer reads it. */
  readonly order?: Order;
  /** Attempts that it came with, and how many it may have; absent: none, and the loop's limit. */
  readonly attemptsBefore?: number;
  readonly attemptsMax?: number;
  /** It only looks at the work: such tasks go on side by side in one tree. */
  readonly readOnly?: true;
  /** A person sits at the terminal with its performer. */
  readonly interactive?: true;
  /**
   * What closes it. `claim` (absent): a claim in the last message. `result`: that its performer ended well. `findings`: that
   * the last message holds a review by the schema.
   */
  readonly completion?: 'result' | 'findings';
  /** The round of a review or an interview that it belongs to, and the part that it plays there. */
  readonly round?: number;
  readonly role?: string;
  /** The heading that it stands under, where its id had to be made from its title. Absent: the id is its own. */
  readonly section?: string;
  /** The id that its title makes now, when it was reworded since it got its own. */
  readonly documentId?: string;
}

/** A value as JSON has them. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };

export type Order =
  | {
      readonly type: 'mcp';
      readonly server: string;
      readonly tool: string;
      readonly params: { readonly [key: string]: Json };
    }
  | { readonly type: 'create_file'; readonly path: string; readonly content: string }
  | { readonly type: 'notify_human'; readonly message: string };

/** The tool that an action calls, for people; undefined: it is none of a server. */
export const toolOf = ({ order }: Pick<TaskSpec, 'order'>): string | undefined =>
  order?.type === 'mcp' ? order.tool : undefined;

export type TaskStatus = 'pending' | 'active' | 'done' | 'blocked' | 'skipped';

/** A status as it is written into the document. */
export interface TaskMark {
  readonly id: string;
  readonly done: boolean;
  readonly skipped: boolean;
  /** The whole status, for formats that show more than done and skipped. */
  readonly status?: TaskStatus;
  readonly attempts?: number;
}

/**
 * `proven`: a check that failed before this work passes, or the work brought tests of its own and all checks pass.
 * `still-green`: the checks pass as they did before, and nothing new tests the work. `passed`: the checks pass, and nobody
 * knows how they stood before. `unverified`: on somebody's word.
 */
export type ProofLevel = 'proven' | 'still-green' | 'passed' | 'unverified';

export interface Task {
  readonly id: string;
  /** What the document says of it. */
  readonly spec: TaskSpec;
  readonly status: TaskStatus;
  readonly attempts: number;
  readonly escalations: number;
  /** Closed in this loop: was it proven by a check? Absent when the document said done from the start. */
  readonly verified?: boolean;
  /** What a check showed of it; absent where an event of 0.4 closed it. */
  readonly level?: ProofLevel;
  /** Who called it done, where no agent claimed it. */
  readonly closedBy?: string;
  /** Why the last claim was not believed; told to the next attempt. */
  readonly rejection?: string;
  /** Why nobody works on it any more. */
  readonly blockedBecause?: string;
  /** What its check printed when it last failed, without times, numbers, paths, and how often in a row. */
  readonly refusal?: { readonly echo: string; readonly times: number };
  /** The last claim failed its check. */
  readonly claimFailed: boolean;
  /** The open question that this task waits for. */
  readonly openQuestion?: string;
  /** Its effect may have happened, and nobody has said that it did not. */
  readonly maybeExecuted?: true;
  /** A human said to go on although a dependency was skipped. */
  readonly ignoresUnmet: boolean;
  /** What was written into the document while an iteration ran, and is not taken. */
  readonly rejectedEdit?: Pick<TaskSpec, 'criteria' | 'dependsOn' | 'performer' | 'order' | 'attemptsMax'> & {
    /** Hash of its title and description, where these count too. */
    readonly words?: string;
  };
  /** The document no longer shows it: it stays as it is here, and no mark is made for it. */
  readonly missing?: true;
  /** What its iterations changed, since it was last closed or set aside, or the work was restored. */
  readonly spans?: readonly WorkSpan[];
  /** The checkpoint at which the first of them begins. */
  readonly since?: number;
  /** Paths in these spans, the first of them: the next attempt is told what is there. */
  readonly touched?: readonly string[];
  /** Its work lies in a checkpoint and not in the files. */
  readonly aside?: WorkAside;
  /** Claims that were refused, since it was last closed or opened again. */
  readonly refusedClaims?: number;
  /** Of a task in rounds: the hash of the document when its first attempt began. */
  readonly documentBefore?: string;
}

/** One iteration at a task, by which it is told whether the task moves. */
export interface TrailStep extends Step {
  readonly task: string;
  readonly iteration: number;
  /** Its last words as they were, for a question about it. */
  readonly words?: string;
  /** It ended well, and nothing it said claims the task. */
  readonly unclaimed?: boolean;
  /** Its work could not be merged beside that of others. */
  readonly conflict?: MergeConflict;
}

/** The files that both sides changed, and the tasks of the other side as far as they are known. */
export interface MergeConflict {
  readonly paths: readonly string[];
  readonly others: readonly string[];
}

/** The trees before and after a part of the work. */
export interface WorkSpan {
  readonly from: string;
  readonly to: string;
  /** The performer crashed at the end of it. */
  readonly crashed?: true;
}

/** Work of a task that was set aside. */
export interface WorkAside {
  readonly spans: readonly WorkSpan[];
  /** The checkpoint that holds it, and the one before it began. */
  readonly checkpoint: number;
  readonly since: number;
  readonly commit: string;
  /** The first of the paths that were put back, and how many there are. */
  readonly paths: readonly string[];
  readonly count: number;
  /** Paths that could not be put back: they are still in the files. */
  readonly kept: readonly string[];
  /** It comes back before the task is worked on or checked again. */
  readonly returns?: true;
}

// What makes two readings of a task the same.

/** All that decides about who does a task, how often, and when it is done. */
export type Rules = Omit<NonNullable<Task['rejectedEdit']>, 'words'>;

export const sameList = (one: readonly string[], other: readonly string[]): boolean =>
  one === other || (one.length === other.length && one.every((text, at) => text === other[at]));

export const sameRules = (one: Rules, other: Rules): boolean =>
  sameList(one.criteria, other.criteria) &&
  sameList(one.dependsOn, other.dependsOn) &&
  one.performer === other.performer &&
  one.attemptsMax === other.attemptsMax &&
  (one.order === other.order || canonical(one.order ?? null) === canonical(other.order ?? null));

export const sameText = (one: TaskSpec, other: TaskSpec): boolean =>
  one.title === other.title &&
  one.description === other.description &&
  (one.mayChangeTests ?? false) === (other.mayChangeTests ?? false) &&
  one.section === other.section &&
  one.documentId === other.documentId &&
  sameRules(one, other);

/** To do such a task (again) could have its effect a second time: only a person who knows that may say so. */
export const mayHaveHappened = ({ spec: { order }, status, maybeExecuted }: Task): boolean =>
  order !== undefined && (status === 'done' || maybeExecuted === true);

/** An immutable table whose update copies one chunk, not the table: a fold step costs the change (10,000 tasks). */
export interface TaskTable {
  readonly chunks: readonly (readonly Task[])[];
  readonly size: number;
  /** Batches of id -> position, merged like a log so that a look-up tries few and an addition copies little. */
  readonly index: readonly ReadonlyMap<string, number>[];
  readonly counts: Readonly<Record<TaskStatus, number>>;
  readonly unverified: number;
  /** No task before this position is open. */
  readonly firstOpen: number;
}

const chunkSize = 64;

export const emptyTable: TaskTable = {
  chunks: [],
  size: 0,
  index: [],
  counts: { pending: 0, active: 0, done: 0, blocked: 0, skipped: 0 },
  unverified: 0,
  firstOpen: 0,
};

export function taskFromSpec(spec: TaskSpec): Task {
  const why = spec.blockedReason === undefined ? '' : `: ${spec.blockedReason}`;
  const blockedBecause = spec.blocked ? `the document says that it is blocked${why}` : undefined;
  const status: TaskStatus = spec.done ? 'done' : spec.skipped ? 'skipped' : spec.blocked ? 'blocked' : 'pending';
  const attempts = spec.attemptsBefore ?? 0;
  return {
    id: spec.id,
    spec,
    status,
    blockedBecause,
    attempts,
    escalations: 0,
    claimFailed: false,
    ignoresUnmet: false,
  };
}

export function positionOf(table: TaskTable, id: string): number | undefined {
  for (let batch = table.index.length - 1; batch >= 0; batch -= 1) {
    const position = table.index[batch]?.get(id);
    if (position !== undefined) return position;
  }
  return undefined;
}

export function taskAt(table: TaskTable, position: number): Task | undefined {
  return table.chunks[Math.floor(position / chunkSize)]?.[position % chunkSize];
}

export function findTask(table: TaskTable, id: string): Task | undefined {
  const position = positionOf(table, id);
  return position === undefined ? undefined : taskAt(table, position);
}

export function* allTasks(table: TaskTable): Generator<Task> {
  for (const chunk of table.chunks) yield* chunk;
}

const isClosed = (task: Task): boolean => task.status === 'done' || task.status === 'skipped';
const unverifiedCount = (task: Task): number => (task.status === 'done' && task.verified === false ? 1 : 0);

/** Replaces the task with the same id. */
export function setTask(table: TaskTable, task: Task): TaskTable {
  const position = positionOf(table, task.id);
  const before = position === undefined ? undefined : taskAt(table, position);
  if (position === undefined || before === undefined) return table;
  const at = Math.floor(position / chunkSize);
  const chunk = table.chunks[at]?.slice() ?? [];
  chunk[position % chunkSize] = task;
  const chunks = table.chunks.slice();
  chunks[at] = chunk;
  const counts = { ...table.counts };
  counts[before.status] -= 1;
  counts[task.status] += 1;
  const changed: TaskTable = {
    ...table,
    chunks,
    counts,
    unverified: table.unverified - unverifiedCount(before) + unverifiedCount(task),
  };
  return {
    ...changed,
    firstOpen: firstOpenFrom(changed, Math.min(table.firstOpen, isClosed(task) ? table.firstOpen : position)),
  };
}

function firstOpenFrom(table: TaskTable, start: number): number {
  let position = start;
  for (let task = taskAt(table, position); task !== undefined && isClosed(task); task = taskAt(table, position)) {
    position += 1;
  }
  return position;
}

/** Adds tasks at the end; ids already there are left out. */
export function addTasks(table: TaskTable, specs: readonly TaskSpec[]): TaskTable {
  const batch = new Map<string, number>();
  const chunks = table.chunks.slice();
  let last = chunks.at(-1)?.slice() ?? [];
  if (last.length > 0) chunks.pop();
  if (last.length === chunkSize) {
    chunks.push(last);
    last = [];
  }
  const counts = { ...table.counts };
  let { size, unverified } = table;
  for (const spec of specs) {
    if (batch.has(spec.id) || positionOf(table, spec.id) !== undefined) continue;
    const task = taskFromSpec(spec);
    batch.set(spec.id, size);
    counts[task.status] += 1;
    unverified += unverifiedCount(task);
    last.push(task);
    size += 1;
    if (last.length === chunkSize) {
      chunks.push(last);
      last = [];
    }
  }
  if (last.length > 0) chunks.push(last);
  const grown: TaskTable = { ...table, chunks, size, counts, unverified, index: withBatch(table.index, batch) };
  return { ...grown, firstOpen: firstOpenFrom(grown, table.firstOpen) };
}

function withBatch(
  index: readonly ReadonlyMap<string, number>[],
  batch: ReadonlyMap<string, number>,
): readonly ReadonlyMap<string, number>[] {
  if (batch.size === 0) return index;
  const batches = index.slice();
  let newest = batch;
  for (let before = batches.at(-1); before !== undefined && before.size <= newest.size * 2; before = batches.at(-1)) {
    newest = new Map([...before, ...newest]);
    batches.pop();
  }
  batches.push(newest);
  return batches;
}

/** Every dependency is done (or was skipped and a human said to go on). */
function dependenciesMet(table: TaskTable, task: Task): boolean {
  return task.spec.dependsOn.every(id => {
    const status = findTask(table, id)?.status;
    return status === 'done' || (task.ignoresUnmet && (status === 'skipped' || status === undefined));
  });
}

export function isReady(table: TaskTable, task: Task): boolean {
  const isOpen = task.status === 'pending' && task.openQuestion === undefined && task.maybeExecuted === undefined;
  return isOpen && dependenciesMet(table, task);
}

/** The first ready tasks in document order. */
export function readyTasks(table: TaskTable, most: number): readonly Task[] {
  const found: Task[] = [];
  if (table.counts.pending === 0) return found;
  for (let position = table.firstOpen; position < table.size && found.length < most; position += 1) {
    const task = taskAt(table, position);
    if (task !== undefined && isReady(table, task)) found.push(task);
  }
  return found;
}

/** Open tasks that cannot be begun without this one, directly or through others, in document order. */
export function dependentsOf(table: TaskTable, id: string): readonly string[] {
  const lost = new Set([id]);
  for (let before = 0; before !== lost.size; ) {
    before = lost.size;
    for (const { id: one, spec, ignoresUnmet } of openTasks(table))
      if (!ignoresUnmet && spec.dependsOn.some(other => lost.has(other))) lost.add(one);
  }
  lost.delete(id);
  return openTasks(table).flatMap(task => (lost.has(task.id) ? [task.id] : []));
}

export function openTasks(table: TaskTable): readonly Task[] {
  const found: Task[] = [];
  for (let position = table.firstOpen; position < table.size; position += 1) {
    const task = taskAt(table, position);
    if (task !== undefined && !isClosed(task)) found.push(task);
  }
  return found;
}

export interface Progress {
  readonly total: number;
  readonly done: number;
  readonly skipped: number;
  readonly blocked: number;
  readonly open: number;
  /** Closed on the agent's word alone. */
  readonly unverified: number;
}

export function progress(table: TaskTable): Progress {
  const { done, skipped, blocked } = table.counts;
  return { total: table.size, done, skipped, blocked, open: table.size - done - skipped, unverified: table.unverified };
}

// Proof levels: what a check showed of a task that is done, and the words that every surface has for each.

/** What each says, in a list of all of them. */
export const levelMeanings: Readonly<Record<ProofLevel, string>> = {
  proven: 'a check was red before and is green by this work, or the work brought its own passing tests',
  'still-green': 'every check passes, but it passed before the work as well',
  passed: 'every check passes, but none was run before the work, so it may have passed then too',
  unverified: 'no check was set (--verify), or a person closed it: somebody was taken at their word',
};

export const levelWords: Readonly<Record<ProofLevel, string>> = {
  proven: 'proven',
  'still-green': 'checks still green',
  passed: 'checks passed',
  unverified: 'closed unverified',
};

type Closed = Pick<Task, 'verified' | 'level'>;

/** Of a task or an event that closed it; undefined: the document said done before the loop. Ledgers of 0.4 know two levels. */
export const levelOf = ({ verified, level }: Closed): ProofLevel | undefined =>
  level ?? (verified === undefined ? undefined : verified ? 'proven' : 'unverified');

/** In one word, or that it was done before. */
export function proofWords(closed: Closed): string {
  const level = levelOf(closed);
  return level === undefined ? 'done before the loop' : levelWords[level];
}

// What makes the proof of a task doubtful, and what a restore gives back.

export type FindingKind =
  | 'test-deleted'
  | 'test-skipped'
  | 'fewer-assertions'
  | 'fewer-tests'
  | 'check-neutered'
  | 'nothing-changed'
  | 'configuration-changed';

/** What the tamper screen found in the work. */
export interface Finding {
  readonly kind: FindingKind;
  /** Empty when it is about the work as a whole. */
  readonly path: string;
  readonly detail: string;
  /** `refuse`: not done unless somebody accepts it. `report`: told, nothing more. */
  readonly severity: 'refuse' | 'report';
}

/** A finding that makes a proof doubtful, as a person may accept it. */
export interface Doubt extends Finding {
  /** Equal for equal findings about equal content: the next one of its kind is not accepted with it. */
  readonly fingerprint: string;
}

/** A status that a task had at a checkpoint and shall have again. */
export interface TaskThen {
  readonly id: string;
  readonly status: 'pending' | 'done' | 'skipped';
  /** That were counted then; absent in orders of 0.4. */
  readonly attempts?: number;
}
