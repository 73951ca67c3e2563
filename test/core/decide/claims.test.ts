// Proves that done is never just said: claim, check, close; and what becomes of every claim that is not believed.
import { describe, expect, it } from 'vitest';
import { claims, failed, minute, only, Story, says, spec, types } from '../given.ts';

const checks = ['npm test'];
const promise = '<promise>DONE</promise>';
const escalate = '<escalate type="stuck">\n<summary>no key</summary>\n<question>which key?</question>\n</escalate>';

describe('claim, check, close', () => {
  it('given a check, when the agent claims, then the task is not closed before the check passed', () => {
    const story = new Story({ checks }, [spec('A')]);
    expect(types(story.iteration('A', claims('A')))).toEqual(['iteration.ended', 'signal.read']);
    expect(story.task('A').status).toBe('active');
    expect(story.effectKeys()).toEqual(['check:1']);
    const events = story.checked(true);
    expect(types(events)).toEqual(['check.ended', 'task.closed']);
    expect(only(events, 'task.closed')).toMatchObject({ task: 'A', iteration: 1, verified: true });
    expect(story.task('A')).toMatchObject({ status: 'done', verified: true });
  });

  it('given a check that fails, then the claim is refused, the task is open, and the reason waits for the next prompt', () => {
    const story = new Story({ checks }, [spec('A')]);
    story.iteration('A', claims('A'));
    const events = story.checked(false);
    expect(types(events)).toEqual(['check.ended']);
    expect(story.task('A')).toMatchObject({ status: 'pending', claimFailed: true, attempts: 1 });
    expect(story.task('A').rejection).toBe('the claim was refused: the check "npm test" failed\n2 tests failed');
    expect(story.effectKeys()).toEqual(['save:A']);
    story.saved();
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it('given a claim after a refused one, then the old reason is gone once the new claim is read', () => {
    const story = new Story({ checks }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.checked(false);
    story.iteration('A', claims('A'));
    expect(story.task('A').rejection).toBeUndefined();
    story.checked(true);
    expect(story.task('A')).toMatchObject({ status: 'done', claimFailed: false, attempts: 2 });
  });

  it('given two checks, then the first that fails ends it, and both must pass', () => {
    const outcome = (name: string, passed: boolean) => ({ name, passed, detail: '', durationMs: 1 });
    const story = new Story({ checks: ['one', 'two'] }, [spec('A')]);
    story.iteration('A', claims('A'));
    const refused = story.when({
      type: 'checked',
      iteration: 1,
      outcomes: [outcome('one', true), outcome('two', false)],
    });
    expect(types(refused)).toEqual(['check.ended', 'check.ended']);
    story.iteration('A', claims('A'));
    const closed = story.when({
      type: 'checked',
      iteration: 2,
      outcomes: [outcome('one', true), outcome('two', true)],
    });
    expect(closed.map(one => (one.type === 'check.ended' ? one.remaining : one.type))).toEqual([1, 0, 'task.closed']);
  });

  it('given a check that did not run, then it proves nothing', () => {
    const story = new Story({ checks: ['one', 'two'] }, [spec('A')]);
    story.iteration('A', claims('A'));
    const one = { name: 'one', passed: true, detail: '', durationMs: 1 };
    const events = story.when({ type: 'checked', iteration: 1, outcomes: [one] });
    expect(events).toMatchObject([{ passed: true }, { check: 'two', passed: false, detail: 'It did not run.' }]);
    expect(story.task('A').status).toBe('pending');
  });

  it('given that the checks were taken away after the claim, then it is closed but not called proven', () => {
    const story = new Story({ checks }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.command({ type: 'limits', limits: {}, settings: { checks: [] } });
    expect(only(story.when({ type: 'checked', iteration: 1, outcomes: [] }), 'task.closed').verified).toBe(false);
  });

  it('given no check, then a claim closes the task as unverified, at once, and says so', () => {
    const story = new Story({}, [spec('A')]);
    const events = story.iteration('A', claims('A'));
    expect(types(events)).toEqual(['iteration.ended', 'signal.read', 'task.closed']);
    expect(only(events, 'task.closed')).toMatchObject({
      verified: false,
      because: expect.stringContaining('unverified'),
    });
    expect(story.state.claims.open).toEqual([]);
    expect(story.state.tasks.unverified).toBe(1);
  });

  it('given a fork, then a checked claim is merged before it is closed, and a failed merge opens the task again', () => {
    const story = new Story({ checks, worktreePerTask: true }, [spec('A')]);
    story.iteration('A', claims('A'));
    expect(types(story.checked(true))).toEqual(['check.ended']);
    expect(story.effectKeys()).toEqual(['merge:1']);
    expect(types(story.when({ type: 'merged', iteration: 1, merged: false, detail: 'conflict in a.ts' }))).toEqual([
      'merge.ended',
    ]);
    expect(story.task('A')).toMatchObject({
      status: 'pending',
      claimFailed: false,
      rejection: expect.stringContaining('conflict in a.ts'),
    });
    story.iteration('A', claims('A'));
    story.checked(true);
    const events = story.when({ type: 'merged', iteration: 2, merged: true, detail: '' });
    expect(only(events, 'task.closed').verified).toBe(true);
  });

  it('given an answer of a check for an iteration that has no claim, then nothing happens', () => {
    const story = new Story({ checks }, [spec('A')]);
    expect(story.checked(true, 7)).toEqual([]);
    expect(story.when({ type: 'merged', iteration: 7, merged: true, detail: '' })).toEqual([]);
    story.iteration('A', claims('A'));
    story.checked(true);
    expect(story.checked(true)).toEqual([]);
  });
});

describe('claims that are not believed', () => {
  it('given another task’s name, then it is refused and the next prompt will say so', () => {
    const story = new Story({ checks }, [spec('US-1'), spec('US-2')]);
    const events = story.iteration('US-1', claims('US-2'));
    expect(only(events, 'signal.read')).toMatchObject({ signal: 'done', text: 'US-2', accepted: false });
    expect(story.state.memory.lastRejection).toContain('task is US-1');
    expect(story.task('US-2').status).toBe('pending');
    expect(story.state.claims.open).toEqual([]);
  });

  it('given a failed agent that claims, then what it said does not count', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', { ...claims('A'), failure: { kind: 'process', detail: 'exit code 1' } });
    expect(only(events, 'signal.read').accepted).toBe(false);
    expect(story.state.claims.open).toEqual([]);
  });

  it('given an iteration that we stopped, then its claim is not even read', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', { ...claims('A'), failure: { kind: 'stopped', detail: 'ralph stop' } });
    expect(types(events)).toEqual(['iteration.ended']);
    expect(only(events, 'iteration.ended').outcome).toBe('interrupted');
  });

  it('given a status edited by the agent, then that is a claim to be checked (B40)', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', says('finished', { statusEdits: ['A'] }));
    expect(only(events, 'signal.read')).toMatchObject({ signal: 'status-edit', accepted: true });
    expect(story.effectKeys()).toEqual(['check:1']);
  });

  it('given a status edited by an agent that then failed, then it is refused and the document is put back', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', { ...failed('process'), statusEdits: ['A'] });
    expect(only(events, 'signal.read')).toMatchObject({ signal: 'status-edit', accepted: false });
    expect(story.state.document.unsaved).toEqual(['A']);
  });
});

describe('the promise', () => {
  it('given open tasks, then it is refused with their names (F76), and the reason stands until an iteration has read it', () => {
    const story = new Story({ checks });
    const events = story.iteration('A', says(`all done\n\n${promise}`));
    const because = 'the promise DONE was refused: 2 tasks still open (A, B)';
    expect(only(events, 'signal.read')).toMatchObject({ signal: 'promise', accepted: false, because });
    expect(story.state.memory.lastRejection).toBe(because);
    story.begin('A');
    expect(story.state.memory.lastRejection).toBe(because);
    story.performed(failed('stopped', 'a crash'));
    expect(story.state.memory.lastRejection).toBe(because);
    story.iteration('A', says('I see'));
    expect(story.state.memory.lastRejection).toBeUndefined();
  });

  it('given the claim of the last open task beside it, then both are read', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', says(`Task A complete\n\n${promise}`));
    const read = events.flatMap(one => (one.type === 'signal.read' ? [`${one.signal} ${one.accepted}`] : []));
    expect(read).toEqual(['promise true', 'done true']);
  });

  it('given the claim of one task and another still open, then the promise is refused and names only the other', () => {
    const story = new Story({ checks });
    const events = story.iteration('A', says(`Task A complete\n\n${promise}`));
    const refused = events.find(one => one.type === 'signal.read' && !one.accepted);
    expect(refused).toMatchObject({ signal: 'promise', because: expect.stringMatching(/1 task still open \(B\)/) });
    expect(story.effectKeys()).toContain('check:1');
  });

  it('given a promise alone on the last open task, then it closes nothing', () => {
    const story = new Story({ checks }, [spec('A')]);
    story.iteration('A', says(promise));
    expect(story.state.claims.open).toEqual([]);
    expect(story.task('A').status).toBe('pending');
  });

  it('given more than five open tasks, then five are named', () => {
    const story = new Story(
      { checks },
      ['A', 'B', 'C', 'D', 'E', 'F', 'G'].map(id => spec(id)),
    );
    story.iteration('A', says(promise));
    expect(story.state.memory.lastRejection).toContain('7 tasks still open (A, B, C, D, E, …)');
  });

  it('given something that only resembles it, then the next prompt says what it must be', () => {
    const story = new Story({ checks });
    story.iteration('A', says('<promise>done</promise>'));
    expect(story.state.memory.lastRejection).toContain('<promise>DONE</promise>');
  });

  it('given another promise in the settings, then that one counts', () => {
    const story = new Story({ promise: 'LOOP_COMPLETE' }, [spec('A', { done: true }), spec('B')]);
    story.iteration('B', says('Task B complete\n<promise>LOOP_COMPLETE</promise>'));
    expect(story.state.memory.lastRejection).toBeUndefined();
    expect(story.task('B').status).toBe('done');
  });

  it('given an escalation beside claim and promise, then the escalation beats both', () => {
    const story = new Story({ checks }, [spec('A')]);
    const events = story.iteration('A', says(`Task A complete\n${escalate}\n${promise}`));
    expect(types(events)).toEqual(['iteration.ended', 'escalation.raised']);
    expect(only(events, 'iteration.ended').outcome).toBe('escalated');
    expect(story.task('A')).toMatchObject({ status: 'pending', openQuestion: 'E1', escalations: 1 });
  });
});

describe('attempts', () => {
  const refusedOften = (times: number, attemptsPerTaskMax = 3): Story => {
    const story = new Story({ checks, limits: { attemptsPerTaskMax, noProgressIterations: 99 } });
    for (let n = 0; n < times; n += 1) {
      story.iteration('A', claims('A'));
      story.checked(false);
    }
    return story;
  };

  it('given the last allowed attempt refused, then the task is blocked and the others go on', () => {
    expect(refusedOften(2).task('A').status).toBe('pending');
    const story = refusedOften(3);
    expect(only(story.events, 'task.blocked').because).toContain('3 attempts without a proven result, 3 allowed');
    expect(story.task('A').status).toBe('blocked');
    story.saved();
    expect(story.effectKeys()).toEqual(['begin:B']);
  });

  it('given attempts without a claim, then they count too', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 2 } });
    expect(types(story.iteration('A', says('hm')))).toEqual(['iteration.ended']);
    expect(types(story.iteration('A', says('hm again, quite different')))).toContain('task.blocked');
  });

  it('given interruptions and provider trouble, then they do not count as attempts', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 2 } }, [spec('A')]);
    for (const kind of ['stopped', 'rate-limit', 'overloaded', 'connection', 'stopped'] as const) {
      expect(types(story.iteration('A', failed(kind)))).not.toContain('task.blocked');
      story.after(minute);
    }
    expect(story.task('A')).toMatchObject({ attempts: 0, status: 'pending' });
    expect(story.state).toMatchObject({ streaks: { sinceProgress: 0, errors: 0 }, iterations: { begun: 5 } });
  });

  it('given more questions about a task than allowed, then it is blocked instead of asked again', () => {
    const story = new Story({ limits: { escalationsPerTaskMax: 1 } }, [spec('A')]);
    story.iteration('A', says(escalate));
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(types(story.iteration('A', says(escalate)))).toEqual(['iteration.ended', 'task.blocked']);
  });
});
