// What a loop says it waits for decides whether a headless run ends with a question or sits there for ever.
import { describe, expect, it } from 'vitest';
import { waitingFor } from '../../src/core/next.ts';
import { failed, minute, Story, spec } from './given.ts';

describe('what a loop waits for', () => {
  it('is a human when the only task waits for an answer, although the agent also rests after its failures', () => {
    const story = new Story({}, [spec('A')]);
    for (let attempt = 1; attempt <= 3; attempt++) {
      story.iteration('A', failed('spawn', 'exit code 127: no-such-program: not found'));
      story.after(minute / 2);
    }
    expect(story.events.map(one => one.type)).toContain('performer.tripped');
    expect(story.state.escalations.map(one => one.kind)).toEqual(['agent']);
    expect(waitingFor(story.state, story.now)).toEqual({ kind: 'human', what: 'a human' });
  });

  it('is the rest of the agent as long as a task is ready', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    for (let attempt = 1; attempt <= 3; attempt++) {
      story.iteration('A', failed('overloaded', 'the provider is overloaded'));
      story.after(minute / 2);
    }
    expect(waitingFor(story.state, story.now)?.what).toBe('agent, which rests after failures');
  });
});
