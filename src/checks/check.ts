// The port to a proof that we run ourselves, and to a judge who weighs what no command can prove.
import type { Usage } from '../core/event.ts';
import type { Task } from '../core/task.ts';

export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** Why, for people and for the next prompt: the end of its output. */
  readonly detail: string;
  readonly durationMs: number;
  /** It was run more than once, and the runs did not agree (F37). */
  readonly flaky?: true;
  /** Nobody can say: the judge did not answer. */
  readonly undecided?: true;
  /** Who did it and what that used, when it was an agent: it counts against the budget. */
  readonly performer?: string;
  readonly usage?: Usage;
}

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
