import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findRepetition, fingerprint, normalise } from '../../src/messages/repetition.ts';

const apple = 'i added the parser and its tests but the build still fails on the import';
const pear = 'reverted everything because another approach through the old scanner seems right';
const plum = 'wrote documentation for the command line and cleaned the changelog of last week';
const quiet = { errors: [], sameErrorMax: 3 };

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

describe('finding repetition', () => {
  it('sees nothing in outputs that differ', () => {
    expect(findRepetition({ ...quiet, output: apple, recentOutputs: [pear, plum] })).toBeUndefined();
    expect(findRepetition({ ...quiet, output: apple, recentOutputs: [] })).toBeUndefined();
  });

  it('sees an output that comes again with one word changed', () => {
    const found = findRepetition({ ...quiet, output: apple.replace('still', 'again'), recentOutputs: [plum, apple] });
    expect(found?.kind).toBe('similar');
    expect(found?.detail).toBe('it said almost the same as in the iteration before');
  });

  it('looks back five iterations and no further', () => {
    const others = [pear, plum, `${pear} ${plum}`, `${plum} entirely otherwise ${plum}`];
    expect(findRepetition({ ...quiet, output: apple, recentOutputs: [apple, ...others] })?.kind).toBe('similar');
    expect(
      findRepetition({ ...quiet, output: apple, recentOutputs: [apple, ...others, 'something short'] }),
    ).toBeUndefined();
  });

  it('names an oscillation before a similarity', () => {
    expect(findRepetition({ ...quiet, output: pear, recentOutputs: [apple, pear, apple] })?.kind).toBe('oscillation');
    expect(findRepetition({ ...quiet, output: apple, recentOutputs: [apple, apple, apple] })?.kind).toBe('similar');
    expect(findRepetition({ ...quiet, output: pear, recentOutputs: [plum, pear, apple] })?.kind).toBe('similar');
  });

  it('never takes an empty output for a repetition', () => {
    expect(findRepetition({ ...quiet, output: '', recentOutputs: ['', '', ''] })).toBeUndefined();
  });

  it('asks short outputs to be equal', () => {
    expect(
      findRepetition({ ...quiet, output: 'all tests pass nowx', recentOutputs: ['all tests pass now'] }),
    ).toBeUndefined();
    expect(findRepetition({ ...quiet, output: 'all tests pass', recentOutputs: ['all tests pass'] })?.kind).toBe(
      'similar',
    );
  });

  it('counts the same error in a row, whatever its numbers, before anything else', () => {
    const error = (n: number): string => `TypeError at /w/${n}/a.ts:${n}: x is not a function`;
    const question = { output: apple, recentOutputs: [apple], error: error(3), sameErrorMax: 3 };
    expect(findRepetition({ ...question, errors: [error(1), error(2)] })).toEqual({
      kind: 'same-error',
      detail: 'the same error 3 times in a row: typeerror at ~ x is not a function',
    });
    expect(findRepetition({ ...question, errors: [error(1), 'another error', error(2)] })?.kind).toBe('similar');
    expect(findRepetition({ ...question, errors: [error(1)] })?.kind).toBe('similar');
    expect(findRepetition({ ...question, errors: [error(1), error(2)], sameErrorMax: null })?.kind).toBe('similar');
  });

  it('does not take two errors without text for the same', () => {
    expect(
      findRepetition({ output: '', recentOutputs: [], error: '', errors: ['', ''], sameErrorMax: 3 }),
    ).toBeUndefined();
  });
});

describe('the fingerprint of an error', () => {
  it('is short and stable', () => {
    const long = `Error 17: ${'words of many kinds '.repeat(50)}`;
    expect(fingerprint(long).length).toBeLessThanOrEqual(200);
    expect(fingerprint(fingerprint(long))).toBe(fingerprint(long));
    expect(fingerprint('Error 17: x')).toBe(fingerprint('Error 18: x'));
  });
});
