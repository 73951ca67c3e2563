// Proves what to do now, as a function of the state alone: effects with keys, in order, and when to ask again.

import { describe, expect, it } from 'vitest';
import { everyClaimFailed, next, waitingFor } from '../../src/core/next.ts';
import { initialState } from '../../src/core/state.ts';
import { claims, failed, minute, only, Story, says, second, self, spec, startInput, t0, types, usd } from './given.ts';

describe('the life of a loop', () => {
  it('given no loop, then nothing; given no tasks, then load; given a stop before that, then end', () => {
    expect(next(initialState, t0, self)).toEqual({ effects: [] });
    const story = new Story();
    story.state = initialState;
    story.when(startInput());
    expect(story.effectKeys()).toEqual(['load']);
    story.command({ type: 'stop' });
    expect(story.effectKeys()).toEqual(['end']);
  });

  it('given an ended loop, then nothing more', () => {
    const story = new Story({}, [spec('A', { done: true })]);
    expect(story.effectKeys()).toEqual(['end']);
    story.when({ type: 'end' });
    expect(next(story.state, story.now, self)).toEqual({ effects: [] });
  });

  it('given the same state, then the answer is the same, whatever was asked before', () => {
    const story = new Story({ parallel: 2 });
    story.begin('A');
    expect(next(story.state, story.now, self)).toEqual(next(structuredClone(story.state), story.now, self));
  });

  it('given a checkpoint that is due, then it is made before anything begins or ends', () => {
    const story = new Story({ checkpoints: true }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.saved();
    expect(story.effectKeys()).toEqual(['checkpoint:2']);
    story.checkpointed('cp-1');
    expect(story.state.checkpoints.latest?.checkpoint).toBe('cp-1');
    expect(story.effectKeys()).toEqual(['end']);
  });

  it('given an unsaved status, then it is written before the next iteration; in a large document, while that one works', () => {
    const small = new Story();
    small.iteration('A', claims('A'));
    expect(small.effectKeys()).toEqual(['save:A']);
    const large = new Story(
      {},
      Array.from({ length: 1_001 }, (_, n) => spec(`T${n}`)),
    );
    large.iteration('T0', claims('T0'));
    expect(large.effectKeys()).toEqual(['begin:T1']);
    large.begin('T1');
    expect(large.effectKeys()).toEqual(['perform:2']);
    large.when({ type: 'spawned', iteration: 2, pid: 1, startTime: '1', host: 'h' });
    expect(large.effectKeys()).toEqual(['perform:2', 'save:T0']);
  });

  it('given a large document at the end, then everything is written before the loop ends', () => {
    const specs = Array.from({ length: 1_001 }, (_, n) => spec(`T${n}`, { done: n > 0 }));
    const story = new Story({}, specs);
    story.iteration('T0', claims('T0'));
    expect(story.effectKeys()).toEqual(['save:T0']);
    expect(story.when({ type: 'end' })).toEqual([]);
  });

  it('given a chain of performers, then every third error in a row moves on, and round again', () => {
    const limits = { consecutiveErrorsMax: 99, attemptsPerTaskMax: 99, noProgressIterations: 99 };
    const story = new Story({ performers: ['a', 'b'], sameErrorsToEscalate: null, limits }, [spec('A')]);
    const chosen: string[] = [];
    for (let n = 0; n < 7; n += 1) {
      story.after(minute);
      const begin = story.effects().find(effect => effect.type === 'begin');
      if (begin?.type !== 'begin') throw new Error('nothing begins');
      chosen.push(begin.performer);
      story.iteration('A', failed('process', 'no'), begin.performer);
    }
    expect(chosen).toEqual(['a', 'a', 'a', 'b', 'b', 'b', 'a']);
  });

  it('given no performer at all, then nothing begins and nothing wakes', () => {
    const story = new Story({ performers: [] });
    expect(next(story.state, story.now, self)).toEqual({ effects: [] });
  });
});

describe('parallel iterations', () => {
  const two = (): Story => {
    const story = new Story({ parallel: 2, worktreePerTask: true, checks: ['x'] }, [spec('A'), spec('B'), spec('C')]);
    expect(story.effectKeys()).toEqual(['begin:A', 'begin:B']);
    story.begin('A');
    story.begin('B');
    return story;
  };

  it('given two ready tasks and room for two, then two are live and no third begins', () => {
    const story = two();
    expect(story.state.live.map(one => [one.iteration, one.task])).toEqual([
      [1, 'A'],
      [2, 'B'],
    ]);
    expect(story.effectKeys()).toEqual(['perform:1', 'perform:2']);
    expect(story.begin('C')).toEqual([]);
  });

  it('given forks that are to be saved, then another task begins meanwhile, and not one of those; a person’s checkpoint comes first', () => {
    const settings = { parallel: 3, worktreePerTask: true, checks: ['x'], checkpoints: true };
    const story = new Story(settings, [spec('A'), spec('B'), spec('C'), spec('D')]);
    for (const task of ['A', 'B', 'C']) story.begin(task);
    story.performed(says('not yet'), 1);
    story.performed(claims('B'), 2);
    expect(story.effectKeys()).toEqual(['perform:3', 'checkpoint:2']);
    story.checkpointed('cp-1');
    expect(story.effectKeys()).toEqual(['perform:3', 'checkpoint:3', 'begin:A']);
    story.command({ type: 'checkpoint', label: 'mine' });
    expect(story.effectKeys()).toEqual(['perform:3', 'checkpoint:3']);
  });

  it('given one stop, then both performs drop out, both end interrupted, and then the loop ends as asked', () => {
    const story = two();
    story.command({ type: 'stop' });
    expect(story.effectKeys()).toEqual(['abandon:1', 'abandon:2']);
    const stopped = failed('stopped', 'explicit_stop');
    expect(only(story.performed(stopped, 1), 'iteration.ended').outcome).toBe('interrupted');
    expect(story.effectKeys()).toEqual(['abandon:2']);
    expect(story.when({ type: 'end' })).toEqual([]);
    expect(only(story.performed(stopped, 2), 'iteration.ended').outcome).toBe('interrupted');
    expect(story.effectKeys()).toEqual(['end']);
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('explicit_stop');
    expect(story.state.iterations.begun).toBe(2);
    expect(['A', 'B'].map(id => story.task(id).status)).toEqual(['pending', 'pending']);
  });

  it('given that the second ends first, then its claim is checked while the first works; once it waits for its merge, a third begins', () => {
    const story = two();
    story.after(second).performed(claims('B'), 2);
    expect(story.effectKeys()).toEqual(['perform:1', 'check:2']);
    story.checked(true, 2);
    expect(story.effectKeys()).toEqual(['perform:1', 'merge:2', 'begin:C']);
    story.when({ type: 'merged', iteration: 2, merged: true, detail: '' });
    story.saved();
    expect(story.effectKeys()).toEqual(['perform:1', 'begin:C']);
    expect(story.state.spend.activeMs).toBe(second);
  });

  it('given work that waits for its merge, then its place is the next task’s, until as many wait as may work', () => {
    const settings = { parallel: 1, worktreePerTask: true, checks: ['x'] };
    const story = new Story(settings, [spec('A'), spec('B'), spec('C')]);
    const passed = [{ name: 'x', passed: true, detail: '', durationMs: 1 }];
    story.begin('A');
    story.performed(claims('A'), 1);
    expect(story.effectKeys()).toEqual(['check:1']);
    story.when({ type: 'checked', iteration: 1, outcomes: passed });
    expect(story.effectKeys()).toEqual(['merge:1', 'begin:B']);
    story.begin('B');
    story.performed(claims('B'), 2);
    story.when({ type: 'checked', iteration: 2, outcomes: passed });
    expect(story.effectKeys()).toEqual(['merge:1']);
    expect(story.begin('C')).toEqual([]);
  });

  it('given the iteration limit, then no more begin than are left', () => {
    const story = new Story({ parallel: 3, limits: { iterationsMax: 2 } }, [spec('A'), spec('B'), spec('C')]);
    expect(story.effectKeys()).toEqual(['begin:A', 'begin:B']);
  });
});

describe('what the loop waits for', () => {
  const what = (story: Story) => waitingFor(story.state, story.now);

  it('given work to do, then nothing', () => {
    expect(what(new Story())).toBeUndefined();
  });

  it('given a pause, a backoff, a reset, a rest or a human, then that, and until when', () => {
    const paused = new Story();
    paused.command({ type: 'pause', now: false });
    expect(what(paused)).toEqual({ kind: 'pause', what: 'paused by ada' });
    const backing = new Story();
    backing.iteration('A', failed('process'));
    expect(what(backing)).toEqual({ kind: 'backoff', what: 'backoff', until: backing.now + second });
    const limited = new Story();
    limited.iteration('A', failed('rate-limit'));
    expect(what(limited)).toEqual({
      kind: 'limit-reset',
      what: 'the limit of agent to be reset',
      until: limited.now + minute,
    });
    const resting = new Story({}, [spec('A')]);
    resting.given({ type: 'performer.tripped', at: t0, performer: 'agent', until: t0 + minute, because: '' });
    expect(what(resting)).toEqual({ kind: 'rest', what: 'agent, which rests after failures', until: t0 + minute });
    const asking = new Story();
    asking.iteration('A', failed('auth'));
    expect(what(asking)).toEqual({ kind: 'human', what: 'you' });
  });

  it('given a question about one task and another that is ready, then it does not wait', () => {
    const story = new Story();
    story.iteration('A', says('<escalate type="stuck">\n<summary>s</summary>\n</escalate>'));
    expect(what(story)).toBeUndefined();
  });

  it('given live work or an end, then nothing', () => {
    const story = new Story({}, [spec('A')]);
    story.command({ type: 'pause', now: false });
    story.given({
      type: 'iteration.started',
      at: t0,
      iteration: 1,
      task: 'A',
      performer: 'agent',
      holder: self,
      attempt: 1,
      because: '',
    });
    expect(what(story)).toBeUndefined();
  });
});

describe('every claim failed', () => {
  it('given that each open task’s last claim failed its check, then yes; given one without, then no', () => {
    const story = new Story({ checks: ['x'], limits: { attemptsPerTaskMax: 1 } });
    expect(everyClaimFailed(story.state)).toBe(false);
    story.iteration('A', claims('A'));
    story.checked(false);
    expect(everyClaimFailed(story.state)).toBe(false);
    story.iteration('B', claims('B'));
    story.checked(false);
    expect(everyClaimFailed(story.state)).toBe(true);
  });

  it('given nothing open, then no', () => {
    expect(everyClaimFailed(new Story({}, [spec('A', { done: true })]).state)).toBe(false);
  });
});

it('given money used up while a claim is unchecked, then the claim is checked and nothing begins', () => {
  const story = new Story({ checks: ['x'], limits: { costUsdMicrosMax: 1_000_000 } });
  story.iteration('A', { ...claims('A'), usage: usd(2) });
  expect(story.effectKeys()).toEqual(['check:1']);
  expect(types(story.checked(true))).toContain('task.closed');
  story.saved();
  expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('budget_exhausted');
});

describe('what a loop waits for', () => {
  it('is a human when the only task waits for an answer, although the agent also rests after its failures', () => {
    const story = new Story({}, [spec('A')]);
    for (let attempt = 1; attempt <= 3; attempt++) {
      story.iteration('A', failed('spawn', 'exit code 127: no-such-program: not found'));
      story.after(minute / 2);
    }
    expect(story.events.map(one => one.type)).toContain('performer.tripped');
    expect(story.state.questions.open.map(one => one.kind)).toEqual(['agent']);
    expect(waitingFor(story.state, story.now)).toEqual({ kind: 'human', what: 'you' });
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
