// The port to a proof that we run ourselves.

export interface CheckResult {
  readonly name: string;
  readonly passed: boolean;
  /** Why, for people and for the next prompt: the end of its output. */
  readonly detail: string;
  readonly durationMs: number;
}

/** Contract: never throws; a time-out or an abort is never a pass; nothing it started is alive when it returns. */
export interface Check {
  readonly name: string;
  run(directory: string, stop: AbortSignal): Promise<CheckResult>;
}
