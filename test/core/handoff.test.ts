// Proves the six triggers of a handoff, their order and their bounds, and that a loop really pulls them.
import { describe, expect, it } from 'vitest';
import type { HandoffTrigger } from '../../src/core/event.ts';
import { type HandoffFacts, handoffTriggers, shouldHandOff } from '../../src/core/handoff.ts';
import { failed, minute, only, Story, says, spec } from './given.ts';

const calm: HandoffFacts = {
  contextUsed: 0.7,
  contextFractionMax: 0.7,
  errorsInRow: 2,
  errorsToHandOff: 3,
  budgetUsed: 0.8,
  budgetAlertFraction: 0.8,
  budgetAlerted: false,
  phaseComplete: false,
  requested: false,
  timedOut: false,
};

const pulls: readonly [HandoffTrigger, Partial<HandoffFacts>][] = [
  ['explicit_request', { requested: true }],
  ['context_threshold', { contextUsed: 0.701 }],
  ['error_threshold', { errorsInRow: 3 }],
  ['token_budget', { budgetUsed: 0.801 }],
  ['phase_complete', { phaseComplete: true }],
  ['timeout', { timedOut: true }],
];

it('given facts at every bound, then nothing hands off', () => {
  expect(shouldHandOff(calm)).toBeUndefined();
});

it('the table holds six triggers in this order', () => {
  expect(handoffTriggers.map(row => row.trigger)).toEqual(pulls.map(([trigger]) => trigger));
});

it.each(pulls)('given only what pulls %s, then that is the trigger', (trigger, facts) => {
  expect(shouldHandOff({ ...calm, ...facts })).toBe(trigger);
});

it.each(pulls)('given %s and everything after it, then the earlier one is named', trigger => {
  const later = pulls.slice(pulls.findIndex(([name]) => name === trigger));
  expect(shouldHandOff(Object.assign({ ...calm }, ...later.map(([, facts]) => facts)))).toBe(trigger);
});

it('given a budget whose alert was before, then it does not hand off again', () => {
  expect(shouldHandOff({ ...calm, budgetUsed: 0.95, budgetAlerted: true })).toBeUndefined();
});

describe('in a loop', () => {
  const ended = (story: Story, performed: Parameters<Story['iteration']>[1]) =>
    only(story.iteration('A', performed), 'iteration.ended');

  it('given an agent that asks for a fresh context, then the iteration is handed off', () => {
    const story = new Story({}, [spec('A')]);
    expect(ended(story, says('<handoff>my context is full</handoff>'))).toMatchObject({
      outcome: 'handed-off',
      handoff: 'explicit_request',
      because: expect.stringContaining('my context is full'),
    });
    expect(story.state.memory.handoff).toBe('explicit_request');
  });

  it('given a context above 70 %, then the next one is fresh for that reason', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    story.when({ type: 'heard', iteration: 1, quietMs: 0, contextUsed: 0.71 });
    expect(only(story.performed(says('still here')), 'iteration.ended').handoff).toBe('context_threshold');
  });

  it('given the third error in a row, then it hands off, and errors of the provider do not add up to it', () => {
    const story = new Story({ sameErrorsToEscalate: null }, [spec('A')]);
    expect(ended(story, failed('process', 'a')).handoff).toBeUndefined();
    expect(ended(story, failed('rate-limit', 'b')).handoff).toBeUndefined();
    story.after(minute);
    expect(ended(story, failed('process', 'c')).handoff).toBeUndefined();
    expect(ended(story, failed('process', 'd')).handoff).toBe('error_threshold');
  });

  it('given a report that calls the phase complete, or a timeout, then those are the triggers', () => {
    const story = new Story({}, [spec('A')]);
    expect(ended(story, says('<report>{"phase": "complete"}</report>')).handoff).toBe('phase_complete');
    expect(ended(story, failed('timeout')).handoff).toBe('timeout');
  });
});
