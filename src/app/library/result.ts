// The result of a loop for a program: the same words, numbers and exit codes as on the command line; and its checkpoints.
import { join } from 'node:path';
import type { TerminationReason } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { UsageError } from '../../text/errors.ts';
import type { CheckpointRecord } from '../../views/checkpoint-record.ts';
import { type AskedQuestion, askedQuestion, endedByLimit, endingOf } from '../../views/ending.ts';
import { LoopFold } from '../../views/fold.ts';
import type { LoopReport } from '../../views/report.ts';
import { type Environment, hasLedger, loopFolder, openLedger } from '../app.ts';
import { eventsIn } from '../loops/find.ts';
import { type History, createCheckpoint as make, newestVerifiedNumber, openHistory, recordOf } from '../rewind.ts';

/** Absolute. */
export interface LoopPaths {
  readonly home: string;
  readonly folder: string;
  readonly document: string;
  readonly status: string;
  readonly report: string;
}

export interface LoopResult {
  /** The loop's id; empty when there was nothing to do and never a loop. */
  readonly loop: string;
  readonly name: string;
  /** `waiting`: for an answer, or for a time; `interrupted`: by your signal. Both go on with the same call. */
  readonly how: 'ended' | 'waiting' | 'interrupted';
  /** Why it ended; absent while it has not. */
  readonly reason?: TerminationReason;
  /** As the command line's. */
  readonly exitCode: number;
  /** The goal is reached, and every task of it was proven by a check. */
  readonly verified: boolean;
  /** One sentence. */
  readonly summary: string;
  /** False: nothing was done by this call, because the loop is over. */
  readonly ran: boolean;
  /** What a person must answer. */
  readonly questions: readonly AskedQuestion[];
  readonly state: State;
  readonly report: LoopReport;
  /** Absent with `memory`: nothing is left. */
  readonly paths?: LoopPaths;
}

interface ResultNeeds {
  readonly ledger: Ledger;
  readonly home: string;
  readonly document: string;
  readonly isKept: boolean;
  readonly requireChecks: boolean;
}

const interruptedCode = 130;

interface HowItEnded {
  readonly how: LoopResult['how'];
  readonly ran: boolean;
  /** In place of how the loop ended: there is nothing to do. */
  readonly words?: string;
}

export async function resultOf(needs: ResultNeeds, state: State, how: HowItEnded): Promise<LoopResult> {
  const { home, document, ledger } = needs;
  const { id: loop, name } = state.loop;
  const { ended } = state.control;
  const { words } = how;
  const ending = endingOf(state, needs.requireChecks);
  const exitCode = how.how === 'interrupted' ? interruptedCode : ending.exitCode;
  const folder = loopFolder(home, loop);
  const paths = { home, folder, document, status: join(folder, 'status.json'), report: join(folder, 'report.json') };
  const view = new LoopFold();
  for await (const { event } of eventsIn(ledger, loop)) view.add(event);
  return {
    loop,
    name,
    how: how.how,
    reason: ended?.reason,
    exitCode: words === undefined ? exitCode : 0,
    verified: ended?.reason === 'goal_achieved' && progress(state.tasks).unverified === 0,
    summary: words ?? ending.sentence,
    ran: how.ran,
    questions: state.questions.open.map(askedQuestion),
    state,
    report: view.report(),
    paths: needs.isKept ? paths : undefined,
  };
}

/** A loop that ended with work left is not begun anew unless that is said: its own end is the result. */
export async function endedBefore(needs: ResultNeeds, state: State, more: string): Promise<LoopResult> {
  const result = await resultOf(needs, state, { how: 'ended', ran: false });
  const summary = more === '' ? result.summary : `${result.summary} ${more}`;
  return { ...result, summary, exitCode: endedByLimit(state) ? 3 : 6 };
}

export interface LoopPlace {
  /** RALPH_HOME. */
  readonly home: string;
  /** The loop's id or name. */
  readonly loop: string;
  readonly environment?: Environment;
  /** Your own ledger in place of the database in `home`. */
  readonly ledger?: Ledger;
}

async function within<Result>(
  place: LoopPlace,
  readOnly: boolean,
  work: (history: History) => Promise<Result>,
): Promise<Result> {
  const { home, loop, environment: env = {} } = place;
  if (place.ledger === undefined && !hasLedger(home)) throw new UsageError(`There is no loop in ${home} yet.`);
  const ledger = place.ledger ?? (await openLedger({ home, env, warn: () => {}, readOnly, mailToOlder: true }));
  try {
    const row = (await ledger.store.loops()).find(one => one.loop === loop || one.name === loop);
    if (row === undefined) throw new UsageError(`No loop is called ${JSON.stringify(loop)}.`);
    return await work(await openHistory({ home, env, ledger, row }, !readOnly));
  } finally {
    if (place.ledger === undefined) await ledger.store.close();
  }
}

/** Keeps what is there now; undefined: a running loop was asked for it and has not made it yet. */
export async function createCheckpoint(
  place: LoopPlace,
  label = 'by a program',
): Promise<CheckpointRecord | undefined> {
  return within(place, false, async history => {
    const { checkpoints, state, row } = history;
    if (checkpoints === undefined || !state.settings.checkpoints)
      throw new UsageError(`Loop ${row.name} keeps no checkpoints.`, 'It needs a git repository, and checkpoints on.');
    const sender = { env: history.env, by: 'a program', warn: () => {} };
    const made = await make(history, sender, checkpoints, label);
    if (made.type === 'failed') throw new UsageError(`No checkpoint was made: ${made.problem}`, '', 5);
    if (made.type === 'asked') return undefined;
    return newest(await openHistory(history, false));
  });
}

async function newest(history: History): Promise<CheckpointRecord | undefined> {
  const number = await newestVerifiedNumber(history);
  const row = history.list.rows.find(one => one.number === number);
  const read = row === undefined ? undefined : await recordOf(history, row);
  return read?.ok === true ? read.record : undefined;
}

/** Its record, verified by the hash in the ledger; older ones are taken where the newest is damaged. */
export async function latestCheckpoint(place: LoopPlace): Promise<CheckpointRecord | undefined> {
  return within(place, true, newest);
}
