// Proves why a loop ends: nine reasons in one order, which of them reach into live work, and what each says.
import { describe, expect, it } from 'vitest';
import type { TerminationReason } from '../../src/core/event.ts';
import { noUsage, type State } from '../../src/core/state.ts';
import { criteria, evaluateTermination, hardStop, timeLimitAt } from '../../src/core/termination.ts';
import {
  claims,
  hour,
  minute,
  only,
  type StateParts,
  Story,
  says,
  second,
  settings,
  spec,
  t0,
  usd,
  withParts,
} from './given.ts';

const order: readonly TerminationReason[] = [
  'goal_achieved',
  'explicit_stop',
  'circuit_breaker_open',
  'health_failure',
  'consecutive_errors',
  'budget_exhausted',
  'max_iterations',
  'max_duration',
  'no_progress',
];

const limits = { iterationsMax: 4, costUsdMicrosMax: 10_000_000, durationMsMax: hour, consecutiveErrorsMax: 5 };
const running = (): State => new Story({ limits }, [spec('A')]).state;

/** For each reason what alone makes it hold, and what is just not enough. */
const rows: Readonly<Record<TerminationReason, { holds: StateParts; short: StateParts; says: string }>> = {
  goal_achieved: {
    holds: { tasks: new Story({}, [spec('A', { done: true }), spec('B', { skipped: true })]).state.tasks },
    short: { tasks: new Story({}, [spec('A', { done: true }), spec('B')]).state.tasks },
    says: '1 of 2 tasks done, 1 skipped',
  },
  explicit_stop: {
    holds: { control: { stop: { by: 'ada', because: 'ralph stop' } } },
    short: { control: { paused: { by: 'ada', now: true } } },
    says: 'ralph stop (by ada)',
  },
  circuit_breaker_open: {
    holds: { performers: { breakers: { agent: { failures: 0, openings: 24, openUntil: t0 + hour } } } },
    short: {
      performers: {
        breakers: {
          agent: { failures: 2, openings: 23, openUntil: t0 + hour },
          gone: { failures: 0, openings: 24, openUntil: t0 },
        },
      },
    },
    says: 'every performer failed 24 times',
  },
  health_failure: {
    holds: { streaks: { terminations: 2 } },
    short: { streaks: { terminations: 1 } },
    says: '2 iterations in a row got stuck',
  },
  consecutive_errors: {
    holds: { streaks: { errors: 5 } },
    short: { streaks: { errors: 4 } },
    says: '5 errors in a row, 5 allowed',
  },
  budget_exhausted: {
    holds: { spend: { usage: usd(10) } },
    short: { spend: { usage: usd(9.999999) } },
    says: '$10.00 spent of $10.00',
  },
  max_iterations: {
    holds: { iterations: { begun: 4 } },
    short: { iterations: { begun: 3 } },
    says: 'iteration 4 of 4',
  },
  max_duration: {
    holds: { spend: { activeMs: hour } },
    short: { spend: { activeMs: hour - 1 } },
    says: '1h worked of 1h',
  },
  no_progress: {
    holds: { streaks: { blockedSinceProgress: 3 } },
    short: { streaks: { blockedSinceProgress: 2, sinceProgress: 40 } },
    says: '3 tasks blocked in a row and none done between, 3 allowed (--max-blocked)',
  },
};

it('the table is in the order of the design', () => {
  expect(criteria.map(row => row.reason)).toEqual(order);
});

it('given a loop in good order, then nothing ends it', () => {
  expect(evaluateTermination(running(), t0)).toBeUndefined();
});

describe.each(order)('%s', reason => {
  it('holds at its bound, not before, and says its numbers', () => {
    expect(evaluateTermination(withParts(running(), rows[reason].short), t0)).toBeUndefined();
    const termination = evaluateTermination(withParts(running(), rows[reason].holds), t0);
    expect(termination?.reason).toBe(reason);
    expect(termination?.because).toContain(rows[reason].says);
  });

  it('gives way to every reason before it and to none after it', () => {
    const later = order.slice(order.indexOf(reason));
    const state = withParts(running(), ...later.map(one => rows[one].holds));
    expect(evaluateTermination(state, t0)?.reason).toBe(reason);
  });
});

it.each(order)('given %s, then it reaches into live work only when it is a stop, money or time', reason => {
  const hard = hardStop(withParts(running(), rows[reason].holds), t0)?.reason;
  const expected = ['explicit_stop', 'budget_exhausted', 'max_duration'].includes(reason) ? reason : undefined;
  expect(hard).toBe(expected);
});

describe('the other bounds of money and time', () => {
  it('given tokens used up, cached ones included, then the budget is exhausted', () => {
    const tokens = { ...noUsage, inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
    const limited = settings({ limits: { tokensMax: 10 } });
    const state = withParts(running(), { settings: limited, spend: { usage: tokens } });
    expect(evaluateTermination(state, t0)).toEqual({
      reason: 'budget_exhausted',
      limit: 'tokens',
      because: '10 tokens used of 10 (--max-tokens)',
    });
    expect(
      evaluateTermination(withParts(state, { spend: { usage: { ...tokens, inputTokens: 0 } } }), t0),
    ).toBeUndefined();
  });

  it('given a deadline, then wall clock ends the loop at that very moment', () => {
    const state = { ...running(), settings: settings({ limits: { deadlineAt: t0 + 5 } }) };
    expect(evaluateTermination(state, t0 + 4)).toBeUndefined();
    expect(evaluateTermination(state, t0 + 5)?.reason).toBe('max_duration');
  });

  it('given slow iterations, then they end the loop only when asked to, and only from the third on', () => {
    const slow = withParts(running(), { iterations: { ended: 3, msSum: 18 * minute + 3 } });
    expect(evaluateTermination(slow, t0)).toBeUndefined();
    const strict = settings({ limits: { averageIterationMsMax: 6 * minute } });
    const bounded = withParts(slow, { settings: strict });
    expect(evaluateTermination(bounded, t0)?.reason).toBe('max_duration');
    for (const iterations of [{ ended: 2 }, { msSum: 18 * minute }])
      expect(evaluateTermination(withParts(bounded, { iterations }), t0)).toBeUndefined();
  });

  it('given no limits at all, then only work, people and health end a loop', () => {
    const none = {
      iterationsMax: null,
      costUsdMicrosMax: null,
      tokensMax: null,
      durationMsMax: null,
      deadlineAt: null,
    };
    const state = {
      ...running(),
      settings: settings({ limits: none }),
      iterations: { ...running().iterations, begun: 1e6 },
      spend: { ...running().spend, usage: usd(1e6), activeMs: 1e12 },
    };
    expect(evaluateTermination(state, t0 * 2)).toBeUndefined();
    expect(timeLimitAt(state, t0)).toBeUndefined();
  });

  it('given work in hand, then the loop wakes when its time is used up, or at the deadline if that is sooner', () => {
    const story = new Story({ limits: { durationMsMax: hour, deadlineAt: t0 + 10 * hour } });
    expect(timeLimitAt(story.state, story.now)).toBe(t0 + 10 * hour);
    story.after(9 * hour);
    story.begin('A');
    expect(timeLimitAt(story.state, story.now + 10 * minute)).toBe(t0 + 10 * hour);
    expect(timeLimitAt({ ...story.state, spend: { ...story.state.spend, activeMs: 30 * minute } }, story.now)).toBe(
      story.now + 30 * minute,
    );
  });
});

describe('the order of ending', () => {
  it('given that the last allowed iteration completes the work, then the goal is achieved', () => {
    const story = new Story({ checks: ['npm test'], limits: { iterationsMax: 1 } }, [spec('A')]);
    story.iteration('A', claims('A'));
    expect(story.effectKeys()).toEqual(['check:1']);
    expect(story.when({ type: 'end' })).toEqual([]);
    story.checked(true);
    expect(story.effectKeys()).toEqual(['save:A']);
    expect(story.when({ type: 'end' })).toEqual([]);
    story.saved();
    expect(story.effectKeys()).toEqual(['end']);
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('goal_achieved');
    expect(story.when({ type: 'end' })).toEqual([]);
  });

  it('given that the last allowed iteration completes nothing, then the iterations are used up', () => {
    const story = new Story({ limits: { iterationsMax: 1 } }, [spec('A')]);
    story.iteration('A', says('not yet'));
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('max_iterations');
  });

  it('given a live iteration at the iteration limit, then it is let go on to its end', () => {
    const story = new Story({ limits: { iterationsMax: 1 } }, [spec('A')]);
    story.begin('A');
    expect(story.effectKeys()).toEqual(['perform:1']);
    expect(story.when({ type: 'end' })).toEqual([]);
  });

  it('given that the money runs out in mid iteration, then the iteration is dropped at once', () => {
    const story = new Story({ limits: { costUsdMicrosMax: 1_000_000 } }, [spec('A')]);
    story.begin('A');
    story.when({ type: 'usage', iteration: 1, usage: usd(1) });
    expect(story.effectKeys()).toEqual(['abandon:1']);
  });

  it('given a stop while a claim is unchecked, then the claim is still checked and its proof wins', () => {
    const story = new Story({ checks: ['npm test'] }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.command({ type: 'stop' });
    expect(story.effectKeys()).toEqual(['check:1']);
    story.checked(true);
    story.saved();
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('goal_achieved');
  });

  it('given a pause of hours between iterations, then it does not count as time worked', () => {
    const story = new Story({ limits: { durationMsMax: 10 * second } }, [spec('A')]);
    story.iteration('A', says('one'));
    story.after(24 * hour);
    story.iteration('A', says('two'));
    expect(story.state.spend.activeMs).toBe(2 * second);
    expect(evaluateTermination(story.state, story.now)).toBeUndefined();
  });
});
