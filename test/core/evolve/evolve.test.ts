// Proves the fold: every event type has a place, time is counted only while work is live, and a step costs the change.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import { activeMsAt, initialState } from '../../../src/core/state.ts';
import { findTask } from '../../../src/core/task.ts';
import { evolve } from '../../../src/modes/evolve.ts';
import { everyEvent } from '../every-event.ts';
import { claims, failed, hour, minute, only, Story, says, second, spec, t0 } from '../given.ts';

describe('any event', () => {
  it.each(everyEvent.map(event => [event.type, event] as const))(
    '%s folds into an empty loop and into a running one, and leaves the old state as it was',
    (_type, event) => {
      const story = new Story({ parallel: 2 });
      story.begin('A');
      for (const before of [initialState, story.state]) {
        const copy = structuredClone(before);
        const first = evolve(before, event);
        expect(before).toEqual(copy);
        expect(evolve(before, event)).toEqual(first);
      }
    },
  );
});

describe('active time', () => {
  it('given work, a wait and work, then only the work counts, whatever events come in the wait', () => {
    const story = new Story();
    story.begin('A');
    story.after(minute);
    story.when({ type: 'heard', iteration: 1, quietMs: 0 });
    story.after(minute);
    story.performed(says('x'));
    story.after(hour);
    story.command({ type: 'tell', text: 'hello' });
    story.after(hour);
    story.begin('A');
    story.after(minute);
    expect(story.state.spend.activeMs).toBe(2 * minute);
    expect(activeMsAt(story.state, story.now)).toBe(3 * minute);
  });

  it('given two live iterations, then time counts once', () => {
    const story = new Story({ parallel: 2 });
    story.begin('A');
    story.begin('B');
    story.after(minute);
    story.performed(says('x'), 1);
    story.after(minute);
    story.performed(says('y'), 2);
    expect(story.state.spend.activeMs).toBe(2 * minute);
    expect(story.state.iterations.msSum).toBe(3 * minute);
  });

  it('given a check, then its time counts as work', () => {
    const story = new Story({ checks: ['x'] }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.after(minute);
    story.checked(true);
    story.after(hour);
    expect(activeMsAt(story.state, story.now)).toBe(minute + second);
  });

  it('given a clock that steps back and forth, then time worked never shrinks', () => {
    const story = new Story();
    story.begin('A');
    const worked: number[] = [];
    for (const step of [minute, -hour, minute, hour, minute]) {
      story.after(step);
      story.when({ type: 'heard', iteration: 1, quietMs: 0 });
      worked.push(story.state.spend.activeMs);
    }
    expect(worked).toEqual([...worked].sort((a, b) => a - b));
  });
});

describe('a step costs the change', () => {
  const story = new Story(
    { checks: ['x'] },
    Array.from({ length: 10_000 }, (_, n) => spec(`T${n}`)),
  );
  const events: Event[] = [];

  it('given 10,000 tasks, then beginning, ending, claiming and closing one each leave every other chunk the same object', () => {
    const before = story.state.tasks.chunks;
    events.push(...story.begin('T5000'), ...story.performed(claims('T5000')), ...story.checked(true), ...story.saved());
    expect(events).toHaveLength(6);
    let state = new Story(
      { checks: ['x'] },
      Array.from({ length: 10_000 }, (_, n) => spec(`T${n}`)),
    ).state;
    for (const event of events) {
      const after = evolve(state, event);
      const copied = after.tasks.chunks.filter((chunk, at) => chunk !== state.tasks.chunks[at]);
      expect(copied.length).toBeLessThanOrEqual(1);
      expect(after.tasks.index).toBe(state.tasks.index);
      state = after;
    }
    const changed = story.state.tasks.chunks.filter((chunk, at) => chunk !== before[at]);
    expect(changed).toHaveLength(1);
    expect(findTask(story.state.tasks, 'T5000')?.status).toBe('done');
  });

  it('given an event that is about no task, then the table is the same object', () => {
    const live = new Story();
    live.begin('A');
    const { tasks } = live.state;
    live.when({ type: 'heard', iteration: 1, quietMs: 0 });
    live.command({ type: 'tell', text: 'x' });
    live.command({ type: 'pause', now: false });
    expect(live.state.tasks).toBe(tasks);
  });
});

it('given a start, then the facts of the loop are in the state and nothing else moved', () => {
  const story = new Story();
  expect(story.state).toMatchObject({
    loop: { id: 'loop-0001', name: 'shop', projectId: 'PILOT', taskId: 'H.8', startedAt: t0 },
    document: { isLoaded: true, hash: 'h1' },
    iterations: { begun: 0 },
  });
  const known = Object.entries(story.state).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  expect(known.sort()).toEqual(Object.keys(initialState).sort());
});

describe('what starts anew, and what does not', () => {
  it('given a closed task, then the same words about the next one are no repetition', () => {
    const story = new Story();
    const words = 'I read the code, wrote the change, ran every test of the suite and looked at the result twice';
    story.iteration('A', says(`${words}\nTask A complete`));
    expect(only(story.iteration('B', says(words)), 'iteration.ended').repetition).toBeUndefined();
  });

  it('given another failure between two that the ladder ended, then they are not in a row', () => {
    const story = new Story({ sameErrorsToEscalate: null }, [spec('A')]);
    const end = (): void => {
      story.begin('A');
      story.when({ type: 'nudged', iteration: story.state.iterations.begun, level: 'terminate' });
      story.performed(failed('stopped', 'x'));
    };
    end();
    story.iteration('A', failed('process'));
    end();
    expect(story.state.streaks.terminations).toBe(1);
  });

  it('given an iteration that begins after a wait, then the wait is over', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', failed('process'));
    expect(story.state.control.wait).toBeDefined();
    story.after(minute).begin('A');
    expect(story.state.control.wait).toBeUndefined();
  });

  it('given a success between failures of the provider, then the breaker counts from zero', () => {
    const story = new Story({}, [spec('A')]);
    for (const performed of [failed('overloaded'), failed('overloaded'), says('fine'), failed('overloaded')]) {
      story.iteration('A', performed);
      story.after(minute);
    }
    expect(story.state.performers.breakers['agent']).toEqual({ failures: 1, openings: 0 });
  });
});
