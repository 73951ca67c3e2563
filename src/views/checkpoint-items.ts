// What a checkpoint's record says without the agent's word: from the tasks, the diff and the checks.
import { plural } from '../text/format.ts';
import type { Report } from '../messages/claims.ts';
import type { State } from '../core/state.ts';
import { allTasks, type Task } from '../core/task.ts';
import { stripControls, takeCharacters } from '../text/text.ts';
import type { Change, Saved } from '../git/workspace.ts';

/** What the ledger's state does not say about a checkpoint. */
export interface CheckpointFacts {
  /** UUIDv7. */
  readonly checkpoint: string;
  readonly number: number;
  readonly label: string;
  readonly at: number;
  /** The newest iteration whose work it holds; 0 before the first. */
  readonly iteration: number;
  /** Of that iteration; absent when the checkpoint is about none. */
  readonly task?: string;
  readonly performer?: string;
  /** Absent where the workspace keeps no trees. */
  readonly saved?: Omit<Saved, 'ok'>;
  /** The ledger's head. */
  readonly anchor: { readonly sequence: number; readonly hash: string };
  /** Since the checkpoint before. */
  readonly changes: readonly Change[];
  readonly toolCalls: number;
  /** The last outcome of each check. */
  readonly lastChecks: readonly CheckFact[];
}

export interface CheckFact {
  readonly check: string;
  readonly passed: boolean;
  readonly iteration: number;
}

const itemsMax = 50;
const itemCharsMax = 300;
const filesNamedMax = 5;

/** On one line and without what a terminal would obey. */
export const shown = (text: string, charsMax = itemCharsMax): string =>
  takeCharacters(stripControls(text).replace(/\s+/g, ' ').trim(), charsMax);

/** The first ones; the rest is counted. */
function bounded(items: readonly string[]): readonly string[] {
  if (items.length <= itemsMax) return items;
  return [...items.slice(0, itemsMax - 1), `and ${items.length - itemsMax + 1} more`];
}

function changedWords(changes: readonly Change[]): readonly string[] {
  if (changes.length === 0) return [];
  const named = changes.slice(0, filesNamedMax).map(({ path, how }) => `${shown(path)} (${how})`);
  const more = changes.length - named.length;
  return [`${plural(changes.length, 'file')} changed: ${named.join(', ')}${more === 0 ? '' : ` and ${more} more`}`];
}

const checkWords = (checks: readonly CheckFact[], passed: boolean): readonly string[] =>
  checks
    .filter(one => one.passed === passed)
    .map(one => `check "${shown(one.check)}" ${passed ? 'passed' : 'failed'} (iteration ${one.iteration})`);

/** The task of this checkpoint first: it is what the reader asks about. */
function tasksLike(state: State, first: string, wanted: (task: Task) => boolean): readonly Task[] {
  const found = [...allTasks(state.tasks)].filter(wanted);
  return [...found.filter(task => task.id === first), ...found.filter(task => task.id !== first)];
}

const named = (task: Task, note = ''): string => shown(`${task.id}: ${task.title}${note === '' ? '' : ` (${note})`}`);

function blockedReason(state: State, task: Task): string | undefined {
  if (task.status === 'blocked') return task.parked ?? 'parked';
  if (task.asked === undefined || task.status === 'done' || task.status === 'skipped') return undefined;
  const question = state.escalations.find(one => one.id === task.asked);
  return `waits for an answer${question === undefined ? '' : `: ${question.summary}`}`;
}

export type Items = Pick<Report, 'completed' | 'pending' | 'blocked'>;

/** What we know without the agent's word: tasks closed in this loop, the diff, the checks. */
export function derivedItems(state: State, facts: CheckpointFacts, task: string): Items {
  const closed = tasksLike(state, task, one => one.status === 'done' && one.verified !== undefined);
  const stuck = tasksLike(state, task, one => blockedReason(state, one) !== undefined);
  const isStuck = new Set(stuck.map(one => one.id));
  const open = tasksLike(
    state,
    task,
    one => (one.status === 'pending' || one.status === 'active') && !isStuck.has(one.id),
  );
  const blocked = stuck.map(one => ({ item: named(one), reason: shown(blockedReason(state, one) ?? '') }));
  const rest = blocked.length - itemsMax + 1;
  return {
    completed: bounded([
      ...checkWords(facts.lastChecks, true),
      ...changedWords(facts.changes),
      ...closed.map(one => named(one, one.verified ? 'proven by its checks' : 'claimed, unverified')),
    ]),
    pending: bounded([
      ...checkWords(facts.lastChecks, false),
      ...open.map(one => named(one, one.rejection === undefined ? '' : 'its last claim was not accepted')),
    ]),
    blocked: rest <= 1 ? blocked : [...blocked.slice(0, itemsMax - 1), { item: `and ${rest} more`, reason: '' }],
  };
}
