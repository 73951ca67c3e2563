// What a program gets back from a loop: the same words, numbers and exit codes as on the command line.
import { join } from 'node:path';
import { ledgerEvents, loopFolder } from '../app.ts';
import type { Escalation } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import type { TerminationReason } from '../../core/termination.ts';
import type { RunResult } from '../../engine/engine.ts';
import type { Ledger } from '../../ledger/ledger.ts';
import { endedByLimit, endingOf } from '../../views/ending.ts';
import { type LoopReport, ReportView } from '../../views/report.ts';

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
  readonly questions: readonly Escalation[];
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

async function reportOf(ledger: Ledger, state: State): Promise<LoopReport> {
  const view = new ReportView();
  for await (const page of ledgerEvents(ledger, state.loop)) for (const { event } of page) view.add(event);
  return view.report(state);
}

function pathsOf({ home, document }: ResultNeeds, { loop }: State): LoopPaths {
  const folder = loopFolder(home, loop);
  return { home, folder, document, status: join(folder, 'status.json'), report: join(folder, 'report.json') };
}

const interruptedCode = 130;

export async function resultOf(
  needs: ResultNeeds,
  state: State,
  how: Exclude<RunResult['type'], 'failed' | 'refused' | 'held'>,
  ran: boolean,
  words?: string,
): Promise<LoopResult> {
  const ending = endingOf(state, needs.requireChecks);
  const isProven = state.ended?.reason === 'goal_achieved' && progress(state.tasks).unverified === 0;
  const exitCode = how === 'interrupted' ? interruptedCode : ending.exitCode;
  return {
    loop: state.loop,
    name: state.name,
    how,
    reason: state.ended?.reason,
    exitCode: words === undefined ? exitCode : 0,
    verified: isProven,
    summary: words ?? ending.sentence,
    ran,
    questions: state.escalations,
    state,
    report: await reportOf(needs.ledger, state),
    paths: needs.isKept ? pathsOf(needs, state) : undefined,
  };
}

/** A loop that ended with work left is not begun anew unless that is said: its own end is the result. */
export async function endedBefore(needs: ResultNeeds, state: State, more: string): Promise<LoopResult> {
  const result = await resultOf(needs, state, 'ended', false);
  const summary = more === '' ? result.summary : `${result.summary} ${more}`;
  return { ...result, summary, exitCode: endedByLimit(state) ? 3 : 6 };
}
