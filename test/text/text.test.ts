import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { stripControls, takeCharacters, takeLastCharacters } from '../../src/text/text.ts';

const family = '👨‍👩‍👧';

describe('given text that must be cut', () => {
  it('when it fits, then it is whole; when nothing may stay, then nothing does', () => {
    expect([takeCharacters('abc', 3), takeLastCharacters('abc', 3)]).toEqual(['abc', 'abc']);
    for (const max of [0, -1, Number.NaN])
      expect([takeCharacters('abc', max), takeLastCharacters('abc', max)]).toEqual(['', '']);
    expect([takeCharacters('abc', 2.9), takeLastCharacters('abc', 2.9)]).toEqual(['ab', 'bc']);
  });

  it('when the cut falls into a pair, an accent or a family, then the whole character goes', () => {
    expect(takeCharacters('ab😀', 3)).toBe('ab');
    expect(takeCharacters('abe\u0301', 3)).toBe('ab');
    for (let max = 1; max <= family.length; max += 1) expect(takeCharacters(`a${family}`, max)).toBe('a');
    expect(takeLastCharacters('😀ab', 3)).toBe('ab');
    expect(takeLastCharacters('e\u0301ab', 3)).toBe('ab');
    for (let max = 1; max <= family.length; max += 1) expect(takeLastCharacters(`${family}a`, max)).toBe('a');
    expect(takeCharacters('a👍🏽', 4)).toBe('a');
    expect(takeLastCharacters('❤\ufe0fa', 2)).toBe('a');
  });

  it('when one character alone is longer than the bound, then the bound holds and no pair is split', () => {
    expect(takeCharacters(`e${'\u0301'.repeat(100)}`, 50)).toHaveLength(50);
    expect(takeCharacters('😀😀', 1)).toBe('');
  });

  it('when it is any well-formed text, then the parts are well-formed, within the bound, and where they were', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, max) => {
        const head = takeCharacters(text, max);
        const tail = takeLastCharacters(text, max);
        expect(head.length <= max && tail.length <= max).toBe(true);
        expect(head.isWellFormed() && tail.isWellFormed()).toBe(true);
        expect(text.startsWith(head) && text.endsWith(tail)).toBe(true);
        if (tail !== text) expect(tail).not.toMatch(/^[\p{M}\u200d]/u);
      }),
    );
  });
});

describe('given text with terminal sequences (B62)', () => {
  it.each([
    ['colours', '\x1b[1;31mred\x1b[0m', 'red'],
    ['a cleared screen', 'a\x1b[2J\x1b[Hb', 'ab'],
    ['a private mode', '\x1b[?1049hx', 'x'],
    ['a title', '\x1b]0;title\x07x', 'x'],
    ['a link (B63)', '\x1b]8;;https://evil.example/x\x1b\\github.com\x1b]8;;\x1b\\!', 'github.com (evil.example)!'],
    ['an unclosed link', '\x1b]8;id=1;https://evil.example\x07github.com', 'github.com (evil.example)'],
    ['a link to no host', '\x1b]8;;mailto:a@b\x07write\x1b]8;;\x07', 'write (mailto:a@b)'],
    ['two links in a row', '\x9d8;;https://a.example\x9cx\x9d8;;https://b.example\x9cy', 'x (a.example)y (b.example)'],
    ['a clipboard write', '\x1b]52;c;ZXZpbA==\x07x', 'x'],
    ['a device string', '\x1bP1$r0m\x1b\\x', 'x'],
    ['an application string', '\x1b_hidden\x1b\\x', 'x'],
    ['a privacy message', '\x1b^hidden\x1b\\x', 'x'],
    ['8-bit sequences', '\x9b31mred\x9d0;t\x9cx\x90q\x9cy', 'redxy'],
    ['a character set', '\x1b(Bx', 'x'],
    ['a reset', '\x1bcx', 'x'],
    ['an escape at the end', 'x\x1b', 'x'],
    ['an unfinished sequence', 'x\x1b[31', 'x'],
    ['an unclosed string, which hides only its line', 'a\x1b]0;hidden\nb', 'a\nb'],
    ['bells', `a${'\x07'.repeat(10_000)}b`, 'ab'],
    ['backspaces', 'safe\b\b\b\bevil', 'safeevil'],
    ['an overwritten line', 'evil\rsafe', 'evil\nsafe'],
    ['line ends', 'a\r\nb\r\r\nc\n', 'a\nb\n\nc\n'],
    ['tabs and other scripts', '\tπ 😀', '\tπ 😀'],
  ])('when it has %s, then only the text stays', (_name, text, expected) => expect(stripControls(text)).toBe(expected));

  it('when it is any text, then no control is left and a second pass changes nothing', () => {
    const part = fc.oneof(
      fc.constantFrom('\x1b', '\x1b[', '\x1b]', '\x9b', '\x07', '\r', '\n', '\x1b\\', '3', 'm'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(part), parts => {
        const clean = stripControls(parts.join(''));
        expect(clean).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]/);
        expect(stripControls(clean)).toBe(clean);
      }),
    );
  });

  it('when a megabyte of it never closes, then it still ends', () => {
    for (const unit of ['\x1b]', '\x1b[', '\x9d', '\x1bPa']) {
      expect(stripControls(unit.repeat(500_000)).includes('\x1b')).toBe(false);
    }
  });
});
