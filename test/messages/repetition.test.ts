import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { normalise } from '../../src/messages/repetition.ts';

describe('normalising', () => {
  it.each([
    ['colours', '\x1b[31mFailed\x1b[0m hard', 'failed hard'],
    ['times', '2026-01-02T03:04:05.678Z done', '# done'],
    ['written dates', 'on Nov 15, 2026 it broke', 'on # it broke'],
    ['durations', 'took 1h 2m 3s', 'took #'],
    ['numbers', 'ran 12 of 345 tests', 'ran # of # tests'],
    ['ids', 'see 550e8400-e29b-41d4-a716-446655440000', 'see #'],
    ['hashes', 'at 9fceb02d0ae598', 'at #'],
    ['addresses', 'at 0x7ffee4c0a1b2c3', 'at #'],
    ['paths', 'in /tmp/run-1/a.ts:3:4 and src/b.ts, C:\\x\\y', 'in ~ and ~, ~'],
    ['spacing and case', '  Now\n\n\tTHEN  ', 'now then'],
  ])('takes out %s', (_what, text, expected) => {
    expect(normalise(text)).toBe(expected);
  });

  it('keeps words that only look like numbers', () => {
    expect(normalise('the defaced facade may march')).toBe('the defaced facade may march');
  });

  it('makes logs equal that differ only in the hour', () => {
    const log = (hour: string): string =>
      `${hour}:00:01 start\n${hour}:00:02 step 1 of 9 in /w/${hour}\n${hour}:59:59 end`;
    expect(normalise(log('01'))).toBe(normalise(log('23')));
  });

  it('reads a long text from both ends and stays bounded', () => {
    const text = `first words ${'middle '.repeat(400_000)} last words`;
    const normal = normalise(text);
    expect(normal.length).toBeLessThanOrEqual(1_000);
    expect(normal.startsWith('first words')).toBe(true);
    expect(normal.endsWith('last words')).toBe(true);
  });

  it('is the same when done twice, and leaves no digit', () => {
    const atoms = fc.constantFrom(
      '1',
      'a',
      'f',
      '-',
      ':',
      ' ',
      '/',
      '.',
      'ms',
      'nov',
      '#',
      'T',
      'z',
      '\x1b[0m',
      '\n',
      'deadbeef',
      ',',
      '"',
      'Σ',
      '😀',
    );
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(atoms, { maxLength: 60 }).map(parts => parts.join('')),
      fc.array(atoms, { minLength: 900, maxLength: 1_500 }).map(parts => parts.join('')),
    );
    fc.assert(
      fc.property(text, sample => {
        const once = normalise(sample);
        expect(normalise(once)).toBe(once);
        expect(once).not.toMatch(/[0-9]/);
        expect(once.isWellFormed() || !sample.isWellFormed()).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
