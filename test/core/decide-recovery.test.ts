// Proves that crash recovery is "replay, ask again": intent without a pid, with a pid, and with a result in the spool.
import { describe, expect, it } from 'vitest';
import { claims, hour, minute, only, Story, says, spec, types, usd } from './given.ts';

const process = { pid: 42, startTime: '777', host: 'here' };

const crashed = (spawned: boolean): Story => {
  const story = new Story({ checks: ['npm test'] }, [spec('A')]);
  story.begin('A');
  if (spawned) {
    story.when({ type: 'spawned', iteration: 1, ...process });
    story.after(minute);
    story.when({ type: 'heard', iteration: 1, quietMs: 0 });
    story.when({ type: 'usage', iteration: 1, usage: usd(2) });
  }
  story.after(10 * hour);
  story.when({ type: 'taken-over', by: 'ada' });
  return story;
};
const recover = (story: Story, found?: ReturnType<typeof says>) =>
  story.when({ type: 'recovered', iteration: 1, holder: 'holder-2', chance: 0.5, ...(found ? { found } : {}) });

it('given a dead holder’s iteration, then a new holder recovers it and performs nothing before', () => {
  const story = crashed(true);
  expect(story.effectKeys('holder-2')).toEqual(['recover:1']);
  expect(story.effectKeys('holder-1')).toContain('perform:1');
});

it('given intent without a pid, then the same iteration is performed again, under its number, not counted twice (F01)', () => {
  const story = crashed(false);
  expect(recover(story)).toMatchObject([
    { type: 'iteration.started', iteration: 1, attempt: 1, holder: 'holder-2', again: true },
  ]);
  expect(story.state).toMatchObject({ iterations: { begun: 1, ended: 0 } });
  expect(story.task('A').attempts).toBe(1);
  expect(story.effectKeys('holder-2')).toEqual(['perform:1']);
});

it('given a pid and no result, then it is interrupted: it counts against iterations and money, not as an error (F03)', () => {
  const story = crashed(true);
  const ended = only(recover(story), 'iteration.ended');
  expect(ended).toMatchObject({
    outcome: 'interrupted',
    durationMs: minute,
    because: expect.stringContaining('process 42'),
  });
  expect(ended.waitUntil).toBeUndefined();
  expect(story.state).toMatchObject({
    iterations: { begun: 1, ended: 1 },
    streaks: { errors: 0, sinceProgress: 0 },
    live: [],
  });
  expect(story.state.spend.usage.costUsdMicros).toBe(2_000_000);
  expect(story.task('A')).toMatchObject({ status: 'pending', attempts: 0 });
  expect(story.effectKeys('holder-2')).toEqual(['begin:A']);
  expect(only(story.begin('A', 'agent', 'holder-2'), 'iteration.started').iteration).toBe(2);
});

it('given a result in the spool, then it is recorded exactly once and its claim is checked (F04)', () => {
  const story = crashed(true);
  expect(types(recover(story, { ...claims('A'), usage: usd(3) }))).toEqual([
    'usage.recorded',
    'iteration.ended',
    'signal.read',
  ]);
  expect(story.state.spend.usage.costUsdMicros).toBe(3_000_000);
  expect(recover(story, claims('A'))).toEqual([]);
  expect(story.effectKeys('holder-2')).toEqual(['check:1']);
});

describe('time', () => {
  it('given ten hours without a process, then they do not count as worked', () => {
    const story = crashed(true);
    recover(story);
    expect(story.state.spend.activeMs).toBe(minute);
  });

  it('given the hours that were worked before, then they stay', () => {
    const story = crashed(true);
    recover(story, says('x'));
    story.after(hour);
    story.begin('A', 'agent', 'holder-2');
    story.after(minute);
    story.performed(says('y'));
    expect(story.state.spend.activeMs).toBe(2 * minute);
  });
});

it.each([
  ['project', ['iteration.ended', 'task.blocked'], 1],
  ['prd', ['iteration.ended'], 0],
] as const)('given a crash in the last attempt, in mode %s, then %j follows (seed 002)', (mode, wanted, attempts) => {
  const story = new Story({ mode, limits: { attemptsPerTaskMax: 1 } }, [spec('A')]);
  story.begin('A');
  story.when({ type: 'spawned', iteration: 1, ...process });
  expect(types(recover(story))).toEqual(wanted);
  expect(story.task('A').attempts).toBe(attempts);
});
