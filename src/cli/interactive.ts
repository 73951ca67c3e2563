// Interactive rounds: an agent gets the terminal, and Ralph's own lines are buffered until the round is over.

import type { Performer } from '../agents/performer.ts';
import { cliNames } from '../app/agents/agents.ts';
import { UsageError } from '../text/errors.ts';
import { type LiveView, liveView } from './live.ts';
import { askLine, type Style } from './terminal.ts';

/** A live view without a live line, whose lines wait as long as an iteration is at the terminal. */
export function bufferedView(style: Style, write: (text: string) => void, quiet: boolean, asks: boolean): LiveView {
  let roundsLive = 0;
  let buffered = '';
  const say = (text: string): void => {
    if (roundsLive > 0) buffered += text;
    else write(text);
  };
  const view = liveView(style, say, quiet, asks);
  view.hold(() => {}); // for good: no line of ours is drawn where an agent may draw
  const flush = (): void => {
    if (buffered !== '') write(buffered);
    buffered = '';
  };
  return {
    ...view,
    /** What is said from now on is not for later: nobody would read it. */
    close() {
      roundsLive = 0;
      flush();
      view.close();
    },
    tell(event, state) {
      if (event.type === 'iteration.ended') {
        roundsLive = state.live.length;
        if (roundsLive === 0) flush();
      }
      view.tell(event, state);
      if (event.type === 'iteration.started') roundsLive = state.live.length;
    },
  };
}

type Performers = Readonly<Record<string, Performer>>;

const question = 'Press Enter to begin, Ctrl-C to leave (the same command resumes) ';
const notHere = 'Nobody hears these words: the agent listens once the round has begun.\n';

/** False: leave. Words that a person meant for the agent neither begin nor leave. */
async function wantsNext(stop: AbortSignal): Promise<boolean> {
  for (;;) {
    const typed = (await askLine(question, stop))?.trim().toLowerCase();
    if (typed === undefined || ['n', 'no', 'quit', 'exit'].includes(typed)) return false;
    if (['', 'y', 'yes'].includes(typed)) return true;
    process.stderr.write(notHere);
  }
}

const stopped = (stop: AbortSignal): Promise<void> =>
  stop.aborted
    ? Promise.resolve()
    : new Promise(resolve => stop.addEventListener('abort', () => resolve(), { once: true }));

/**
 * Between two rounds a person sees what came of the last one, and may leave: the first round was asked for, each later one
 * waits. `leave` is what Ctrl-C does.
 */
export function interviewPacing(performers: Performers, leave: () => void): Performers {
  let isFirst = true;
  const paced = (one: Performer): Performer => ({
    ...one,
    async *perform(assignment, stop) {
      if (!isFirst && !(await wantsNext(stop)) && !stop.aborted) {
        leave();
        await stopped(stop);
      }
      isFirst = false;
      yield* one.perform(assignment, stop);
    },
  });
  return Object.fromEntries(Object.entries(performers).map(([name, one]) => [name, paced(one)]));
}

/** The terminal can be given only where there is one, and only to an agent that knows what to do with it. */
export function refuseWithoutTerminal(performers: Performers, hasTerminal: boolean, isInterview: boolean): void {
  const cannot = Object.values(performers).find(one => !one.can.interactive);
  if (cannot !== undefined)
    throw new UsageError(
      `The agent ${JSON.stringify(cannot.name)} cannot be given the terminal.`,
      isInterview
        ? `Name one that can, by --agent: ${cliNames.join(', ')}. Or write tasks.json yourself: docs/formats/tasks.md`
        : 'Leave out --interactive.',
    );
  if (hasTerminal) return;
  throw isInterview
    ? new UsageError('An interview needs a person at a terminal.', 'Run it at one, without CI or --no-input.')
    : new UsageError('An interactive agent needs a terminal.', 'Run it at one, or leave out --interactive.');
}
