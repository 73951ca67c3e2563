import { expect, it } from 'vitest';
import { tailOf } from '../../src/processes/streams.ts';
import { takeLastWhole } from '../../src/text/text.ts';

const tail = (charsMax: number, ...pieces: readonly string[]): string => {
  const kept = tailOf(charsMax);
  for (const piece of pieces) kept.add(piece);
  return kept.text();
};

it('a short text is kept whole', () => {
  expect(tail(10, 'ab', '', 'cd')).toBe('abcd');
});

it('of a long text the end is kept, however it came, from the beginning of a line', () => {
  expect(tail(7, '012345\n789')).toBe('789');
  expect(tail(7, ...'012345\n789')).toBe('789');
  expect(tail(7, '0123', '4', '5\n789')).toBe('789');
  expect(tail(3, '012345\n789')).toBe('789');
});

it('of a long line the end is kept from a word on: the rest of a token that was cut off would be no redactor’s find', () => {
  const token = `ghp_${'a1B2'.repeat(9)}`;
  for (let cut = 0; cut < token.length; cut += 1) {
    const line = `${token} is wrong`;
    expect(tail(line.length - cut - 1, 'the token ', line)).toBe(' is wrong');
  }
  expect(tail(10, token)).toBe('');
});

it('no half of a character is kept', () => {
  expect(tail(4, 'a😀 bc')).toBe(' bc');
});

it('the end of a flood is kept, in pieces of any size', () => {
  for (const charsMax of [1, 1_000, 65_536, 200_000]) {
    const kept = tailOf(charsMax);
    let all = '';
    for (let at = 0; all.length < 700_000; at += 1) {
      const piece = `${at} ${'é😀'.repeat(at % 7)}\n`.repeat((at * 37) % 900);
      all += piece;
      kept.add(piece);
      if (at % 50 === 0) kept.text(); // may be asked at any time
    }
    expect(kept.text()).toBe(takeLastWhole(all, charsMax));
  }
});

it('a flood of ASCII may end in other characters, wherever its ring stands', () => {
  const charsMax = 70_000;
  for (const before of [65_537, 69_999, 70_000, 70_004, 139_990, 140_007])
    for (const last of ['é', 'ÿ', '密', '😀', 'abcé', '\ud83d', 'é'.repeat(69_999), `${'x'.repeat(69_990)}密`]) {
      const flood = '012345678\n'.repeat(before / 10 + 1).slice(0, before);
      expect(tail(charsMax, flood, last, '!') === takeLastWhole(`${flood}${last}!`, charsMax)).toBe(true);
    }
});
