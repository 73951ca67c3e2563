// The same error again and again: as a failure, as the output of a check, or printed with exit 0, a person is asked, and
// the answer starts the count anew.
import { describe, expect, it } from 'vitest';
import { findTask } from '../../../src/core/task.ts';
import { claims, failed, only, Story, says, spec, types } from '../given.ts';

const three = { sameErrorsToEscalate: 3 };

const refusedBy = (story: Story, detail: string) => {
  story.iteration('A', claims('A'));
  const outcome = { name: 'npm test', passed: false, detail, durationMs: 1 };
  const events = story.when({ type: 'checked', iteration: story.state.iterations.begun, outcomes: [outcome] });
  story.saved();
  return events;
};

describe('the same error', () => {
  it('given three failures and an answer, then the next three may happen before anything ends or asks', () => {
    const story = new Story(three, [spec('A')]);
    for (let at = 0; at < 3; at += 1) story.after(60_000).iteration('A', failed('process', 'no such module'));
    expect(story.state.questions.open).toMatchObject([{ kind: 'stuck', subjects: ['same-error'] }]);
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(story.state.streaks).toMatchObject({ errors: 0, sameErrors: 0 });
    for (let at = 0; at < 2; at += 1) story.after(60_000).iteration('A', failed('process', 'no such module'));
    expect(story.effectKeys()).not.toContain('end');
    expect(story.state.questions.open).toEqual([]);
  });

  it('given a failure that is asked about or blocks the task, then nothing waits for a next try, and the error is said once', () => {
    const story = new Story(three);
    const waits = [1, 2, 3].map(() =>
      only(story.iteration('A', failed('process', 'segfault at 0x0')), 'iteration.ended'),
    );
    expect(waits.map(one => one.waitFor)).toEqual(['backoff', 'backoff', undefined]);
    expect(story.effectKeys()).toContain('begin:B');
    expect(waits[2]?.repetition?.detail).toBe('the same error 3 times in a row');
    const last = new Story({ limits: { attemptsPerTaskMax: 1 } });
    expect(only(last.iteration('A', failed('process')), 'iteration.ended').waitUntil).toBeUndefined();
    expect(last.effectKeys()).toContain('begin:B');
  });

  it('given a check that prints the same three times, whatever the times and numbers in it, then a person is asked', () => {
    const story = new Story({ ...three, checks: ['npm test'] }, [spec('A')]);
    refusedBy(story, 'cart.test.js: expected 2 but got 3 (12 ms)');
    refusedBy(story, 'cart.test.js: expected 2 but got 3 (19 ms)');
    const asked = refusedBy(story, 'cart.test.js: expected 2 but got 3 (7 ms)');
    expect(only(asked, 'escalation.raised').escalation).toMatchObject({
      kind: 'stuck',
      task: 'A',
      subjects: ['same-error'],
    });
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'text', text: 'mind the tax' } });
    expect(types(refusedBy(story, 'cart.test.js: expected 2 but got 3 (7 ms)'))).not.toContain('escalation.raised');
  });

  it('given a check that prints forty lines, then the question shows the last fifteen, and says where the rest is', () => {
    const story = new Story({ ...three, checks: ['npm test'] }, [spec('A')]);
    const output = Array.from({ length: 40 }, (_, at) => `line ${at} is wrong`).join('\n');
    for (let at = 0; at < 3; at += 1) refusedBy(story, output);
    const lines = story.state.questions.open[0]?.context.split('\n') ?? [];
    expect([lines.length, lines[0], lines[1], lines.at(-1)]).toEqual([
      16,
      '(the last 15 lines; more: ralph task show A)',
      'line 25 is wrong',
      'line 39 is wrong',
    ]);
  });

  it('given a check that prints something else in between, then nobody is asked', () => {
    const story = new Story({ ...three, checks: ['npm test'] }, [spec('A')]);
    for (const word of ['cart', 'tax', 'cart']) refusedBy(story, `${word} is wrong`);
    expect(story.state.questions.open).toEqual([]);
  });

  it('given an agent that prints it and exits with 0, then a person is asked; words that are no error are not', () => {
    const story = new Story(three, [spec('A')]);
    for (let at = 0; at < 3; at += 1) story.iteration('A', says('API Error: 529 overloaded'));
    expect(story.state.questions.open).toMatchObject([
      { kind: 'stuck', task: 'A', summary: 'The same error 3 times in a row' },
    ]);
    const quiet = new Story(three, [spec('A')]);
    for (let at = 0; at < 3; at += 1) quiet.iteration('A', says('I looked around.'));
    expect(quiet.state.questions.open).toEqual([]);
  });

  it('given an iteration that ends well after three errors, then that is no handoff for errors', () => {
    const story = new Story({}, [spec('A')]);
    for (let at = 0; at < 3; at += 1)
      story.after(60_000).iteration('A', failed('unknown', `no such module ${'abc'[at]}`));
    expect(
      only(story.after(60_000).iteration('A', says('half of it is done')), 'iteration.ended').handoff,
    ).toBeUndefined();
  });
});

it('given --new, then the loop before it is ended with its questions closed, but for an effect that may have happened', () => {
  const story = new Story({}, [spec('A')]);
  story.iteration('A', says('<escalate>\ntype: stuck\nsummary: which?\nquestion: Which?\n</escalate>'));
  const events = story.command({ type: 'stop', replacedBy: 'shop-2' });
  expect(types(events).at(-1)).toBe('stop.asked');
  expect(story.state.questions.open).toEqual([]);
});

describe('an error in words that nobody knows, before any work', () => {
  it('rests and is tried again three times before it counts as an attempt or an error', () => {
    const story = new Story(three, [spec('A')]);
    for (let at = 0; at < 3; at += 1) {
      const events = story.after(60_000).iteration('A', failed('unknown', 'X77'));
      expect(only(events, 'iteration.ended')).toMatchObject({ waitFor: 'backoff', failure: { rests: true } });
    }
    expect(story.state.streaks).toMatchObject({ errors: 0, failures: 3 });
    expect(findTask(story.state.tasks, 'A')?.attempts).toBe(0);
    story.after(60_000).iteration('A', failed('unknown', 'X77'));
    expect(story.state.streaks).toMatchObject({ errors: 1 });
    expect(findTask(story.state.tasks, 'A')?.attempts).toBe(1);
  });

  it('counts at once when it used tools or said something', () => {
    const story = new Story(three, [spec('A')]);
    story.iteration('A', { ...failed('unknown', 'X77'), toolCalls: 2 });
    expect(story.state.streaks.errors).toBe(1);
  });

  it('an end by somebody else is no error, waits a little and is no attempt; one without a word names what to type', () => {
    const story = new Story(three, [spec('A')]);
    const stopped = { message: '', failure: { kind: 'stopped', detail: 'exit code 143', byOthers: true } } as const;
    expect(only(story.iteration('A', stopped), 'iteration.ended')).toMatchObject({
      outcome: 'interrupted',
      waitFor: 'backoff',
    });
    expect(story.state.streaks.errors).toBe(0);
    const silent = { message: '', failure: { kind: 'process', detail: 'exit code 1', silent: true } } as const;
    expect(only(story.after(60_000).iteration('A', silent), 'iteration.ended').because).toContain('ralph agents test ');
  });
});

it('F92: a night without a network rests and goes on; no task and no limit of errors pays for it', () => {
  const story = new Story(three, [spec('A')]);
  const back = story.now + 8 * 3_600_000;
  let tries = 0;
  for (; story.now < back; tries += 1) {
    story.iteration('A', failed('connection', 'fetch failed'));
    for (
      let at = story.wakeAt();
      at !== undefined && !story.effectKeys().some(key => key.startsWith('begin'));
      at = story.wakeAt()
    )
      story.after(Math.max(1, at - story.now));
  }
  expect(tries).toBeGreaterThan(5);
  expect(story.state.questions.open).toEqual([]);
  expect(story.state.control.ended).toBeUndefined();
  expect(findTask(story.state.tasks, 'A')).toMatchObject({ status: 'pending', attempts: 0 });
  story.iteration('A', claims('A'));
  expect(story.state.streaks).toMatchObject({ errors: 0, failures: 0 });
});
