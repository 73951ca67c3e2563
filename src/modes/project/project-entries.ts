// What project mode keeps of each iteration: who did what to which files, in the words of seed 002's state.json.
import type { EventOf } from '../../core/event.ts';
import type { State } from '../../core/state.ts';
import { stripControls, takeCharacters } from '../../text/text.ts';

/** Field for field as the seed has it. */
export interface StateEntry {
  readonly iteration: number;
  readonly task_id: string;
  readonly status: 'completed' | 'attempted';
  readonly summary: string;
  readonly files_modified: readonly string[];
  readonly obstacles: readonly string[];
}

const summaryCharsMax = 300;

const oneLine = (text: string): string =>
  takeCharacters(stripControls(text).replace(/\s+/g, ' ').trim(), summaryCharsMax);

const claim = /^\W{0,6}task\s+\S+\s+(?:is\s+)?(?:complete|completed|done)\W{0,4}$/i;

/** The last paragraph that is neither report nor claim; an excerpt may begin in the middle of a report. */
function saidIn(excerpt: string): string {
  const close = excerpt.lastIndexOf('</report>');
  const open = excerpt.lastIndexOf('<report>', close);
  const before = close < 0 ? excerpt : open < 0 ? '' : excerpt.slice(0, open);
  const after = close < 0 ? '' : excerpt.slice(close + '</report>'.length);
  const paragraphs = `${before}\n\n${after}`
    .split('\n')
    .filter(line => !claim.test(line) && !line.trim().startsWith('<promise>'))
    .join('\n')
    .split(/\n\s*\n/);
  return paragraphs.findLast(part => part.trim() !== '') ?? '';
}

/** The agent's own account where it gave one, else its last words, else why it ended. */
export function summaryOf(event: EventOf<'iteration.ended'>): string {
  const { report, failure, excerpt, because } = event;
  const told = report?.completed.join('; ') ?? '';
  if (failure !== undefined) return oneLine(told === '' ? because : `${told} (${because})`);
  return oneLine(told) || oneLine(saidIn(excerpt)) || oneLine(report?.pending.join('; ') ?? '') || oneLine(because);
}

/** Its claim is still to be proven, or what it changed is still to be looked at: not to be written yet. */
export function unsettledIterations(state: State): ReadonlySet<number> {
  if (state.ended !== undefined) return new Set();
  const saved = state.checkpointsDue.filter(due => due.task !== undefined);
  return new Set([...state.claims, ...saved].map(({ iteration }) => iteration));
}
