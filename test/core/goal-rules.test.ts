// Proves what a goal is claimed by and what brings it nearer: reports are read so that nothing left to do is overlooked.
import { describe, expect, it } from 'vitest';
import { evaluateTermination } from '../../src/core/termination.ts';
import type { Phase } from '../../src/messages/report.ts';
import { only, type SettingsPart, Story, says, spec } from './given.ts';

const goal = spec('goal', { criteria: [] });
const goalStory = (part: SettingsPart = {}): Story =>
  new Story({ mode: 'goal', limits: { noProgressIterations: 3 }, ...part }, [goal]);

const promise = '<promise>DONE</promise>';
const report = (value: object): string => `<report>${JSON.stringify(value)}</report>`;
const step = (phase: Phase, completed: readonly string[] = [], pending: readonly string[] = []): string =>
  report({ phase, completed, pending });

const because = (story: Story): string | undefined => evaluateTermination(story.state, story.now)?.because;

describe('a claim of the goal is refused', () => {
  it.each([
    ['an item is pending', report({ pending: ['b'] }), 'its own report lists 1 pending item'],
    ['an item is blocked', report({ blocked: ['deploy'] }), 'its own report lists 1 blocked item: ask a person'],
    ['both', report({ pending: ['b'], blocked: ['c'] }), 'its own report lists 1 pending and 1 blocked items'],
    ['what is pending is no list', report({ pending: 'b, c' }), 'its own report lists 1 pending item'],
    [
      'what is pending are objects',
      report({ pending: [{ item: 'b' }, { x: 1 }] }),
      'its own report lists 2 pending items. The report block was not taken whole: ',
    ],
    [
      'the report cannot be read',
      '<report>{"pending": [</report>',
      'its report block could not be read. The report block was not read: there is no JSON',
    ],
    ['the last of two cannot', `${report({})}\n<report>{oops}</report>`, 'its report block could not be read'],
  ])('when %s', (_name, words, why) => {
    for (const claim of [promise, 'Task goal complete']) {
      const story = goalStory();
      story.iteration('goal', says(`${words}\n${claim}`));
      expect(story.state.memory.lastRejection).toContain(`it claims the goal, but ${why}`);
      expect(story.task('goal').status).toBe('pending');
    }
  });

  it('when it brings no report, and the last one that there was lists items', () => {
    const story = goalStory();
    story.iteration('goal', says(step('planning', [], ['a', 'b', 'c'])));
    story.iteration('goal', says('I went on.'));
    story.iteration('goal', says(`All is there.\n${promise}`));
    expect(story.state.memory.lastRejection).toBe(
      'it claims the goal, but the last report before it lists 3 pending items',
    );
    story.iteration('goal', says(`${step('complete', ['a', 'b', 'c'])}\n${promise}`));
    expect(story.task('goal').status).toBe('done');
  });

  it('and taken when nothing is left open, also where no report ever was, or one was only cut to its bounds', () => {
    const long = report({ phase: 'complete', decisions: ['x'.repeat(900)] });
    for (const words of ['Done.', step('testing', ['a']), long]) {
      const story = goalStory();
      story.iteration('goal', says(`${words}\n${promise}`));
      expect(story.task('goal').status).toBe('done');
    }
  });
});

describe('progress towards a goal', () => {
  it('is each phase that is entered for the first time: one per iteration leads to the end', () => {
    const story = goalStory();
    story.iteration('goal', says(step('planning', [], ['form', 'mail'])));
    for (const phase of ['implementing', 'testing', 'reviewing', 'handoff'] as const) {
      story.iteration('goal', says(step(phase, ['form', 'mail'])));
      expect(because(story)).toBeUndefined();
    }
    story.iteration('goal', says(`${step('complete', ['form', 'mail'])}\n${promise}`));
    expect(because(story)).toBe('the goal is reached');
  });

  it('is neither a phase that comes back nor an item under another case or spacing', () => {
    const story = goalStory();
    story.iteration('goal', says(step('testing', ['The form'])));
    story.iteration('goal', says(step('implementing', ['the  FORM'])));
    story.iteration('goal', says(step('testing', ['the form'])));
    story.iteration('goal', says(step('implementing', ['The form'])));
    expect(because(story)).toContain('no report of the last 3 iterations named a new completed item or a later phase,');
  });

  it('is not made by two reports in turn: an item is new once', () => {
    const story = goalStory();
    for (const item of ['a', 'b', 'a', 'b', 'a']) story.iteration('goal', says(step('implementing', [item])));
    expect(because(story)).toMatch(/^no report of the last 3 iterations .*, 3 allowed \(--no-progress\)$/);
  });

  it('begins anew when the files went back: what was done before must be done again', () => {
    const story = goalStory({ checkpoints: true });
    story.iteration('goal', says(step('implementing', ['a'])));
    story.checkpointed('cp-1');
    expect(story.state.memory.reported).toMatchObject({ items: [expect.any(String)], phase: 'implementing' });
    const to = story.state.checkpoints.latest!;
    story.command({ type: 'restore', to, because: 'undo', overwrite: false });
    story.checkpointed('cp-2');
    story.when({ type: 'restored', written: 1, deleted: 0, merged: [], kept: [] });
    expect(story.state.memory.reported).toEqual({ items: [], isPlanned: false, silent: 0 });
  });

  it('cannot be seen without report blocks, and the reason says how many left none', () => {
    const story = goalStory();
    for (const words of ['One thing.', step('planning'), 'Another.', 'And a third one.'])
      story.iteration('goal', says(words));
    expect(because(story)).toBeUndefined();
    story.iteration('goal', says(step('planning')));
    expect(because(story)).toBe(
      'no report of the last 3 iterations named a new completed item or a later phase (2 left no report block), 3 allowed (--no-progress)',
    );
  });

  it('is remembered within bounds, however many items are made up', () => {
    const story = goalStory({ limits: { noProgressIterations: 3, iterationsMax: null } });
    for (let turn = 0; turn < 30; turn += 1) {
      const items = Array.from({ length: 50 }, (_, at) => `item ${turn}-${at}`);
      story.iteration('goal', says(report({ completed: items })));
    }
    expect(story.state.memory.reported.items).toHaveLength(1_000);
  });
});

it('in prompt mode a box in the middle of a message does not claim the task, and the next prompt says why', () => {
  const story = new Story({ mode: 'prompt' }, [spec('prompt')]);
  const events = story.iteration('prompt', says('- [x] TASK_COMPLETE\nNo wait, the tests fail.'));
  expect(only(events, 'signal.read')).toMatchObject({ signal: 'done', accepted: false });
  expect(story.state.memory.lastRejection).toContain('must be the last line');
  expect(only(events, 'iteration.ended').because).toContain('without claiming the task');
});
