// Proof levels: what a check showed of a task that is done, and the one word that every surface has for each.

import type { CheckOutcome } from './input.ts';
import type { State } from './state.ts';
import { allTasks, type ProofLevel, type Task } from './task.ts';

export const levelWords: Readonly<Record<ProofLevel, string>> = {
  proven: 'proven',
  'still-green': 'checks still green',
  unverified: 'closed unverified',
};

type Closed = Pick<Task, 'verified' | 'level'>;

/** Of a task or an event that closed it; undefined: the document said done before the loop. Ledgers of 0.4 know two levels. */
export const levelOf = ({ verified, level }: Closed): ProofLevel | undefined =>
  level ?? (verified === undefined ? undefined : verified ? 'proven' : 'unverified');

/** In one word, or that it was done before. */
export function proofWords(closed: Closed): string {
  const level = levelOf(closed);
  return level === undefined ? 'done before the loop' : levelWords[level];
}

/** Checks that failed when the loop began, while no task has been closed by passing ones since. */
function redBefore({ loop: { baseline = [] }, tasks }: State, task: string): ReadonlySet<string> {
  const red = baseline.filter(one => !one.passed).map(one => one.check);
  const isOver =
    red.length > 0 && [...allTasks(tasks)].some(one => one.id !== task && one.status === 'done' && one.verified);
  return new Set(isOver ? [] : red);
}

/** `outcomes`: all passed. What an agent thinks of the work (a judge) is no check. `newTests`: the work added or changed tests. */
export function levelBy(
  state: State,
  task: string,
  outcomes: readonly Pick<CheckOutcome, 'name' | 'performer'>[],
  newTests: boolean,
): ProofLevel {
  if (outcomes.length === 0) return 'unverified';
  const commands = outcomes.filter(one => one.performer === undefined);
  const red = redBefore(state, task);
  return commands.some(one => red.has(one.name)) || (newTests && commands.length > 0) ? 'proven' : 'still-green';
}
