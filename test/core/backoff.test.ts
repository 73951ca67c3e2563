// Proves the waits between retries: min(2^n, 60) seconds, spread over the whole interval, back to short after success.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { backoffMs } from '../../src/core/failure.ts';
import { failed, only, Story, says, second, spec } from './given.ts';

it.each([
  [0, 1],
  [1, 2],
  [2, 4],
  [3, 8],
  [4, 16],
  [5, 32],
  [6, 60],
  [7, 60],
  [1_000, 60],
])('after %d failures in a row, then the ceiling is %d seconds', (failures, seconds) => {
  expect(backoffMs(failures, 1, 1_000, 60_000)).toBe(seconds * 1_000);
  expect(backoffMs(failures, 0, 1_000, 60_000)).toBe(0);
  expect(backoffMs(failures, 0.5, 1_000, 60_000)).toBe(seconds * 500);
});

it('given any number and any chance, then the wait is a whole number within [0, 60 s]', () => {
  fc.assert(
    fc.property(fc.integer({ min: -5, max: 1e9 }), fc.double({ min: -2, max: 2, noNaN: true }), (failures, chance) => {
      const wait = backoffMs(failures, chance, 1_000, 60_000);
      expect(Number.isInteger(wait) && wait >= 0 && wait <= 60_000).toBe(true);
    }),
  );
});

it('given failures in a row, then each waits longer, and after a success the first wait is short again', () => {
  const story = new Story({ sameErrorsToEscalate: null, limits: { consecutiveErrorsMax: 9 } }, [spec('A')]);
  const waits: number[] = [];
  const fail = (detail: string): void => {
    const ended = only(story.iteration('A', failed('process', detail)), 'iteration.ended');
    expect(ended.waitFor).toBe('backoff');
    waits.push(ended.waitUntil! - story.now);
    story.after(60 * second);
  };
  fail('one');
  fail('two');
  expect(only(story.iteration('A', says('looked around')), 'iteration.ended').waitUntil).toBeUndefined();
  fail('three');
  expect(waits).toEqual([1_000, 2_000, 1_000]);
});
