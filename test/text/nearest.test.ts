import { expect, it } from 'vitest';
import { nearest } from '../../src/text/similarity.ts';

it('a word of which every letter would change was not meant to be another', () => {
  expect(nearest('ab', ['xy'])).toBeUndefined();
  expect(nearest('ab', ['ay'])).toBe('ay');
});
