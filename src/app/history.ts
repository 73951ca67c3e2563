// What commands about checkpoints need to know: the ledger's list, what git still holds, and the records that verify.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Environment, loopFolder, resolveRunConfig } from './app.ts';
import { evolve } from '../core/evolve/evolve.ts';
import { initialState, type State } from '../core/state.ts';
import { allTasks, findTask, type TaskStatus } from '../core/task.ts';
import type { TaskThen } from '../core/work.ts';
import { eventsOf } from '../engine/replay.ts';
import type { Ledger, LoopRow } from '../ledger/ledger.ts';
import type { VerifiedRecord } from '../views/checkpoint-record.ts';
import { type CheckpointList, type CheckpointRow, CheckpointsView } from '../views/checkpoints.ts';
import type { GitWorkspace } from '../git/git.ts';
import { workspaceOf } from './session/place.ts';

export interface HistoryNeeds {
  readonly home: string;
  readonly env: Environment;
  readonly ledger: Ledger;
  readonly row: LoopRow;
}

export interface History extends HistoryNeeds {
  readonly state: State;
  readonly seq: number;
  readonly list: CheckpointList;
  /** Undefined: the loop's folder is gone, or in no git repository. */
  readonly workspace: GitWorkspace | undefined;
  /** Numbers that git no longer holds. */
  readonly missing: ReadonlySet<number>;
  /** Numbers that a person let go. */
  readonly pruned: ReadonlySet<number>;
  /** What was mended while we looked. */
  readonly healed: readonly string[];
  /** A process that lives holds the loop. */
  readonly isHeld: boolean;
}

/** One pass over the ledger. `heals`: lost refs come back, and a restore that was cut is finished, unless held (F05). */
export async function openHistory(needs: HistoryNeeds, heals: boolean): Promise<History> {
  const { home, env, ledger, row } = needs;
  const view = new CheckpointsView();
  let state = initialState;
  let seq = 0;
  for await (const page of eventsOf(ledger, row.loop)) {
    for (const recorded of page) {
      state = evolve(state, recorded.event);
      seq = recorded.seq;
      view.add(seq, recorded.event);
    }
  }
  const list = view.list();
  const isHeld = (await ledger.store.holder(row.loop))?.alive === true;
  const pruned = prunedIn(loopFolder(home, row.loop));
  const workspace = await openWorkspace(env, home, state);
  const known = list.rows.filter(({ number }) => !pruned.has(number));
  const healed = isHeld || !heals ? [] : ((await workspace?.repair(known))?.did ?? []);
  const missing = new Set(await workspace?.missing(known));
  return { ...needs, state, seq, list, workspace, missing, pruned, healed, isHeld };
}

async function openWorkspace(env: Environment, home: string, state: State): Promise<GitWorkspace | undefined> {
  const resolved = await resolveRunConfig(env, state.directory, {});
  return workspaceOf(home, env, state, resolved.ok ? resolved.run.config : undefined);
}

export async function recordOf({ home, row }: History, checkpoint: CheckpointRow): Promise<VerifiedRecord> {
  const { readRecord } = await import('../engine/records.ts');
  return readRecord(loopFolder(home, row.loop), checkpoint);
}

/** The newest that git holds and whose record is what the ledger says. */
export async function newestWhole(history: History): Promise<number | undefined> {
  const { newestVerified } = await import('../engine/records.ts');
  const { home, row, list, missing, pruned } = history;
  const rows = list.rows.filter(one => !one.isFork && !missing.has(one.number) && !pruned.has(one.number));
  return (await newestVerified(loopFolder(home, row.loop), rows)).newest?.number;
}

const thenOf = (status: TaskStatus | undefined): TaskThen['status'] =>
  status === 'done' || status === 'skipped' ? status : 'pending';

/** The tasks whose status was another one at this checkpoint. One that was not there yet was not done. */
export async function tasksThen({ ledger, row, state }: History, settledSeq: number): Promise<readonly TaskThen[]> {
  let then = initialState;
  for await (const page of eventsOf(ledger, row.loop)) {
    for (const { seq, event } of page) if (seq <= settledSeq) then = evolve(then, event);
    if ((page.at(-1)?.seq ?? 0) >= settledSeq) break;
  }
  return [...allTasks(state.tasks)].flatMap((task): readonly TaskThen[] => {
    const before = findTask(then.tasks, task.id);
    // What an action did is not in the files, and does not come back with them.
    if (task.order !== undefined || (before === undefined && task.verified === undefined)) return [];
    const status = thenOf(before?.status);
    const isFreed = task.status === 'blocked' && before?.status !== 'blocked';
    return status === thenOf(task.status) && !isFreed ? [] : [{ id: task.id, status }];
  });
}

const prunedPath = (folder: string): string => join(folder, 'checkpoints', 'pruned.json');

/** Kept beside the records: without it, the next look would make the refs anew. */
export function prunedIn(folder: string): ReadonlySet<number> {
  try {
    const read: unknown = JSON.parse(readFileSync(prunedPath(folder), 'utf8'));
    return new Set(Array.isArray(read) ? read.filter(one => Number.isSafeInteger(one)) : []);
  } catch {
    return new Set();
  }
}

function writePruned(folder: string, numbers: Iterable<number>): void {
  const path = prunedPath(folder);
  mkdirSync(join(folder, 'checkpoints'), { recursive: true, mode: 0o700 });
  writeFileSync(`${path}.new`, `${JSON.stringify([...new Set(numbers)].sort((one, other) => one - other))}\n`, {
    mode: 0o600,
  });
  renameSync(`${path}.new`, path);
}

/** What pruning would let go: never the first, the newest, the last good one, the one in the tree, nor what undo needs. */
export function prunable({ list, state, missing, pruned }: History, keep: number): readonly number[] {
  const numbers = list.rows.map(one => one.number).filter(number => !missing.has(number) && !pruned.has(number));
  const stays = new Set([...numbers.slice(0, 1), ...numbers.slice(-Math.max(1, keep)), ...neededOf(list, state)]);
  return numbers.filter(number => !stays.has(number));
}

const neededOf = ({ current, standing, lastRestore }: CheckpointList, state: State): readonly number[] =>
  [current, standing?.before, lastRestore?.before, state.good?.number, state.restoreDue?.to.number].filter(
    number => number !== undefined,
  );

/** Remembered first: a crash between the two only leaves refs that the same command removes. */
export async function pruneHistory(history: History, workspace: GitWorkspace, keep: number) {
  const { home, row, list, state, pruned } = history;
  const numbers = prunable(history, keep);
  writePruned(loopFolder(home, row.loop), [...pruned, ...numbers]);
  return workspace.prune({ keep, good: neededOf(list, state) });
}
