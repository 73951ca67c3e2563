// Proves the circuit breaker: closed, open, half-open with one probe, longer rests each time, and when to give up.
import { describe, expect, it } from 'vitest';
import {
  breakerPosition,
  closedBreaker,
  isExhausted,
  opened,
  tripsAt,
  withFailure,
} from '../../src/core/scheduling.ts';
import { defaultBreaker } from '../../src/core/settings.ts';
import type { Breaker } from '../../src/core/state.ts';
import { failed, minute, only, Story, says, spec, t0, types } from './given.ts';

describe('the position', () => {
  it.each<[string, Breaker, number, string]>([
    ['never opened', closedBreaker, t0, 'closed'],
    ['two failures', { failures: 2, openings: 0 }, t0, 'closed'],
    ['resting', { failures: 0, openings: 1, openUntil: t0 + 1 }, t0, 'open'],
    ['rested to the very end', { failures: 0, openings: 1, openUntil: t0 }, t0, 'half-open'],
    ['rested long ago', { failures: 0, openings: 1, openUntil: 5 }, t0, 'half-open'],
  ])('given %s, then it is right', (_name, breaker, now, position) => {
    expect(breakerPosition(breaker, now)).toBe(position);
  });
});

describe('tripping', () => {
  it('given a closed breaker, then the third failure opens it for a minute and the first two do not', () => {
    let breaker = closedBreaker;
    expect(tripsAt(breaker, defaultBreaker, t0)).toBeUndefined();
    breaker = withFailure(breaker);
    expect(tripsAt(breaker, defaultBreaker, t0)).toBeUndefined();
    breaker = withFailure(breaker);
    expect(tripsAt(breaker, defaultBreaker, t0)).toBe(t0 + minute);
  });

  it('given a failed probe, then it opens again at once and rests twice as long, at most half an hour', () => {
    const rests: number[] = [];
    let breaker = opened(closedBreaker, t0);
    for (let n = 0; n < 7; n += 1) {
      const until = tripsAt(breaker, defaultBreaker, t0)!;
      rests.push((until - t0) / minute);
      breaker = { ...opened(breaker, t0) };
    }
    expect(rests).toEqual([2, 4, 8, 16, 30, 30, 30]);
  });

  it('given a breaker that rests, then the failure of an iteration begun before says nothing new', () => {
    expect(tripsAt(opened(closedBreaker, t0 + 1), defaultBreaker, t0)).toBeUndefined();
  });

  it('is exhausted at the sixth opening and not at the fifth', () => {
    expect(isExhausted({ failures: 0, openings: 5, openUntil: t0 }, defaultBreaker)).toBe(false);
    expect(isExhausted({ failures: 0, openings: 6, openUntil: t0 }, defaultBreaker)).toBe(true);
    expect(isExhausted({ failures: 0, openings: 6 }, defaultBreaker)).toBe(false);
  });
});

describe('in a loop', () => {
  const overloadedThrice = (parallel = 1): Story => {
    const story = new Story({ parallel }, [spec('A'), spec('B'), spec('C')]);
    for (let n = 0; n < 3; n += 1) {
      story.iteration('A', failed('overloaded'));
      story.after(minute / 2);
    }
    return story;
  };

  it('given three failures of the provider, then the performer rests, and the loop wakes when the rest is over', () => {
    const story = overloadedThrice();
    expect(only(story.events, 'performer.tripped').performer).toBe('agent');
    expect(story.effectKeys()).toEqual([]);
    expect(story.wakeAt()).toBe(story.state.breakers['agent']!.openUntil);
  });

  it('given a rest that is over and room for two, then one probe begins and no second beside it', () => {
    const story = overloadedThrice(2);
    story.after(2 * minute);
    expect(story.effectKeys()).toEqual(['begin:A']);
    story.begin('A');
    expect(story.effectKeys()).toEqual(['perform:4']);
  });

  it('given a probe that ends well, then the breaker closes and both may begin', () => {
    const story = overloadedThrice(2);
    story.after(2 * minute);
    const events = story.iteration('A', says('still at it'));
    expect(types(events)).toContain('performer.recovered');
    expect(story.state.breakers['agent']).toEqual(closedBreaker);
    expect(story.effectKeys()).toEqual(['begin:A', 'begin:B']);
  });

  it('given a performer that rests and a second one, then the second does the work', () => {
    const story = new Story({ performers: ['agent', 'other'] }, [spec('A')]);
    for (let n = 0; n < 3; n += 1) {
      story.iteration('A', failed('connection'));
      story.after(minute / 2);
    }
    expect(story.effects()).toMatchObject([{ type: 'begin', performer: 'other' }]);
  });

  it('given failures of the work itself, then the breaker stays closed', () => {
    const story = new Story({ sameErrorsToEscalate: null }, [spec('A')]);
    for (let n = 0; n < 4; n += 1) {
      story.iteration('A', failed('process', `error ${'abcd'[n]}`));
      story.after(minute);
    }
    expect(story.state.breakers).toEqual({});
  });

  it('given an outage that outlasts every rest, then the loop ends by the breaker and by nothing else', () => {
    const story = new Story({}, [spec('A')]);
    for (let n = 0; n < 200 && !story.effectKeys().includes('end'); n += 1) {
      if (story.effectKeys().includes('begin:A')) story.iteration('A', failed('overloaded'));
      story.after(minute);
    }
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('circuit_breaker_open');
    expect(story.task('A').status).toBe('pending');
  });
});
