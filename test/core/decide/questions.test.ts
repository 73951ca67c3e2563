// Proves how people steer a loop: the five answers, late ones, guidance, stop, pause, resume, limits.
import { describe, expect, it } from 'vitest';
import type { Answer } from '../../../src/core/event.ts';
import { evaluateTermination } from '../../../src/core/termination.ts';
import { claims, failed, hour, only, Story, says, spec, types, usd } from '../given.ts';

const block =
  '<escalate type="deviation">\n<summary>two ways</summary>\n<context>\nit forks\n</context>\n<options>\n1. left\n2. right\n</options>\n<question>which way?</question>\n</escalate>';

const asked = (): Story => {
  const story = new Story();
  story.iteration('A', says(block));
  return story;
};
const answer = (story: Story, given: Answer, id = 'E1') =>
  story.command({ type: 'answer', escalation: id, answer: given });

describe('a question of the agent', () => {
  it('keeps what the agent wrote, holds up its own task and no other', () => {
    const story = asked();
    expect(only(story.events, 'escalation.raised').escalation).toMatchObject({
      id: 'E1',
      kind: 'deviation',
      task: 'A',
      iteration: 1,
      summary: 'two ways',
      context: 'it forks',
      options: [
        { id: 'agent-1', text: 'left' },
        { id: 'agent-2', text: 'right' },
      ],
      question: 'which way?',
    });
    expect(story.effectKeys()).toEqual(['ask:E1', 'begin:B']);
  });

  it.each<[string, Answer, readonly object[]]>([
    [
      'a number',
      { kind: 'option', option: 2 },
      [{ type: 'guidance.given', task: 'A', text: 'Proceed with option 2: right' }],
    ],
    [
      'own words',
      { kind: 'text', text: 'go straight on' },
      [{ type: 'guidance.given', task: 'A', text: 'go straight on' }],
    ],
    ['skip', { kind: 'skip' }, [{ type: 'task.skipped', task: 'A', by: 'ada' }]],
    ['retry', { kind: 'retry' }, [{ type: 'task.reopened', task: 'A' }]],
    ['abort', { kind: 'abort' }, [{ type: 'stop.asked', by: 'ada', because: 'E1 was answered with abort' }]],
  ])('given %s as the answer, then this follows', (_name, given, follows) => {
    const story = asked();
    const events = answer(story, given);
    expect(events).toMatchObject([{ type: 'escalation.answered', id: 'E1', by: 'ada', answer: given }, ...follows]);
    expect(story.state.questions.open).toEqual([]);
    expect(story.task('A').openQuestion).toBeUndefined();
  });

  it('given guidance, then the task is ready again and its attempt goes on; given retry, then its attempts begin anew', () => {
    const guided = asked();
    answer(guided, { kind: 'text', text: 'x' });
    expect(guided.effectKeys()).toEqual(['begin:A']);
    expect(guided.task('A').attempts).toBe(1);
    const retried = asked();
    answer(retried, { kind: 'retry' });
    expect(retried.task('A').attempts).toBe(0);
  });

  it('given a skipped task, then the document will show it and the loop goes on with the rest', () => {
    const story = asked();
    answer(story, { kind: 'skip' });
    expect(story.effectKeys()).toEqual(['save:A']);
    story.saved();
    expect(story.effectKeys()).toEqual(['begin:B']);
  });

  it.each<[string, (story: Story) => void, string, Answer]>([
    ['an option that is not there', () => {}, 'E1', { kind: 'option', option: 3 }],
    ['option 0', () => {}, 'E1', { kind: 'option', option: 0 }],
    ['an id that nobody asked', () => {}, 'E9', { kind: 'skip' }],
    ['a question answered before', story => answer(story, { kind: 'retry' }), 'E1', { kind: 'skip' }],
    [
      'a loop that has ended',
      story => {
        story.command({ type: 'stop' });
        story.when({ type: 'end' });
      },
      'E1',
      { kind: 'skip' },
    ],
  ])('given %s, then the answer is kept, marked late, and changes nothing (F67)', (_name, before, id, given) => {
    const story = asked();
    before(story);
    const state = story.state;
    expect(answer(story, given, id)).toMatchObject([{ type: 'escalation.answered', late: true, answer: given }]);
    expect(story.state).toEqual(state);
  });
});

describe('our own questions', () => {
  it('given "leave this task out" as the answer to three identical errors, then the task is skipped', () => {
    const story = new Story();
    for (let n = 0; n < 3; n += 1) story.iteration('A', failed('process', 'same'));
    expect(types(answer(story, { kind: 'option', option: 2 }))).toEqual(['escalation.answered', 'task.skipped']);
  });

  it('given an agent whose second option reads otherwise, then option 2 is only guidance', () => {
    const story = new Story();
    story.iteration('A', says(block.replace('deviation', 'stuck')));
    expect(types(answer(story, { kind: 'option', option: 2 }))).toEqual(['escalation.answered', 'guidance.given']);
  });

  const stalled = (): Story => {
    const story = new Story({ limits: { attemptsPerTaskMax: 1 } }, [spec('A'), spec('B', { dependsOn: ['A'] })]);
    story.iteration('A', says('no'));
    expect(story.effectKeys()).toEqual(['stall']);
    story.when({ type: 'stalled' });
    return story;
  };

  it('given nothing ready and nothing live, then the question names what is blocked and what waits', () => {
    const story = stalled();
    const { escalation } = only(story.events, 'escalation.raised');
    expect(escalation).toMatchObject({ kind: 'blocked', summary: 'No task is ready, 2 tasks left' });
    expect(escalation.context).toMatch(/blocked: A \(1 attempt .*\)\nB waits for A, which is not done$/);
    expect(story.effectKeys()).toEqual(['ask:E1']);
  });

  it('given a task that waits for one that was left out, then it says which waits for which', () => {
    const story = new Story({}, [spec('A'), spec('B', { dependsOn: ['A'] })]);
    story.command({ type: 'task', act: 'skip', task: 'A' });
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation.context).toBe('B waits for A, which you left out');
  });

  it('given a round of an interview that is blocked, then it says what makes a round count', () => {
    const round = spec('round-1', { interactive: true, completion: 'result', round: 1 });
    const story = new Story({ limits: { attemptsPerTaskMax: 1 } }, [round]);
    story.iteration('round-1', says(''));
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation.question).toMatch(/^A round is over when its agent has written done\.md, .*tasks\.json/);
  });

  it.each<[Answer, readonly string[]]>([
    [{ kind: 'option', option: 1 }, ['task.reopened', 'task.reopened']],
    [{ kind: 'retry' }, ['task.reopened', 'task.reopened']],
    [{ kind: 'text', text: 'use the other door' }, ['task.reopened', 'task.reopened', 'guidance.given']],
    [{ kind: 'option', option: 2 }, ['task.skipped', 'task.skipped']],
    [{ kind: 'skip' }, ['task.skipped', 'task.skipped']],
  ])('given %o to it, then %o follow', (given, follow) => {
    const story = stalled();
    expect(types(answer(story, given))).toEqual(['escalation.answered', ...follow]);
    const reopened = follow[0] === 'task.reopened';
    expect(story.task('A')).toMatchObject(
      reopened ? { status: 'pending', attempts: 0, ignoresUnmet: true } : { status: 'skipped' },
    );
    if (!reopened) expect(evaluateTermination(story.state, story.now)?.reason).toBe('goal_achieved');
  });

  it('given a question about the whole loop, then nothing begins until it is answered', () => {
    const story = new Story();
    const question = {
      kind: 'storage' as const,
      summary: 's'.repeat(900),
      context: '',
      options: Array.from({ length: 40 }, () => ({ id: 'go-on' as const, text: 'o' })),
      question: '?',
    };
    const { escalation } = only(story.when({ type: 'escalate', question, because: 'disk full' }), 'escalation.raised');
    expect(escalation.summary).toHaveLength(200);
    expect(escalation.options).toHaveLength(9);
    expect(story.effectKeys()).toEqual(['ask:E1']);
    answer(story, { kind: 'retry' });
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it('given two questions, then their ids differ, also after the first was answered', () => {
    const story = asked();
    answer(story, { kind: 'retry' });
    story.iteration('A', says(block));
    expect(story.state.questions.open.map(one => one.id)).toEqual(['E2']);
  });
});

describe('guidance', () => {
  it('given a word to the loop, then the next iteration that runs reads it, and no later one', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 9 } });
    story.begin('A');
    story.command({ type: 'tell', text: 'mind the tests' });
    story.performed(says('had not heard it'));
    expect(story.state.memory.guidance).toMatchObject([{ text: 'mind the tests', by: 'ada' }]);
    story.iteration('A', failed('stopped', 'crash'));
    expect(story.state.memory.guidance).toHaveLength(1);
    story.iteration('A', says('heard it'));
    expect(story.state.memory.guidance).toEqual([]);
  });

  it('given a word to a task, then it stands until the task is closed', () => {
    const story = new Story();
    story.command({ type: 'tell', text: 'for B', task: 'B' });
    story.iteration('A', claims('A'));
    story.iteration('B', says('not yet'));
    expect(story.state.memory.guidance).toHaveLength(1);
    story.iteration('B', claims('B'));
    expect(story.state.memory.guidance).toEqual([]);
  });

  it('given hundreds of long words, then the last twenty are kept, 4,000 characters each', () => {
    const story = new Story();
    for (let n = 0; n < 300; n += 1) story.command({ type: 'tell', text: `${n} ${'x'.repeat(9_000)}` });
    expect(story.state.memory.guidance).toHaveLength(20);
    expect(story.state.memory.guidance.at(-1)?.text).toHaveLength(4_000);
    expect(story.state.memory.guidance.at(-1)?.text.startsWith('299 ')).toBe(true);
  });
});

describe('stop, pause, resume', () => {
  it('given a stop, then live work is dropped, a second stop adds nothing, and the end is an explicit stop', () => {
    const story = new Story();
    story.begin('A');
    expect(types(story.command({ type: 'stop' }))).toEqual(['stop.asked']);
    expect(story.command({ type: 'stop' })).toEqual([]);
    expect(story.effectKeys()).toEqual(['abandon:1']);
    story.performed(failed('stopped', 'ralph stop'));
    const ended = only(story.when({ type: 'end' }), 'loop.ended');
    expect(ended).toMatchObject({ reason: 'explicit_stop', because: 'ralph stop (by ada)' });
    expect(story.effectKeys()).toEqual([]);
    expect(story.command({ type: 'stop' })).toEqual([]);
    expect(story.command({ type: 'pause', now: true })).toEqual([]);
  });

  it('given a stopped loop that is resumed, then the stop is over and work begins again', () => {
    const story = new Story();
    story.command({ type: 'stop' });
    story.when({ type: 'end' });
    expect(only(story.command({ type: 'resume' }), 'loop.resumed').because).toBe('reopened after explicit stop');
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it('given a loop that ended by errors, when it is resumed, then health has a new start', () => {
    const limits = { consecutiveErrorsMax: 1 };
    const story = new Story({ limits }, [spec('A')]);
    story.iteration('A', failed('process'));
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('consecutive_errors');
    story.command({ type: 'resume' });
    expect(story.state).toMatchObject({
      streaks: { errors: 0, failures: 0, sinceProgress: 0 },
      performers: { breakers: {} },
      iterations: { begun: 1 },
    });
    expect(story.effectKeys()).toEqual(['begin:A']);
  });

  it('given a pause, then the live iteration goes on and no other begins; given pause --now, then it is dropped', () => {
    const story = new Story();
    story.begin('A');
    story.command({ type: 'pause', now: false });
    expect(story.effectKeys()).toEqual(['perform:1']);
    story.command({ type: 'pause', now: true });
    expect(story.effectKeys()).toEqual(['abandon:1']);
    story.performed(failed('stopped', 'paused'));
    expect(story.effectKeys()).toEqual([]);
    expect(types(story.command({ type: 'resume' }))).toEqual(['loop.resumed']);
    expect(story.effectKeys()).toEqual(['begin:A']);
    expect(story.command({ type: 'resume' })).toEqual([]);
  });

  it('given a take-over, then a stop that was asked still stands', () => {
    const story = new Story();
    story.command({ type: 'stop' });
    story.when({ type: 'taken-over', by: 'ada' });
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('explicit_stop');
    expect(story.when({ type: 'taken-over', by: 'ada' })).toEqual([]);
  });
});

describe('no path resets a limit', () => {
  const used = (): Story => {
    const story = new Story({ limits: { iterationsMax: 2, costUsdMicrosMax: 9_000_000 } }, [spec('A')]);
    story.iteration('A', says('one', { usage: usd(1) }));
    story.iteration('A', says('two', { usage: usd(2) }));
    story.when({ type: 'end' });
    return story;
  };
  const counters = ({ state }: Story) => [
    state.iterations.begun,
    state.spend.usage.costUsdMicros,
    state.spend.activeMs,
  ];

  it('given a loop that used up its iterations, when it is resumed, then it ends again at once', () => {
    const story = used();
    const before = counters(story);
    story.after(hour);
    expect(only(story.command({ type: 'resume' }), 'loop.resumed').because).toBe('reopened after max iterations');
    expect(counters(story)).toEqual(before);
    expect(story.begin('A')).toEqual([]);
    expect(story.effectKeys()).toEqual(['end']);
  });

  it('given a higher limit, then it goes on with its counters kept', () => {
    const story = used();
    story.command({ type: 'limits', limits: { iterationsMax: 3 } });
    story.command({ type: 'resume' });
    expect(story.state.settings.limits).toMatchObject({ iterationsMax: 3, costUsdMicrosMax: 9_000_000 });
    expect(only(story.begin('A'), 'iteration.started').iteration).toBe(3);
  });

  it('given stop, pause, resume, take-over, restart and reload in any order, then the counters stay', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', says('one', { usage: usd(1) }));
    const before = counters(story);
    story.command({ type: 'pause', now: true });
    story.command({ type: 'resume' });
    story.when({ type: 'taken-over', by: 'ada' });
    story.when({ type: 'document', tasks: [spec('A'), spec('Z')], hash: 'h9' });
    expect(
      story.when({
        type: 'start',
        loop: 'x',
        name: '',
        goal: '',
        document: '',
        directory: '',
        projectId: '',
        taskId: '',
        settings: story.state.settings,
        by: '',
      }),
    ).toEqual([]);
    story.command({ type: 'stop' });
    story.when({ type: 'end' });
    story.command({ type: 'resume' });
    expect(counters(story)).toEqual(before);
  });

  it('given settings with the same loop run again, then only those named change', () => {
    const story = new Story();
    const events = story.command({ type: 'limits', limits: { tokensMax: 7 }, settings: { checks: ['make'] } });
    expect(only(events, 'limits.changed').because).toBe('tokens, checks');
    expect(story.state.settings).toMatchObject({
      checks: ['make'],
      promise: 'DONE',
      limits: { tokensMax: 7, iterationsMax: 50 },
    });
  });
});
