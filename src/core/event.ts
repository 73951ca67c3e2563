// The closed union of facts a loop can consist of: the ledger holds these and nothing else.

import type { Repetition } from '../messages/progress/progress.ts';
import type { NotedObstacle, Report } from '../messages/report.ts';
import type { ReviewAnswer } from '../messages/review.ts';
import type { ToolReport } from '../messages/tool-reports.ts';
import type { Failure } from './failure.ts';
import type { ApprovedTerms, ChangedSettings, LimitName, Limits, LimitTable, Settings } from './settings.ts';
import type { Doubt, MergeConflict, Order, ProofLevel, TaskSpec, TaskThen } from './task.ts';

/** Why a deciding event happened: the rule and its numbers, ready to be shown by `ralph explain`. */
export type Because = string;

/** Tokens and money. Money is integer micro-dollars everywhere. */
export interface Usage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsdMicros: number;
  /** True when we inferred the cost rather than the agent stating it. */
  readonly estimated: boolean;
  /** Of the cost, what a subscription covers: API-equivalent, nobody is billed for it. Absent: nothing. */
  readonly unbilledUsdMicros?: number | undefined;
  /** Of the cost, what stands at an upper bound, because the model or its price is not known. Absent: nothing. */
  readonly boundUsdMicros?: number | undefined;
}

/** A window of a provider's limits, such as five hours or a week: as it is reported, under the provider's own name. */
export interface LimitWindow {
  readonly name: string;
  readonly usedFraction?: number | undefined;
  /** Epoch ms. */
  readonly resetAtMs?: number | undefined;
  readonly isUsedUp: boolean;
}

export type IterationOutcome = 'succeeded' | 'failed' | 'handed-off' | 'escalated' | 'interrupted';

export type HandoffTrigger =
  | 'context_threshold'
  | 'error_threshold'
  | 'token_budget'
  | 'phase_complete'
  | 'explicit_request'
  | 'timeout';

/** `handoff`: write your report and stop. The others are the rungs of the health ladder. */
export type NudgeLevel = 'nudge' | 'escalate' | 'terminate' | 'handoff';

type SignalKind = 'done' | 'promise' | 'escalate' | 'review' | 'handoff' | 'report' | 'status-edit';

export interface Escalation {
  readonly id: string;
  readonly kind: EscalationKind;
  readonly task?: string;
  /** Of the task. Absent before 0.5. */
  readonly title?: string;
  readonly iteration?: number;
  /** With kind `agent`: the one that cannot work; others of the chain go on meanwhile. */
  readonly performer?: string;
  /** With kind `tamper`: what a person may accept, by fingerprint. With kind `branch`: the ref and commit of HEAD. */
  readonly findings?: readonly string[];
  /** What they are about, kind and path of each: equal where the same is found again in other content. Absent before 0.5. */
  readonly subjects?: readonly string[];
  readonly summary: string;
  readonly context: string;
  readonly options: readonly Option[];
  readonly question: string;
  readonly raisedAt: number;
}

export type Answer =
  /** By its place from 1 on, or by its id. */
  | { readonly kind: 'option'; readonly option: number | string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'skip' }
  | { readonly kind: 'retry' }
  | { readonly kind: 'abort' };

export type TerminationReason =
  | 'goal_achieved'
  | 'explicit_stop'
  | 'circuit_breaker_open'
  | 'health_failure'
  | 'consecutive_errors'
  | 'budget_exhausted'
  | 'max_iterations'
  | 'max_duration'
  | 'no_progress';

/** Which limit was met, where a reason has several or a person may raise it. */
export type LimitId = Extract<LimitTable[LimitName], { readonly id: string }>['id'] | 'rounds';

/** One row of a closed union: what it is, and what it carries. */
export type Variant<Type extends string, Body = unknown> = { readonly type: Type } & Readonly<Body>;

type Fact<Type extends string, Body = unknown> = Variant<Type, { at: number }> & Readonly<Body>;

/** The subject of a question about one error again and again: its answer starts every count of it anew. */
export const sameError = 'same-error';

/** In place of an iteration's number: it is the work of none. */
export const noIteration = 0;

/** In place of a performer's name: nobody is known to have done it. */
export const nobody = '';

/** A session of an agent as a holder: no process of its own lives between two turns, so time alone tells (ADR 9). */
const sessionPrefix = 'session:';

/** A session that was silent for so long has left its loop. */
export const sessionIdleMsMax = 30 * 60_000;

export const sessionHolder = (session: string): string => `${sessionPrefix}${session}`;

/** The session that is meant by the id of a holder; undefined: a process. */
export const sessionOf = (holder: string): string | undefined =>
  holder.startsWith(sessionPrefix) ? holder.slice(sessionPrefix.length) : undefined;

/** Which iteration it is, and who works on what in it. */
interface Iteration {
  readonly iteration: number;
  readonly task: string;
  readonly performer: string;
}

export type Event =
  | Fact<
      'loop.started',
      {
        loop: string;
        name: string;
        goal: string;
        document: string;
        directory: string;
        projectId: string;
        taskId: string;
        settings: Settings;
        by: string;
        /** How the checks stood before the first iteration. */
        baseline?: readonly { readonly check: string; readonly passed: boolean; readonly tests?: number }[];
        /** SHA-256 of the list of protected files as they were at the start. */
        protectedHash?: string;
        /** The loop's own branch, when it works in a worktree. */
        branch?: string;
      }
    >
  | Fact<
      'tasks.loaded',
      {
        tasks: readonly TaskSpec[];
        hash: string;
        substance?: string;
        /** Tasks that it does not show any more, and those that it shows again. */
        gone?: readonly string[];
        back?: readonly string[];
        because: Because;
      }
    >
  | Fact<'tasks.added', { tasks: readonly TaskSpec[]; because: Because }>
  | Fact<'tasks.saved', { tasks: readonly string[]; hash: string; because: Because; failed?: string }>
  | Fact<
      'task.closed',
      {
        task: string;
        iteration: number;
        verified: boolean;
        /** What a check showed; absent in ledgers of 0.4, which say no more than `verified`. */
        level?: ProofLevel;
        because: Because;
        /** A person says so, by a command or in the document. */
        by?: string;
        /** With a restore: as many as were counted when it was done before. */
        attempts?: number;
      }
    >
  /** `withWork`: what was set aside comes back before the next attempt. `attempts`: that stay counted; 0 unless told. */
  | Fact<
      'task.reopened',
      { task: string; because: Because; ignoresUnmet?: boolean; withWork?: true; attempts?: number }
    >
  /** `commits`: the mark in the document is committed at once, and nothing else of the task; absent in ledgers of 0.4. */
  | Fact<'task.skipped', { task: string; by: string; because: Because; commits?: true }>
  | Fact<'task.blocked', { task: string; because: Because }>
  /** What decides about it was edited while an iteration ran: the old text holds until somebody edits it between iterations. */
  | Fact<
      'task.edit-rejected',
      {
        task: string;
        iteration: number;
        criteria: readonly string[];
        dependsOn: readonly string[];
        /** What does it, and how often it may be tried, where the document says so. */
        performer?: string;
        order?: Order;
        attemptsMax?: number;
        /** Hash of title and description, where the document is the task. */
        words?: string;
        because: Because;
      }
    >
  | Fact<'iteration.started', Iteration & { holder: string; attempt: number; because: Because; again?: boolean }>
  | Fact<'iteration.spawned', { iteration: number; pid: number; startTime: string; host: string }>
  | Fact<'iteration.heartbeat', { iteration: number; quietMs: number; contextUsed?: number }>
  | Fact<
      'iteration.nudged',
      {
        iteration: number;
        level: NudgeLevel;
        because: Because;
        /** Why a fresh context shall take over; with level `handoff`. */
        trigger?: HandoffTrigger;
        /** The words reached the performer; absent in ledgers of 0.1. */
        delivered?: boolean;
      }
    >
  /** What an agent reported by a tool while it worked: it counts when the iteration ends well. From 0.5 on. */
  | Fact<'iteration.reported', { iteration: number; task: string; report: ToolReport }>
  | Fact<
      'iteration.ended',
      Iteration & {
        outcome: IterationOutcome;
        durationMs: number;
        because: Because;
        /** The end of the final message, at most 500 characters. */
        excerpt: string;
        /** The excerpt without times, numbers, paths: what repetition compares. */
        echo: string;
        failure?: Failure;
        handoff?: HandoffTrigger;
        report?: Report;
        /** Written into the file of obstacles instead of the report. */
        noted?: readonly NotedObstacle[];
        toolCalls?: number;
        /** It ended well and did not claim its task. */
        unclaimed?: true;
        repetition?: Repetition;
        progress?: true; // it brought its task on: no used-up attempt
        waitUntil?: number;
        waitFor?: 'backoff' | 'limit-reset';
      }
    >
  /** An action is about to have its effect: recorded before anything leaves us. */
  | Fact<'action.intended', { iteration: number; task: string; key: string; repeatable: boolean; because: Because }>
  /** What a reviewer found, by the schema. */
  | Fact<
      'review.answered',
      {
        iteration: number;
        task: string;
        answer: ReviewAnswer;
        /** Hash of the document that was looked at; empty: it was changed meanwhile. */
        seen?: string;
        because: Because;
      }
    >
  | Fact<'usage.recorded', { iteration: number; performer: string; task: string; usage: Usage }>
  | Fact<
      'signal.read',
      { iteration: number; task: string; signal: SignalKind; text: string; accepted: boolean; because: Because }
    >
  | Fact<
      'check.ended',
      {
        iteration: number;
        task: string;
        check: string;
        passed: boolean;
        remaining: number;
        detail: string;
        durationMs: number;
        because: Because;
        /** It passed and failed by turns. */
        flaky?: boolean;
        /** How many tests ran, as the runner itself said; absent: not counted. From 0.5 on. */
        tests?: number;
        /** What it printed without times, numbers, paths, and how often this task was refused for it in a row; from 0.5 on. */
        echo?: string;
        times?: number;
        progress?: true;
        /** With the last one that passed: what they show together, for a merge that closes the task. */
        level?: ProofLevel;
      }
    >
  /** What a look at the work itself found before its claim was believed. */
  | Fact<
      'proof.screened',
      {
        iteration: number;
        task: string;
        doubts: readonly Doubt[];
        /** Protected files that had been changed and were put back. */
        restored: readonly string[];
        /** The claim is not believed for it. */
        refused: boolean;
        because: Because;
      }
    >
  /** A person takes the doubts for good: the claim is checked again without them. */
  | Fact<
      'work.accepted',
      { task: string; iteration: number; findings: readonly string[]; by: string; because: Because }
    >
  | Fact<
      'work.committed',
      {
        task: string;
        iteration: number;
        /** Empty: there was nothing to commit, or it could not be. */
        commit: string;
        paths: number;
        /** Changed by the work and not committed, because dirty at the start. */
        left: readonly string[];
        /** The document is left out for good: said by the first commit without it. */
        documentLeft?: true;
        /** The commit of HEAD that holds the work of this task: the branch must go on from it. */
        head?: string;
        because: Because;
        failed?: string;
      }
    >
  /** The unfinished work of a task is taken out of the files: it lies in a checkpoint. */
  | Fact<
      'work.set-aside',
      {
        task: string;
        checkpoint: number;
        commit: string;
        /** The first of the paths that were put back, and how many there are. */
        paths: readonly string[];
        count: number;
        /** Paths that could not be put back, because somebody changed them since. */
        kept: readonly string[];
        /** The commit that takes back what the agent had committed itself; empty: there was none. */
        reverted: string;
        /** Why nothing could be put back. */
        failed?: string;
        /** It comes back when the task is worked on again. */
        returns?: true;
        because: Because;
      }
    >
  | Fact<'work.given-back', { task: string; count: number; kept: readonly string[]; failed?: string; because: Because }>
  | Fact<
      'merge.ended',
      { iteration: number; task: string; merged: boolean; detail: string; conflict?: MergeConflict; because: Because }
    >
  | Fact<'checkpoint.asked', CheckpointOrder & { by: string; because: Because }>
  | Fact<
      'checkpoint.made',
      CheckpointMark &
        CheckpointOrder & {
          iteration: number;
          task?: string;
          ref: string;
          /** Of its record. */
          sha256: string;
          /** What it does not hold. */
          skipped: readonly { readonly path: string; readonly why: string }[];
          /** Paths that differ from the checkpoint before it, at most 200. */
          files?: readonly string[];
          /** Of a task's fork rather than of the loop's folder. */
          fork?: boolean;
          /** Where HEAD stood, when the loop began, went on, or merged: from here on it must. */
          head?: Head;
          progress?: true;
          because: Because;
        }
    >
  | Fact<
      'restore.asked',
      {
        to: CheckpointMark;
        by: string;
        because: Because;
        overwrite?: boolean;
        /** Statuses that tasks had then; absent: only files are restored. */
        tasks?: readonly TaskThen[];
      }
    >
  | Fact<
      'checkpoint.restored',
      {
        checkpoint: string;
        number: number;
        ref: string;
        written: number;
        deleted: number;
        merged: readonly string[];
        kept: readonly string[];
        /** Nothing was changed, and why. */
        refused?: string;
        because: Because;
      }
    >
  /** A command that an agent tried to give from inside an iteration (F34). */
  | Fact<'command.refused', { command: string; by: string; because: Because }>
  | Fact<'escalation.raised', { escalation: Escalation; because: Because }>
  | Fact<
      'escalation.answered',
      { id: string; answer: Answer; by: string; because: Because; late?: boolean; request?: string }
    >
  /** HEAD was moved by somebody else, and a person wants the loop to go on where it stands. */
  | Fact<'branch.accepted', { head: Head; by: string; because: Because }>
  | Fact<'approval.given', { subject: string; hash: string; by: string; because: Because; terms?: ApprovedTerms }>
  | Fact<'guidance.given', { task?: string; text: string; by: string; because: Because }>
  | Fact<'guidance.delivered', { id: string; iteration: number; delivered: boolean; because: Because }>
  | Fact<'limits.changed', { limits: Partial<Limits>; settings?: ChangedSettings; by: string; because: Because }>
  | Fact<'performer.tripped', { performer: string; until: number; because: Because }>
  | Fact<'performer.recovered', { performer: string; because: Because }>
  /** All windows of the provider's limits, when they are first told and when one of them changed by a part that matters. */
  | Fact<'windows.reported', { iteration: number; performer: string; windows: readonly LimitWindow[] }>
  /** The permission mode that it says it works in: the first time, and when it is another one. */
  | Fact<'permissions.stated', { iteration: number; performer: string; mode: string }>
  | Fact<'budget.alerted', { fraction: number; because: Because }>
  | Fact<'stop.asked', { by: string; because: Because }>
  | Fact<'loop.paused', { by: string; now: boolean; because: Because }>
  | Fact<'loop.resumed', { by: string; because: Because; takesOver?: boolean }>
  | Fact<'loop.ended', { reason: TerminationReason; limit?: LimitId; because: Because }>;

export type EventType = Event['type'];
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>;

/** Why a loop ended or has to end: the rule, its numbers, and the limit where a reason has several. */
export type Termination = Pick<EventOf<'loop.ended'>, 'reason' | 'limit' | 'because'>;

type Undated<One extends Event> =
  One extends EventOf<'escalation.raised'>
    ? Omit<One, 'at' | 'escalation'> & { readonly escalation: Omit<Escalation, 'raisedAt'> }
    : Omit<One, 'at'>;

/** An event before it has its time: `decide` gives all events of one decision the same. */
export type NewEvent = Undated<Event>;

// What a person can be asked about.

export type EscalationKind =
  | 'stuck'
  | 'deviation'
  | 'unknown'
  | 'blocked'
  | 'health'
  | 'agent'
  | 'storage'
  /** The work is claimed and its checks passed, but tests or checks were changed for it. */
  | 'tamper'
  /** An action's reply was lost: only a person can see whether it happened. */
  | 'effect'
  /** A plan waits for a yes to exactly what it says now. */
  | 'approval'
  /** Only an upper bound meets the limit of money: what was really spent may be far less. */
  | 'budget'
  /** HEAD is not where the loop left it, or its worktree was deleted: nothing is saved or committed before an answer. */
  | 'branch';

/** Where HEAD of the folder of work stands. */
export interface Head {
  /** The full name of the branch; empty: on none. */
  readonly ref: string;
  /** Empty: the branch has no commit yet. */
  readonly commit: string;
}

// What the loop remembers about work: its checkpoints.

/** Why a checkpoint is made. */
export type CheckpointKind =
  | 'start'
  | 'iteration'
  | 'merge'
  /** The checks themselves changed files. */
  | 'checks'
  /** User edits: what a person changed while nobody worked. */
  | 'user-edits'
  | 'switched-on'
  /** The work of a task was set aside, or given back. */
  | 'set-aside'
  | 'given-back'
  | 'by-hand'
  | 'before-restore'
  | 'after-restore';

/** A checkpoint before it is made. */
export interface CheckpointOrder {
  readonly kind: CheckpointKind;
  /** For people. */
  readonly label: string;
  /** The id of the command that asked for it. */
  readonly request?: string;
}

/** A checkpoint as the loop remembers it. */
export interface CheckpointMark {
  readonly checkpoint: string;
  readonly number: number;
  readonly commit: string;
  readonly tree: string;
  /** What it does not hold: a restore of it leaves these alone. */
  readonly left?: readonly string[];
}

// Options of questions: each has an id that decides what choosing it means, and a text for people.

/** Ralph's own options; what each means is up to the kind of question, see `decide/questions.ts`. */
type OwnOptionId =
  | 'try-again'
  | 'leave-out'
  | 'go-on'
  | 'without-checkpoints'
  | 'more-time'
  | 'end-iteration'
  /** The proof is doubtful. */
  | 'reject'
  | 'accept'
  /** The judge gave no verdict. */
  | 'redo'
  | 'ask-again'
  /** An action whose reply was lost. */
  | 'happened'
  | 'not-happened'
  | 'approve'
  | 'end-loop'
  /** HEAD was moved: the loop goes on where it stands now. */
  | 'go-on-here';

/** An agent's own options are numbered: Ralph passes them on and reads nothing into them. */
export type OptionId = OwnOptionId | `agent-${number}`;

export interface Option {
  readonly id: OptionId;
  readonly text: string;
}

export const agentOptions = (texts: readonly string[]): readonly Option[] =>
  texts.map((text, at) => ({ id: `agent-${at + 1}`, text }));

/** The option that an answer names, by its place from 1 on or by its id. */
export const findOption = (options: readonly Option[], named: number | string): Option | undefined =>
  typeof named === 'number' ? options[named - 1] : options.find(one => one.id === named);

/** What is kept as a person's edits is called so only where there are any; the document may be as Ralph wrote it last. */
export function madeLabel(
  {
    document,
    loop,
  }: { readonly document: { readonly written?: string }; readonly loop: { readonly document: string } },
  { kind, label }: Pick<CheckpointOrder, 'kind' | 'label'>,
  { files = [], documentHash }: { readonly files?: readonly string[]; readonly documentHash?: string },
): string {
  if (kind !== 'user-edits') return label;
  if (files.length === 0) return 'before going on; nothing was changed meanwhile';
  const isOurs = documentHash !== undefined && documentHash === document.written;
  const isAll = isOurs && files.every(path => loop.document.endsWith(`/${path}`));
  return isAll ? 'before going on; only Ralph itself wrote meanwhile' : label;
}
