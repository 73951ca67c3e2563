// Proves scheduling: who does a task next (named for it, first of the chain, not limited, not resting), and when a breaker opens.

import { describe, expect, it } from 'vitest';
import { waitingFor } from '../../src/core/next.ts';
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
import {
  claims,
  failed,
  hour,
  minute,
  only,
  type SettingsPart,
  Story,
  says,
  second,
  spec,
  t0,
  types,
} from './given.ts';

const next = (story: Story): readonly string[] =>
  story.effects().flatMap(effect => (effect.type === 'begin' ? [`${effect.task} by ${effect.performer}`] : []));

const limitedUntil = (resetAtMs: number) => ({
  message: '',
  failure: { kind: 'rate-limit' as const, detail: '5-hour limit', resetAtMs },
});

const two: SettingsPart = { performers: ['claude', 'codex'] };

describe('a provider that says when it serves again (F54)', () => {
  it('given one performer, then nothing begins before that time, it is no error, and it goes on by itself', () => {
    const story = new Story({ performers: ['claude'] });
    const resetAt = story.now + 3 * hour;
    const events = story.iteration('A', limitedUntil(resetAt), 'claude');
    expect(only(events, 'iteration.ended')).toMatchObject({ waitUntil: resetAt, waitFor: 'limit-reset' });
    expect(next(story)).toEqual([]);
    expect(story.wakeAt()).toBe(resetAt);
    expect(waitingFor(story.state, story.now)).toEqual({
      kind: 'limit-reset',
      what: 'the limit of claude to be reset',
      until: resetAt,
    });
    expect(story.state).toMatchObject({ streaks: { errors: 0, sinceProgress: 0 } });
    expect(story.task('A').attempts).toBe(0);
    story.after(3 * hour);
    expect(next(story)).toEqual(['A by claude']);
  });

  it('given a fallback, then that one works meanwhile, and the first again after its reset', () => {
    const story = new Story(two);
    story.iteration('A', limitedUntil(story.now + hour), 'claude');
    expect(next(story)).toEqual(['A by codex']);
    story.iteration('A', says('not yet'), 'codex');
    expect(next(story)).toEqual(['A by codex']);
    story.after(hour);
    expect(next(story)).toEqual(['A by claude']);
  });

  it('given that all are limited, then it waits for the first that is not', () => {
    const story = new Story(two);
    const start = story.now;
    story.iteration('A', limitedUntil(start + 2 * hour), 'claude');
    story.iteration('A', limitedUntil(start + hour), 'codex');
    expect(next(story)).toEqual([]);
    expect(waitingFor(story.state, story.now)).toEqual({
      kind: 'limit-reset',
      what: 'the limit of codex to be reset',
      until: start + hour,
    });
    expect(story.wakeAt()).toBe(start + hour);
  });

  it('given no reset, then it is asked ever more rarely, and as before once it was served', () => {
    const story = new Story({ performers: ['claude'], limits: { iterationsMax: 100 } });
    const waits: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const { waitUntil, at } = only(story.iteration('A', failed('rate-limit'), 'claude'), 'iteration.ended');
      waits.push((waitUntil! - at) / minute);
      story.after(waitUntil! - at);
    }
    expect(waits).toEqual([1, 2, 4, 8, 16, 30, 30, 30]);
    story.iteration('A', says('served'), 'claude');
    expect(story.state.streaks.rateLimits).toEqual({});
  });

  it('given a person who knows better, then `ralph resume` ends the wait', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', limitedUntil(story.now + 3 * hour), 'claude');
    expect(only(story.command({ type: 'resume' }), 'loop.resumed').because).toContain('no longer waits');
    expect(next(story)).toEqual(['A by claude']);
    expect(story.command({ type: 'resume' })).toEqual([]);
  });

  it('given a pause meanwhile, then its end does not end the wait', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', limitedUntil(story.now + 3 * hour), 'claude');
    story.command({ type: 'pause', now: false });
    story.command({ type: 'resume' });
    expect(next(story)).toEqual([]);
  });

  it('given a clock that was set back for weeks, then the limit is not believed for ever', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', limitedUntil(story.now + hour), 'claude');
    story.after(-60 * 24 * hour);
    expect(next(story)).toEqual(['A by claude']);
    expect(story.begin('A', 'claude')).toHaveLength(1);
  });
});

describe('a performer that needs a person (F56)', () => {
  it('given a fallback, then that one goes on, and the question stays open', () => {
    const story = new Story(two);
    story.iteration('A', failed('auth'), 'claude');
    expect(story.state.questions.open).toMatchObject([{ kind: 'agent', performer: 'claude' }]);
    expect(next(story)).toEqual(['A by codex']);
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(next(story)).toEqual(['A by claude']);
  });

  it('given a fallback that cannot log in while the first waits for its reset, then that is waited for', () => {
    const story = new Story(two);
    const resetAt = story.now + hour;
    story.iteration('A', limitedUntil(resetAt), 'claude');
    story.iteration('A', failed('auth'), 'codex');
    expect(next(story)).toEqual([]);
    expect(waitingFor(story.state, story.now)).toEqual({
      kind: 'limit-reset',
      what: 'the limit of claude to be reset',
      until: resetAt,
    });
    story.after(hour);
    expect(next(story)).toEqual(['A by claude']);
  });

  it('given nobody else, then a person is waited for', () => {
    const story = new Story(two);
    story.iteration('A', failed('auth'), 'claude');
    story.iteration('A', failed('billing'), 'codex');
    expect(next(story)).toEqual([]);
    expect(waitingFor(story.state, story.now)).toEqual({ kind: 'human', what: 'you' });
  });

  it('given that a person takes another agent instead, then the question is answered by that', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', failed('auth'), 'claude');
    story.command({ type: 'limits', limits: {}, settings: { performers: ['codex'] } });
    expect(only(story.events, 'escalation.answered')).toMatchObject({ id: 'E1', by: 'ada' });
    expect(next(story)).toEqual(['A by codex']);
  });

  it('given words as an answer, then they reach the next prompt', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', failed('auth'), 'claude');
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'text', text: 'use the staging key' } });
    expect(story.state.memory.guidance).toMatchObject([{ text: 'use the staging key' }]);
  });
});

describe('a performer named for a task or a phase', () => {
  it('given one for a task, then it does that task, and the chain stands behind it', () => {
    const story = new Story({ ...two, parallel: 2, performersByTask: { B: 'gemini' } });
    expect(next(story)).toEqual(['A by claude', 'B by gemini']);
    story.iteration('B', limitedUntil(story.now + hour), 'gemini');
    expect(next(story)).toEqual(['A by claude', 'B by claude']);
  });

  it('given one for the phase that the last report named, then it goes on', () => {
    const story = new Story({ ...two, performersByPhase: { testing: 'pi' } });
    expect(next(story)).toEqual(['A by claude']);
    story.iteration('A', says('<report>{"phase": "testing"}</report>'), 'claude');
    expect(next(story)).toEqual(['A by pi']);
  });

  it('given a task that only looks, then the one for reviewing, whatever was reported last', () => {
    const look = spec('R1-facilitator', { readOnly: true, completion: 'findings' });
    const story = new Story({ ...two, performersByPhase: { reviewing: 'pi' } }, [look]);
    expect(next(story)).toEqual(['R1-facilitator by pi']);
  });

  it('given a goal, then the one for the phase that comes now: planning at first, then what follows the last report', () => {
    const phases = { planning: 'gemini', implementing: 'pi' };
    const story = new Story({ ...two, mode: 'goal', performersByPhase: phases }, [spec('goal')]);
    expect(next(story)).toEqual(['goal by gemini']);
    story.iteration('goal', says('<report>{"phase": "planning", "pending": ["form"]}</report>'), 'gemini');
    expect(next(story)).toEqual(['goal by pi']);
  });

  it('given a task called like a property of every object, then nothing is named for it', () => {
    const story = new Story(two, [spec('constructor')]);
    expect(next(story)).toEqual(['constructor by claude']);
  });
});

describe('an agent that does not start (F25)', () => {
  const silent = failed('no-start', 'no sign of life within 2 min');

  it('given three starts without a first byte, then a human is asked, and no task is blamed', () => {
    const story = new Story({ performers: ['claude'] });
    for (let n = 0; n < 3; n += 1) {
      story.iteration('A', silent, 'claude');
      story.after(minute);
    }
    const { escalation } = only(story.events, 'escalation.raised');
    expect(escalation).toMatchObject({ kind: 'agent', summary: 'claude: the agent does not start' });
    expect(escalation.task).toBeUndefined();
    expect(story.task('A').attempts).toBe(0);
    expect(story.state.streaks.errors).toBe(0);
  });

  it('given a fallback that can work, then it takes over instead', () => {
    const story = new Story(two);
    for (let n = 0; n < 3; n += 1) {
      story.iteration('A', silent, 'claude');
      story.after(second);
    }
    expect(story.events.some(event => event.type === 'escalation.raised')).toBe(false);
    story.after(minute / 2);
    expect(next(story)).toEqual(['A by codex']);
  });

  it('given a start that works in between, then the count begins anew', () => {
    const story = new Story({ performers: ['claude'] });
    story.iteration('A', silent, 'claude');
    story.iteration('A', silent, 'claude');
    story.iteration('A', says('worked'), 'claude');
    story.iteration('A', silent, 'claude');
    expect(story.state.streaks.failedStarts).toBe(1);
    expect(story.state.questions.open).toEqual([]);
  });
});

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

  it('is exhausted at its last opening and not before', () => {
    expect(isExhausted({ failures: 0, openings: defaultBreaker.openingsMax - 1, openUntil: t0 }, defaultBreaker)).toBe(
      false,
    );
    expect(isExhausted({ failures: 0, openings: defaultBreaker.openingsMax, openUntil: t0 }, defaultBreaker)).toBe(
      true,
    );
    expect(isExhausted({ failures: 0, openings: defaultBreaker.openingsMax }, defaultBreaker)).toBe(false);
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
    expect(story.wakeAt()).toBe(story.state.performers.breakers['agent']!.openUntil);
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
    expect(story.state.performers.breakers['agent']).toEqual(closedBreaker);
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
    expect(story.state.performers.breakers).toEqual({});
  });

  it('given an outage that outlasts every rest, then the loop ends by the breaker and by nothing else', () => {
    const story = new Story({}, [spec('A')]);
    for (let n = 0; n < 1_000 && !story.effectKeys().includes('end'); n += 1) {
      if (story.effectKeys().includes('begin:A')) story.iteration('A', failed('overloaded'));
      story.after(minute);
    }
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('circuit_breaker_open');
    expect(story.task('A').status).toBe('pending');
  });
});

describe('a stronger agent for a task whose claims were refused', () => {
  const stronger = { performer: 'strong', after: 2 };
  const refuse = (story: Story): void => {
    const { performer } = story.effects().find(one => one.type === 'begin') as { performer: string };
    story.iteration('A', claims('A'), performer);
    story.checked(false);
    story.saved();
  };
  const next = (story: Story) => story.effects().find(one => one.type === 'begin');

  it('given two refused claims, then the next attempt is its own, and that is said', () => {
    const story = new Story({ checks: ['npm test'], stronger }, [spec('A')]);
    refuse(story);
    expect(next(story)).toMatchObject({ performer: 'agent' });
    refuse(story);
    expect(next(story)).toMatchObject({ performer: 'strong' });
    expect(only(story.begin('A', 'strong'), 'iteration.started').because).toContain(
      'after 2 refused claims (--stronger)',
    );
  });

  it('given a task that was opened again, then the count begins anew', () => {
    const story = new Story({ checks: ['npm test'], stronger }, [spec('A')]);
    refuse(story);
    refuse(story);
    story.command({ type: 'task', act: 'retry', task: 'A' });
    story.saved();
    expect(next(story)).toMatchObject({ performer: 'agent' });
  });
});
