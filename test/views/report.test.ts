// Proves the account of a loop: as JSON for programs and as Markdown for people, both saying what was proven.

import { stripVTControlCharacters } from 'node:util';
import { expect, it } from 'vitest';
import { terminalReport } from '../../src/cli/output/terminal-report.ts';
import { makeStyle } from '../../src/cli/terminal.ts';
import { columnsOf } from '../../src/text/columns.ts';
import { isoTime } from '../../src/text/format.ts';
import { LoopFold } from '../../src/views/fold.ts';
import { type LoopReport, reportMarkdown, reportParts } from '../../src/views/report.ts';
import { claims, failed, only, Story, says, spec, t0, usd } from '../core/given.ts';

const told = (): Story => {
  const specs = [spec('A', { title: 'A | pipe' }), spec('B'), spec('C', { skipped: true }), spec('D', { done: true })];
  const story = new Story({ checks: ['npm test'], limits: { attemptsPerTaskMax: 2 } }, specs);
  story.iteration('A', { ...claims('A'), usage: usd(1, { inputTokens: 5, outputTokens: 7, estimated: true }) });
  story.checked(false);
  story.iteration('A', claims('A'));
  story.checked(true);
  story.iteration('B', failed('process', 'exit | 3\nsecond line'));
  story.iteration('B', says('no'));
  story.saved();
  story.command({ type: 'stop' });
  story.when({ type: 'end' });
  return story;
};

const reportOf = (story: Story): LoopReport => {
  const view = new LoopFold();
  for (const event of story.events) view.add(event);
  return view.report();
};

it('given a loop that was stopped, then the report holds its items, checks, errors and cost', () => {
  const story = told();
  const ended = only(story.events, 'loop.ended');
  const report = reportOf(story);
  expect(report).toMatchObject({
    version: 1,
    loop_id: 'loop-0001',
    name: 'shop',
    goal: 'a shop',
    reason: 'explicit_stop',
    verified: true,
    tokens: { input: 5, output: 7 },
    cost_usd: 1,
    cost_estimated: true,
    started_at: isoTime(t0),
    completed_at: isoTime(ended.at),
    active_minutes: 4 / 60,
    checkpoints: 0,
  });
  expect(report.items.map(({ id, status, verified, attempts }) => [id, status, verified, attempts])).toEqual([
    ['A', 'done', true, 2],
    ['B', 'blocked', null, 2],
    ['C', 'skipped', null, 0],
    ['D', 'done', null, 0],
  ]);
  expect(report.items[1]?.note).toContain('2 attempts');
  expect(report.checks).toEqual([
    { iteration: 1, task: 'A', check: 'npm test', passed: false },
    { iteration: 2, task: 'A', check: 'npm test', passed: true },
  ]);
  expect(report.errors).toHaveLength(1);
  expect(report.summary).toMatch(/^Stopped on request: /);
});

it('given it as Markdown, then each task has a row that no text of an agent can break', () => {
  const story = told();
  const text = reportMarkdown(reportOf(story), story.state);
  expect(text).toContain('| A | A \\| pipe | done | checks passed | 2 |');
  expect(text).toMatch(/\| B \| Title of B \| blocked \| 2 attempts.* \| 2 \|/);
  expect(text).toContain('| C | Title of C | skipped |  | 0 |');
  expect(text).toContain('| D | Title of D | done | done before the loop | 0 |');
  expect(text).toContain('Checks: 1 passed, 1 failed. Claims refused: 1. Questions asked: 0.');
  expect(text).toContain('$1.00 est., 12 tokens');
  expect(text).toContain('exit \\| 3');
  expect(text).not.toMatch(/undefined|NaN/);
});

it('given work closed on a word, then the report is not verified and the row says so', () => {
  const story = new Story({}, [spec('A')]);
  story.iteration('A', claims('A'));
  const report = reportOf(story);
  expect(report).toMatchObject({ verified: false, reason: '', completed_at: '' });
  expect(reportMarkdown(report, story.state)).toContain('closed unverified');
});

it('given HTML in a title or an error, then it stays text (B65)', () => {
  const story = new Story({}, [spec('A', { title: '</script><img src=x onerror=alert(1)>' })]);
  story.iteration('A', failed('process', 'exit 1: <script>alert(2)</script>'));
  const text = reportMarkdown(reportOf(story), story.state);
  expect(text).toContain('\\</script>\\<img src=x onerror=alert(1)>');
  expect(text).not.toMatch(/(^|[^\\])<(script|img|\/script)/);
});

it('given a deleted test that a person accepted, then the report says what, by whom and when; not so where nobody did', () => {
  const deleted = { kind: 'test-deleted', path: 'a.test.js', detail: 'it held 2 tests', severity: 'refuse' } as const;
  const story = new Story({ checks: ['npm test'], checkpoints: true, tamperScreen: true }, [spec('A')]);
  story.iteration('A', claims('A'));
  const outcomes = [{ name: 'npm test', passed: true, detail: '', durationMs: 1 }];
  story.when({ type: 'checked', iteration: 1, outcomes, doubts: [{ ...deleted, fingerprint: 'f1' }] });
  expect(reportOf(story).accepted).toEqual([]);
  story.after(1000).command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 2 } }, 'bob');
  const report = reportOf(story);
  const what = 'The test file a.test.js was deleted: it held 2 tests.';
  expect(report.accepted).toEqual([{ task: 'A', by: 'bob', at: isoTime(story.now), what }]);
  expect(reportMarkdown(report, story.state)).toContain(
    `## Accepted by a person\n\n- A, accepted by bob at ${isoTime(story.now)}: ${what}\n`,
  );
});

it('given the items of a goal, then they are as proven as their goal, and nothing by themselves', () => {
  const part = { mode: 'goal', checks: ['npm test'] } as const;
  const items = '{"completed": ["parse"], "pending": [], "phase": "complete"}';
  const story = new Story(part, [spec('goal')]);
  const proofs = (): readonly string[] => reportOf(story).items.map(one => one.note);
  story.iteration('goal', says(`<report>${items}</report>\n\n${story.state.settings.promise}`));
  expect(proofs()).toEqual(['', 'claimed by the agent']);
  story.checked(true);
  expect(proofs()).toEqual(['', 'with the goal: checks passed (npm test)']);
  expect(reportMarkdown(reportOf(story), story.state)).toContain(
    '| done | with the goal: checks passed (npm test) | 0 |',
  );
});

it.each([60, 80])(
  'given a terminal of %i columns, then headings, lists and tasks fit it, broken between words',
  columns => {
    const story = told();
    const style = { ...makeStyle({ ascii: true }), columns: () => columns };
    const text = stripVTControlCharacters(terminalReport(reportParts(reportOf(story), story.state), style));
    expect(text.split('\n').filter(line => columnsOf(line) >= columns)).toEqual([]);
    expect(text).toMatch(/^shop\n----\n\nStopped on request: /);
    expect(text).toContain('\n  A  A | pipe (done, checks passed, 2 attempts)\n');
    expect(text).toContain('\nErrors\n------\n  - iteration 3: ');
    expect(text).not.toMatch(/[#\\]|\| task|undefined/);
  },
);

it('given claims by a tool, then each criterion has a verdict and what it rests on, and other reports have none', () => {
  const story = new Story({ checks: ['npm test'], checkpoints: false }, [
    spec('A', { criteria: ['it adds', 'it | prints'] }),
    spec('B'),
  ]);
  const evidence = [1, 2].map(criterion => ({ criterion, evidence: `test ${criterion}` }));
  for (const [task, passed] of [['A', true] as const, ['B', false] as const]) {
    story.begin(task);
    const { begun } = story.state.iterations;
    story.when({
      type: 'reported',
      iteration: begun,
      report: { type: 'done', task, evidence: task === 'A' ? evidence : evidence.slice(0, 1) },
    });
    story.performed(says('bye'));
    story.checked(passed);
  }
  const report = reportOf(story);
  expect(report.criteria).toEqual([
    { task: 'A', criterion: 'it adds', verdict: 'met', evidence: 'test 1' },
    { task: 'A', criterion: 'it | prints', verdict: 'met', evidence: 'test 2' },
    { task: 'B', criterion: 'B works', verdict: 'open', evidence: 'test 1' },
  ]);
  expect(reportMarkdown(report, story.state)).toContain('- A: it \\| prints: met, says the agent (test 2)');
  expect(reportOf(told()).criteria).toBeUndefined();
});
