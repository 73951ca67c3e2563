// Proves the five health words from worst to best, and the ladder of a quiet iteration: 30 min, 10 min, 3 nudges, 15 min.
import { describe, expect, it } from 'vitest';
import { assessHealth, type HealthState, healthRows } from '../../src/core/health.ts';
import { evaluateTermination } from '../../src/core/termination.ts';
import {
  failed,
  hour,
  minute,
  only,
  type StateParts,
  Story,
  says,
  second,
  spec,
  t0,
  types,
  usd,
  withParts,
} from './given.ts';

const live = (): Story => {
  const story = new Story({}, [spec('A')]);
  story.begin('A');
  return story;
};

describe('the five words', () => {
  const calm = live().state;
  const now = t0 + 30 * minute;
  const rows: readonly [HealthState, string, StateParts][] = [
    ['terminated', 'ended: no_progress', { control: { ended: { reason: 'no_progress', because: '', at: t0 } } }],
    ['failing', '3 errors in a row', { streaks: { errors: 3 } }],
    [
      'failing',
      'the breaker of agent is open',
      { performers: { breakers: { agent: { failures: 0, openings: 1, openUntil: now + 1 } } } },
    ],
    ['stuck', 'iteration 1 quiet for 30m', { live: [{ ...calm.live[0]!, heardAt: t0 - 1 }] }],
    ['degraded', '1 failure in a row', { streaks: { failures: 1 } }],
    [
      'degraded',
      'like the output before',
      { memory: { repetition: { kind: 'similar', detail: 'like the output before' } } },
    ],
    ['degraded', 'on average', { iterations: { ended: 3, msSum: 15 * minute + 3 } }],
  ];

  it('are ordered from worst to best', () => {
    expect(healthRows.map(row => row.state)).toEqual(['terminated', 'failing', 'stuck', 'degraded']);
  });

  it.each(rows)('given what makes it %s (%s), then that is the word and why', (word, because, part) => {
    const health = assessHealth(withParts(calm, part), now);
    expect(health.state).toBe(word);
    expect(health.because).toContain(because);
  });

  it.each<[string, StateParts]>([
    ['nothing wrong', {}],
    ['two errors that were answered by a success', { streaks: { errors: 2 } }],
    [
      'a breaker that has rested',
      { performers: { breakers: { agent: { failures: 0, openings: 1, openUntil: now } } } },
    ],
    ['two slow iterations', { iterations: { ended: 2, msSum: hour } }],
    ['three iterations of five minutes', { iterations: { ended: 3, msSum: 15 * minute } }],
  ])('given %s, then it is healthy', (_name, part) => {
    expect(assessHealth(withParts(calm, part), now)).toEqual({ state: 'healthy', because: 'no warning sign' });
  });

  it.each(rows)('given %s (%s) and everything better, then the worse word is said', (word, because) => {
    const from = rows.findIndex(row => row[0] === word && row[1] === because);
    const state = withParts(calm, ...rows.slice(from).map(row => row[2]));
    expect(assessHealth(state, now).state).toBe(word);
  });
});

/** Follows the ladder by waking only when `next` says so. */
function climb(story: Story): string[] {
  const rungs: string[] = [];
  for (let n = 0; n < 20; n += 1) {
    const nudge = story.effects().find(effect => effect.type === 'nudge');
    if (nudge?.type === 'nudge') {
      story.when({ type: 'nudged', iteration: nudge.iteration, level: nudge.level });
      rungs.push(`${(story.now - t0) / minute} ${nudge.level}`);
    } else if (story.effects().some(effect => effect.type === 'cancel') || story.wakeAt() === undefined) break;
    else story.now = story.wakeAt()!;
  }
  return rungs;
}

describe('the ladder', () => {
  it('given an iteration that is never heard, then it is nudged thrice, a human is asked, and it is ended', () => {
    const story = live();
    expect(climb(story)).toEqual(['30 nudge', '40 nudge', '50 nudge', '60 escalate', '75 terminate']);
    expect(only(story.events, 'escalation.raised').escalation).toMatchObject({
      kind: 'health',
      task: 'A',
      iteration: 1,
    });
    expect(story.effectKeys()).toContain('abandon:1');
    expect(story.effectKeys()).not.toContain('perform:1');
  });

  it('given that it was ended by the ladder, then that is a timeout, the question is moot, and the task may be tried again', () => {
    const story = live();
    climb(story);
    const events = story.performed(failed('stopped', 'no longer wanted'));
    expect(only(events, 'iteration.ended')).toMatchObject({
      outcome: 'failed',
      failure: { kind: 'timeout' },
      handoff: 'timeout',
    });
    expect(only(events, 'escalation.answered')).toMatchObject({ by: 'ralph', id: 'E1' });
    expect(story.state.questions.open).toEqual([]);
    expect(story.state.streaks.terminations).toBe(1);
    expect(story.task('A')).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('given two in a row that had to be ended, then that is a health failure, and a good one between them is not', () => {
    const story = live();
    const end = (): void => {
      story.when({ type: 'nudged', iteration: story.state.iterations.begun, level: 'terminate' });
      story.performed(failed('stopped', 'x'));
    };
    end();
    story.iteration('A', says('fine'));
    story.begin('A');
    end();
    expect(evaluateTermination(story.state, story.now)).toBeUndefined();
    story.begin('A');
    end();
    expect(evaluateTermination(story.state, story.now)?.reason).toBe('health_failure');
  });

  it.each([
    ['a heartbeat', (story: Story) => story.when({ type: 'heard', iteration: 1, quietMs: 0 })],
    ['usage', (story: Story) => story.when({ type: 'usage', iteration: 1, usage: usd(0.1) })],
  ])('given %s after a nudge, then the ladder starts anew', (_name, sign) => {
    const story = live().after(30 * minute);
    story.when({ type: 'nudged', iteration: 1, level: 'nudge' });
    story.after(second);
    sign(story);
    expect(story.state.live[0]).toMatchObject({ nudges: 0, heardAt: story.now });
    expect(story.wakeAt()).toBe(story.now + 30 * minute);
  });

  it('given a heartbeat that only says how long it has been quiet, then the ladder goes on', () => {
    const story = live().after(30 * minute);
    story.when({ type: 'nudged', iteration: 1, level: 'nudge' });
    story.after(minute);
    story.when({ type: 'heard', iteration: 1, quietMs: 31 * minute });
    expect(story.state.live[0]).toMatchObject({ nudges: 1, heardAt: t0 });
    expect(story.wakeAt()).toBe(t0 + 40 * minute);
  });

  it.each([
    [{ kind: 'option', option: 1 }, 'iteration.heartbeat'],
    [{ kind: 'retry' }, 'iteration.heartbeat'],
    [{ kind: 'option', option: 2 }, 'iteration.nudged'],
    [{ kind: 'skip' }, 'iteration.nudged'],
    [{ kind: 'text', text: 'kill it' }, 'iteration.nudged'],
  ] as const)('given the answer %o to the question, then %s follows', (answer, type) => {
    const story = live().after(hour);
    story.when({ type: 'nudged', iteration: 1, level: 'escalate' });
    expect(types(story.command({ type: 'answer', escalation: 'E1', answer }))).toEqual(['escalation.answered', type]);
    const patient = type === 'iteration.heartbeat';
    expect(story.effectKeys()).toEqual([patient ? 'perform:1' : 'abandon:1']);
    if (patient) expect(story.wakeAt()).toBe(story.now + 30 * minute);
  });

  it('given an agent that comes back after the question, then it is not ended', () => {
    const story = live().after(hour);
    story.when({ type: 'nudged', iteration: 1, level: 'escalate' });
    story.after(10 * minute);
    story.when({ type: 'heard', iteration: 1, quietMs: 0 });
    story.after(6 * minute);
    expect(story.effectKeys()).toEqual(['perform:1', 'ask:E1']);
  });
});
