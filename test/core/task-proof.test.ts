// Proof levels: a task is called proven only where a check showed it.

import { describe, expect, it } from 'vitest';
import { levelOf, levelWords, proofWords } from '../../src/core/task.ts';
import { claims, only, type SettingsPart, Story, spec } from './given.ts';

const checks: SettingsPart = { checks: ['npm test'] };

/** A loop of A and B whose check stood so before any work. */
function begun(passed: boolean, part: SettingsPart = checks): Story {
  const story = new Story(part, [spec('A'), spec('B')]);
  story.state = { ...story.state, loop: { ...story.state.loop, baseline: [{ check: 'npm test', passed }] } };
  return story;
}

function closes(story: Story, task: string, more: { newTests?: true } = {}) {
  story.iteration(task, claims(task));
  const outcomes = [{ name: 'npm test', passed: true, detail: '', durationMs: 1 }];
  const events = story.when({ type: 'checked', iteration: story.state.iterations.begun, outcomes, ...more });
  story.saved();
  return only(events, 'task.closed');
}

describe('a task whose checks pass', () => {
  it('given a check that was red at the start, then the work that turned it green is proven, and the next is not', () => {
    const story = begun(false);
    expect(closes(story, 'A')).toMatchObject({ verified: true, level: 'proven' });
    expect(closes(story, 'B')).toMatchObject({ verified: true, level: 'still-green' });
  });

  it('given a suite that was green at the start, then work without new tests is not called proven', () => {
    const story = begun(true);
    expect(closes(story, 'A')).toMatchObject({ verified: true, level: 'still-green' });
    expect(closes(story, 'B', { newTests: true })).toMatchObject({ verified: true, level: 'proven' });
  });

  it('given a judge alone, then that is an opinion: nothing turned green by it', () => {
    const story = begun(true, { checks: ['judge'] });
    story.iteration('A', claims('A'));
    const outcomes = [{ name: 'judge', passed: true, detail: '', durationMs: 1, performer: 'claude' }];
    const events = story.when({ type: 'checked', iteration: 1, outcomes, newTests: true });
    expect(only(events, 'task.closed').level).toBe('passed');
  });

  it('given a check that nobody ran before, then nothing is called green before the first task that it passed for', () => {
    const story = new Story(checks, [spec('A'), spec('B')]);
    expect(closes(story, 'A')).toMatchObject({ verified: true, level: 'passed' });
    expect(closes(story, 'B')).toMatchObject({ verified: true, level: 'still-green' });
    expect(proofWords({ verified: true, level: 'passed' })).toBe('checks passed');
  });

  it('given a fork, then what its checks showed is told by the merge that closes it', () => {
    const story = begun(false, { ...checks, worktreePerTask: true });
    story.iteration('A', claims('A'));
    const outcomes = [{ name: 'npm test', passed: true, detail: '', durationMs: 1 }];
    story.when({ type: 'checked', iteration: 1, outcomes });
    const events = story.when({ type: 'merged', iteration: 1, merged: true, detail: '' });
    expect(only(events, 'task.closed')).toMatchObject({ verified: true, level: 'proven' });
  });
});

it('given no check, or an event of 0.4, then the level follows from what it says', () => {
  const story = new Story({}, [spec('A')]);
  expect(only(story.iteration('A', claims('A')), 'task.closed')).toMatchObject({
    verified: false,
    level: 'unverified',
  });
  expect([levelOf({ verified: true }), levelOf({ verified: false }), levelOf({})]).toEqual([
    'proven',
    'unverified',
    undefined,
  ]);
  expect(proofWords({ verified: true, level: 'still-green' })).toBe(levelWords['still-green']);
});
