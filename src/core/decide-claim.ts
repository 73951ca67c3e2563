// What a final message claims, and which of it we take up: a claim is never more than a reason to check.
import type { Event, IterationOutcome } from './event.ts';
import type { Failure } from './failure.ts';
import { plural } from './format.ts';
import { isAdvance } from './handoff.ts';
import type { Performed } from './input.ts';
import type { Signals } from './signal.ts';
import type { LiveIteration, State } from './state.ts';
import { findTask, openTasks, progress } from './task.ts';

/** Everything known about an iteration at its end. */
export interface Ending {
  readonly state: State;
  readonly live: LiveIteration;
  readonly performed: Performed;
  readonly failure?: Failure;
  readonly signals: Signals;
  readonly outcome: IterationOutcome;
  readonly now: number;
  readonly durationMs: number;
  /** By the whole loop, with this iteration's last message. */
  readonly spentUsdMicros: number;
}

/** The task has used up its attempts: it is parked so that others can go on. */
export function parkIfSpent(state: State, id: string, now: number): readonly Event[] {
  const task = findTask(state.tasks, id);
  const { attemptsPerTaskMax } = state.settings.limits;
  if (task === undefined || task.attempts < attemptsPerTaskMax) return [];
  const because = `${plural(task.attempts, 'attempt')} without a proven result, ${attemptsPerTaskMax} allowed (--max-attempts)`;
  return [{ type: 'task.blocked', at: now, task: id, because }];
}

export function refuse(
  ending: Ending,
  signal: 'done' | 'promise' | 'report' | 'status-edit',
  text: string,
  because: string,
): Event {
  const { live, now } = ending;
  return {
    type: 'signal.read',
    at: now,
    iteration: live.iteration,
    task: live.task,
    signal,
    text,
    accepted: false,
    because,
  };
}

function readPromise(ending: Ending, claimed: boolean): readonly Event[] {
  const { state, signals, live, now } = ending;
  const { promise } = state.settings;
  if (!signals.promise) {
    return signals.promiseRefused === undefined ? [] : [refuse(ending, 'promise', promise, signals.promiseRefused)];
  }
  const open = progress(state.tasks).open - (claimed ? 1 : 0);
  if (open > 0) {
    const ids = openTasks(state.tasks)
      .filter(task => !(claimed && task.id === live.task))
      .slice(0, 5)
      .map(task => task.id);
    const because = `the promise ${promise} was refused: ${plural(open, 'task')} still open (${ids.join(', ')}${open > ids.length ? ', …' : ''})`;
    return [refuse(ending, 'promise', promise, because)];
  }
  const because = 'the promise is the last line and no other task is open';
  return [
    {
      type: 'signal.read',
      at: now,
      iteration: live.iteration,
      task: live.task,
      signal: 'promise',
      text: promise,
      accepted: true,
      because,
    },
  ];
}

export function readClaims(ending: Ending): readonly Event[] {
  const { state, live, performed, signals, now } = ending;
  const events: Event[] = [];
  const edited = performed.statusEdits?.includes(live.task) === true;
  const claimed = signals.done || edited;
  for (const id of signals.doneElsewhere) {
    events.push(refuse(ending, 'done', id, `"Task ${id} complete" was refused: this iteration's task is ${live.task}`));
  }
  if (signals.reportRefused !== undefined) events.push(refuse(ending, 'report', '', signals.reportRefused));
  events.push(...readPromise(ending, claimed));
  if (!claimed)
    return isAdvance(state, live, signals.report) ? events : [...events, ...parkIfSpent(state, live.task, now)];
  const because = signals.done
    ? `a line of its own says that ${live.task} is complete`
    : `the document was edited to call ${live.task} done`;
  const signal = signals.done ? 'done' : 'status-edit';
  events.push({
    type: 'signal.read',
    at: now,
    iteration: live.iteration,
    task: live.task,
    signal,
    text: live.task,
    accepted: true,
    because,
  });
  const { checks, forked, screen } = state.settings;
  if (checks.length === 0 && !forked && !screen) {
    const unproven = 'claimed by the agent, unverified: no check is configured';
    events.push({
      type: 'task.closed',
      at: now,
      task: live.task,
      iteration: live.iteration,
      verified: false,
      because: unproven,
    });
  }
  return events;
}
