// Proves what becomes of tasks that a document no longer shows: nothing is lost, nothing is marked for another, people know.
import { describe, expect, it } from 'vitest';
import type { TaskSpec } from '../../src/core/task.ts';
import { claims, only, Story, spec, types } from './given.ts';

const read = (story: Story, tasks: readonly TaskSpec[], hash: string, during?: number) =>
  story.when({ type: 'document', tasks, hash, ...(during === undefined ? {} : { during }) });
const item = (id: string, title: string, part: Partial<TaskSpec> = {}) =>
  spec(id, { title, section: '', description: '', criteria: [], ...part });

describe('a task that is gone from the document', () => {
  it('between iterations stays open, is said once, and is no reason to end; shown again, it is marked again', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    const events = read(story, [spec('A')], 'h2');
    expect(types(events)).toEqual(['tasks.loaded']);
    expect(only(events, 'tasks.loaded')).toMatchObject({ gone: ['B'], tasks: [] });
    expect(only(events, 'tasks.loaded').because).toBe(
      'the document changed: gone from it and still open here: B (to leave one out: ralph task skip ID)',
    );
    expect(story.task('B')).toMatchObject({ status: 'pending', missing: true });
    expect(only(read(story, [spec('A', { title: 'new' })], 'h3'), 'tasks.loaded').because).not.toContain('B');
    story.iteration('A', claims('A'));
    story.saved();
    expect(story.effectKeys()).toEqual(['begin:B']);
    const back = only(read(story, [spec('A', { done: true }), spec('B')], 'h4'), 'tasks.loaded');
    expect(back).toMatchObject({ back: ['B'], because: expect.stringContaining('shown again: B') });
    expect(story.task('B')).not.toHaveProperty('absent');
  });

  it('during an iteration is told to the next agent', () => {
    const story = new Story({}, [item('a', 'One'), item('b', 'Two'), item('c', 'Three')]);
    story.begin('a');
    const events = read(story, [item('a', 'One'), item('x', 'Some other work')], 'h2', 1);
    expect(only(events, 'guidance.given').text).toMatch(/lost b, c, which are still to be done/);
    expect(story.task('b').status).toBe('pending');
  });

  it('given that it was done, then nothing is said and nothing is added', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    story.iteration('A', claims('A'));
    story.saved();
    const events = read(story, [spec('B')], 'h2');
    expect(only(events, 'tasks.loaded').because).toBe('the document changed: no task text differs');
    expect(only(events, 'tasks.loaded').gone).toBeUndefined();
  });

  it('given a document that is put back, then nothing of it is taken', () => {
    const story = new Story({}, [spec('A'), spec('B')]);
    story.begin('A');
    const tasks = [spec('A', { title: 'x' }), spec('N')];
    expect(story.when({ type: 'document', tasks, hash: 'h1', during: 1, isDamaged: true })).toEqual([]);
  });
});

describe('an item without an id', () => {
  it('given that its agent ticks and annotates it, then it is one task, and the claim is its own', () => {
    const story = new Story({}, [item('greet', 'Greet'), item('b', 'B')]);
    story.begin('greet');
    const now = [item('greet-done-in-greet-sh', 'Greet (done in greet.sh)', { done: true }), item('b', 'B')];
    const events = read(story, now, 'h2', 1);
    expect(types(events)).toEqual(['tasks.loaded']);
    expect(story.state.tasks.size).toBe(2);
    expect(story.task('greet')).toMatchObject({
      spec: { documentId: 'greet-done-in-greet-sh', title: 'Greet (done in greet.sh)' },
    });
    expect(types(read(story, now, 'h3', 1))).toEqual(['tasks.loaded']);
    expect(types(read(story, [item('greet', 'Greet', { done: true }), item('b', 'B')], 'h4', 1))).toEqual([
      'tasks.loaded',
    ]);
    expect(story.task('greet').spec.documentId).toBeUndefined();
  });

  it('given that another has its words now, then neither is taken for the other', () => {
    const story = new Story({}, [item('t', 'Test', { section: 'API' }), item('t-2', 'Test', { section: 'Web' })]);
    story.iteration('t', claims('t'));
    story.saved();
    const events = read(story, [item('t', 'Test', { section: 'Web' })], 'h2');
    expect(types(events)).toEqual(['tasks.loaded']);
    expect(story.task('t')).toMatchObject({ status: 'done', missing: true });
    expect(story.task('t-2')).toMatchObject({ status: 'pending', spec: { documentId: 't' } });
  });
});

describe('a plan that was approved without one of its steps', () => {
  const plan = () => {
    const story = new Story({ mode: 'plan', approval: true }, []);
    story.when({ type: 'document', tasks: [spec('A'), spec('B')], hash: 'h2', substance: 's1' });
    story.command({ type: 'approve', subject: 'p', hash: 's1', because: 'yes' });
    return story;
  };

  it('leaves it out, whether the yes or the reading comes first', () => {
    const one = plan();
    read(one, [spec('A')], 'h3');
    one.when({ type: 'document', tasks: [spec('A')], hash: 'h4', substance: 's2' });
    expect(one.task('B').status).toBe('pending');
    expect(types(one.command({ type: 'approve', subject: 'p', hash: 's2', because: 'yes' }))).toContain('task.skipped');
    const other = plan();
    other.command({ type: 'approve', subject: 'p', hash: 's2', because: 'yes' });
    other.when({ type: 'document', tasks: [spec('A')], hash: 'h4', substance: 's2' });
    expect([one.task('B').status, other.task('B').status]).toEqual(['skipped', 'skipped']);
  });
});

it('given how often a task may be tried, edited during an iteration, then that is not taken, also not by a later process', () => {
  const story = new Story({}, [spec('A', { attemptsMax: 3 }), spec('B')]);
  story.begin('A');
  const edited = [spec('A', { attemptsMax: 99 }), spec('B')];
  expect(only(read(story, edited, 'h2', 1), 'task.edit-rejected')).toMatchObject({ attemptsMax: 99 });
  expect(types(read(story, edited, 'h3'))).toEqual(['tasks.loaded']);
  expect(story.task('A').spec.attemptsMax).toBe(3);
  read(story, [spec('A', { attemptsMax: 5 }), spec('B')], 'h4');
  expect(story.task('A').spec.attemptsMax).toBe(5);
});
