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

it('given a line that was almost a claim, then a person hears that there is none, and the advice stays in the prompt', () => {
  const because = 'No claim of US-001 was read: a line looks like one and is not. When it is complete, write this …';
  const near = { type: 'signal.read', at: 0, iteration: 1, task: 'US-001', signal: 'done', text: '', because } as const;
  const line = (event: Event) => eventLine(event, state, { done: '+', failed: 'x' })?.text;
  expect(line({ ...near, accepted: false })).toBe(
    'x the agent wrote no line "Task US-001 complete" of its own; its next prompt shows how',
  );
  expect(line({ ...near, accepted: false, text: 'US-002' })).toContain(because); // another task was claimed
});
