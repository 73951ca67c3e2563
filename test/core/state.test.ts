// Proves the small questions that everyone asks the state: is it busy, how long has it worked, how many tokens.
import { expect, it } from 'vitest';
import { activeMsAt, initialState, isBusy, liveIteration, noUsage, totalTokens } from '../../src/core/state.ts';
import { claims, minute, Story, spec, t0 } from './given.ts';

it('given a live iteration or an unchecked claim, then the loop is busy, and otherwise not', () => {
  const story = new Story({ checks: ['x'] }, [spec('A')]);
  expect(isBusy(story.state)).toBe(false);
  story.begin('A');
  expect(isBusy(story.state)).toBe(true);
  expect(liveIteration(story.state, 1)?.task).toBe('A');
  expect(liveIteration(story.state, 2)).toBeUndefined();
  story.performed(claims('A'));
  expect(isBusy(story.state)).toBe(true);
  story.checked(false);
  expect(isBusy(story.state)).toBe(false);
});

it('given an idle loop, then its active time stands still; given a clock that went back, then it does not shrink', () => {
  const story = new Story();
  expect(activeMsAt(story.state, t0 + minute)).toBe(0);
  story.begin('A');
  expect(activeMsAt(story.state, t0 + minute)).toBe(minute);
  expect(activeMsAt(story.state, t0 - minute)).toBe(0);
});

it('given four kinds of tokens, then all of them count', () => {
  expect(
    totalTokens({ ...noUsage, inputTokens: 1, outputTokens: 20, cacheReadTokens: 300, cacheWriteTokens: 4_000 }),
  ).toBe(4_321);
});

it('the state at the beginning is plain data', () => {
  expect(JSON.parse(JSON.stringify(initialState))).toEqual(initialState);
});
