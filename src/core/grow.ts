// A mode may grow the work: what a decision makes necessary is added in the same append, so no loop is "done" in between.
import type { Event } from './event.ts';
import { evolve } from './evolve/evolve.ts';
import { growReview } from './grow-review.ts';
import type { ModeName } from './settings.ts';
import type { State } from './state.ts';
import type { TaskSpec } from './task.ts';

const growth: Partial<Record<ModeName, (state: State) => readonly TaskSpec[]>> = { review: growReview };

function grownBecause([first]: readonly TaskSpec[]): string {
  const round = `round ${first?.round ?? 1}`;
  return first?.closing === 'findings' ? `${round} of the review begins` : `what ${round} of the review found`;
}

export function withGrowth(state: State, events: readonly Event[], now: number): readonly Event[] {
  const grow = events.length === 0 || state.ended ? undefined : growth[state.settings.mode];
  if (grow === undefined) return events;
  const tasks = grow(events.reduce(evolve, state));
  if (tasks.length === 0) return events;
  const because = grownBecause(tasks);
  return [...events, { type: 'tasks.added', at: now, tasks, because }];
}
