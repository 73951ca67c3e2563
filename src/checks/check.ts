// The port to a proof that we run ourselves, and to a judge who weighs what no command can prove.
import type { CheckOutcome } from '../core/input.ts';
import type { Task } from '../core/task.ts';

export type CheckResult = CheckOutcome;

/** Contract: never throws; a time-out or an abort is never a pass; nothing it started is alive when it returns. */
export interface Check {
  readonly name: string;
  /** `task`: whose claim is to be proven; absent when nothing was claimed yet. */
  run(directory: string, stop: AbortSignal, task?: Task): Promise<CheckResult>;
}

/** What a judge gets to see, and all of it: never the folder itself. */
export interface JudgedWork {
  readonly loop: string;
  readonly iteration: number;
  readonly task: string;
  readonly title: string;
  readonly criteria: readonly string[];
  /** As git writes it; bounded by the prompt. */
  readonly diff: string;
  /** All of them passed: a judge is not even asked otherwise. */
  readonly outcomes: readonly CheckResult[];
  /** What the tamper screen found, in sentences. */
  readonly findings?: string;
}

/** Contract: as a check's. It can refuse work; whatever is not a complete, valid answer refuses it too. */
export interface Judge {
  readonly name: string;
  judge(work: JudgedWork, stop: AbortSignal): Promise<CheckResult>;
}

/**
 * Contract: never throws. Unless `damaged`, every protected file then has the content and mode it had when the loop began,
 * reached through no link that was not there then. Nothing outside the folder is ever written; twice = once.
 */
export interface FileGuard {
  restore(directory: string): Promise<{
    /** Paths relative to the folder of the work, each with what had been done to it. */
    readonly restored: readonly string[];
    /** Our own copies cannot be trusted, or a file could not be put back: no check may run then. */
    readonly damaged?: string;
  }>;
}
