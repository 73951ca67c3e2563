// Refusals of git work: a failure as a value, one sentence and what to do about it.

export interface Refusal {
  readonly ok: false;
  readonly problem: string;
  readonly fix?: string;
}

export type Done = { readonly ok: true } | Refusal;

export const refuse = (problem: string, fix?: string): Refusal => ({ ok: false, problem, fix });

/** A refusal that names the files in conflict, and the tasks that changed them meanwhile as far as commits say so. */
export type Conflicted = Refusal & { readonly conflicts: readonly string[]; readonly others?: readonly string[] };

/** A refusal for any other reason names none. */
export const withConflicts = <Answer extends { readonly ok: true }>(
  answer: Answer | Refusal | Conflicted,
): Answer | Conflicted => (answer.ok ? answer : { conflicts: [], ...answer });
