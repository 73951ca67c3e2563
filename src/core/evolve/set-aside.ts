// Folds of work that is set aside, and of work that is given back.

import type { EventOf } from '../event.ts';
import { queueCheckpoint, type State, update, withTask } from '../state.ts';
import { findTask } from '../task.ts';
import { testsForgotten, withoutSpans } from './checkpoints.ts';

/** The files are saved as they are now: what the next task changes is told by that. */
export function workSetAside(state: State, event: EventOf<'work.set-aside'>): State {
  const { task, checkpoint, commit, paths, count, kept, returns } = event;
  const { spans = [], since = checkpoint } = findTask(state.tasks, task) ?? {};
  const aside = { spans, checkpoint, since, commit, paths, count, kept, returns };
  const without = withTask(state, task, one => ({ ...withoutSpans(one), aside }));
  const claims = { lastChecks: testsForgotten(state.claims.lastChecks) };
  const left = update(update(without, 'claims', claims), 'checkpoints', { unfinished: undefined });
  return queueCheckpoint(left, { kind: 'set-aside', label: `${task} was set aside` });
}

/** The checkpoint that follows makes it the task's work again. What did not come back stays where it lies. */
export function workGivenBack(state: State, { task, kept, failed }: EventOf<'work.given-back'>): State {
  const isWhole = kept.length === 0 && failed === undefined;
  const back = withTask(state, task, one => ({
    ...one,
    aside: isWhole || one.aside === undefined ? undefined : { ...one.aside, returns: undefined },
  }));
  return queueCheckpoint(back, { kind: 'given-back', label: `the work of ${task} came back`, task });
}
