// LoopView: a loop as every surface and every program sees it, a plain value made of its folded state and its lease.

import type { Termination, Usage } from '../core/event.ts';
import { assessHealth, type Health } from '../core/health.ts';
import { type Waiting, waitingFor } from '../core/next.ts';
import type { Limits, Settings } from '../core/settings.ts';
import { activeMsAt, type LiveIteration, type State, totalTokens } from '../core/state.ts';
import { allTasks, type Progress, progress, type Task } from '../core/task.ts';
import type { LeaseState } from '../ledger/ledger.ts';
import { type AskedQuestion, askedQuestion, endingOf, isVerified } from './ending.ts';
import { type Liveness, livenessOf } from './status.ts';

type TaskView = Pick<Task, 'id' | 'status' | 'verified' | 'attempts'> & {
  readonly title: string;
  /** Why it is parked, or why its last claim was refused. */
  readonly note?: string;
};

type LiveView = Pick<
  LiveIteration,
  'iteration' | 'task' | 'performer' | 'attempt' | 'startedAt' | 'heardAt' | 'contextUsed'
>;

/** Times are epoch milliseconds, money is micro-dollars, what is not known is absent. */
export interface LoopView {
  /** 1 was what 0.4 printed. */
  readonly version: 2;
  readonly loop: string;
  readonly name: string;
  readonly goal: string;
  readonly document: string;
  readonly directory: string;
  readonly mode: Settings['mode'];
  /** In the order in which they are tried, `agent/model`. */
  readonly agents: readonly string[];
  readonly startedAt: number;
  /** Events so far. */
  readonly seq: number;
  readonly liveness: Liveness;
  /** One sentence: how it ended, or how it stands. */
  readonly summary: string;
  readonly tasks: Progress & {
    /** Every task in the order of the document; absent in lists of loops. */
    readonly items?: readonly TaskView[];
  };
  /** Iterations that were begun and have not ended: work is going on only while the loop is held. */
  readonly live: readonly LiveView[];
  /** Claims whose proof is still to be run. */
  readonly checking: readonly { readonly iteration: number; readonly task: string }[];
  readonly questions: readonly AskedQuestion[];
  readonly waits?: Waiting;
  readonly spend: {
    readonly iterations: number;
    readonly activeMs: number;
    /** Absent while no agent has reported any. */
    readonly usage?: Usage;
  };
  readonly limits: Limits;
  readonly health: Health;
  readonly ending?: Termination & { readonly at: number; readonly exitCode: number; readonly verified: boolean };
}

const taskView = ({ id, spec, status, verified, attempts, parked, rejection }: Task): TaskView => ({
  id,
  title: spec.title,
  status,
  verified: status === 'done' ? verified : undefined,
  attempts,
  note: (parked ?? rejection)?.split('\n')[0],
});

const liveView = (live: LiveIteration): LiveView => {
  const { iteration, task, performer, attempt, startedAt, heardAt, contextUsed } = live;
  return { iteration, task, performer, attempt, startedAt, heardAt, contextUsed };
};

function endingView(state: State): LoopView['ending'] {
  if (state.control.ended === undefined) return undefined;
  return { ...state.control.ended, exitCode: endingOf(state).exitCode, verified: isVerified(state) };
}

/** An agent that reports nothing is not free: then there is no usage, rather than one of 0. */
const reportedUsage = ({ spend: { usage } }: State): Usage | undefined =>
  totalTokens(usage) === 0 && usage.costUsdMicros === 0 ? undefined : usage;

export interface Seen {
  readonly state: State;
  readonly seq: number;
  readonly held: LeaseState | undefined;
}

/** Without its tasks one by one: for lists of loops. */
export function loopView({ state, seq, held }: Seen, now: number): LoopView {
  const { settings } = state;
  const { id: loop, name, goal, document, directory, startedAt } = state.loop;
  const { begun: iterations } = state.iterations;
  const liveness = livenessOf(state.control.ended !== undefined, held);
  return {
    version: 2,
    loop,
    name,
    goal,
    document,
    directory,
    mode: settings.mode,
    agents: settings.performers,
    startedAt,
    seq,
    liveness,
    summary: endingOf(state).sentence,
    tasks: progress(state.tasks),
    live: state.live.map(liveView),
    checking: state.claims.open.map(({ iteration, task }) => ({ iteration, task })),
    questions: state.questions.open.map(askedQuestion),
    waits: waitingFor(state, now),
    spend: {
      iterations,
      activeMs: liveness.is === 'held' ? activeMsAt(state, now) : state.spend.activeMs,
      usage: reportedUsage(state),
    },
    limits: settings.limits,
    health: assessHealth(state, now),
    ending: endingView(state),
  };
}

/** With every task. */
export function fullLoopView(seen: Seen, now: number): LoopView {
  const view = loopView(seen, now);
  return { ...view, tasks: { ...view.tasks, items: [...allTasks(seen.state.tasks)].map(taskView) } };
}
