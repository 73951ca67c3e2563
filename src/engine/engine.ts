// Engine: the ports and policies that a loop is given, nothing global. The composition root fills it in.

import type { AgentTools, Performer } from '../agents/performer.ts';
import type { Check, FileGuard } from '../checks/check.ts';
import type { Answer, Escalation, Event } from '../core/event.ts';
import type { CheckOutcome, Input, Performed } from '../core/input.ts';
import type { Effect } from '../core/next.ts';
import type { LiveIteration, State } from '../core/state.ts';
import type { Doubt, Task } from '../core/task.ts';
import type { Problem, TaskSource } from '../documents/document.ts';
import type { Checkpoints, Span } from '../git/checkpoints.ts';
import type { Branch, Commits } from '../git/commits.ts';
import type { Forks } from '../git/forks.ts';
import type { Holder, Lease, Ledger, StoreFailure } from '../ledger/ledger.ts';
import type { Spool } from '../ledger/spool.ts';
import type { Redact } from '../secrets/redactor.ts';
import type { Fields } from '../text/fields.ts';
import type { Clock } from './clock.ts';
import type { NoteBoard } from './steering.ts';

type DeskTopic = Parameters<AgentTools['ask']>[0];

/** Work that passed its checks, for the judge. */
interface WorkToJudge {
  readonly task: Task;
  readonly iteration: number;
  readonly spans: readonly Span[];
  readonly outcomes: readonly CheckOutcome[];
  readonly doubts: readonly Doubt[];
}

export interface Engine {
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly source: TaskSource;
  readonly performers: Readonly<Record<string, Performer>>;
  readonly checks: readonly Check[];
  /** Absent, like commits: in no repository, or the loop keeps no checkpoints. */
  readonly checkpoints?: Checkpoints;
  readonly commits?: Commits;
  /** Where HEAD of the loop's folder stands. */
  readonly branch?: Branch;
  /** Makes the loop's own worktree again; why it could not, or not wholly. */
  readonly remake?: (state: State) => Promise<string | undefined>;
  /** Of a parallel loop: without them all work happens in the loop's folder. */
  readonly forks?: Forks;
  /** Puts protected files back before a check. */
  readonly guard?: FileGuard;
  /** Looks at the work behind a claim. */
  readonly screen?: (spans: readonly Span[], now: string, task: string, state: State) => Promise<readonly Doubt[]>;
  /** Whether it added or changed tests. */
  readonly bringsTests?: (spans: readonly Span[]) => Promise<boolean>;
  /** Another agent's opinion, after every check has passed. */
  readonly judge?: (work: WorkToJudge, stop: AbortSignal) => Promise<CheckOutcome>;
  readonly records?: { write(number: number, text: string): Promise<void> };
  readonly spool: Spool;
  readonly notifiers: readonly Notifier[];
  /** The one funnel: every input goes through it before it is decided, stored, shown or sent. */
  readonly redact: Redact;
  readonly prompt: (
    state: State,
    live: LiveIteration,
    instructions: string,
    facts: Readonly<Record<string, string>>,
  ) => { readonly text: string; readonly system?: string };
  /** For whom there are tools, and what they answer while an iteration works; absent: nobody gets any. */
  readonly agentTools?: {
    isFor(state: State, live: LiveIteration): boolean;
    answers(state: State, live: LiveIteration, now: number): Readonly<Record<DeskTopic, Fields>>;
  };
  /** What an iteration wrote into files of the mode instead of its report. */
  readonly noted?: (state: State) => Promise<Performed['noted']>;
  /** What a prompt needs and the state does not hold. */
  readonly facts?: (state: State, live: LiveIteration) => Promise<Readonly<Record<string, string>>>;
  /** Keeps a prompt where the mode's users look for it. */
  readonly archive?: (iteration: number, prompt: string) => Promise<void>;
  /** The file that ends an interactive round, when it is not done.md in the folder of work. */
  readonly doneFile?: string;
  /** Asks the person at the terminal; absent when there is none. */
  readonly ask?: (escalation: Escalation, state: State, stop: AbortSignal) => Promise<Answer | undefined>;
  /** Every iteration gets the terminal. */
  readonly interactive?: boolean;
  readonly onEscalation: 'wait' | 'skip' | 'exit';
  /** How long `wait` waits for an answer before the run comes back; absent: for ever. */
  readonly answerMsMax?: number;
  readonly holder: Holder;
  /** Who is at the keyboard, for the ledger. */
  readonly by: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Ends a process tree that a dead holder recorded and that outlived it. */
  readonly reap?: (process: NonNullable<LiveIteration['process']>) => Promise<void>;
  /** Called when the ledger has grown: views are written from it. */
  readonly publish?: { changed(): void; close(): Promise<void> };
  /** Called once when the disk is full, so that the last word can still be recorded (F38). */
  readonly freeReserve?: () => void;
}

/** What an effect says that needs git, where the loop has none. */
export const noGit = {
  problem: 'This folder is not a git repository, so Ralph cannot undo, commit or work in parallel here.',
  fix: 'Run git init and commit once.',
};

/** Where work on a task happens and is checked. */
export const directoryOf = ({ forks }: Pick<Engine, 'forks'>, { loop: { directory } }: State, task: string): string =>
  forks?.directory(task) ?? directory;

export type RunResult =
  /** `left`: an iteration goes on outside this process, under the lease of its holder. */
  | { readonly type: 'ended' | 'waiting' | 'interrupted' | 'left'; readonly state: State }
  | { readonly type: 'failed'; readonly state: State; readonly failure: StoreFailure }
  | { readonly type: 'refused'; readonly state: State; readonly problems: readonly Problem[] }
  | { readonly type: 'held'; readonly held: Lease };

/** Contract: called after the event is durable; returns at once and never throws. */
export interface Notifier {
  tell(event: Event, state: State): void;
}

/** What an effect is given when it is performed: the ports, the state it came from, and where its answer goes. */
export interface EffectContext {
  readonly engine: Engine;
  readonly state: State;
  readonly post: (input: Input) => void;
  readonly board: NoteBoard;
  /** Whether this meant something and is durable: for whoever may go on only then. */
  readonly stored: (input: Input) => Promise<boolean>;
  /** The state as it is by now. */
  readonly stateNow: () => State;
  readonly refuse: (problems: readonly Problem[]) => void;
  /** The work that was handed out goes on outside this process: this run is over. */
  readonly leave: () => void;
  /** The ledger's head. */
  readonly anchor: { readonly sequence: number; readonly hash: string };
  /** Iterations whose claim this process has checked itself. */
  readonly proven: Set<number>;
}

export type Perform<Type extends Effect['type']> = (
  effect: Extract<Effect, { type: Type }>,
  context: EffectContext,
  stop: AbortSignal,
) => Promise<void>;
