// Proves that a performer of a program's own keeps the contract of its port, whatever it yields and whenever it ends.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Activity, Assignment, Note, Performer } from '../../../src/agents/performer.ts';
import { performerToContract } from '../../../src/app/library/performer.ts';

const can = { steer: false, resume: false, interactive: false, usage: true };
const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsdMicros: 1,
  estimated: false,
};
const order: Assignment = {
  loop: 'l',
  iteration: 1,
  task: 't',
  attempt: 1,
  prompt: 'p',
  directory: '/tmp',
  timeMsMax: 60_000,
  environment: {},
};
const bye = { type: 'ended', message: 'bye' };

/** Anything may come out of JavaScript. */
const mine = (perform: unknown): Performer => ({ name: 'mine', can, perform }) as Performer;
const yielding = (...activities: readonly unknown[]): Performer =>
  mine(async function* () {
    yield* activities;
  });

async function heard(performer: Performer, stop = new AbortController().signal, part: Partial<Assignment> = {}) {
  const activities: Activity[] = [];
  for await (const one of performerToContract(performer).perform({ ...order, ...part }, stop)) activities.push(one);
  return activities;
}

const failureOf = (activities: readonly Activity[]) => {
  const last = activities.at(-1);
  return last?.type === 'ended' ? last.failure : undefined;
};

const never = (): Promise<never> => new Promise(() => {});

describe('what a performer yields', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['null', null, 'an activity is null'],
    ['an unknown type', { type: 'done' }, 'its type is "done"'],
    ['a type of every object', { type: 'toString' }, 'its type is "toString"'],
    ['a message that is a number', { type: 'ended', message: 42 }, 'ended.message is 42'],
    ['no usage', { type: 'usage' }, 'usage.usage is undefined'],
    ['money that is no number', { type: 'usage', usage: { ...usage, costUsdMicros: NaN } }, 'costUsdMicros is NaN'],
    ['tokens below 0', { type: 'usage', usage: { ...usage, inputTokens: -1 } }, 'inputTokens is -1'],
    ['tokens beyond counting', { type: 'usage', usage: { ...usage, outputTokens: 1e308 } }, 'outputTokens is 1e+308'],
    ['a context without a number', { type: 'context', usedFraction: NaN }, 'usedFraction is NaN'],
    ['every process', { type: 'spawned', pid: -1, startTime: '', host: '' }, 'spawned.pid is -1'],
    ['a failure of no kind', { ...bye, failure: { kind: 'xx', detail: '' } }, 'ended.failure.kind is "xx"'],
    ['a failure that is an Error', { ...bye, failure: new Error('x') }, 'ended.failure.kind is undefined'],
    ['a reset at no time', { ...bye, failure: { kind: 'rate-limit', detail: '', resetAtMs: NaN } }, 'resetAtMs is NaN'],
  ];
  it.each(wrong)('given %s, then the iteration has failed and says why', async (_name, activity, words) => {
    const activities = await heard(yielding({ type: 'text', text: 'a', channel: 'output' }, activity, bye));
    expect(activities.map(one => one.type)).toEqual(['text', 'ended']);
    expect(failureOf(activities)).toMatchObject({ kind: 'unknown', detail: expect.stringContaining(words) });
  });

  it('given the usual, then it is passed on without what nobody knows, and nothing after the last word', async () => {
    const long = `${'x\n'.repeat(1_000_000)}byes`;
    const activities = await heard(
      yielding(
        { type: 'usage', usage: { ...usage, more: () => {} }, extra: never },
        { type: 'context', usedFraction: 1.2 },
        { type: 'ended', message: long },
        { type: 'ended', message: 'really' },
        null,
      ),
    );
    expect(activities.slice(0, 2)).toEqual([
      { type: 'usage', usage },
      { type: 'context', usedFraction: 1 },
    ]);
    expect(activities).toHaveLength(3);
    expect(activities[2]).toEqual({ type: 'ended', message: long.slice(-1_000_000) });
  });

  it.each([
    ['throws what cannot be shown', () => Promise.reject(Object.create(null)), 'something that cannot be shown'],
    ['throws', () => Promise.reject(new Error('oops')), 'the performer mine threw: oops'],
    ['says nothing', () => Promise.resolve(), 'without a last word'],
  ])('given one that %s, then the iteration has failed', async (_name, act, words) => {
    const performer = mine(async function* () {
      await act();
      yield* [];
    });
    expect(failureOf(await heard(performer))).toMatchObject({
      kind: 'unknown',
      detail: expect.stringContaining(words),
    });
  });

  it('given no generator at all, then that is said, and its rejection is nobody’s', async () => {
    const activities = await heard(mine(async () => Promise.reject(new Error('oops'))));
    expect(failureOf(activities)?.detail).toContain('must be an async generator');
    const plain = await heard(mine(() => [bye]));
    expect(plain).toEqual([bye]);
  });

  it('given a listener that throws, then whoever speaks to it is not hit', async () => {
    let listener: ((note: Note) => void) | undefined;
    const notes = {
      listen: (one: (note: Note) => void): void => {
        listener = one;
      },
    };
    const performer = mine(async function* ({ notes: heardNotes }: Assignment) {
      heardNotes?.listen(() => {
        throw new Error('oops');
      });
      yield bye;
    });
    await heard(performer, undefined, { notes });
    expect(() => listener?.({ id: 'n', text: 'hurry' })).not.toThrow();
  });
});

describe('when a performer ends', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
  afterEach(() => void vi.useRealTimers());

  /** Until it is stopped; then what `after` does. */
  const working = (after: () => Promise<unknown>): Performer =>
    mine(async function* (_assignment: Assignment, stop: AbortSignal) {
      yield { type: 'text', text: 'at work', channel: 'output' };
      await new Promise(done => stop.addEventListener('abort', done));
      yield await after();
    });

  it('given that its time is over, then it is stopped and has timed out, whatever it calls it', async () => {
    for (const after of [
      () => Promise.reject(new Error('aborted')),
      async () => ({ ...bye, failure: { kind: 'stopped', detail: 'aborted' } }),
    ]) {
      const activities = heard(working(after));
      await vi.advanceTimersByTimeAsync(60_000);
      expect(failureOf(await activities)).toMatchObject({
        kind: 'timeout',
        detail: expect.stringMatching(/^not finished within 1m: .*aborted/),
      });
    }
    expect(vi.getTimerCount()).toBe(0);
  });

  it('given that it was stopped, then its bad end is the stop’s, and its good last word stays one', async () => {
    const stop = new AbortController();
    const activities = heard(
      working(() => Promise.reject(new Error('aborted'))),
      stop.signal,
    );
    await vi.advanceTimersByTimeAsync(1);
    stop.abort('enough');
    expect(failureOf(await activities)).toMatchObject({ kind: 'stopped' });
    const again = new AbortController();
    const good = heard(
      working(async () => bye),
      again.signal,
    );
    await vi.advanceTimersByTimeAsync(1);
    again.abort('enough');
    expect((await good).at(-1)).toEqual(bye);
  });

  it('given one that does not end when it is stopped, then it is left behind after ten seconds and gets no more work until it has', async () => {
    let end: (value: unknown) => void = () => {};
    const performer = working(() => new Promise(done => (end = done)));
    const stop = new AbortController();
    const activities = heard(performer, stop.signal);
    await vi.advanceTimersByTimeAsync(1);
    stop.abort('enough');
    await vi.advanceTimersByTimeAsync(10_001);
    expect(failureOf(await activities)).toMatchObject({
      kind: 'stopped',
      detail: expect.stringContaining('left behind at work'),
    });
    expect(failureOf(await heard(performer))?.detail).toContain('is still at work');
    end(bye);
    await vi.advanceTimersByTimeAsync(1);
    const next = heard(performer, AbortSignal.abort());
    expect(failureOf(await next)?.detail).toBe('never started');
    const free = heard(performer, undefined, { timeMsMax: 5 });
    await vi.advanceTimersByTimeAsync(5);
    end(bye);
    expect((await free).at(-1)).toEqual(bye);
  });
});
