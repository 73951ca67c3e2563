// Proves that only a plain yes within its time proves anything, whatever a check of a program's own answers.
import { afterEach, describe, expect, it, vi } from 'vitest';
import { checkToContract } from '../../../src/app/library/provided.ts';
import type { Check } from '../../../src/checks/check.ts';

const usage = {
  inputTokens: 1,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsdMicros: 1,
  estimated: false,
};
const ran = (answer: () => unknown, stop = new AbortController().signal) =>
  checkToContract({ name: 'mine', run: answer as Check['run'] }, 60_000).run('/tmp', stop);

const never = (): Promise<never> => new Promise(() => {});

describe('a check of our own', () => {
  afterEach(() => void vi.useRealTimers());

  it.each([
    ['a word', { passed: 'no' }, 'gave no answer'],
    ['1', { passed: 1 }, 'gave no answer'],
    ['true alone', true, 'gave no answer'],
    ['an empty object', {}, 'gave no answer'],
    ['nothing', undefined, 'gave no answer'],
    ['usage that cannot be counted', { passed: true, usage: { ...usage, costUsdMicros: NaN } }, 'costUsdMicros is NaN'],
    ['no', { passed: false, detail: '\u001b[31m2 tests failed\u001b[0m' }, '2 tests failed'],
  ])('given %s, then nothing is proven, and that is said', async (_name, answer, words) => {
    const result = await ran(async () => answer);
    expect(result).toMatchObject({ name: 'mine', passed: false, detail: expect.stringContaining(words) });
    expect(result.detail).not.toContain('\u001b');
  });

  it('given yes, then it is proven, and what else was said is bounded and made of numbers', async () => {
    const answer = { name: 'x', passed: true, detail: `${'y '.repeat(4_500)}ok`, durationMs: NaN, flaky: 1, usage };
    const result = await ran(() => answer);
    expect(result).toEqual({
      name: 'mine',
      passed: true,
      detail: expect.stringMatching(/ok$/),
      durationMs: expect.any(Number),
      usage,
    });
    expect(result.detail.length).toBeGreaterThan(1_990);
    expect(result.detail.length).toBeLessThanOrEqual(2_000);
    expect(result.durationMs).toBeGreaterThanOrEqual(0);
    expect(await ran(() => ({ passed: true }))).toMatchObject({ passed: true, detail: '' });
  });

  it('given one that throws, then it has failed', async () => {
    const throwing = (): never => {
      throw null;
    };
    expect(await ran(throwing)).toMatchObject({ passed: false, detail: 'The check threw: null' });
  });

  it('given one that never ends, then its time ends it, and a yes that comes too late is none', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stuck = ran(never);
    await vi.advanceTimersByTimeAsync(70_000);
    expect(await stuck).toMatchObject({
      passed: false,
      detail: 'Not done after 1m. It did not end then, and is left behind.',
    });
    let yes: (value: unknown) => void = () => {};
    const late = ran(() => new Promise(done => (yes = done)));
    await vi.advanceTimersByTimeAsync(60_000);
    yes({ passed: true, detail: '' });
    expect(await late).toMatchObject({ passed: false, detail: 'Not done after 1m.' });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('given a stop, then it hears of it, is not waited for longer than ten seconds, and never passes', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    const stop = new AbortController();
    let hasHeard = false;
    const check: Check = {
      name: 'mine',
      run: (_directory, signal) => {
        signal.addEventListener('abort', () => (hasHeard = true));
        return never();
      },
    };
    const stuck = checkToContract(check, 60_000).run('/tmp', stop.signal);
    await vi.advanceTimersByTimeAsync(1);
    stop.abort();
    expect(hasHeard).toBe(true);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(await stuck).toMatchObject({ passed: false, detail: expect.stringMatching(/^Stopped before it ended\./) });
    expect(await ran(() => ({ passed: true }), stop.signal)).toMatchObject({ passed: false });
  });
});
