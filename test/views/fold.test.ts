// A history that was handed out is a value: it stays as it was while the loop goes on.
import { expect, it } from 'vitest';
import { LoopFold } from '../../src/views/fold.ts';
import { claims, Story, spec } from '../core/given.ts';

it('given a history, when the loop goes on, then it says what it said', () => {
  const story = new Story({ checks: ['true'] }, [spec('A')]);
  story.iteration('A', claims('A'));
  const fold = new LoopFold();
  for (const event of story.events) fold.add(event);
  const before = fold.history();
  const said = JSON.stringify(before);
  const seen = story.events.length;
  story.checked(false);
  for (const event of story.events.slice(seen)) fold.add(event);
  expect(JSON.stringify(before)).toBe(said);
  expect(fold.history()).toMatchObject({ checks: [{ passed: false }], iterations: [{ errors: [expect.any(String)] }] });
});
