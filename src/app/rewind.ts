// Checkpoints of a loop for commands: its history, going back to one, making one, pruning them, and their anchors.

import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CheckpointMark, Event, EventOf } from '../core/event.ts';
import type { Command } from '../core/input.ts';
import { initialState, type RestoreDue, type State } from '../core/state.ts';
import { allTasks, findTask, type TaskStatus, type TaskThen } from '../core/task.ts';
import { eventsOf } from '../engine/replay.ts';
import type { Restored } from '../git/checkpoints.ts';
import type { GitCheckpoints } from '../git/git-checkpoints.ts';
import type { Ledger, LoopRow, Verified } from '../ledger/ledger.ts';
import { evolve } from '../modes/evolve.ts';
import { present } from '../text/fields.ts';
import type { VerifiedRecord } from '../views/checkpoint-record.ts';
import { type CheckpointList, type CheckpointRow, CheckpointsView, restoreExclusions } from '../views/checkpoints.ts';
import { type Environment, freshId, loopFolder, resolveRunConfig } from './app.ts';
import { type CommandOrder, command, eventually, restingLease } from './loops/commands.ts';
import { checkpointsOf, gitEnvironment, refusalError } from './session/repository.ts';

/** Work was cut, by a crash or by Ctrl-C, and is in no checkpoint yet. */
export const isInterrupted = ({ state, isHeld }: History): boolean =>
  !isHeld && (state.live.length > 0 || state.checkpoints.due.length > 0) && state.checkpoints.restoreDue === undefined;

/** Records how cut work ended and keeps it, as the next run would. */
export async function recordInterrupted(loop: CheckpointedLoop, sender: Sender): Promise<CheckpointedLoop> {
  await command(orderFor(loop, sender), []);
  return { ...(await openHistory(loop, false)), checkpoints: loop.checkpoints };
}

/** What is in the files now, as a commit that no ref holds: to compare with. */
export async function commitOfNow({ checkpoints }: CheckpointedLoop): Promise<string> {
  const now = await checkpoints.preview();
  if (!now.ok) throw refusalError(now);
  return now.commit;
}

/** What a restore would do to the files; leaves no trace. Work that was cut is the loop's, not a person's. */
export async function previewRestore(
  loop: CheckpointedLoop,
  to: CheckpointMark,
  overwrite: boolean,
): Promise<Restored> {
  const { state, checkpoints } = loop;
  const now = await commitOfNow(loop);
  const base = isInterrupted(loop) ? now : (state.checkpoints.latest?.commit ?? now);
  return checkpoints.plan({
    to: to.commit,
    base,
    now,
    overwrite,
    except: restoreExclusions(state),
    left: to.left ?? [],
  });
}

export interface RewindOrder {
  readonly to: CheckpointMark;
  readonly because: string;
  readonly overwrite: boolean;
  /** Absent: only files. */
  readonly tasks?: readonly TaskThen[];
}

type Sender = Pick<CommandOrder, 'env' | 'by' | 'warn'>;

type Performed<Done> =
  | ({ readonly type: 'done' } & Done)
  | { readonly type: 'failed'; readonly problem: string }
  /** Asked for, and not done yet: the process that holds the loop will. */
  | { readonly type: 'asked' };

export type Rewound = Performed<{ readonly event: EventOf<'checkpoint.restored'>; readonly before: number }>;
type Created = Performed<{ readonly event: EventOf<'checkpoint.made'> }>;

const waitMsMax = 60_000;

/** Done here when nobody holds the loop, else by its holder: then we wait for what the ledger says. */
async function performed<Outcome extends { readonly type: string }>(
  order: Parameters<typeof command>[0] & Pick<History, 'seq'>,
  wanted: readonly Command[],
  read: (events: readonly Event[]) => Outcome | undefined,
): Promise<Outcome | { readonly type: 'asked' }> {
  const { ledger, loop, seq } = order;
  const isOver = (await command(order, wanted)) === 'decided' || (await restingLease(order)) !== undefined;
  const msMax = isOver ? 0 : waitMsMax;
  return (await eventually(msMax, async () => read(await since(ledger, loop, seq)))) ?? { type: 'asked' };
}

const orderFor = ({ home, ledger, row, seq, checkpoints }: CheckpointedLoop, { env, by, warn }: Sender) => {
  return { home, ledger, row, seq, loop: row.loop, env, by, warn, parts: { checkpoints } };
};

async function since(ledger: Ledger, loop: string, seq: number): Promise<readonly Event[]> {
  const events: Event[] = [];
  for await (const page of eventsOf(ledger, loop, seq)) events.push(...page.map(one => one.event));
  return events;
}

function failureIn(events: readonly Event[]): { readonly type: 'failed'; readonly problem: string } | undefined {
  const raised = events.filter(event => event.type === 'escalation.raised').map(event => event.escalation);
  const failure = raised.find(({ kind }) => kind === 'storage' || kind === 'branch');
  return failure && { type: 'failed', problem: failure.kind === 'branch' ? `${failure.summary}.` : failure.context };
}

/** Of a restore that was asked for by now, or already `due`. */
function rewoundIn(events: readonly Event[], due?: RestoreDue): Rewound | undefined {
  const asked = due === undefined ? events.findIndex(event => event.type === 'restore.asked') : 0;
  let before = due?.now?.number ?? 0;
  for (const event of asked === -1 ? [] : events.slice(asked)) {
    if (event.type === 'checkpoint.made') before = event.number;
    if (event.type === 'checkpoint.restored') return { type: 'done', event, before };
  }
  return failureIn(events);
}

export function restoreCommand({ to, because, overwrite, tasks }: RewindOrder): Command {
  const mark = { checkpoint: to.checkpoint, number: to.number, commit: to.commit, tree: to.tree, left: to.left ?? [] };
  return { type: 'restore', to: mark, because, overwrite, tasks };
}

export async function rewind(loop: CheckpointedLoop, sender: Sender, order: RewindOrder): Promise<Rewound> {
  return performed(orderFor(loop, sender), [restoreCommand(order)], events => rewoundIn(events));
}

/** A restore that was asked for and then cut. */
export async function finishRewind(loop: CheckpointedLoop, sender: Sender, due: RestoreDue): Promise<Rewound> {
  return performed(orderFor(loop, sender), [], events => rewoundIn(events, due));
}

export async function createCheckpoint(
  history: History,
  sender: Sender,
  checkpoints: GitCheckpoints,
  label: string,
): Promise<Created> {
  const request = await freshId();
  // A holder of 0.4 passes no request on: the next one by hand that it makes is ours.
  const isOurs = (event: EventOf<'checkpoint.made'>): boolean =>
    event.kind === 'by-hand' && (event.request === undefined || event.request === request);
  return performed<Created>(
    orderFor({ ...history, checkpoints }, sender),
    [{ type: 'checkpoint', label, request }],
    events => {
      const made = events.filter(event => event.type === 'checkpoint.made').find(isOurs);
      return made === undefined ? failureIn(events) : { type: 'done', event: made };
    },
  );
}

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
  readonly checkpoints: GitCheckpoints | undefined;
  /** Numbers that git no longer holds. */
  readonly missing: ReadonlySet<number>;
  /** Numbers that a person let go. */
  readonly pruned: ReadonlySet<number>;
  /** What was mended while we looked. */
  readonly healed: readonly string[];
  /** A process that lives holds the loop. */
  readonly isHeld: boolean;
}

/** One that has checkpoints, and the repository that holds them. */
export interface CheckpointedLoop extends History {
  readonly checkpoints: GitCheckpoints;
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
  const resolved = await resolveRunConfig(env, state.loop.directory, {});
  const checkpoints = await checkpointsOf(home, env, state, resolved.ok ? resolved.config : undefined);
  const known = list.rows.filter(({ number }) => !pruned.has(number));
  const healed = isHeld || !heals ? [] : ((await checkpoints?.repair(known))?.did ?? []);
  const missing = new Set(await checkpoints?.missing(known));
  return { ...needs, state, seq, list, checkpoints, missing, pruned, healed, isHeld };
}

export async function recordOf({ home, row }: History, checkpoint: CheckpointRow): Promise<VerifiedRecord> {
  const { readRecord } = await import('../engine/checkpoints.ts');
  return readRecord(loopFolder(home, row.loop), checkpoint);
}

/** The newest that git holds and whose record is what the ledger says. */
export async function newestVerifiedNumber(history: History): Promise<number | undefined> {
  const { newestVerified } = await import('../engine/checkpoints.ts');
  const { home, row, list, missing, pruned } = history;
  const rows = list.rows.filter(one => !one.isFork && !missing.has(one.number) && !pruned.has(one.number));
  return newestVerified(loopFolder(home, row.loop), rows);
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
    if (task.spec.order !== undefined || (before === undefined && task.verified === undefined)) return [];
    const status = thenOf(before?.status);
    const isFreed = task.status === 'blocked' && before?.status !== 'blocked';
    return status === thenOf(task.status) && !isFreed ? [] : [{ id: task.id, status, attempts: before?.attempts ?? 0 }];
  });
}

const prunedPath = (folder: string): string => join(folder, 'checkpoints', 'pruned.json');

/** Kept beside the records: without it, the next look would make the refs anew. */
function prunedIn(folder: string): ReadonlySet<number> {
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
  const sorted = [...new Set(numbers)].sort((one, other) => one - other);
  writeFileSync(`${path}.new`, `${JSON.stringify(sorted)}\n`, { mode: 0o600 });
  renameSync(`${path}.new`, path);
}

/** What pruning would let go: never the first, the newest, the last good one, the one in the tree, nor what undo needs. */
export function prunable({ list, state, missing, pruned }: History, keep: number): readonly number[] {
  const numbers = list.rows.map(one => one.number).filter(number => !missing.has(number) && !pruned.has(number));
  const stays = new Set([...numbers.slice(0, 1), ...numbers.slice(-Math.max(1, keep)), ...neededOf(list, state)]);
  return numbers.filter(number => !stays.has(number));
}

const neededOf = ({ current, standing, lastRestore }: CheckpointList, state: State): readonly number[] =>
  [
    current,
    standing?.before,
    lastRestore?.before,
    state.checkpoints.lastGood?.number,
    state.checkpoints.restoreDue?.to.number,
  ].filter(number => number !== undefined);

/** Remembered first: a crash between the two only leaves refs that the same command removes. */
export async function pruneHistory(loop: CheckpointedLoop, keep: number) {
  const { home, row, list, state, pruned, checkpoints } = loop;
  const numbers = prunable(loop, keep);
  writePruned(loopFolder(home, row.loop), [...pruned, ...numbers]);
  return checkpoints.prune({ keep, good: neededOf(list, state) });
}

// Anchors: heads of the ledger that were noted in git while it grew (ADR 15).

interface Anchored {
  readonly anchors: number;
  /** One for every checkpoint that was not pruned; notes can be lost, and be deleted. */
  readonly anchorsExpected: number;
  /** The first event whose hash is not the one that was anchored. */
  readonly differs?: number;
  /** The ledger has no such event any more. */
  readonly isCut?: true;
}

export type Audited = Anchored & Verified;

const none: Anchored = { anchors: 0, anchorsExpected: 0 };

/** The chain in one pass over the rows, which counts the checkpoints too; then one row for each anchor that git holds. */
export async function audited(ledger: Ledger, home: string, row: LoopRow, env: Environment): Promise<Audited> {
  let made = 0;
  const verified = await ledger.store.verify(row.loop, ({ body }) => {
    if (!body.includes('"checkpoint.made"')) return;
    const event = JSON.parse(body) as Event;
    if (event.type === 'checkpoint.made') made = Math.max(made, event.number);
  });
  if (!verified.ok) return { ...none, ...verified };
  const anchorsExpected = Math.max(0, made - prunedIn(loopFolder(home, row.loop)).size);
  return { ...(await comparedWithAnchors(ledger, row, env)), anchorsExpected, ...verified };
}

/** An anchor beyond the ledger's end differs too: events are missing, whatever the ledger itself says of checkpoints (F90). */
async function comparedWithAnchors({ store }: Ledger, { loop, directory, document }: LoopRow, env: Environment) {
  const { anchorsIn } = await import('../git/checkpoints/refs.ts');
  const place = existsSync(directory) ? directory : dirname(document);
  const anchors = await anchorsIn({ directory: place, environment: gitEnvironment(env) }, loop);
  for (const { sequence, hash } of anchors) {
    const [event] = await store.read(loop, sequence - 1, 1);
    const isCut = event === undefined ? (true as const) : undefined;
    if (event?.hash !== hash) return { anchors: anchors.length, ...present({ differs: sequence, isCut }) };
  }
  return { anchors: anchors.length };
}
