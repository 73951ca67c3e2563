// How each mode lets an agent claim its task, and what takes a claim back: text is read by these rules and no others.
import type { Phase, Signals } from './signal.ts';
import type { State } from './state.ts';

export interface Claimed {
  readonly signal: 'done' | 'status-edit';
  readonly because: string;
}

const doneLine = (signals: Signals, task: string): Claimed | undefined =>
  signals.done ? { signal: 'done', because: `a line of its own says that ${task} is complete` } : undefined;

const edit = (isEdited: boolean, task: string): Claimed | undefined =>
  isEdited ? { signal: 'status-edit', because: `the document was edited to call ${task} done` } : undefined;

const complete: Phase = 'complete';

/** What claims the task beyond the line and the edit that every mode knows. */
function byDialect(state: State, signals: Signals): Claimed | undefined {
  const { mode, stepwise, promise } = state.settings;
  if (stepwise && signals.promise) return { signal: 'done', because: `the promise ${promise} is the last line` };
  if (mode === 'prompt' && signals.checkbox) return { signal: 'done', because: 'the last message ticks TASK_COMPLETE' };
  if (mode === 'goal' && signals.report?.phase === complete)
    return { signal: 'done', because: 'the report says that its phase is complete' };
  if (mode === 'review' && signals.review === complete)
    return { signal: 'done', because: 'the last line says that all issues are resolved' };
  return undefined;
}

/** The claim of an iteration that ended well, or why what looks like one is none. */
export function claimOf(
  state: State,
  task: string,
  signals: Signals,
  isEdited: boolean,
): { readonly claimed?: Claimed; readonly refused?: string } {
  const claimed = doneLine(signals, task) ?? edit(isEdited, task) ?? byDialect(state, signals);
  if (claimed === undefined) return {};
  const pending = state.settings.mode === 'goal' ? (signals.report?.pending.length ?? 0) : 0;
  if (pending === 0) return { claimed };
  return {
    refused: `it claims the goal, but its own report lists ${pending} pending ${pending === 1 ? 'item' : 'items'}`,
  };
}
