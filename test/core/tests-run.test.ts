// Fewer tests than before: what the runner itself said is kept, and compared when the next task is claimed.

import { describe, expect, it } from 'vitest';
import { claims, only, type SettingsPart, Story, spec } from './given.ts';

const part: SettingsPart = { checks: ['npm test'], tamperScreen: true };

function begun(more: SettingsPart = {}, tasks = [spec('A'), spec('B')], tests?: number): Story {
  const story = new Story({ ...part, ...more }, tasks);
  const baseline = [{ check: 'npm test', passed: true, tests }];
  story.state = { ...story.state, loop: { ...story.state.loop, baseline } };
  return story;
}

function checks(story: Story, task: string, tests: number | undefined) {
  story.iteration(task, claims(task));
  const outcomes = [{ name: 'npm test', passed: true, detail: '', durationMs: 1, tests }];
  return story.when({ type: 'checked', iteration: story.state.iterations.begun, outcomes, doubts: [] });
}

const types = (events: readonly { readonly type: string }[]): readonly string[] => events.map(({ type }) => type);

describe('a check that says how many tests ran', () => {
  it('given as many as before any work or more, then the task is closed, and the number is recorded', () => {
    const events = checks(begun({}, undefined, 12), 'A', 13);
    expect(types(events)).toContain('task.closed');
    expect(only(events, 'check.ended').tests).toBe(13);
  });

  it('given fewer than before, then a person is asked, with both numbers', () => {
    const events = checks(begun({}, undefined, 12), 'A', 11);
    expect(types(events)).not.toContain('task.closed');
    expect(JSON.stringify(only(events, 'escalation.raised'))).toContain('12 tests ran before, 11 now');
  });

  it('given fewer than for the task before it, then that is asked too', () => {
    const story = begun({}, undefined, 12);
    checks(story, 'A', 15);
    story.saved();
    expect(types(checks(story, 'B', 14))).toContain('escalation.raised');
  });

  it('given a task that may change tests, then fewer are told and nobody is asked', () => {
    const events = checks(begun({}, [{ ...spec('A'), mayChangeTests: true }], 12), 'A', 3);
    expect(types(events)).toContain('task.closed');
    expect(types(events)).toContain('proof.screened');
  });

  it('given a number that is there no more, then it is told as not counted', () => {
    const events = checks(begun({}, undefined, 12), 'A', undefined);
    expect(types(events)).toContain('task.closed');
    expect(only(events, 'proof.screened').because).toContain('12 tests ran before, not counted now');
  });

  it('given none before, then there is nothing to compare with', () => {
    expect(types(checks(begun({}), 'A', 3))).not.toContain('proof.screened');
  });

  it('given a fork, then its number says nothing', () => {
    expect(types(checks(begun({ worktreePerTask: true }, undefined, 12), 'A', 3))).not.toContain('escalation.raised');
  });
});
