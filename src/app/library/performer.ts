// A performer that a program brings along, held to the contract of its port whatever it does: it never throws, it ends once,
// within its time, and soon after it is stopped.

import { type Activity, type Assignment, type Notes, type Performer, stopReasonOf } from '../../agents/performer.ts';
import type { Usage } from '../../core/event.ts';
import { type Failure, failureRules } from '../../core/failure.ts';
import { present } from '../../core/state.ts';
import { formatDuration } from '../../text/format.ts';
import { stripControls, takeCharacters, takeLastCharacters } from '../../text/text.ts';

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
  const onStop = (): void => halt(stopReasonOf(stop)?.because ?? stop.reason);
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

export function performerToContract(performer: Performer): Performer {
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

// Reads what a program's own performer yields: made anew of known parts, or one sentence about what is wrong with it.

/** A field, whether a value is one, and what it has to be. */
type Part = readonly [name: string, isIt: (value: unknown) => boolean, wanted: string];
type Fields = Readonly<Record<string, unknown>>;
type Taken = { readonly ok: true; readonly fields: Fields } | { readonly ok: false; readonly problem: string };

const isText = (value: unknown): boolean => typeof value === 'string';
const isNumber = (value: unknown): boolean => Number.isFinite(value);
/** What cannot be counted would count for nothing against a limit. */
const isAmount = (value: unknown): boolean => isNumber(value) && Number(value) >= 0 && Number(value) <= amountMax;
const amountMax = Number.MAX_SAFE_INTEGER;
const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
const orNone =
  (isIt: Part[1]): Part[1] =>
  value =>
    value === undefined || isIt(value);

const amount = (name: string): Part => [name, isAmount, 'a number from 0 on'];
const text = (name: string): Part => [name, isText, 'a text'];

const usageParts: readonly Part[] = [
  amount('inputTokens'),
  amount('outputTokens'),
  amount('cacheReadTokens'),
  amount('cacheWriteTokens'),
  amount('costUsdMicros'),
  ['estimated', value => typeof value === 'boolean', 'true or false'],
];

const kinds = Object.keys(failureRules);

const failureParts: readonly Part[] = [
  ['kind', value => kinds.some(kind => kind === value), `one of ${kinds.join(', ')}`],
  text('detail'),
  ['exitCode', orNone(isNumber), 'a number'],
  ['resetAtMs', orNone(isNumber), 'a time'],
];

const parts: { readonly [Type in Activity['type']]: readonly Part[] } = {
  // One that outlives us is ended by its id, so it must be one.
  spawned: [
    ['pid', value => Number.isSafeInteger(value) && Number(value) > 1, 'the id of a process'],
    text('startTime'),
    text('host'),
  ],
  text: [text('text'), ['channel', value => value === 'output' || value === 'errors', '"output" or "errors"']],
  tool: [text('name'), text('detail')],
  usage: [['usage', isObject, 'an object']],
  context: [['usedFraction', isAmount, 'a number from 0 to 1']],
  told: [text('note')],
  session: [text('id')],
  limit: [['resetAtMs', isNumber, 'a time'], text('detail')],
  ended: [text('message'), ['failure', orNone(isObject), 'an object'], ['reaped', orNone(isAmount), 'a number']],
};

function shown(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(takeCharacters(value, 50));
  return value === null || typeof value === 'number' ? String(value) : typeof value;
}

/** Each field is looked at once; those that are not known are left behind. */
function take(value: Fields, known: readonly Part[], at: string): Taken {
  const all = known.map(([name]) => [name, value[name]] as const).filter(([, one]) => one !== undefined);
  const fields: Fields = Object.fromEntries(all);
  const wrong = known.find(([name, isIt]) => !isIt(fields[name]));
  if (wrong === undefined) return { ok: true, fields };
  const [name, , wanted] = wrong;
  return { ok: false, problem: `${at}.${name} is ${shown(fields[name])}, not ${wanted}` };
}

/** As much as an agent CLI may say; what counts stands at its end. */
const messageCharsMax = 1_000_000;
const detailCharsMax = 4_000;

const cuts: Readonly<Record<string, (value: string) => string>> = {
  message: value => takeLastCharacters(value, messageCharsMax),
  detail: value => takeLastCharacters(value, detailCharsMax),
  name: value => takeCharacters(value, detailCharsMax),
};

const cut = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === 'string' ? (cuts[name]?.(value) ?? value) : value,
    ]),
  );

type Read<Value> = { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly problem: string };

export function readUsage(value: unknown, at = 'usage'): Read<Usage> {
  if (!isObject(value)) return { ok: false, problem: `${at} is ${shown(value)}, not an object` };
  const taken = take(value as Fields, usageParts, at);
  return taken.ok ? { ok: true, value: taken.fields as unknown as Usage } : taken;
}

export function readActivity(value: unknown): Read<Activity> {
  if (!isObject(value)) return { ok: false, problem: `an activity is ${shown(value)}, not an object` };
  const { type } = value as { readonly type?: unknown };
  if (typeof type !== 'string' || !Object.hasOwn(parts, type))
    return { ok: false, problem: `its type is ${shown(type)}, not one of ${Object.keys(parts).join(', ')}` };
  const taken = take(value as Fields, parts[type as Activity['type']], type);
  if (!taken.ok) return taken;
  const { usage, failure, usedFraction } = taken.fields;
  const inner = type === 'usage' ? readUsage(usage, 'usage.usage') : undefined;
  if (inner?.ok === false) return inner;
  const failed = failure === undefined ? undefined : take(failure as Fields, failureParts, 'ended.failure');
  if (failed?.ok === false) return failed;
  const activity = present({
    type,
    ...cut(taken.fields),
    usage: inner?.value,
    failure: failed && cut(failed.fields),
    usedFraction: usedFraction === undefined ? undefined : Math.min(1, Number(usedFraction)),
  });
  return { ok: true, value: activity as unknown as Activity };
}

// What a program's own functions throw, now or later, is its mistake: it is told, and never ends a loop or the process.

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
