// Proves that what a document calls done without a record of it is told, in any format.
import { expect, it } from 'vitest';
import { watchTicked } from '../../src/documents/edits.ts';
import { spec } from '../core/given.ts';

const tasks = [spec('A', { done: true }), spec('B', { skipped: true }), spec('C')];

it('given tasks that are over without a record, then they are named; with one, nothing is said (B48)', () => {
  expect(watchTicked(tasks, new Set())).toEqual([
    '2 of 3 tasks (A, B) are marked as done or skipped already, without a record of it, and will not be worked on. Open again what is not done, or say --accept-ticked.',
  ]);
  expect(watchTicked(tasks, new Set(['A']))).toEqual([expect.stringMatching(/^Task B is marked as done or skipped/)]);
  expect(watchTicked(tasks, new Set(['A', 'B']))).toEqual([]);
});
