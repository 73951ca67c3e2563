// A task that stands still although its next prompt was told so: a person is asked before another iteration is paid for.

import { doneLine } from '../../messages/blocks.ts';
import { plural, someOf } from '../../text/format.ts';
import type { NewEvent } from '../event.ts';
import { standstillOf, trailOf } from '../memory.ts';
import { isSingleTask, type State } from '../state.ts';
import type { MergeConflict, Task } from '../task.ts';
import { askOrBlock } from './claims.ts';
import { stuckOptions } from './questions.ts';

/** Why the work of a task cannot be merged. */
export const conflictWords = ({ paths, others }: MergeConflict): string =>
  `its work conflicts with ${others.length === 0 ? 'what others merged' : someOf(others)} in ${someOf(paths)}`;

/** An agent that does not know the line, or never writes it, works in vain: then that is what a person must hear. */
function unclaimedWords(state: State, id: string, detail: string): string {
  const trail = trailOf(state, id);
  if (isSingleTask(state) || !trail.every(one => one.unclaimed === true)) return detail;
  const never = `its agent never writes the line "${doneLine(id)}"`;
  const hasChanged = new Set(trail.map(one => one.tree)).size > 1;
  return hasChanged
    ? `${never}, though files changed in ${plural(trail.length, 'iteration')}`
    : `${detail}, and ${never}`;
}

/** Failures have rules of their own (ADR 3); an action, a reviewer and an interview are no work over many iterations. */
export function askAboutStandstill(state: State, { id, spec }: Task): readonly NewEvent[] | undefined {
  const last = state.trail.findLast(one => one.task === id);
  if (last === undefined || last.error !== undefined) return undefined;
  if (spec.performer !== undefined || spec.completion !== undefined) return undefined;
  const found = standstillOf(state, id);
  // Of a list a refused claim uses up an attempt, and what its check says again and again is asked about by itself.
  const isRefused = found?.kind === 'similar' && last.check !== undefined && !isSingleTask(state);
  if (found?.asks !== true || isRefused) return undefined;
  const why = last.conflict === undefined ? unclaimedWords(state, id, found.detail) : conflictWords(last.conflict);
  const question = {
    kind: 'stuck' as const,
    summary: `${id} does not move: ${why}`,
    context: last.words ?? '',
    options: stuckOptions,
    question: `How should ${id} go on?`,
  };
  const because = `${why}; its prompt said so, and it did not help`;
  const asked = askOrBlock(state, question, because, last);
  if (isSingleTask(state)) return asked;
  // Of a list the others go on, and three that stand still in a row end the loop (ADR 5).
  return [{ type: 'task.blocked', task: id, because }, ...asked.filter(one => one.type !== 'task.blocked')];
}
