// How a loop stands, for people: its label, that no process works on it, or that an undo has opened its work again.
import { plural } from '../../text/format.ts';
import type { State } from '../../core/state.ts';
import { progress } from '../../core/task.ts';
import { loopLabel } from '../../views/status.ts';

const isTakenBack = ({ ended, tasks }: State): boolean => ended?.reason === 'goal_achieved' && progress(tasks).open > 0;

export function loopWords(state: State, isAlive: boolean): string {
  if (isTakenBack(state)) return 'taken back';
  return state.ended !== undefined || isAlive ? loopLabel(state) : 'not running';
}

/** What the sentence of its end no longer says. */
export function takenBackWords(state: State): string | undefined {
  if (!isTakenBack(state)) return undefined;
  const { open } = progress(state.tasks);
  return `${plural(open, 'task')} open again since then (ralph undo); the same command as before starts a new loop`;
}
