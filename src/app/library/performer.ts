// A performer that a program brings along, held to the contract of its port whatever it does: it never throws, it ends once,
// within its time, and soon after it is stopped.
import type { Failure } from '../../core/failure.ts';
import { formatDuration } from '../../text/format.ts';
import type { Activity, Assignment, Notes, Performer } from '../../agents/performer.ts';
import { readActivity } from './library-activity.ts';
import { guarded, reasonOf } from './library-callbacks.ts';

/** As long as the processes of an agent CLI have from TERM to KILL. */
const endsWithinMs = 10_000;
const timerMsMax = 2_147_483_647; // longer ones fire at once

/** Those who were left behind at work: nothing can end them, and a second one beside it would undo its work. */
const leftBehind = new WeakSet<Performer>();

/** The stop of one iteration: asked for from outside, or because its time is over. */
interface Patience {
  readonly signal: AbortSignal;
  /** Once, when it was stopped and has not ended since. */
  onGivenUp(give: () => void): void;
  /** What a bad end means. */
  blame(otherwise: Failure): Failure;
  end(): void;
}

function patienceFor(stop: AbortSignal, timeMsMax: number): Patience {
  const controller = new AbortController();
  const { signal } = controller;
  let isLate = false;
  let isOver = false;
  let giveUp: () => void = () => {};
  let grace: NodeJS.Timeout | undefined;
  const halt = (reason: unknown): void => {
    if (signal.aborted) return;
    grace = setTimeout(() => {
      isOver = true;
      giveUp();
    }, endsWithinMs);
    controller.abort(reason);
  };
  const onStop = (): void => halt(stop.reason);
  const onTime = (): void => {
    isLate = !signal.aborted;
    halt('its time is over');
  };
  const time = setTimeout(onTime, Math.min(timeMsMax, timerMsMax));
  stop.addEventListener('abort', onStop, { once: true });
  return {
    signal,
    onGivenUp: give => {
      giveUp = give;
      if (isOver) give();
    },
    blame: ({ kind, detail, ...more }) => {
      if (isLate) return { kind: 'timeout', detail: `not finished within ${formatDuration(timeMsMax)}: ${detail}` };
      return { kind: signal.aborted ? 'stopped' : kind, detail, ...more };
    },
    end: () => {
      clearTimeout(time);
      clearTimeout(grace);
      stop.removeEventListener('abort', onStop);
    },
  };
}

type Activities = AsyncGenerator<unknown, void, void>;

/** Also of what is iterable at once. */
async function* each(items: AsyncIterable<unknown>): Activities {
  yield* items;
}

const isIterable = (given: unknown): boolean =>
  typeof given === 'object' && given !== null && (Symbol.asyncIterator in given || Symbol.iterator in given);

const gone = Symbol('gone');

function nextOf(activities: Activities, patience: Patience): Promise<IteratorResult<unknown, void> | typeof gone> {
  return new Promise((done, fail) => {
    patience.onGivenUp(() => done(gone));
    activities.next().then(done, fail);
  });
}

/** It may tidy up behind itself; one that takes too long, or is still at work, is left behind. */
async function close(performer: Performer, activities: Activities, waitMs: number): Promise<void> {
  const over = activities.return().then(
    () => {},
    () => {},
  );
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>(done => {
    timer = setTimeout(() => {
      leftBehind.add(performer);
      void over.then(() => leftBehind.delete(performer));
      done();
    }, waitMs);
  });
  await Promise.race([over, late]);
  clearTimeout(timer);
}

/** A listener that throws has not heard it. */
const carefully = (notes: Notes): Notes => ({ listen: listener => notes.listen(guarded(listener, () => {})) });

const ended = (failure: Failure): Activity => ({ type: 'ended', message: '', failure });

export function held(performer: Performer): Performer {
  const { name, can } = performer;
  const broken = (detail: string): Failure => ({ kind: 'unknown', detail: `the performer ${name} ${detail}` });
  async function* perform(assignment: Assignment, stop: AbortSignal): AsyncGenerator<Activity, void, void> {
    if (stop.aborted) return yield ended({ kind: 'stopped', detail: 'never started' });
    if (leftBehind.has(performer)) return yield ended(broken('is still at work on what it was told to stop'));
    const patience = patienceFor(stop, assignment.timeMsMax);
    const { notes } = assignment;
    const order = notes === undefined ? assignment : { ...assignment, notes: carefully(notes) };
    let activities: Activities | undefined;
    let waitMs = endsWithinMs;
    try {
      const given = performer.perform(order, patience.signal);
      if (!isIterable(given)) {
        Promise.resolve(given).catch(() => {}); // nobody else would hear of it
        return yield ended(broken('must be an async generator of activities'));
      }
      activities = each(given);
      for (;;) {
        const next = await nextOf(activities, patience);
        if (next === gone) {
          waitMs = 0;
          return yield ended(patience.blame(broken('did not end when it was stopped, and is left behind at work')));
        }
        if (next.done === true) return yield ended(patience.blame(broken('ended without a last word')));
        const read = readActivity(next.value);
        if (!read.ok) return yield ended(broken(`yielded what is no activity: ${read.problem}`));
        const { value } = read;
        yield value.type === 'ended' && value.failure !== undefined
          ? { ...value, failure: patience.blame(value.failure) }
          : value;
        if (value.type === 'ended') return; // what comes after the last word is not heard
      }
    } catch (error) {
      yield ended(patience.blame(broken(`threw: ${reasonOf(error)}`)));
    } finally {
      patience.end();
      if (activities !== undefined) await close(performer, activities, waitMs);
    }
  }
  return { name, can, perform };
}
