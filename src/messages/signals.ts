// Signals of a final message, and the words in which an agent was asked to give them.

import type { EscalateBlock } from './blocks.ts';
import type { ReportReading } from './report.ts';

export interface Dialect {
  /** The active task's id. */
  readonly task: string;
  readonly promise: string;
  /** The prompt asks for the box TASK_COMPLETE; a promise that is a token counts there without tags as well. */
  readonly hasBox?: boolean;
  /** The prompt asks for a report at the end of every message. */
  readonly hasReport?: boolean;
}

export interface Signals extends ReportReading {
  /** A line of its own says that the active task is complete. */
  readonly done: boolean;
  /** It was claimed by a tool, which no words take back. */
  readonly isByTool?: true;
  /** Well-formed completion lines that name another task (at most 9). */
  readonly doneElsewhere: readonly string[];
  /** What looks like a claim of the task is none: why, for the next prompt, as in all that is refused here. */
  readonly doneRefused?: string;
  /** The exact promise is the last non-empty line. */
  readonly promise: boolean;
  /** The last line looks like a promise but is not the one asked for: why, for the next prompt. */
  readonly promiseRefused?: string;
  /** A line of its own is the ticked box TASK_COMPLETE, and nothing takes it back. */
  readonly checkbox: boolean;
  /** A box was ticked: why that does not count. */
  readonly checkboxRefused?: string;
  readonly escalate?: EscalateBlock;
  readonly escalateRefused?: string;
  readonly review?: 'complete' | 'blocked' | 'timeout';
  /** The reason the agent gave for wanting a fresh context. */
  readonly handoff?: string;
  readonly handoffRefused?: string;
}
