// What two texts are compared by: what differs from run to run is blanked, and what is news stays.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { comparable } from '../../src/messages/said.ts';

it.each([
  ['colours', '\x1b[31mFailed\x1b[0m hard', 'Failed hard'],
  ['times', '2026-01-02T03:04:05.678Z done at 10:31', '# done at #'],
  ['written dates', 'on Nov 15, 2026 it broke', 'on # it broke'],
  ['durations', 'took 1h 2m 3s, then 45 ms', 'took #, then #'],
  ['ids', 'see 550e8400-e29b-41d4-a716-446655440000', 'see #'],
  ['hashes', 'at 9fceb02d0ae598', 'at #'],
  ['addresses', 'at 0x7ffee4c0a1b2c3', 'at #'],
  ['ports and processes', 'connect 127.0.0.1:49152, port 3000, pid 17', 'connect 127.0.0.1:#, port #, pid #'],
  ['temporary paths', 'in /tmp/run-1/a.ts and C:\\x\\Temp\\y', 'in ~ and ~'],
  ['the number of the attempt', 'Attempt 3 of 5, iteration #4', 'Attempt #, iteration #'],
  ['spacing', '  Now\n\n\tthen  ', 'Now then'],
])('takes out %s', (_what, text, expected) => {
  expect(comparable(text)).toBe(expected);
});

it.each([
  'ran 12 of 345 tests, 7 failed',
  'migrated src/a.ts:3',
  'SyntaxError at src/a.ts:12:30',
  'version 1.2.3 of node 24',
  'the defaced facade may march',
  'US-001 and #101',
  '1200000 rows',
])('keeps what is news: %s', text => {
  expect(comparable(text)).toBe(text);
});

it('reads a long text from both ends and stays bounded', () => {
  const text = comparable(`first words ${'middle '.repeat(400_000)} last words`);
  expect(text.length).toBeLessThanOrEqual(1_000);
  expect(text.startsWith('first words')).toBe(true);
  expect(text.endsWith('last words')).toBe(true);
});

it('is the same when done twice', () => {
  const atoms = fc.constantFrom(
    ...'1afAmZ-: /.,#@~"\n\\'.split(''),
    'ms',
    'nov',
    '\x1b[0m',
    'deadbee1',
    'attempt ',
    '😀',
  );
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(atoms, { maxLength: 60 }).map(parts => parts.join('')),
    fc.array(atoms, { minLength: 900, maxLength: 1_500 }).map(parts => parts.join('')),
  );
  fc.assert(
    fc.property(text, sample => {
      const once = comparable(sample);
      expect(comparable(once)).toBe(once);
    }),
    { numRuns: 300 },
  );
});
