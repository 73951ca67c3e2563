// Proves what a failed check shows to whoever watches: its end, and where the rest is.
import { expect, it } from 'vitest';
import type { Event } from '../../src/core/event.ts';
import { initialState } from '../../src/core/state.ts';
import { eventLine } from '../../src/views/event-line.ts';

const state = { ...initialState, loop: { ...initialState.loop, name: 'shop' } };
const failed = (lines: number): Event => ({
  type: 'check.ended',
  at: 0,
  iteration: 1,
  task: 'US-001',
  check: 'npm test',
  passed: false,
  remaining: 0,
  detail: Array.from({ length: lines }, (_line, at) => `line ${at + 1}`).join('\n'),
  durationMs: 1,
  because: 'it failed',
});
const shown = (lines: number): string => eventLine(failed(lines), state, { done: '+', failed: 'x' })?.detail ?? '';

it('given a check that printed 40 lines, then its last 15 are shown, and the command that shows more', () => {
  const [first, ...rest] = shown(40).split('\n');
  expect(first).toBe('(the last 15 lines; more: ralph task show US-001 --loop shop)');
  expect(rest).toEqual(Array.from({ length: 15 }, (_line, at) => `line ${at + 26}`));
});

it('given 15 lines, then they are all there is', () => expect(shown(15).split('\n')).toHaveLength(15));
