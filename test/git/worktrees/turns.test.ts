// Turns: how many works of a process go on at once, and in which order the others follow.
import { expect, it } from 'vitest';
import { atMost } from '../../../src/git/worktrees/turns.ts';

it('runs so many at once, the next one when one ends, in their order, and a failure ends a turn too', async () => {
  const inTurn = atMost(2);
  const begun: string[] = [];
  const end = new Map<string, (error?: Error) => void>();
  const work = (name: string): Promise<string> =>
    inTurn(() => {
      begun.push(name);
      return new Promise((done, fail) => end.set(name, error => (error === undefined ? done(name) : fail(error))));
    });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(work) as [Promise<string>, ...Promise<string>[]];
  expect(begun).toEqual(['a', 'b']);
  end.get('b')!(new Error('no'));
  await expect(b).rejects.toThrow('no');
  expect(begun).toEqual(['a', 'b', 'c']);
  end.get('a')!();
  expect(await a).toBe('a');
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  for (const name of ['c', 'd']) end.get(name)!();
  expect(await Promise.all([c, d])).toEqual(['c', 'd']);
  const last = work('e');
  expect(begun).toContain('e');
  end.get('e')!();
  expect(await last).toBe('e');
});
