// How each mode lets an agent claim its task, and what takes a claim back: text is read by these rules and no others.
import type { Phase, Signals } from '../../messages/claims.ts';
import type { State } from '../state.ts';

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

/** What of a goal is still to be done, by the report beside the claim or else by the last one that there was. */
function leftOpen(state: State, { report, isReportUnread }: Signals): string | undefined {
  if (isReportUnread) return 'its report block could not be read';
  const { pending = [], blocked = [] } = report ?? state.report ?? {};
  const counts = [
    ...(pending.length === 0 ? [] : [`${pending.length} pending`]),
    ...(blocked.length === 0 ? [] : [`${blocked.length} blocked`]),
  ];
  if (counts.length === 0) return undefined;
  const whose = report === undefined ? 'the last report before it' : 'its own report';
  const items = `${counts.join(' and ')} ${pending.length + blocked.length === 1 ? 'item' : 'items'}`;
  const how =
    pending.length > 0 ? '' : ': ask a person about what is blocked, or leave out what the goal does not need';
  return `${whose} lists ${items}${how}`;
}

/** The claim of an iteration that ended well, or why what looks like one is none. */
export function claimOf(
  state: State,
  task: string,
  signals: Signals,
  isEdited: boolean,
): { readonly claimed?: Claimed; readonly refused?: string } {
  const { mode } = state.settings;
  const claimed = doneLine(signals, task) ?? edit(isEdited, task) ?? byDialect(state, signals);
  if (claimed === undefined)
    return mode === 'prompt' && signals.checkboxRefused !== undefined ? { refused: signals.checkboxRefused } : {};
  const open = mode === 'goal' ? leftOpen(state, signals) : undefined;
  if (open === undefined) return { claimed };
  const shape = signals.reportRefused === undefined ? '' : `. ${signals.reportRefused}`;
  return { refused: `it claims the goal, but ${open}${shape}` };
}
