// Error classes, the only two that are thrown: a broken invariant of ours, and a person's input that we refuse.

/** Our own mistake: the process ends, and running again resumes. */
export class Bug extends Error {
  override readonly name = 'Bug';
}

/** What, why, fix: one sentence each, and the exit code that goes with it. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode: number;
  readonly hint: string;
  /** Which error it is, for programs; what its exit code means unless told. */
  readonly code: string | undefined;

  constructor(message: string, hint = '', exitCode = 2, code?: string) {
    super(message);
    this.hint = hint;
    this.exitCode = exitCode;
    this.code = code;
  }
}
