// What reviewers found in the rules of the modes: each was a promise broken, and stays mended.
import { describe, expect, it } from 'vitest';
import { screenWork } from '../../src/checks/tamper/screen.ts';
import { next, waitingFor } from '../../src/core/next.ts';
import { findTask, type TaskSpec } from '../../src/core/task.ts';
import { evaluateTermination } from '../../src/core/termination.ts';
import { defaultSettings } from '../../src/modes/registry.ts';
import { failed, minute, Story, says, second, self, spec, types } from './given.ts';

const review = (confidence: number, issues: readonly object[] = []) =>
  says(`Looked.\n<review>${JSON.stringify({ confidence, issues })}</review>`);

const reviewing = (): Story => {
  const base = defaultSettings('review');
  const own = { reviewers: ['a', 'b'], targetConfidence: 95 };
  return new Story({ ...base, performers: ['agent'], checks: [], own }, []);
};

const edited = (story: Story, hash: string, during?: number): void =>
  void story.when({ type: 'document', tasks: [], hash, ...(during === undefined ? {} : { during }) });

describe('a review is done only for the document that its reviewers saw', () => {
  it('given nobody touched it, then a content round ends it', () => {
    const story = reviewing();
    story.iteration('R1-a', review(99));
    story.iteration('R1-b', review(99));
    expect(evaluateTermination(story.state, story.now)?.reason).toBe('goal_achieved');
  });

  it('given an edit after the first answer, then another round looks', () => {
    const story = reviewing();
    story.iteration('R1-a', review(99));
    edited(story, 'h2');
    story.iteration('R1-b', review(99));
    expect(evaluateTermination(story.state, story.now)).toBeUndefined();
    expect(findTask(story.state.tasks, 'R2-a')?.status).toBe('pending');
  });

  it('given an edit while a reviewer looks, then another round looks', () => {
    const story = reviewing();
    story.iteration('R1-a', review(99));
    story.begin('R1-b');
    edited(story, 'h2', 2);
    story.performed(review(99));
    expect(evaluateTermination(story.state, story.now)).toBeUndefined();
    expect(findTask(story.state.tasks, 'R2-b')?.status).toBe('pending');
  });

  it('given an edit after the last answer, just before the end, then it is not done', () => {
    const story = reviewing();
    story.iteration('R1-a', review(99));
    story.iteration('R1-b', review(99));
    edited(story, 'h2');
    expect(types(story.when({ type: 'end' }))).toEqual([]);
    expect(findTask(story.state.tasks, 'R2-a')).toBeDefined();
  });

  it('given reviewers that fail side by side, then one question is asked for one trouble', () => {
    const story = reviewing();
    for (let n = 0; n < 4; n += 1) story.iteration('R1-a', failed('process', `boom ${n}`)) && story.after(minute);
    story.begin('R1-a');
    story.begin('R1-b');
    story.performed(failed('process', 'boom'), 5);
    story.performed(failed('process', 'boom'), 6);
    expect(story.state.questions.open.map(one => one.kind)).toEqual(['stuck']);
  });
});

describe('a plan that was edited while another question is open', () => {
  it('is asked about too, and waits for you instead of for nothing', () => {
    const step = (id: string): TaskSpec =>
      spec(id, {
        performer: 'mcp:mail',
        order: { type: 'mcp', server: 'mail', tool: 'send', params: {} },
        completion: 'result',
      });
    const base = defaultSettings('plan');
    const story = new Story({ ...base, performers: [], checks: [], approval: true }, []);
    const steps = [step('A'), step('B')];
    story.when({ type: 'document', tasks: steps, hash: 'h2', substance: 's1' });
    story.command({ type: 'approve', subject: 'p', hash: 's1', because: 'test' });
    story.begin('A', 'mcp:mail');
    story.when({ type: 'intended', iteration: 1, repeatable: false });
    story.performed(failed('lost-reply', 'gone'));
    expect(story.state.questions.open.map(one => one.kind)).toEqual(['effect']);
    story.when({ type: 'document', tasks: steps, hash: 'h3', substance: 's2' });
    expect(waitingFor(story.state, story.now)).toEqual({ kind: 'human', what: 'you' });
    expect(next(story.state, story.now, self).effects.map(one => one.type)).toContain('ask-how-to-continue');
    story.when({ type: 'stalled' });
    expect(story.state.questions.open.map(one => one.kind)).toEqual(['effect', 'approval']);
    expect(next(story.state, story.now, self).effects.map(one => one.type)).not.toContain('ask-how-to-continue');
  });
});

describe('a goal whose agent fails', () => {
  it('ends by the errors that the card names, not by a standstill before', () => {
    const base = defaultSettings('goal');
    const story = new Story({ ...base, performers: ['agent'], checks: [] }, [spec('goal')]);
    for (let n = 1; n <= 4; n += 1) {
      story.iteration('goal', failed('process', `boom ${n}`));
      story.after(2 * minute);
      expect(evaluateTermination(story.state, story.now)).toBeUndefined();
    }
    story.iteration('goal', failed('process', 'boom 5'));
    expect(evaluateTermination(story.state, story.now)?.reason).toBe('consecutive_errors');
  });
});

describe('what is said of an iteration', () => {
  it('given a crash, then it lasted until the last that was recorded of it', () => {
    const story = new Story();
    story.begin('A');
    story.when({ type: 'spawned', iteration: 1, pid: 1, startTime: '1', host: 'here' });
    story.after(7 * second).when({ type: 'heard', iteration: 1, quietMs: 6_900 });
    story.after(minute).when({ type: 'taken-over', by: 'ada' });
    const [ended] = story.when({ type: 'recovered', iteration: 1, holder: 'holder-2', chance: 0.5 });
    expect(ended).toMatchObject({ type: 'iteration.ended', outcome: 'interrupted', durationMs: 7 * second });
  });

  it('given the same words about another task, then nobody goes in circles', () => {
    const story = new Story();
    story.iteration('A', says('I have looked at it and there is nothing to say about it.'));
    const [ended] = story.iteration('B', says('I have looked at it and there is nothing to say about it.'));
    expect(ended?.type === 'iteration.ended' && ended.repetition).toBeUndefined();
  });

  it('given a clock that was set back, then a short wait does not become a day', () => {
    const story = new Story();
    story.iteration('A', failed('process', 'boom'));
    story.now -= 24 * 60 * minute;
    expect(next(story.state, story.now, self).effects.map(one => one.type)).toContain('begin');
  });
});

describe('a script that a check runs', () => {
  const findings = (before: string | undefined, check = 'sh greet.sh | grep Hello') =>
    screenWork({
      files: [{ path: 'greet.sh', ...(before === undefined ? {} : { before }), after: 'echo "Hello, world"\n' }],
      checks: [check],
    }).filter(one => one.severity === 'refuse');

  it('given it is new and its output is looked at, then it is the work itself, and nothing was weakened', () => {
    expect(findings(undefined)).toEqual([]);
    expect(findings(undefined, 'test "$(sh greet.sh)" = "Hello, world"')).toEqual([]);
  });

  it('given it is new and all of the proof, then it proves nothing', () => {
    expect(findings(undefined, './greet.sh || exit 1')).toHaveLength(1);
    expect(findings(undefined, 'sh greet.sh')).toHaveLength(1);
  });

  it('given it proved something before, then it was weakened', () => {
    expect(findings('test -f proof || exit 1\n')).toHaveLength(1);
  });
});
