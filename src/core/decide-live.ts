// What was said to a working performer, and whether it heard it: nudges, the question about a silent one, a person's words.
import { raise } from './decide/questions.ts';
import type { Event } from './event.ts';
import { formatDuration, plural } from '../text/format.ts';
import { handoffOfLive } from './handoff.ts';
import type { InputOf } from './input.ts';
import { liveIteration, type State } from './state.ts';

export function nudged(
  state: State,
  { iteration, level, trigger, delivered = false }: InputOf<'nudged'>,
  now: number,
): readonly Event[] {
  const live = liveIteration(state, iteration);
  if (live === undefined) return [];
  if (level === 'handoff') {
    const due = handoffOfLive(state, live, now).due;
    if (due === undefined || due.trigger !== trigger) return [];
    const told = delivered
      ? `it was told to write its report and stop within ${formatDuration(state.settings.handoffWithinMs)}`
      : `${live.performer} cannot be spoken to while it works, so it goes on`;
    const because = `${due.because}; ${told}`;
    return [{ type: 'iteration.nudged', at: now, iteration, level, because, trigger: due.trigger, delivered }];
  }
  const quiet = formatDuration(now - live.heardAt);
  const because = `quiet for ${quiet} after ${plural(live.nudges, 'nudge')}`;
  const event: Event = { type: 'iteration.nudged', at: now, iteration, level, because, delivered };
  if (level !== 'escalate') return [event];
  const question = {
    kind: 'health' as const,
    summary: `Iteration ${iteration} (${live.task}) has been quiet for ${quiet}`,
    context: `${live.performer} gave no sign of life. Without an answer it is ended in ${formatDuration(state.settings.ladder.answerWithinMs)}.`,
    options: ['Give it more time', 'End it and go on with a fresh context'],
    question: 'What should happen to it?',
  };
  return [event, ...raise(state, question, now, because, live)];
}

export function reached(
  state: State,
  { guidance, iteration, delivered }: InputOf<'reached'>,
  now: number,
): readonly Event[] {
  const live = liveIteration(state, iteration);
  const one = state.guidance.find(each => each.id === guidance);
  if (live === undefined || one === undefined || one.iteration === iteration) return [];
  const because = delivered
    ? `told to ${live.performer} while it works`
    : `${live.performer} cannot be spoken to while it works: it stands at the top of the next prompt`;
  return [{ type: 'guidance.reached', at: now, id: guidance, iteration, delivered, because }];
}
