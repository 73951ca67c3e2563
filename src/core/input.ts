// The closed union of outside facts and commands: everything that can wake the loop.
import type {
  Answer,
  CheckpointMark,
  Doubt,
  EscalationKind,
  HandoffTrigger,
  NewEvent,
  NudgeLevel,
  Option,
  TaskThen,
  Usage,
} from './event.ts';
import type { Failure } from './failure.ts';
import type { ChangedSettings, Limits, Settings } from './settings.ts';
import type { State } from './state.ts';
import type { TaskSpec, TaskStatus } from './task.ts';

/** What a performer left behind when it ended. */
export interface Performed {
  readonly message: string;
  readonly failure?: Failure;
  readonly usage?: Usage;
  /** Why we stopped it, when that matters: it was told to hand off and did not end. */
  readonly stoppedFor?: 'handoff';
  /** Tasks that the document calls done although the ledger does not. */
  readonly statusEdits?: readonly string[];
  readonly toolCalls?: number;
}

export interface CheckOutcome {
  readonly name: string;
  readonly passed: boolean;
  readonly detail: string;
  readonly durationMs: number;
  readonly flaky?: boolean;
  /** Nobody can say: the judge did not answer. */
  readonly undecided?: true;
  /** What a judge cost. */
  readonly usage?: Usage;
  readonly performer?: string;
}

/** A status as it was written into the document. */
interface Mark {
  readonly id: string;
  readonly done: boolean;
  readonly skipped: boolean;
  readonly status?: TaskStatus;
  readonly attempts?: number;
}

/** A question before it has an id and a time. */
export interface Question {
  readonly kind: EscalationKind;
  readonly performer?: string;
  readonly findings?: readonly string[];
  readonly summary: string;
  readonly context: string;
  readonly options: readonly Option[];
  readonly question: string;
}

/** Commands that another process may send through the mailbox. */
export type Command =
  /** `policy`: nobody was asked, a setting answers; never by mail. */
  | { readonly type: 'answer'; readonly escalation: string; readonly answer: Answer; readonly policy?: true }
  | { readonly type: 'tell'; readonly text: string; readonly task?: string }
  | { readonly type: 'stop' }
  | { readonly type: 'pause'; readonly now: boolean }
  | { readonly type: 'resume' }
  | { readonly type: 'limits'; readonly limits: Partial<Limits>; readonly settings?: ChangedSettings }
  | { readonly type: 'checkpoint'; readonly label: string; readonly request?: string }
  | {
      readonly type: 'restore';
      readonly to: CheckpointMark;
      readonly because: string;
      readonly overwrite?: boolean;
      readonly tasks?: readonly TaskThen[];
    }
  | { readonly type: 'approve'; readonly subject: string; readonly hash: string; readonly because: string }
  /** `again`: an action that was carried out, or may have been, is to be done once more. */
  | { readonly type: 'task'; readonly act: 'skip' | 'retry'; readonly task: string; readonly again?: true }
  /** An agent tried to give a command (F34); it is only recorded. */
  | { readonly type: 'refused'; readonly command: string };

export type Input =
  | {
      readonly type: 'start';
      readonly loop: string;
      readonly name: string;
      readonly goal: string;
      readonly document: string;
      readonly directory: string;
      readonly projectId: string;
      readonly taskId: string;
      readonly settings: Settings;
      readonly by: string;
      readonly baseline?: readonly { readonly check: string; readonly passed: boolean }[];
      readonly protectedHash?: string;
      readonly branch?: string;
    }
  | {
      readonly type: 'document';
      readonly tasks: readonly TaskSpec[];
      readonly hash: string;
      /** Hash of what a person approves. */
      readonly substance?: string;
      readonly during?: number;
      /** It may not stand so and is put back. */
      readonly isDamaged?: true;
    }
  | { readonly type: 'begin'; readonly task: string; readonly performer: string; readonly holder: string }
  | {
      readonly type: 'spawned';
      readonly iteration: number;
      readonly pid: number;
      readonly startTime: string;
      readonly host: string;
    }
  | { readonly type: 'heard'; readonly iteration: number; readonly quietMs: number; readonly contextUsed?: number }
  | { readonly type: 'usage'; readonly iteration: number; readonly usage: Usage }
  | { readonly type: 'performed'; readonly iteration: number; readonly performed: Performed; readonly chance: number }
  | {
      readonly type: 'recovered';
      readonly iteration: number;
      readonly holder: string;
      /** What the spool holds of an iteration whose performer ended before we died. */
      readonly found?: Performed;
      readonly chance: number;
    }
  | {
      readonly type: 'nudged';
      readonly iteration: number;
      readonly level: NudgeLevel;
      readonly trigger?: HandoffTrigger;
      /** The performer could be spoken to. */
      readonly delivered?: boolean;
    }
  /** A person's words were given to a working performer, or could not be. */
  | { readonly type: 'reached'; readonly guidance: string; readonly iteration: number; readonly delivered: boolean }
  | {
      readonly type: 'checked';
      readonly iteration: number;
      readonly outcomes: readonly CheckOutcome[];
      readonly doubts?: readonly Doubt[];
      readonly restored?: readonly string[];
      /** The checks themselves wrote files: that is nobody's work. */
      readonly wrote?: boolean;
      /** A judge looked at the doubts and passed the work. */
      readonly judged?: boolean;
    }
  /** An action is about to have its effect: the answer is whether this was recorded. */
  | { readonly type: 'intended'; readonly iteration: number; readonly repeatable: boolean }
  | { readonly type: 'merged'; readonly iteration: number; readonly merged: boolean; readonly detail: string }
  | {
      readonly type: 'committed';
      readonly task: string;
      readonly iteration: number;
      readonly commit: string;
      readonly paths: number;
      readonly left: readonly string[];
      readonly failed?: string;
    }
  | {
      readonly type: 'saved';
      readonly marks: readonly Mark[];
      readonly hash: string;
      readonly restored?: string;
      readonly failed?: string;
    }
  | {
      readonly type: 'checkpointed';
      readonly mark: CheckpointMark;
      readonly ref: string;
      readonly sha256: string;
      readonly skipped: readonly { readonly path: string; readonly why: string }[];
      readonly files?: readonly string[];
    }
  /** It could not be made: the disk, the repository. */
  | { readonly type: 'checkpoint-failed'; readonly problem: string }
  | {
      readonly type: 'restored';
      readonly written: number;
      readonly deleted: number;
      readonly merged: readonly string[];
      readonly kept: readonly string[];
      readonly refused?: string;
    }
  | { readonly type: 'stalled' }
  | { readonly type: 'escalate'; readonly question: Question; readonly because: string }
  | { readonly type: 'taken-over'; readonly by: string }
  | { readonly type: 'end' }
  | { readonly type: 'command'; readonly command: Command; readonly by: string };

export type InputOf<Type extends Input['type']> = Extract<Input, { type: Type }>;

/** What one kind of input means. */
export type Decide<Type extends Input['type']> = (
  state: State,
  input: InputOf<Type>,
  now: number,
) => readonly NewEvent[];

// Which mail is a command that we understand: another version of Ralph may have sent it.

/** Grows when a command changes its meaning or shape; mail of a newer version is left for a newer holder. 2: an answer may name its option by id. */
export const commandVersion = 2;

/** The lowest version that can express it, so that a loop of an older Ralph still takes it while it runs. */
export function versionOf(command: unknown): number {
  const { type, answer } = (command ?? {}) as Partial<Extract<Command, { type: 'answer' }>>;
  return type === 'answer' && answer?.kind === 'option' && typeof answer.option === 'string' ? 2 : 1;
}

type Fields = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function isAnswer(value: unknown): value is Answer {
  if (!isObject(value)) return false;
  if (value['kind'] === 'option') return Number.isInteger(value['option']) || typeof value['option'] === 'string';
  if (value['kind'] === 'text') return typeof value['text'] === 'string';
  return value['kind'] === 'skip' || value['kind'] === 'retry' || value['kind'] === 'abort';
}

const nullable: readonly string[] = [
  'iterationsMax',
  'costUsdMicrosMax',
  'tokensMax',
  'durationMsMax',
  'deadlineAt',
  'averageIterationMsMax',
];
const bounds: readonly string[] = [
  ...nullable,
  'iterationMsMax',
  'consecutiveErrorsMax',
  'noProgressIterations',
  'attemptsPerTaskMax',
  'escalationsPerTaskMax',
];

/** A known limit is a number above zero; null, for unlimited, where that is allowed at all. */
export const isBound = ([key, value]: readonly [string, unknown]): boolean =>
  bounds.includes(key) &&
  (value === null ? nullable.includes(key) : typeof value === 'number' && Number.isFinite(value) && value > 0);

const isTable = (value: unknown): boolean =>
  isObject(value) && Object.values(value).every(one => typeof one === 'string');

const isNames = (value: unknown): boolean =>
  Array.isArray(value) && value.length > 0 && value.every(one => typeof one === 'string');

/** Mail may name other checks or agents; it cannot take the checks away. */
function isChange(value: unknown): boolean {
  if (value === undefined) return true;
  if (!isObject(value)) return false;
  return Object.entries(value).every(([key, one]) => {
    if (key === 'promise' || key === 'protectedHash') return typeof one === 'string';
    if (key === 'performersByTask' || key === 'performersByPhase') return isTable(one);
    if (key === 'checkpoints' || key === 'commits') return typeof one === 'boolean';
    if (key === 'rollbackAfter') return one === null || (Number.isInteger(one) && Number(one) > 0);
    return ['performers', 'checks'].includes(key) && isNames(one);
  });
}

const isMark = (value: unknown): boolean =>
  isObject(value) &&
  Number.isInteger(value['number']) &&
  ['checkpoint', 'commit', 'tree'].every(key => typeof value[key] === 'string');

const isTaskThen = (value: unknown): boolean =>
  isObject(value) &&
  typeof value['id'] === 'string' &&
  ['pending', 'done', 'skipped'].includes(String(value['status']));

const shapes: { readonly [Type in Command['type']]: (fields: Fields) => boolean } = {
  answer: fields =>
    typeof fields['escalation'] === 'string' && isAnswer(fields['answer']) && fields['policy'] === undefined,
  tell: fields => typeof fields['text'] === 'string' && ['string', 'undefined'].includes(typeof fields['task']),
  stop: () => true,
  pause: fields => typeof fields['now'] === 'boolean',
  resume: () => true,
  checkpoint: fields =>
    typeof fields['label'] === 'string' && ['string', 'undefined'].includes(typeof fields['request']),
  restore: fields =>
    isMark(fields['to']) &&
    typeof fields['because'] === 'string' &&
    ['boolean', 'undefined'].includes(typeof fields['overwrite']) &&
    (fields['tasks'] === undefined || (Array.isArray(fields['tasks']) && fields['tasks'].every(isTaskThen))),
  refused: fields => typeof fields['command'] === 'string',
  approve: fields => ['subject', 'hash', 'because'].every(key => typeof fields[key] === 'string'),
  task: fields =>
    ['skip', 'retry'].includes(String(fields['act'])) &&
    typeof fields['task'] === 'string' &&
    (fields['again'] === undefined || fields['again'] === true),
  limits: fields =>
    isObject(fields['limits']) && Object.entries(fields['limits']).every(isBound) && isChange(fields['settings']),
};

export function isCommand(value: unknown): value is Command {
  if (!isObject(value) || typeof value['type'] !== 'string' || !Object.hasOwn(shapes, value['type'])) return false;
  return shapes[value['type'] as Command['type']](value);
}
