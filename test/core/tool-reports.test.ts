// What an agent reports by tools: durable at once, heard at the end of its iteration, and decided by the checks.
import { describe, expect, it } from 'vitest';
import { refusalOfReport } from '../../src/core/decide/tool-reports.ts';
import { continuationPrompt } from '../../src/core/handoff.ts';
import type { Performed } from '../../src/core/input.ts';
import { packState, unpackState } from '../../src/core/state.ts';
import type { ToolReport } from '../../src/messages/tool-reports.ts';
import { claims, failed, type SettingsPart, Story, says, spec } from './given.ts';

const done = (task = 'A', criterion = 1): ToolReport => ({
  type: 'done',
  task,
  evidence: [{ criterion, evidence: 'npm test: 12 passed' }],
});
const asks: ToolReport = {
  type: 'question',
  question: {
    type: 'stuck',
    summary: 'Which colour?',
    context: '',
    options: ['red'],
    question: 'Which?',
    attached: '',
  },
};
const tells = (report: object): ToolReport => ({
  type: 'account',
  report: { completed: [], pending: [], blocked: [], decisions: [], ...report },
});

/** Iteration 1 works on A. */
function working(part: SettingsPart = {}): Story {
  const story = new Story({ checks: ['npm test'], checkpoints: false, ...part }, [spec('A'), spec('B')]);
  story.begin('A');
  return story;
}
const report = (story: Story, ...reports: readonly ToolReport[]) =>
  reports.map(one => story.when({ type: 'reported', iteration: 1, report: one }));
const end = (story: Story, performed: Performed) => story.performed(performed);
const signals = (story: Story) =>
  story.events.flatMap(one => (one.type === 'signal.read' ? [[one.signal, one.accepted]] : []));

describe('a claim by a tool', () => {
  it('is taken up without any words, and the checks decide about it', () => {
    const story = working();
    report(story, done());
    end(story, says('I stop here.'));
    expect(signals(story)).toEqual([['done', true]]);
    expect(story.events.find(one => one.type === 'iteration.ended')).not.toHaveProperty('unclaimed', true);
    expect(story.effects()).toMatchObject([{ type: 'check', iteration: 1 }]);
    story.checked(false);
    expect(story.task('A').status).toBe('pending');
  });

  it('wins over words that take it back, and words without one count as ever', () => {
    const story = working();
    report(story, done());
    end(story, says('Task A complete\n\nTask A is not complete.'));
    expect(signals(story)).toEqual([['done', true]]);
    const other = working();
    end(other, claims('A'));
    expect(signals(other)).toEqual([['done', true]]);
  });

  it.each<[string, readonly ToolReport[], string]>([
    ['before it', [asks, done()], 'I stop here.'],
    ['after it', [done(), asks], 'I stop here.'],
    ['in words', [done()], '<escalate type="stuck">\n<summary>Which colour?</summary>\n</escalate>'],
  ])('gives way to a question %s', (_when, reports, words) => {
    const story = working();
    report(story, ...reports);
    end(story, says(words));
    expect(story.state.questions.open).toMatchObject([{ summary: 'Which colour?', task: 'A' }]);
    expect(signals(story)).toEqual([]);
    expect(story.task('A').status).not.toBe('done');
  });

  it.each<[string, Performed, string]>([
    ['failed', failed('process'), 'failed'],
    ['was interrupted', failed('stopped', 'Ctrl-C'), 'interrupted'],
  ])('does not count where the agent %s after it, and the next attempt is told so', (_how, performed, why) => {
    const story = working();
    report(story, done());
    end(story, performed);
    expect(signals(story)).toEqual([['done', false]]);
    expect(story.state.memory.lastRejection).toContain(why);
  });

  it('made twice is one claim, with the later evidence', () => {
    const story = working();
    report(story, done(), { ...done(), evidence: [{ criterion: 1, evidence: 'seen in the browser' }] } as ToolReport);
    expect(story.state.live[0]?.reports).toMatchObject([{ evidence: [{ evidence: 'seen in the browser' }] }]);
    end(story, says(''));
    expect(signals(story)).toEqual([['done', true]]);
  });

  it('survives Ralph: its end that the spool holds is heard with what was reported before', () => {
    const story = working();
    report(story, done());
    expect(unpackState(packState(story.state)).live[0]?.reports).toHaveLength(1);
    story.when({ type: 'taken-over', by: 'ada' });
    story.when({ type: 'recovered', iteration: 1, holder: 'other', chance: 0, found: says('bye') });
    expect(signals(story)).toEqual([['done', true]]);
  });

  it('of a goal leaves nothing open, whatever the report in words lists', () => {
    const story = new Story({ mode: 'goal', checks: ['npm test'] }, [spec('goal')]);
    story.begin('goal');
    report(story, tells({ pending: ['the rest'] }), done('goal'));
    end(story, says('<report>\n{"pending": ["all of it"]}\n</report>'));
    expect(signals(story)).toEqual([['done', true]]);
  });
});

describe('a report that cannot be meant is refused at once', () => {
  const story = working();
  it.each<[string, ToolReport, object]>([
    ['of another task', done('B'), { why: 'other-task', task: 'A' }],
    ['without evidence', { type: 'done', task: 'A', evidence: [] }, { why: 'criteria-without-evidence', missing: [1] }],
    ['of a criterion that is not there', done('A', 7), { why: 'no-such-criterion', criteria: 1 }],
  ])('%s', (_what, one, refusal) => {
    expect(refusalOfReport(story.state, 1, one)).toEqual(refusal);
    expect(story.when({ type: 'reported', iteration: 1, report: one })).toEqual([]);
  });

  it('when its iteration is over, also while another works on the same task', () => {
    expect(refusalOfReport(story.state, 2, asks)).toEqual({ why: 'iteration-over' });
  });

  it('after a hundred in one iteration', () => {
    const many = working();
    report(many, ...Array.from({ length: 100 }, () => tells({ decisions: ['a'] })));
    expect(refusalOfReport(many.state, 1, asks)).toEqual({ why: 'too-many-reports', most: 100 });
  });
});

it('what it tells meanwhile stands in the next handoff, bounded, also when it died', () => {
  const story = working();
  report(
    story,
    tells({ completed: ['the parser'], pending: ['everything'], next: 'write the printer' }),
    tells({ decisions: ['no library\u001b[2J, because it is small'] }),
    tells({ obstacles: [{ message: 'no network' }], pending: ['the printer'], completed: ['x'.repeat(2_000)] }),
  );
  end(story, failed('process'));
  const handoff = continuationPrompt(story.state, 'A');
  for (const words of ['the parser', 'the printer', 'no library, because', 'no network', 'write the printer'])
    expect(handoff).toContain(words);
  expect(handoff).not.toContain('everything');
  expect(Math.max(...(story.state.memory.report?.completed ?? []).map(one => one.length))).toBe(300);
});
