// Contract of the performers that a program provides, kept whatever they do: one never throws, ends once, within its time,
// and soon after it is stopped.

import { type Activity, type Assignment, type Notes, type Performer, stopReasonOf } from '../../agents/performer.ts';
import type { Usage } from '../../core/event.ts';
import { type Failure, failureRules } from '../../core/failure.ts';
import { type Fields, isFields, present } from '../../text/fields.ts';
import { formatDuration } from '../../text/format.ts';
import { stripControls, takeCharacters, takeLastWhole } from '../../text/text.ts';
import { isText, type Kind, type Kinds, oneOf, optional, shown, table, text, truth } from './shapes.ts';

/** As long as the processes of an agent CLI have from TERM to KILL. */
const endsWithinMs = 10_000;
const timerMsMax = 2_147_483_647; // longer ones fire at once

/** Those who were left behind at work: nothing can end them, and a second one beside it would undo its work. */
const leftBehind = new WeakSet<Performer>();

/** Aborts when it is stopped from outside or its time is over, and gives up on what has not ended soon after. */
export interface Watchdog {
  readonly signal: AbortSignal;
  readonly isLate: () => boolean;
  /** Calls back once, when it was stopped and has not ended since. */
  onGivenUp(give: () => void): void;
  end(): void;
}

export function watchdog(stop: AbortSignal, timeMsMax: number, lateReason?: string): Watchdog {
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
  const onStop = (): void => halt(stopReasonOf(stop)?.because ?? stop.reason);
  const onTime = (): void => {
    isLate = !signal.aborted;
    halt(lateReason);
  };
  const time = setTimeout(onTime, Math.min(timeMsMax, timerMsMax));
  stop.addEventListener('abort', onStop, { once: true });
  return {
    signal,
    isLate: () => isLate,
    onGivenUp: give => {
      giveUp = give;
      if (isOver) give();
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

type Next = IteratorResult<unknown, void> | typeof gone;

function nextOf(activities: Activities, watch: Watchdog): Promise<Next> {
  return new Promise((done, fail) => {
    watch.onGivenUp(() => done(gone));
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

/** How a step of a performer is read: where the contract is broken, it is the end, and a failure. */
function reading(watch: Watchdog, timeMsMax: number, broken: (detail: string) => Failure) {
  const blamed = ({ kind, detail, ...more }: Failure): Failure =>
    watch.isLate()
      ? { kind: 'timeout', detail: `not finished within ${formatDuration(timeMsMax)}: ${detail}` }
      : { kind: watch.signal.aborted ? 'stopped' : kind, detail, ...more };
  const activityOf = (next: Next): Activity => {
    if (next === gone) return ended(blamed(broken('did not end when it was stopped, and is left behind at work')));
    if (next.done === true) return ended(blamed(broken('ended without a last word')));
    const read = readActivity(next.value);
    if (!read.ok) return ended(broken(`yielded what is no activity: ${read.problem}`));
    const { value } = read;
    return value.type === 'ended' && value.failure !== undefined ? { ...value, failure: blamed(value.failure) } : value;
  };
  return { blamed, activityOf };
}

async function* performed(
  performer: Performer,
  assignment: Assignment,
  stop: AbortSignal,
): AsyncGenerator<Activity, void, void> {
  const broken = (detail: string): Failure => ({
    kind: 'unknown',
    detail: `the performer ${performer.name} ${detail}`,
  });
  if (stop.aborted) return yield ended({ kind: 'stopped', detail: 'never started' });
  if (leftBehind.has(performer)) return yield ended(broken('is still at work on what it was told to stop'));
  const { notes, timeMsMax } = assignment;
  const watch = watchdog(stop, timeMsMax, 'its time is over');
  const { blamed, activityOf } = reading(watch, timeMsMax, broken);
  let activities: Activities | undefined;
  let next: Next | undefined;
  try {
    const given = performer.perform({ ...assignment, notes: notes && carefully(notes) }, watch.signal);
    if (!isIterable(given)) {
      Promise.resolve(given).catch(() => {}); // nobody else would hear of it
      return yield ended(broken('must be an async generator of activities'));
    }
    activities = each(given);
    for (;;) {
      next = await nextOf(activities, watch);
      const activity = activityOf(next);
      yield activity;
      if (activity.type === 'ended') return; // what comes after the last word is not heard
    }
  } catch (error) {
    yield ended(blamed(broken(`threw: ${reasonOf(error)}`)));
  } finally {
    watch.end();
    if (activities !== undefined) await close(performer, activities, next === gone ? 0 : endsWithinMs);
  }
}

export const performerToContract = (performer: Performer): Performer => ({
  name: performer.name,
  can: performer.can,
  perform: (assignment, stop) => performed(performer, assignment, stop),
});

// Reading of what such a performer yields: made anew of known parts, or one sentence about what is wrong with it.

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

const isNumber = (value: unknown): boolean => Number.isFinite(value);
/** What cannot be counted would count for nothing against a limit. */
const isAmount = (value: unknown): boolean =>
  isNumber(value) && Number(value) >= 0 && Number(value) <= Number.MAX_SAFE_INTEGER;
const isPid = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) > 1;
const amount: Kind = [isAmount, 'a number from 0 on'];
const time: Kind = [isNumber, 'a time'];

const usageParts: Kinds = {
  inputTokens: amount,
  outputTokens: amount,
  cacheReadTokens: amount,
  cacheWriteTokens: amount,
  costUsdMicros: amount,
  estimated: truth,
  unbilledUsdMicros: optional(amount),
  boundUsdMicros: optional(amount),
};

const windowParts: Kinds = {
  name: text,
  usedFraction: optional(amount),
  resetAtMs: optional(time),
  isUsedUp: truth,
};
const isWindows = (value: unknown): boolean =>
  Array.isArray(value) && value.every(one => take(one, windowParts, 'window').ok);

const failureParts: Kinds = {
  kind: oneOf(Object.keys(failureRules)),
  detail: text,
  exitCode: optional([isNumber, 'a number']),
  resetAtMs: optional(time),
};

/** One of a program works here: it cannot leave its work. */
const parts: { readonly [Type in Exclude<Activity['type'], 'left'>]: Kinds } = {
  // One that outlives us is ended by its id, so it must be one.
  spawned: { pid: [isPid, 'the id of a process'], startTime: text, host: text },
  text: { text, channel: [value => value === 'output' || value === 'errors', '"output" or "errors"'] },
  tool: { name: text, detail: text },
  usage: { usage: table },
  context: { usedFraction: [isAmount, 'a number from 0 to 1'] },
  told: { note: text },
  session: { id: text },
  limit: { resetAtMs: time, detail: text },
  waiting: { isWaiting: truth },
  permissions: { mode: text },
  windows: { windows: [isWindows, 'a list of windows'] },
  ended: { message: text, failure: optional(table), reaped: optional([isAmount, 'a number']) },
};

/** Each field is looked at once; those that are not known are left behind. */
function take(value: unknown, kinds: Kinds, at: string): Read<Fields> {
  if (!isFields(value)) return { ok: false, problem: `${at} is ${shown(value)}, not an object` };
  const fields: Fields = present(Object.fromEntries(Object.keys(kinds).map(name => [name, value[name]])));
  const wrong = Object.entries(kinds).find(([name, [isIt]]) => !isIt(fields[name]));
  if (wrong === undefined) return { ok: true, value: fields };
  const [name, [, wanted]] = wrong;
  return { ok: false, problem: `${at}.${name} is ${shown(fields[name])}, not ${wanted}` };
}

/** As much as an agent CLI may say; what counts stands at its end. */
const messageCharsMax = 1_000_000;
const detailCharsMax = 4_000;

const cuts: Readonly<Record<string, (value: string) => string>> = {
  message: value => takeLastWhole(value, messageCharsMax),
  detail: value => takeLastWhole(value, detailCharsMax),
  name: value => takeCharacters(value, detailCharsMax),
};

const cut = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isText(value) ? (cuts[name]?.(value) ?? value) : value]),
  );

export const readUsage = (value: unknown, at = 'usage'): Read<Usage> => take(value, usageParts, at) as Read<Usage>;

export function readActivity(value: unknown): Read<Activity> {
  if (!isFields(value)) return { ok: false, problem: `an activity is ${shown(value)}, not an object` };
  const { type } = value;
  if (!isText(type) || !Object.hasOwn(parts, type))
    return { ok: false, problem: `its type is ${shown(type)}, not one of ${Object.keys(parts).join(', ')}` };
  const taken = take(value, parts[type as keyof typeof parts], type);
  if (!taken.ok) return taken;
  const { usage, failure, usedFraction } = taken.value;
  const inner = type === 'usage' ? readUsage(usage, 'usage.usage') : undefined;
  if (inner?.ok === false) return inner;
  const failed = failure === undefined ? undefined : take(failure, failureParts, 'ended.failure');
  if (failed?.ok === false) return failed;
  const activity = present({
    type,
    ...cut(taken.value),
    usage: inner?.value,
    failure: failed && cut(failed.value),
    usedFraction: usedFraction === undefined ? undefined : Math.min(1, Number(usedFraction)),
  });
  return { ok: true, value: activity as unknown as Activity };
}

// Callbacks of a program: what they throw, now or later, is told, and never ends a loop or the process.

const reasonCharsMax = 500;

/** Anything can be thrown, also what cannot be shown. */
export function reasonOf(error: unknown): string {
  try {
    return takeCharacters(stripControls(String(error instanceof Error ? error.message : error)), reasonCharsMax);
  } catch {
    return 'something that cannot be shown';
  }
}

/** `failed` hears of what is thrown, and of a promise that is rejected. */
export function guarded<Given extends readonly unknown[]>(
  callback: (...given: Given) => unknown,
  failed: (reason: string, ...given: Given) => void,
): (...given: Given) => void {
  return (...given) => {
    const complain = (error: unknown): void => failed(reasonOf(error), ...given);
    try {
      const later = callback(...given);
      if (later !== undefined) Promise.resolve(later).catch(complain);
    } catch (error) {
      complain(error);
    }
  };
}
