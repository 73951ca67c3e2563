// Proves what the ledger alone says about checkpoints: what stands in the tree, where undo leads, what a tree was settled as.
import { describe, expect, it } from 'vitest';
import { type CheckpointList, CheckpointsView, type Standing, undoTarget } from '../../src/views/checkpoints.ts';
import { claims, Story, says, spec } from '../core/given.ts';

const begin = (): Story => new Story({ checkpoints: true }, [spec('A'), spec('B'), spec('C')]);

/** One iteration that claims its task and is saved. */
function work(story: Story, task: string): void {
  story.iteration(task, claims(task));
  story.checkpointed(`after ${task}`);
  if (story.state.claims.open.length > 0) story.checked(true);
}

function restore(story: Story, number: number, refused?: string): void {
  const to = listOf(story).rows.find(one => one.number === number);
  if (to === undefined) throw new Error(`no checkpoint ${number}`);
  const { checkpoint, commit, tree } = to;
  story.command({ type: 'restore', to: { checkpoint, number, commit, tree }, because: 'a test' });
  story.checkpointed('before a restore');
  const nothing = { written: 1, deleted: 0, merged: [], kept: [] };
  story.when({ type: 'restored', ...nothing, ...(refused === undefined ? {} : { refused }) });
}

function listOf(story: Story) {
  const view = new CheckpointsView();
  for (const [at, event] of story.events.entries()) view.add(at + 1, event);
  return view.list();
}

function standingIn({ standing }: CheckpointList): readonly Standing[] {
  const all: Standing[] = [];
  for (let one = standing; one !== undefined; one = one.below) all.push(one);
  return all;
}

const standingCount = (list: CheckpointList): number => standingIn(list).length;

/** Where each of its iterations changed a file. */
const target = (story: Story, steps?: number): number | undefined =>
  undoTarget(listOf(story), standingIn(listOf(story)), steps)?.number;

describe('given iterations one after the other', () => {
  it('then undo leads before the last one, and steps lead further, to the first and not beyond', () => {
    const story = begin();
    expect(target(story)).toBeUndefined();
    for (const task of ['A', 'B', 'C']) work(story, task);
    expect(listOf(story).rows.map(one => [one.number, one.iteration])).toEqual([
      [1, 0],
      [2, 1],
      [3, 2],
      [4, 3],
    ]);
    expect([1, 2, 3, 4].map(steps => target(story, steps))).toEqual([3, 2, 1, undefined]);
    expect(target(story)).toBe(3);
    expect(standingCount(listOf(story))).toBe(3);
  });

  it('then undo leads before the last one that left something, and steps count those alone', () => {
    const story = begin();
    for (const task of ['A', 'B', 'C']) work(story, task);
    const list = listOf(story);
    const some = standingIn(list).filter(one => one.iteration !== 3);
    expect(undoTarget(list, some)).toEqual({ number: 2, what: 'iteration 2, the last that stands in the files' });
    expect(undoTarget(list, some, 1)).toEqual(undoTarget(list, some));
    expect(undoTarget(list, some, 2)).toEqual({
      number: 1,
      what: 'the last 2 iterations that stand in the files, from 1 on',
    });
    expect(undoTarget(list, some, 3)).toBeUndefined();
    expect([1, 2, 3].map(iteration => list.iterations.get(iteration)?.closed)).toEqual([true, true, true]);
  });

  it('then a claim that was believed after its checkpoint belongs to that checkpoint, and the next iteration does not', () => {
    const story = begin();
    work(story, 'A');
    const closed = story.events.findIndex(one => one.type === 'task.closed') + 1;
    const { length } = story.events;
    work(story, 'B');
    const row = listOf(story).rows[1];
    expect(row?.settledSeq).toBeGreaterThanOrEqual(closed);
    expect(row?.settledSeq).toBeLessThanOrEqual(length);
  });
});

describe('given a restore', () => {
  it('then undo leads to what was there before it, until the loop works again', () => {
    const story = begin();
    work(story, 'A');
    work(story, 'B');
    restore(story, 1);
    expect(listOf(story)).toMatchObject({ current: 1, isRestored: true, lastRestore: { to: 1, before: 4, by: 'ada' } });
    expect(target(story)).toBe(4);
    expect(target(story, 1)).toBeUndefined();
    story.begin('C');
    story.performed(says('no'));
    story.checkpointed('after C');
    expect(listOf(story)).toMatchObject({ current: 5, isRestored: false });
    expect(target(story)).toBe(1);
    expect(standingCount(listOf(story))).toBe(1);
  });

  it('when that restore is restored away, then the iterations stand again', () => {
    const story = begin();
    work(story, 'A');
    work(story, 'B');
    restore(story, 1);
    restore(story, 4);
    expect(standingCount(listOf(story))).toBe(2);
    expect(target(story, 2)).toBe(1);
    expect(target(story)).toBe(5);
  });

  it('when it is refused, then it is no act at all', () => {
    const story = begin();
    work(story, 'A');
    restore(story, 1, 'a person edited it');
    expect(listOf(story)).toMatchObject({ isRestored: false, lastRestore: undefined, current: 3 });
    expect(target(story)).toBe(1);
  });
});

describe('given one made by hand between iterations', () => {
  it('then it is where the next one began, and undo leads there', () => {
    const story = begin();
    work(story, 'A');
    story.command({ type: 'checkpoint', label: 'by hand' });
    story.checkpointed('by hand');
    work(story, 'B');
    expect(target(story)).toBe(3);
    expect(listOf(story).iterations.get(2)).toMatchObject({ before: 3, after: 4 });
  });
});
