import { expect, it } from 'vitest';
import { tailOf } from '../../src/process/tail.ts';

const tail = (charsMax: number, ...pieces: readonly string[]): string => {
  const kept = tailOf(charsMax);
  for (const piece of pieces) kept.add(piece);
  return kept.text();
};

it('a short text is kept whole', () => {
  expect(tail(10, 'ab', '', 'cd')).toBe('abcd');
});

it('of a long text the end is kept, however it came', () => {
  expect(tail(4, '0123456789')).toBe('6789');
  expect(tail(4, ...'0123456789')).toBe('6789');
  expect(tail(4, '012345', '6', '789')).toBe('6789');
});

it('no half of a character is kept', () => {
  expect(tail(3, 'a😀bc')).toBe('bc');
});
