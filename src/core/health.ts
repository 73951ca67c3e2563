// Health of a loop: five words for it, and the ladder of nudge, escalate, terminate.

import { formatDuration, plural } from '../text/format.ts';
import { raise } from './decide/questions.ts';
import type { NewEvent } from './event.ts';
import { handoffOfLive } from './handoff.ts';
import type { Decide, Question } from './input.ts';
import { breakerPosition } from './scheduling.ts';
import type { Ladder } from './settings.ts';
import { type LiveIteration, liveIteration, type State } from './state.ts';

export type HealthState = 'healthy' | 'degraded' | 'stuck' | 'failing' | 'terminated';

export interface Health {
  readonly state: HealthState;
  readonly because: string;
}

const slowAverageMs = 5 * 60_000; // seed 001: an average above five minutes is a warning

interface HealthRow {
  readonly state: HealthState;
  readonly holds: (state: State, now: number) => string | undefined;
}

const openBreaker = (state: State, now: number): string | undefined =>
  Object.keys(state.performers.breakers).find(
    name => breakerPosition(state.performers.breakers[name]!, now) === 'open',
  );

/** Ordered from worst to best: the first row that holds is the word. */
export const healthRows: readonly HealthRow[] = [
  { state: 'terminated', holds: state => (state.control.ended ? `ended: ${state.control.ended.reason}` : undefined) },
  {
    state: 'failing',
    holds: (state, now) => {
      if (state.streaks.errors >= state.settings.errorsToHandOff) return `${state.streaks.errors} errors in a row`;
      const resting = openBreaker(state, now);
      return resting === undefined ? undefined : `the breaker of ${resting} is open`;
    },
  },
  {
    state: 'stuck',
    holds: (state, now) => {
      const quiet = state.live.find(one => now - one.heardAt > state.settings.ladder.stuckAfterMs);
      return quiet ? `iteration ${quiet.iteration} quiet for ${formatDuration(now - quiet.heardAt)}` : undefined;
    },
  },
  {
    state: 'degraded',
    holds: state => {
      if (state.streaks.failures > 0) return `${plural(state.streaks.failures, 'failure')} in a row`;
      if (state.memory.repetition) return state.memory.repetition.detail;
      if (state.iterations.ended < 3) return undefined;
      const average = state.iterations.msSum / state.iterations.ended;
      return average > slowAverageMs ? `iterations take ${formatDuration(average)} on average` : undefined;
    },
  },
];

export function assessHealth(state: State, now: number): Health {
  for (const row of healthRows) {
    const because = row.holds(state, now);
    if (because !== undefined) return { state: row.state, because };
  }
  return { state: 'healthy', because: 'no warning sign' };
}

export interface LadderStep {
  readonly level: 'nudge' | 'escalate' | 'terminate';
  readonly dueAt: number;
}

/** The next rung for a quiet iteration and when it is due (seed 000: 30 min, then 10 min, 3 nudges, 15 min). */
export function ladderStep(live: LiveIteration, ladder: Ladder): LadderStep | undefined {
  if (live.terminated !== undefined) return undefined;
  if (live.escalatedAt !== undefined) return { level: 'terminate', dueAt: live.escalatedAt + ladder.answerWithinMs };
  const dueAt = live.nudgedAt === undefined ? live.heardAt + ladder.stuckAfterMs : live.nudgedAt + ladder.nudgeEveryMs;
  return { level: live.nudges < ladder.nudgesMax ? 'nudge' : 'escalate', dueAt };
}

// What was said to a working performer, and whether it heard it: nudges, the question about a silent one, a person's words.

export const nudged: Decide<'nudged'> = (state, { iteration, level, trigger, delivered = false }, now) => {
  const live = liveIteration(state, iteration);
  if (live === undefined) return [];
  if (level === 'handoff') {
    const due = handoffOfLive(state, live, now).due;
    if (due === undefined || due.trigger !== trigger) return [];
    const told = delivered
      ? `it was told to write its report and stop within ${formatDuration(state.settings.handoffWithinMs)}`
      : `${live.performer} takes no messages while it works, so it goes on`;
    const because = `${due.because}; ${told}`;
    return [{ type: 'iteration.nudged', iteration, level, because, trigger: due.trigger, delivered }];
  }
  const quiet = formatDuration(now - live.heardAt);
  const because = `quiet for ${quiet} after ${plural(live.nudges, 'nudge')}`;
  const event: NewEvent = { type: 'iteration.nudged', iteration, level, because, delivered };
  if (level !== 'escalate') return [event];
  const question: Question = {
    kind: 'health',
    summary: `Iteration ${iteration} (${live.task}) has been quiet for ${quiet}`,
    context: `${live.performer} gave no sign of life. Without an answer it is ended in ${formatDuration(state.settings.ladder.answerWithinMs)}.`,
    options: [
      { id: 'more-time', text: 'Give it more time' },
      { id: 'end-iteration', text: 'End it and go on with a fresh context' },
    ],
    question: 'What should happen to it?',
  };
  return [event, ...raise(state, question, because, live)];
};

export const guidanceDelivered: Decide<'reached'> = (state, { guidance, iteration, delivered }) => {
  const live = liveIteration(state, iteration);
  const one = state.memory.guidance.find(each => each.id === guidance);
  if (live === undefined || one === undefined || one.iteration === iteration) return [];
  const because = delivered
    ? `told to ${live.performer} while it works`
    : `${live.performer} takes no messages while it works; your words stand at the top of its next prompt`;
  return [{ type: 'guidance.delivered', id: guidance, iteration, delivered, because }];
};
