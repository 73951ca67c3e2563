// The rules of plans: an effect is recorded before it happens, happens at most once, and only by a yes to this very text.
import { describe, expect, it } from 'vitest';
import { effectOptions } from '../../src/core/decide/actions.ts';
import type { Event } from '../../src/core/event.ts';
import type { FailureKind } from '../../src/core/failure.ts';
import type { Performed } from '../../src/core/input.ts';
import type { TaskSpec } from '../../src/core/task.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { failed, only, type SettingsPart, Story, says, second, spec, types } from './given.ts';

const mail = 'mcp:mail';
const step = (id: string, part: Partial<TaskSpec> = {}, to = 'client'): TaskSpec =>
  spec(id, {
    performer: mail,
    order: { type: 'mcp', server: 'mail', tool: 'send', params: { to } },
    completion: 'result',
    ...part,
  });

const planSettings = (part: SettingsPart = {}): SettingsPart => {
  const base = defaultSettings('plan');
  return { ...base, performers: ['agent'], ...part, limits: { ...base.limits, ...part.limits } };
};

const plan = (specs: readonly TaskSpec[] = [step('A'), step('B')], part: SettingsPart = {}): Story =>
  new Story(planSettings(part), specs);

const intend = (story: Story, repeatable = false, iteration = story.state.iterations.begun): readonly Event[] =>
  story.when({ type: 'intended', iteration, repeatable });

const attempt = (story: Story, task: string, performed: Performed, performer = mail): readonly Event[] => {
  expect(types(story.begin(task, performer))).toEqual(['iteration.started']);
  intend(story);
  story.after(second);
  const events = story.performed(performed);
  if (story.state.document.unsaved.length > 0) story.saved();
  return events;
};

const crashed = (story: Story, repeatable: boolean | undefined, hasProcess = true): readonly Event[] => {
  story.begin('A', mail);
  if (hasProcess) story.when({ type: 'spawned', iteration: 1, pid: 42, startTime: '7', host: 'here' });
  if (repeatable !== undefined) intend(story, repeatable);
  story.when({ type: 'taken-over', by: 'ada' });
  return recovered(story);
};
const recovered = (story: Story, found?: Performed): readonly Event[] =>
  story.when({ type: 'recovered', iteration: 1, holder: 'holder-2', chance: 0.5, ...(found ? { found } : {}) });

const answer = (story: Story, option: number, id = 'E1'): readonly Event[] =>
  story.command({ type: 'answer', escalation: id, answer: { kind: 'option', option } });

describe('the intent', () => {
  it('given an action that is about to act, then that is recorded with its key, which is the same at every attempt', () => {
    const story = plan();
    story.begin('A', mail);
    expect(intend(story)).toMatchObject([
      { type: 'action.intended', iteration: 1, task: 'A', key: 'loop-0001:A', repeatable: false },
    ]);
    story.performed(failed('refused'));
    story.after(5 * second).begin('A', mail);
    expect(only(intend(story), 'action.intended').key).toBe('loop-0001:A');
  });

  it.each([
    ['stopped', { type: 'stop' } as const],
    ['paused at once', { type: 'pause', now: true } as const],
  ])('given a loop that was %s meanwhile, then nothing is recorded, so the action may not act', (_how, command) => {
    const story = plan();
    story.begin('A', mail);
    story.command(command);
    expect(intend(story)).toEqual([]);
  });

  it('given a pause that lets work end, or an iteration that is over, then only the first may act', () => {
    const story = plan();
    story.begin('A', mail);
    story.command({ type: 'pause', now: false });
    expect(types(intend(story))).toEqual(['action.intended']);
    story.performed(says('sent'));
    expect(intend(story)).toEqual([]);
  });
});

describe('a lost reply', () => {
  const lost = (part?: SettingsPart): Story => {
    const story = plan(undefined, part);
    expect(types(attempt(story, 'A', failed('lost-reply')))).toEqual(['iteration.ended', 'escalation.raised']);
    return story;
  };

  it('given one, then a person is asked, the step waits, nothing is retried, and the others go on', () => {
    const story = lost();
    expect(story.state.questions.open).toMatchObject([{ id: 'E1', kind: 'effect', task: 'A' }]);
    expect(story.state.questions.open[0]?.options).toEqual(effectOptions);
    expect(story.state.control.wait).toBeUndefined();
    expect(story.effectKeys()).toEqual(['ask:E1', 'begin:B']);
    expect(story.begin('A', mail)).toEqual([]);
  });

  it('given the answers, then each means what it says', () => {
    const happened = lost();
    expect(only(answer(happened, 1), 'task.closed')).toMatchObject({ task: 'A', verified: true, iteration: 1 });
    expect(happened.task('A').status).toBe('done');
    const not = lost();
    expect(only(answer(not, 2), 'task.reopened').because).toBe('ada says that it did not happen');
    expect(not.task('A')).toMatchObject({ status: 'pending', attempts: 0 });
    const out = lost();
    answer(out, 3);
    expect(out.task('A').status).toBe('skipped');
    expect(out.begin('A', mail)).toEqual([]);
  });

  it('given words instead of a choice, then they are kept and the question stays: they might mean either', () => {
    const story = lost();
    const events = story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'text', text: 'It happened.' } });
    expect(events).toMatchObject([{ type: 'escalation.answered', late: true }]);
    expect(story.state.questions.open).toHaveLength(1);
    expect(story.begin('A', mail)).toEqual([]);
  });

  it('given "retry", then it is kept and the question stays: only option 2 says that it did not happen', () => {
    const story = lost();
    const events = story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    expect(events).toMatchObject([{ type: 'escalation.answered', late: true }]);
    expect([story.state.questions.open.length, story.begin('A', mail)]).toEqual([1, []]);
  });

  it('names the step, its tool and whom it was to reach, so that a person knows where to look', () => {
    const { summary, context } = lost().state.questions.open[0]!;
    expect(summary).toBe('Nobody knows whether A happened: Title of A');
    expect(context).toBe('Tool send of the MCP server mail, with {"to":"client"}\nlost-reply happened');
  });

  it('given an abort, then the loop ends, and taken up again it still asks before it does anything', () => {
    const story = lost();
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'abort' } });
    expect(types(story.when({ type: 'end' }))).toEqual(['loop.ended']);
    story.command({ type: 'resume' });
    expect(story.effectKeys()).toContain('ask:E1');
    expect(story.begin('A', mail)).toEqual([]);
    expect(types(story.begin('B', mail))).toEqual(['iteration.started']);
  });

  it('given an answer after the end, or a second one, then it is kept as late and nothing happens (F67)', () => {
    const story = lost();
    answer(story, 1);
    expect(answer(story, 2)).toMatchObject([{ type: 'escalation.answered', late: true }]);
    expect(story.task('A').status).toBe('done');
    const over = lost();
    over.command({ type: 'stop' });
    over.when({ type: 'end' });
    expect(answer(over, 2)).toMatchObject([{ late: true }]);
    expect(over.state.questions.open).toHaveLength(1);
  });
});

describe('an effect that happened, or may have', () => {
  const retry = (story: Story, again?: true): readonly Event[] =>
    story.command({ type: 'task', act: 'retry', task: 'A', ...(again ? { again } : {}) });
  const done = (): Story => {
    const story = plan(undefined, { checkpoints: true });
    attempt(story, 'A', says('sent'));
    story.checkpointed('cp-1');
    return story;
  };
  const restored = (story: Story): readonly Event[] => {
    const to = { checkpoint: 'cp-0', number: 1, commit: 'c', tree: 't' };
    const tasks = ['A', 'B'].map(id => ({ id, status: 'pending' as const }));
    story.command({ type: 'restore', to, because: 'undo', tasks });
    story.checkpointed('cp-2');
    return story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: [] });
  };

  it('given a restore to before it, then it stays done: files come back, mails do not', () => {
    const story = done();
    expect(types(restored(story))).toEqual(['checkpoint.restored']);
    expect(story.task('A').status).toBe('done');
    expect(story.begin('A', mail)).toEqual([]);
  });

  it('given a restore, then the step of an agent is open again, and "nothing is ready" is asked anew', () => {
    const story = plan([spec('W'), step('A', { dependsOn: ['W'] })], { checkpoints: true });
    story.iteration('W', { message: 'Task W complete' });
    story.checkpointed('cp-1');
    if (story.state.claims.open.length > 0) story.when({ type: 'checked', iteration: 1, outcomes: [] });
    story.saved();
    attempt(story, 'A', failed('invalid'));
    story.checkpointed('cp-2');
    story.when({ type: 'stalled' });
    expect(story.state.questions.open).toMatchObject([{ kind: 'blocked' }]);
    const to = { checkpoint: 'cp-0', number: 1, commit: 'c', tree: 't' };
    story.command({ type: 'restore', to, because: 'undo', tasks: [{ id: 'W', status: 'pending' }] });
    story.checkpointed('cp-3');
    const events = story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: [] });
    expect(types(events)).toEqual(['checkpoint.restored', 'escalation.answered', 'task.reopened']);
    expect([story.state.questions.open, story.task('W').status]).toEqual([[], 'pending']);
  });

  it('given a retry of what is done, asked about or left out after that, then only --again opens it', () => {
    const asked = plan();
    attempt(asked, 'A', failed('lost-reply'));
    const left = plan();
    attempt(left, 'A', failed('lost-reply'));
    left.command({ type: 'task', act: 'skip', task: 'A' });
    expect(left.task('A').status).toBe('skipped');
    for (const story of [done(), asked, left]) {
      expect(retry(story)).toEqual([]);
      expect(story.begin('A', mail)).toEqual([]);
      expect(only(retry(story, true), 'task.reopened').because).toContain('ada wants it done again');
      if (story.state.document.unsaved.length > 0) story.saved();
      expect(types(story.begin('A', mail))).toEqual(['iteration.started']);
    }
  });

  it('given a retry of a step that failed or was left out unsent, then it is simply opened', () => {
    const story = plan();
    attempt(story, 'A', failed('invalid'));
    expect(types(retry(story))).toEqual(['task.reopened']);
    story.command({ type: 'task', act: 'skip', task: 'A' });
    expect(types(retry(story))).toEqual(['task.reopened']);
  });

  it('given "try the blocked steps again" while another effect is asked about, then that one stays as it is', () => {
    const story = plan([step('A'), step('B', { dependsOn: ['A'] })]);
    attempt(story, 'A', failed('invalid'));
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation.options[0]).toEqual({ id: 'try-again', text: 'Try the blocked steps again' });
    story.when({ type: 'document', tasks: [step('A'), step('B', { dependsOn: ['A'] }), step('C')], hash: 'h2' });
    attempt(story, 'C', failed('lost-reply'));
    const events = answer(story, 1, escalation.id);
    expect(events.filter(one => one.type === 'task.reopened').map(one => one.task)).toEqual(['A', 'B']);
    expect(story.begin('C', mail)).toEqual([]);
  });
});

describe('a crash of ralph', () => {
  it('given an intent that may not be repeated and no result, then it is a lost reply, whether a process is known or not', () => {
    for (const hasProcess of [true, false]) {
      const story = plan();
      expect(crashed(story, false, hasProcess)).toMatchObject([
        { type: 'iteration.ended', outcome: 'failed', failure: { kind: 'lost-reply' } },
        { type: 'escalation.raised', escalation: { kind: 'effect', task: 'A' } },
      ]);
      expect(story.begin('A', mail)).toEqual([]);
    }
  });

  it('given an intent that may be repeated, then it is done again under the same number and key, not counted twice', () => {
    const story = plan();
    expect(crashed(story, true)).toMatchObject([{ type: 'iteration.started', iteration: 1, attempt: 1, again: true }]);
    expect(story.state).toMatchObject({ iterations: { begun: 1 }, live: [{ iteration: 1, holder: 'holder-2' }] });
    expect(story.state.live[0]?.intended).toBeUndefined();
    expect(only(intend(story, true), 'action.intended').key).toBe('loop-0001:A');
  });

  it('given no intent, then nothing has happened: the step is begun anew, and what ran counts as an iteration', () => {
    const story = plan();
    expect(crashed(story, undefined)).toMatchObject([{ type: 'iteration.ended', outcome: 'interrupted' }]);
    expect(only(story.begin('A', mail, 'holder-2'), 'iteration.started')).toMatchObject({ iteration: 2, attempt: 1 });
  });

  it('given a result in the spool, then that is what happened, whatever was intended', () => {
    const story = plan();
    story.begin('A', mail);
    intend(story);
    expect(types(recovered(story, says('sent')))).toEqual(['iteration.ended', 'task.closed']);
    const refused = plan();
    refused.begin('A', mail);
    intend(refused);
    expect(types(recovered(refused, failed('refused')))).toEqual(['iteration.ended']);
    expect(refused.task('A')).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('given a document that was edited meanwhile, then nothing is done again before the new text is approved (F68)', () => {
    const story = approvable();
    story.command({ type: 'approve', subject: 'plan', hash: 'one', because: 'read' });
    story.begin('A', mail);
    intend(story, true);
    story.when({ type: 'document', tasks: [step('A', {}, 'thief')], hash: 'h2', substance: 'two' });
    expect(recovered(story)).toMatchObject([{ type: 'iteration.ended', outcome: 'interrupted' }]);
    expect(story.effectKeys('holder-2')).toEqual(['stall']);
  });
});

const others: readonly FailureKind[] = ['refused', 'process', 'timeout', 'connection', 'overloaded', 'no-start'];

describe('retries', () => {
  it.each(others)(
    'given %s again and again, then it is tried after 5, 10 and 20 s, then blocked, and others go on',
    kind => {
      const story = plan();
      const waits: number[] = [];
      for (let tries = 1; tries <= 4; tries += 1) {
        const events = attempt(story, 'A', failed(kind));
        const { waitUntil } = only(events, 'iteration.ended');
        expect(types(events).includes('task.blocked')).toBe(tries === 4);
        if (waitUntil !== undefined) waits.push((waitUntil - story.now) / second);
        expect(story.effectKeys()).toEqual(tries === 4 ? ['begin:B'] : []);
        story.after((waitUntil ?? story.now) - story.now);
      }
      expect(waits).toEqual([5, 10, 20]);
      expect(story.task('A')).toMatchObject({ status: 'blocked', attempts: 4 });
      expect(story.state.iterations.begun).toBe(4);
    },
  );

  it.each([
    [2, [5]],
    [6, [5, 10, 20, 20, 20]],
  ])('given %d attempts, then it waits before each of the others, and not after the last', (most, wanted) => {
    const story = plan(undefined, { limits: { attemptsPerTaskMax: most } });
    const waits: number[] = [];
    for (let tries = 1; tries <= most; tries += 1) {
      const { waitUntil } = only(attempt(story, 'A', failed('refused', 'no such\ncustomer')), 'iteration.ended');
      if (waitUntil !== undefined) waits.push((waitUntil - story.now) / second);
      story.after((waitUntil ?? story.now) - story.now);
    }
    expect(waits).toEqual(wanted);
    const because = `${most} attempts failed, ${most} allowed (--retries ${most - 1}); the last error: no such customer`;
    expect(story.task('A')).toMatchObject({ status: 'blocked', blockedBecause: because });
    expect(story.effectKeys()).toEqual(['begin:B']);
  });

  it('given an order that is wrong itself, then it is blocked at once', () => {
    const story = plan();
    const events = attempt(story, 'A', failed('invalid', 'there is no tool send'));
    expect(only(events, 'iteration.ended').waitUntil).toBeUndefined();
    expect(only(events, 'task.blocked').because).toBe('the order itself is wrong: there is no tool send');
    expect(story.effectKeys()).toEqual(['begin:B']);
  });

  it('given as many attempts as iterations are allowed, then the loop ends and nothing else begins', () => {
    const story = plan(undefined, { limits: { iterationsMax: 2 } });
    attempt(story, 'A', failed('refused'));
    story.after(5 * second);
    attempt(story, 'A', failed('refused'));
    story.after(10 * second);
    expect(story.begin('B', mail)).toEqual([]);
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('max_iterations');
  });

  it('given a step that is given up and one that waits for it, then a person is asked', () => {
    const story = plan([step('A'), step('B', { dependsOn: ['A'] })]);
    attempt(story, 'A', failed('invalid'));
    expect(story.effectKeys()).toEqual(['stall']);
    expect(only(story.when({ type: 'stalled' }), 'escalation.raised').escalation.kind).toBe('blocked');
    story.command({ type: 'task', act: 'retry', task: 'A' });
    expect([story.state.questions.open, story.effectKeys()]).toEqual([[], ['save:A']]); // then it is begun again
  });
});

describe('order', () => {
  it('given dependencies, then steps begin when they are ready, not as they are written', () => {
    const story = plan([step('A', { dependsOn: ['C'] }), step('B', { dependsOn: ['A'] }), step('C')]);
    const done: string[] = [];
    for (let turns = 0; turns < 3; turns += 1) {
      const [begin] = story.effects();
      if (begin?.type !== 'begin') throw new Error(`not a begin: ${begin?.key}`);
      attempt(story, begin.task, says('sent'), begin.performer);
      done.push(begin.task);
    }
    expect(done).toEqual(['C', 'A', 'B']);
    expect(only(story.when({ type: 'end' }), 'loop.ended').reason).toBe('goal_achieved');
  });

  it('given a step that was added to the plan, then it is done too, and what is done stays done', () => {
    const story = plan([step('A')]);
    attempt(story, 'A', says('sent'));
    story.when({ type: 'document', tasks: [step('A'), step('B')], hash: 'h2' });
    expect(story.task('A').status).toBe('done');
    story.saved();
    expect(story.effectKeys()).toEqual(['begin:B']);
    expect(story.begin('A', mail)).toEqual([]);
  });
});

function approvable(tasks: readonly TaskSpec[] = [step('A')]): Story {
  const story = new Story(planSettings({ approval: true }), []);
  story.when({ type: 'document', tasks, hash: 'h-one', substance: 'one' });
  return story;
}

describe('approval', () => {
  const yes = (story: Story, hash: string): readonly Event[] =>
    story.command({ type: 'approve', subject: 'plan', hash, because: 'read' });

  it('given no yes, then nothing begins and a person is asked; a yes to another text changes nothing', () => {
    const story = approvable();
    expect(story.begin('A', mail)).toEqual([]);
    expect(story.effectKeys()).toEqual(['stall']);
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation).toMatchObject({ kind: 'approval', findings: ['one'] });
    expect(types(yes(story, 'another'))).toEqual(['approval.given']);
    expect(story.begin('A', mail)).toEqual([]);
    expect(story.effectKeys()).toEqual(['ask:E1']);
    expect(types(yes(story, 'one'))).toEqual(['approval.given', 'escalation.answered']);
    expect(story.effectKeys()).toEqual(['begin:A']);
    expect(types(story.begin('A', mail))).toEqual(['iteration.started']);
  });

  it('given an edit after the yes, then it asks again and names the old yes (F68)', () => {
    const story = approvable([step('A'), step('B')]);
    yes(story, 'one');
    attempt(story, 'A', says('sent'));
    story.when({ type: 'document', tasks: [step('A'), step('B', {}, 'thief')], hash: 'h2', substance: 'two' });
    expect(story.begin('B', mail)).toEqual([]);
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation.summary).toBe('The plan was edited after it was approved');
    expect(escalation.context).toContain('ada approved another version of it.');
    // Whether the deed of A now stands under another number is seen only by who compares the texts.
    expect([escalation.options, escalation.question]).toEqual([[], expect.stringContaining('ralph plan approve ')]);
    answer(story, 1, escalation.id);
    expect(story.begin('B', mail)).toEqual([]);
    expect(types(yes(story, 'two'))).toEqual(['approval.given', 'escalation.answered']);
    expect(types(story.begin('B', mail))).toEqual(['iteration.started']);
  });

  it('given an edit before anything was done, then its question can be answered with a yes', () => {
    const story = approvable();
    yes(story, 'one');
    story.when({ type: 'document', tasks: [step('A', {}, 'other')], hash: 'h2', substance: 'two' });
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    answer(story, 1, escalation.id);
    expect(story.state.document.approval?.hash).toBe('two');
    expect(types(story.begin('A', mail))).toEqual(['iteration.started']);
  });

  it('given an edit while a step has begun and not acted, then it may not act', () => {
    const story = approvable();
    yes(story, 'one');
    story.begin('A', mail);
    story.when({ type: 'document', tasks: [step('A', {}, 'thief')], hash: 'h2', substance: 'two', during: 1 });
    expect(intend(story)).toEqual([]);
  });

  it('given an edit during an iteration that is approved afterwards, then just that text is done', () => {
    const story = approvable([step('A'), step('B')]);
    yes(story, 'one');
    story.begin('A', mail);
    const edited = [step('A'), step('B', { dependsOn: ['A'] }, 'other')];
    const read = story.when({ type: 'document', tasks: edited, hash: 'h2', substance: 'two', during: 1 });
    expect(types(read)).toEqual(['tasks.loaded']);
    story.performed(says('sent'));
    yes(story, 'two');
    expect(story.task('B')).toMatchObject({ spec: { dependsOn: ['A'], order: { params: { to: 'other' } } } });
  });

  it('given an answer to a question about a text that changed meanwhile, then that text is approved, not the new one', () => {
    const story = approvable();
    story.when({ type: 'stalled' });
    story.when({ type: 'document', tasks: [step('A', {}, 'thief')], hash: 'h2', substance: 'two' });
    answer(story, 1);
    expect(story.state.document.approval?.hash).toBe('one');
    expect(story.begin('A', mail)).toEqual([]);
    expect(story.effectKeys()).toEqual(['stall']);
  });

  it('given a question about a text that is no longer there, then a yes to the text that is there ends it too', () => {
    const story = approvable([step('A'), step('B')]);
    yes(story, 'one');
    attempt(story, 'A', says('sent'));
    const edited = (to: string, substance: string): readonly Event[] =>
      story.when({ type: 'document', tasks: [step('A'), step('B', {}, to)], hash: `h-${to}`, substance });
    edited('other', 'two');
    story.when({ type: 'stalled' });
    edited('third', 'three');
    expect(types(yes(story, 'three'))).toEqual(['approval.given', 'escalation.answered']);
    edited('other', 'two');
    story.when({ type: 'stalled' });
    expect(types(yes(story, 'four'))).toEqual(['approval.given']);
    expect(types(edited('fourth', 'four'))).toEqual(['tasks.loaded', 'escalation.answered']);
    expect(story.state.questions.open).toEqual([]);
  });

  it('given a yes after the end, then nothing is recorded', () => {
    const story = approvable();
    story.command({ type: 'stop' });
    story.when({ type: 'end' });
    expect(yes(story, 'one')).toEqual([]);
  });
});
