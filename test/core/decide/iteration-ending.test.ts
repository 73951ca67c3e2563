// Proves what the end of an iteration means: outcomes, waits, repetition, identical errors, and usage as a running total.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import type { FailureKind } from '../../../src/core/failure.ts';
import type { Performed } from '../../../src/core/input.ts';
import { noUsage } from '../../../src/core/state.ts';
import type { TaskSpec } from '../../../src/core/task.ts';
import {
  claims,
  failed,
  minute,
  only,
  type SettingsPart,
  Story,
  says,
  second,
  spec,
  t0,
  types,
  usd,
  withParts,
} from '../given.ts';

describe('beginning', () => {
  it('given a ready task, then the iteration says why it was chosen, who does it and which attempt it is', () => {
    const story = new Story({}, [spec('A', { done: true }), spec('B', { dependsOn: ['A'] })]);
    expect(story.begin('B')).toEqual([
      {
        type: 'iteration.started',
        at: t0,
        iteration: 1,
        task: 'B',
        performer: 'agent',
        holder: 'holder-1',
        attempt: 1,
        because: 'next in order, after A; attempt 1 of 5',
      },
    ]);
    expect(story.task('B')).toMatchObject({ status: 'active', attempts: 1 });
  });

  it.each<[string, (story: Story) => void, string]>([
    ['one is live already', story => story.begin('A'), 'B'],
    ['a claim is unchecked', story => story.iteration('A', claims('A')), 'B'],
    ['the loop is paused', story => story.command({ type: 'pause', now: false }), 'A'],
    ['a stop was asked', story => story.command({ type: 'stop' }), 'A'],
    ['the task waits for another', () => {}, 'C'],
    ['there is no such task', () => {}, 'ghost'],
    ['the deadline passed', story => story.after(60 * minute), 'A'],
  ])('given that %s between the plan and now, then nothing begins', (_name, before, task) => {
    const limits = { deadlineAt: t0 + 60 * minute };
    const story = new Story({ checks: ['x'], limits }, [spec('A'), spec('B'), spec('C', { dependsOn: ['B'] })]);
    before(story);
    expect(story.begin(task)).toEqual([]);
  });

  it('given facts about an iteration that is not live, then they are ignored', () => {
    const story = new Story();
    const usage = usd(1);
    expect(story.when({ type: 'spawned', iteration: 9, pid: 1, startTime: '1', host: 'h' })).toEqual([]);
    expect(story.when({ type: 'heard', iteration: 9, quietMs: 0 })).toEqual([]);
    expect(story.when({ type: 'usage', iteration: 9, usage })).toEqual([]);
    expect(story.when({ type: 'nudged', iteration: 9, level: 'nudge' })).toEqual([]);
    expect(story.performed(says('x'), 9)).toEqual([]);
    expect(story.when({ type: 'recovered', iteration: 9, holder: 'x', chance: 0 })).toEqual([]);
  });
});

describe('the end of an iteration', () => {
  it('given a message, then its end is kept, 500 characters without control sequences', () => {
    const story = new Story({}, [spec('A')]);
    const ended = only(story.iteration('A', says(`${'x'.repeat(900)}\u001b[31mred\u001b[0m end `)), 'iteration.ended');
    expect(ended.excerpt).toHaveLength(500);
    expect(ended.excerpt.endsWith('red end')).toBe(true);
    expect(ended).toMatchObject({ outcome: 'succeeded', durationMs: second, task: 'A', performer: 'agent' });
    expect(ended.because).toBe('the agent ended after 1s without claiming the task');
  });

  it('given outputs that repeat or alternate, then that is said', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 99 } }, [spec('A')]);
    const a = 'I looked at the parser and could not find what makes it fail on empty input, so I stop here';
    expect(only(story.iteration('A', says(a)), 'iteration.ended').repetition).toBeUndefined();
    expect(only(story.iteration('A', says(`${a}.`)), 'iteration.ended').repetition?.kind).toBe('similar');
    expect(story.state.memory.repetition?.kind).toBe('similar');
    story.iteration('A', says('something else altogether: the build file has a wrong path in it and nothing compiles'));
    expect(story.state.memory.repetition).toBeUndefined();
  });

  it('given a clock that stepped back, then no duration is negative (F53)', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    story.after(-60 * minute);
    expect(only(story.performed(says('x')), 'iteration.ended').durationMs).toBe(0);
    expect(story.state.spend.activeMs).toBe(0);
  });
});

describe('waits', () => {
  it('given a rate limit with a time of reset, then the loop waits until then, alone, and it is no error (F54)', () => {
    const story = new Story({}, [spec('A')]);
    const resetAtMs = t0 + 300 * minute;
    const performed = { message: '', failure: { kind: 'rate-limit' as const, detail: 'limit', resetAtMs } };
    expect(only(story.iteration('A', performed), 'iteration.ended')).toMatchObject({
      waitUntil: resetAtMs,
      waitFor: 'limit-reset',
    });
    expect(story.state).toMatchObject({ streaks: { errors: 0, sameErrors: 0 } });
    expect(story.effectKeys()).toEqual([]);
    expect(story.wakeAt()).toBe(resetAtMs);
    story.now = resetAtMs;
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it.each([undefined, t0 - minute])(
    'given a rate limit whose reset is %s, then the longest backoff is waited',
    resetAtMs => {
      const story = new Story({}, [spec('A')]);
      const failure = {
        kind: 'rate-limit' as const,
        detail: 'limit',
        ...(resetAtMs === undefined ? {} : { resetAtMs }),
      };
      const ended = only(story.iteration('A', { message: '', failure }), 'iteration.ended');
      expect(ended.waitUntil).toBe(story.now + minute);
    },
  );

  it.each([
    ['auth', 'agent: login needed'],
    ['billing', 'agent: its account has no credit'],
    ['model', 'agent: its provider does not know the model'],
    ['permission', 'agent cannot work: permission'],
  ] as const)('given %s, then a human is asked, nothing waits and nothing begins (F56)', (kind, summary) => {
    const story = new Story({});
    const events = story.iteration('A', failed(kind));
    expect(only(events, 'iteration.ended').waitUntil).toBeUndefined();
    expect(only(events, 'escalation.raised').escalation).toMatchObject({
      kind: 'agent',
      summary,
    });
    expect(story.effectKeys()).toEqual(['ask:E1']);
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 1 } });
    expect(story.effectKeys()).toEqual(['begin:A']);
  });
});

describe('identical errors', () => {
  const fail = (story: Story, detail: string) => story.iteration('A', failed('process', detail));

  it('given three that differ only in times and ids, then the third asks a human', () => {
    const story = new Story({}, [spec('A')]);
    expect(types(fail(story, 'run 9fceb02d0a: cannot find module x at 10:01'))).toEqual(['iteration.ended']);
    expect(types(fail(story, 'run 17aa02d0ff: cannot find module x at 10:02'))).toEqual(['iteration.ended']);
    const third = fail(story, 'run 5be302d0c1: cannot find module x at 11:59');
    expect(types(third)).toEqual(['iteration.ended', 'escalation.raised']);
    expect(only(third, 'escalation.raised')).toMatchObject({
      because: '3 identical errors, 3 allowed (--stuck-threshold)',
      escalation: { kind: 'stuck', task: 'A', options: [{ id: 'try-again' }, { id: 'leave-out' }] },
    });
    expect(story.effectKeys()).toEqual(['ask:E1']);
  });

  it('given another error or a success between, then the count begins again', () => {
    const limits = { attemptsPerTaskMax: 99, noProgressIterations: 99, consecutiveErrorsMax: 99 };
    const story = new Story({ limits }, [spec('A')]);
    fail(story, 'cannot find module');
    fail(story, 'cannot find module');
    fail(story, 'syntax error');
    expect(types(fail(story, 'cannot find module'))).toEqual(['iteration.ended']);
    fail(story, 'cannot find module');
    story.iteration('A', says('better'));
    expect(types(fail(story, 'cannot find module'))).toEqual(['iteration.ended']);
  });

  it('given an agent that does not start thrice, then the question is about the agent, not about a task', () => {
    const story = new Story();
    for (let n = 0; n < 3; n += 1) story.iteration('A', failed('spawn', 'exit code 127: no such program'));
    const { escalation } = only(story.events, 'escalation.raised');
    expect(escalation).toMatchObject({ kind: 'agent', summary: 'agent: the agent does not start' });
    expect(escalation.task).toBeUndefined();
    expect(story.effectKeys()).toEqual(['ask:E1']);
  });

  it('given more such questions about a task than allowed, then it is blocked', () => {
    const limits = {
      escalationsPerTaskMax: 1,
      consecutiveErrorsMax: 99,
      attemptsPerTaskMax: 99,
      noProgressIterations: 99,
    };
    const story = new Story({ limits }, [spec('A')]);
    for (let n = 0; n < 3; n += 1) fail(story, 'same');
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    fail(story, 'same');
    fail(story, 'same');
    expect(types(fail(story, 'same'))).toEqual(['iteration.ended', 'task.blocked']);
  });

  it('given errors without words, then they are identical too', () => {
    const story = new Story({}, [spec('A')]);
    fail(story, '');
    fail(story, '');
    expect(types(fail(story, ''))).toContain('escalation.raised');
  });

  it('given an answer, then the count starts anew', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 99, consecutiveErrorsMax: 99 } }, [spec('A')]);
    for (let n = 0; n < 3; n += 1) fail(story, 'same');
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(types(fail(story, 'same'))).toEqual(['iteration.ended']);
    expect(story.state.streaks.errors).toBe(1);
  });

  it('given a mode without that threshold, then the third hands off and moves on to the next performer', () => {
    const story = new Story({ sameErrorsToEscalate: null, performers: ['agent', 'other'] }, [spec('A')]);
    fail(story, 'same');
    fail(story, 'same');
    expect(only(fail(story, 'same'), 'iteration.ended').handoff).toBe('error_threshold');
    story.after(minute);
    expect(story.effects()).toMatchObject([{ type: 'begin', performer: 'other' }]);
  });
});

describe('what follows from a failure', () => {
  const many = { noProgressIterations: 99, consecutiveErrorsMax: 99 };
  const reviewer = { completion: 'findings', round: 1, role: 'x' } as const;
  const action = { performer: 'agent' };
  const enough = { errors: 9, sameErrors: 9, lastError: 'same', failedStarts: 9 };

  /** Of what the end leads to: the kind of question, or what becomes of the task. */
  const follows = (events: readonly Event[]): string =>
    events
      .filter(event => !['iteration.ended', 'performer.tripped'].includes(event.type))
      .map(event => (event.type === 'escalation.raised' ? `asks: ${event.escalation.kind}` : event.type))
      .join(', ') || 'tried again';

  it.each<[FailureKind, string, SettingsPart, Partial<TaskSpec>, string]>([
    [
      'lost-reply',
      'of an action, even the last attempt',
      { limits: { attemptsPerTaskMax: 1 } },
      action,
      'asks: effect',
    ],
    ['invalid', 'of an action', {}, action, 'task.blocked'],
    ['auth', 'of an agent', {}, {}, 'asks: agent'],
    ['permission', 'even when it is the same error again', { sameErrorsToEscalate: 3 }, {}, 'asks: agent'],
    ['spawn', 'when nobody else can work', {}, {}, 'asks: agent'],
    ['no-start', 'when nobody else can work', {}, {}, 'asks: agent'],
    ['spawn', 'when another can', { performers: ['agent', 'other'] }, {}, 'tried again'],
    ['process', 'in a review, too often', { mode: 'review', limits: { consecutiveErrorsMax: 5 } }, {}, 'asks: stuck'],
    ['process', 'the same too often', { sameErrorsToEscalate: 3 }, {}, 'asks: stuck'],
    ['process', 'without that threshold', { sameErrorsToEscalate: null }, {}, 'tried again'],
    [
      'process',
      'the last attempt',
      { limits: { attemptsPerTaskMax: 1 }, sameErrorsToEscalate: null },
      {},
      'task.blocked',
    ],
    [
      'process',
      'the last attempt of a reviewer',
      { limits: { attemptsPerTaskMax: 1 }, sameErrorsToEscalate: null },
      reviewer,
      'tried again',
    ],
    ['connection', 'the last attempt of an agent', { limits: { attemptsPerTaskMax: 1 } }, {}, 'tried again'],
    ['connection', 'the last attempt of an action', { limits: { attemptsPerTaskMax: 1 } }, action, 'task.blocked'],
    ['rate-limit', 'the last attempt of an agent', { limits: { attemptsPerTaskMax: 1 } }, {}, 'tried again'],
  ])('%s %s: %5$s', (kind, _when, part, task, wanted) => {
    const story = new Story({ ...part, limits: { ...many, ...part.limits } }, [spec('A', task)]);
    story.begin('A');
    story.state = withParts(story.state, { streaks: enough });
    expect(follows(story.performed(failed(kind, 'same')))).toBe(wanted);
  });

  it.each<[string, Partial<Performed>, readonly string[]]>([
    ['succeeded', {}, ['done', 'accepted']],
    ['failed', failed('process'), ['status-edit', 'refused', 'done', 'refused']],
    ['interrupted', failed('stopped'), ['status-edit', 'refused']],
  ])('a claim of an iteration that %s is %j', (_how, part, wanted) => {
    const story = new Story({ checks: ['x'] }, [spec('A')]);
    const events = story.iteration('A', { ...part, message: 'Task A complete', statusEdits: ['A'] });
    const read = events.filter(event => event.type === 'signal.read');
    expect(read.flatMap(({ signal, accepted }) => [signal, accepted ? 'accepted' : 'refused'])).toEqual(wanted);
  });

  it('a claim of an iteration that was asked to hand off and had to be interrupted is refused', () => {
    const story = new Story({ checks: ['x'] }, [spec('A')]);
    story.begin('A');
    const handoff = { trigger: 'context_threshold', at: t0, delivered: true } as const;
    story.state = { ...story.state, live: story.state.live.map(one => ({ ...one, handoff })) };
    const cut = {
      ...failed('stopped'),
      message: 'Task A complete',
      stoppedFor: 'handoff',
      statusEdits: ['A'],
    } as const;
    const read = story.performed(cut).filter(event => event.type === 'signal.read');
    expect(read.map(({ signal, accepted }) => `${signal} ${accepted}`)).toEqual(['status-edit false', 'done false']);
    expect(story.task('A').status).toBe('pending');
  });
});

describe('usage', () => {
  it('given running totals, then the ledger gets only what is new and the sum is the last total', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    story.when({ type: 'usage', iteration: 1, usage: usd(1, { inputTokens: 100, outputTokens: 10 }) });
    const more = story.when({ type: 'usage', iteration: 1, usage: usd(1.5, { inputTokens: 150, outputTokens: 10 }) });
    expect(only(more, 'usage.recorded').usage).toEqual(usd(0.5, { inputTokens: 50 }));
    story.performed(says('x', { usage: usd(2, { inputTokens: 150, outputTokens: 20, estimated: true }) }));
    expect(story.state.spend.usage).toEqual(usd(2, { inputTokens: 150, outputTokens: 20, estimated: true }));
  });

  it('given an estimate on the way and the same stated at the end, then the sum is exact; given less, it stays an estimate', () => {
    const estimate = usd(1, { estimated: true });
    for (const [stated, estimated] of [
      [usd(1), false],
      [usd(1.2), false],
      [usd(0.9), true],
    ] as const) {
      const story = new Story({}, [spec('A')]);
      story.begin('A');
      story.when({ type: 'usage', iteration: 1, usage: estimate });
      expect(story.state.spend.usage.estimated).toBe(true);
      story.performed(says('x', { usage: stated }));
      expect(story.state.spend.usage.estimated).toBe(estimated);
      story.iteration('A', says('y', { usage: usd(1) }));
      expect(story.state.spend.usage.estimated).toBe(estimated);
    }
  });

  it.each([Number.NaN, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, -5, 0, 999])(
    'given a cost of %s, then the total never goes down (F57)',
    costUsdMicros => {
      const story = new Story({}, [spec('A')]);
      story.begin('A');
      story.when({ type: 'usage', iteration: 1, usage: { ...noUsage, costUsdMicros: 1_000 } });
      expect(story.when({ type: 'usage', iteration: 1, usage: { ...noUsage, costUsdMicros } })).toEqual([]);
      expect(story.state.spend.usage.costUsdMicros).toBe(1_000);
    },
  );

  it('given a failed iteration, then its cost counts', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', { ...failed('process'), usage: usd(3) });
    expect(story.state.spend.usage.costUsdMicros).toBe(3_000_000);
  });

  it('given more than can be counted, iteration after iteration, then the sum stays a number', () => {
    const story = new Story({ limits: { costUsdMicrosMax: null } }, [spec('A')]);
    const usage = { ...noUsage, inputTokens: Number.MAX_VALUE, costUsdMicros: 1e300 };
    for (let at = 0; at < 2; at += 1) story.iteration('A', says('x', { usage }));
    expect(story.state.spend.usage.inputTokens).toBe(2 * Number.MAX_SAFE_INTEGER);
    expect(story.state.spend.usage.costUsdMicros).toBe(2 * Number.MAX_SAFE_INTEGER);
  });
});
