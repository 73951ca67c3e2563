// Between two rounds at the terminal a person sees what came of the last one, and may leave, before the next agent comes.
import type { Performer } from '../agents/performer.ts';
import { confirm } from './confirm.ts';

type Performers = Readonly<Record<string, Performer>>;

const question = 'Press Enter to begin, Ctrl-C to leave (the same command resumes) ';

const stopped = (stop: AbortSignal): Promise<void> =>
  stop.aborted
    ? Promise.resolve()
    : new Promise(resolve => stop.addEventListener('abort', () => resolve(), { once: true }));

/** The first round was asked for; each later one waits. `leave` is what Ctrl-C does. */
export function betweenRounds(performers: Performers, leave: () => void): Performers {
  let isFirst = true;
  const paced = (one: Performer): Performer => ({
    ...one,
    async *perform(assignment, stop) {
      if (!isFirst && !(await confirm(question, stop)) && !stop.aborted) {
        leave();
        await stopped(stop);
      }
      isFirst = false;
      yield* one.perform(assignment, stop);
    },
  });
  return Object.fromEntries(Object.entries(performers).map(([name, one]) => [name, paced(one)]));
}
