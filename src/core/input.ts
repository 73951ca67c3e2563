// The closed union of outside facts and commands: everything that can wake the loop.

import type { NotedObstacle } from '../messages/report.ts';
import type { ToolReport } from '../messages/tool-reports.ts';
import { type Fields, isFields } from '../text/fields.ts';
import type {
  Answer,
  CheckpointMark,
  Escalation,
  EventOf,
  EventType,
  Head,
  LimitWindow,
  NewEvent,
  Usage,
  Variant,
} from './event.ts';
import type { Failure } from './failure.ts';
import { type ApprovedTerms, type ChangedSettings, type Limits, limitNames, limitRow } from './settings.ts';
import type { State } from './state.ts';
import type { Doubt, TaskMark, TaskSpec } from './task.ts';

/** What a performer left behind when it ended. */
export interface Performed {
  readonly message: string;
  readonly failure?: Failure;
  readonly usage?: Usage;
  /** Why we stopped it, when that matters: it was told to hand off and did not end. */
  readonly stoppedFor?: 'handoff';
  /** Tasks that the document calls done although the ledger does not. */
  readonly statusEdits?: readonly string[];
  /** The document calls its task blocked now, and why, as far as it says so. */
  readonly blockedEdit?: string;
  readonly toolCalls?: number;
  /** What it wrote itself into the file of obstacles, and why what it wrote there cannot be taken. */
  readonly noted?: { readonly obstacles: readonly NotedObstacle[]; readonly problem?: string } | undefined;
}

export interface CheckOutcome {
  readonly name: string;
  readonly passed: boolean;
  /** Why, for people and for the next prompt: the end of its output. */
  readonly detail: string;
  readonly durationMs: number;
  /** How many tests ran, as the runner itself said; absent: not counted. */
  readonly tests?: number;
  /** It was run more than once, and the runs did not agree (F37). */
  readonly flaky?: boolean;
  /** It failed and printed nothing: it names no error. */
  readonly silent?: true;
  /** Nobody can say: the judge did not answer. */
  readonly undecided?: true;
  /** Who did it and what that used, when it was an agent: it counts against the budget. */
  readonly performer?: string;
  readonly usage?: Usage;
}

/** A question before it has an id and a time. */
export type Question = Omit<Escalation, 'id' | 'task' | 'iteration' | 'raisedAt'>;

/** Commands that another process may send through the mailbox. */
export type Command =
  /** `policy`: nobody was asked, a setting answers; never by mail. `request`: what the sender knows it by, when several answer at once. */
  | Variant<'answer', { escalation: string; answer: Answer; policy?: true; request?: string }>
  | Variant<'tell', { text: string; task?: string }>
  /** `replacedBy`: the loop that takes its place, by its name; never by mail. */
  | Variant<'stop', { replacedBy?: string }>
  | Variant<'pause', { now: boolean }>
  | Variant<'resume'>
  | Variant<'limits', { limits: Partial<Limits>; settings?: ChangedSettings }>
  | Variant<'checkpoint', { label: string; request?: string }>
  | Variant<'restore', Pick<EventOf<'restore.asked'>, 'to' | 'because' | 'overwrite' | 'tasks'>>
  | Variant<'approve', { subject: string; hash: string; because: string; terms?: ApprovedTerms | undefined }>
  /** `again`: an action that was carried out, or may have been, is to be done once more. */
  | Variant<'task', { act: 'done' | 'skip' | 'retry'; task: string; again?: true; withWork?: true }>
  /** An agent tried to give a command (F34); it is only recorded. */
  | Variant<'refused', { command: string }>;

/** The fields of an event. */
type Of<Type extends EventType> = Omit<EventOf<Type>, 'type' | 'at'>;

export type Input =
  | Variant<'start', Of<'loop.started'>>
  | Variant<
      'document',
      {
        tasks: readonly TaskSpec[];
        hash: string;
        /** Hash of what a person approves. */
        substance?: string;
        during?: number;
        /** It may not stand so and is put back. */
        isDamaged?: true;
      }
    >
  | Variant<'begin', { task: string; performer: string; holder: string }>
  | Variant<'spawned', Of<'iteration.spawned'>>
  | Variant<'heard', Of<'iteration.heartbeat'>>
  | Variant<'usage', { iteration: number; usage: Usage }>
  | Variant<'windows', { iteration: number; windows: readonly LimitWindow[] }>
  | Variant<'permissions', { iteration: number; mode: string }>
  /** By a tool, while it works: the answer is whether this was recorded. */
  | Variant<'reported', { iteration: number; report: ToolReport }>
  | Variant<'performed', { iteration: number; performed: Performed; chance: number }>
  /** `found`: what the spool holds of an iteration whose performer ended before we died. */
  | Variant<'recovered', { iteration: number; holder: string; found?: Performed; chance: number }>
  /** `delivered`: the performer could be spoken to. */
  | Variant<'nudged', Omit<Of<'iteration.nudged'>, 'because'>>
  /** A person's words were given to a working performer, or could not be. */
  | Variant<'reached', { guidance: string; iteration: number; delivered: boolean }>
  | Variant<
      'checked',
      {
        iteration: number;
        outcomes: readonly CheckOutcome[];
        doubts?: readonly Doubt[];
        restored?: readonly string[];
        /** The checks themselves wrote files: that is nobody's work. */
        wrote?: boolean;
        /** Paths that only crashed attempts had touched: put back, because the checks pass without them. */
        leftOut?: readonly string[];
        /** The work added or changed tests. */
        newTests?: true;
        /** A judge looked at the doubts and passed the work. */
        judged?: boolean;
      }
    >
  /** An action is about to have its effect: the answer is whether this was recorded. */
  | Variant<'intended', { iteration: number; repeatable: boolean }>
  | Variant<'merged', Pick<Of<'merge.ended'>, 'iteration' | 'merged' | 'detail' | 'conflict'>>
  | Variant<'committed', Omit<Of<'work.committed'>, 'because' | 'documentLeft'>>
  | Variant<'set-aside', Omit<Of<'work.set-aside'>, 'because'>>
  | Variant<'given-back', Omit<Of<'work.given-back'>, 'because'>>
  | Variant<'saved', { marks: readonly TaskMark[]; hash: string; restored?: string; failed?: string }>
  /** `documentHash`: of the document as it was then, where a person may have edited it. */
  | Variant<
      'checkpointed',
      { mark: CheckpointMark; documentHash?: string } & Pick<Made, 'ref' | 'sha256' | 'skipped' | 'files' | 'head'>
    >
  /** It could not be made: the disk, the repository. */
  | Variant<'checkpoint-failed', { problem: string }>
  /** HEAD is not where the loop left it, or its worktree was deleted: nothing was saved, merged or committed. */
  | Variant<'displaced', { found: Displaced }>
  | Variant<'restored', Pick<EventOf<'checkpoint.restored'>, 'written' | 'deleted' | 'merged' | 'kept' | 'refused'>>
  | Variant<'stalled'>
  | Variant<'escalate', { question: Question; because: string }>
  | Variant<'taken-over', { by: string }>
  | Variant<'end'>
  | Variant<'command', { command: Command; by: string }>;

type Made = EventOf<'checkpoint.made'>;

/** What became of the place of work. */
export type Displaced =
  /** Another branch, none, or one that no longer holds what it held. */
  | Variant<'moved', { from: Head; to: Head }>
  /** The worktree was deleted and is made again from its branch and the last checkpoint, as far as `problem` does not say. */
  | Variant<'remade', { problem?: string }>;

export type InputOf<Type extends Input['type']> = Extract<Input, { type: Type }>;

/** What one kind of input means. */
export type Decide<Type extends Input['type']> = (
  state: State,
  input: InputOf<Type>,
  now: number,
) => readonly NewEvent[];

// Reads commands from mail, which another version of Ralph may have sent.

/** Grows when a command changes its meaning or shape; mail of a newer version is left for a newer holder. 2: an answer may name its option by id. 3: a person calls a task done; work that was set aside may come back. */
export const commandVersion = 3;

/** The lowest version that can express it, so that a loop of an older Ralph still takes it while it runs. */
export function versionOf(command: unknown): number {
  if (isFields(command) && command['type'] === 'task' && command['act'] === 'done') return 3;
  const { type, answer } = (command ?? {}) as Partial<Extract<Command, { type: 'answer' }>>;
  if (isFields(command) && command['withWork'] === true) return 3;
  return type === 'answer' && answer?.kind === 'option' && typeof answer.option === 'string' ? 2 : 1;
}

export function isAnswer(value: unknown): value is Answer {
  if (!isFields(value)) return false;
  if (value['kind'] === 'option') return Number.isInteger(value['option']) || typeof value['option'] === 'string';
  if (value['kind'] === 'text') return typeof value['text'] === 'string';
  return value['kind'] === 'skip' || value['kind'] === 'retry' || value['kind'] === 'abort';
}

/** A known limit is a number above zero, or null where that is allowed. */
export const isBound = ([key, value]: readonly [string, unknown]): boolean => {
  const row = limitNames.find(name => name === key);
  if (row === undefined && key !== 'escalationsPerTaskMax') return false;
  if (value === null) return row !== undefined && limitRow(row).orNull === true;
  return typeof value === 'number' && Number.isFinite(value) && value > 0;
};

const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isTable = (value: unknown): boolean => isFields(value) && Object.values(value).every(isText);
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isNames = (value: unknown): boolean => isTexts(value) && (value as readonly unknown[]).length > 0;
const optional =
  (isValid: (value: unknown) => boolean) =>
  (value: unknown): boolean =>
    value === undefined || isValid(value);

type Shape = Readonly<Record<string, (value: unknown) => boolean>>;

const fits = (value: unknown, shape: Shape): value is Fields =>
  isFields(value) && Object.entries(shape).every(([key, isValid]) => isValid(value[key]));

/** Mail may name other checks or agents; it cannot take the checks away. */
const changes: Shape = {
  promise: isText,
  protectedHash: isText,
  performersByTask: isTable,
  performersByPhase: isTable,
  stronger: value => fits(value, { performer: isText, after: Number.isInteger }),
  checkpoints: isFlag,
  commits: isFlag,
  rollbackAfter: value => value === null || (Number.isInteger(value) && Number(value) > 0),
  performers: isNames,
  checks: isNames,
};

const isChange = (value: unknown): boolean =>
  isFields(value) && Object.entries(value).every(([key, one]) => Object.hasOwn(changes, key) && changes[key]?.(one));

const isTerms = (value: unknown): boolean =>
  fits(value, {
    limits: limits => isFields(limits) && Object.entries(limits).every(isBound),
    servers: servers =>
      isFields(servers) &&
      Object.values(servers).every(one =>
        fits(one, { hash: isText, callMsMax: Number.isInteger, idempotent: isTexts }),
      ),
  });

const isMark = (value: unknown): boolean =>
  fits(value, { number: Number.isInteger, checkpoint: isText, commit: isText, tree: isText });

const isTaskThen = (value: unknown): boolean =>
  fits(value, {
    id: isText,
    status: status => ['pending', 'done', 'skipped'].includes(String(status)),
    attempts: optional(count => Number.isSafeInteger(count) && Number(count) >= 0),
  });

const shapes: { readonly [Type in Command['type']]: Shape } = {
  answer: { escalation: isText, answer: isAnswer, policy: value => value === undefined, request: optional(isText) },
  tell: { text: isText, task: optional(isText) },
  stop: { replacedBy: value => value === undefined },
  pause: { now: isFlag },
  resume: {},
  checkpoint: { label: isText, request: optional(isText) },
  restore: {
    to: isMark,
    because: isText,
    overwrite: optional(isFlag),
    tasks: optional(value => Array.isArray(value) && value.every(isTaskThen)),
  },
  refused: { command: isText },
  approve: { subject: isText, hash: isText, because: isText, terms: optional(isTerms) },
  task: {
    act: value => ['done', 'skip', 'retry'].includes(String(value)),
    task: isText,
    again: optional(value => value === true),
    withWork: optional(value => value === true),
  },
  limits: {
    limits: value => isFields(value) && Object.entries(value).every(isBound),
    settings: optional(isChange),
  },
};

export function isCommand(value: unknown): value is Command {
  if (!isFields(value) || typeof value['type'] !== 'string' || !Object.hasOwn(shapes, value['type'])) return false;
  return fits(value, shapes[value['type'] as Command['type']]);
}
