// Proves how amounts read in a sentence, and that our calendar is the calendar.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatDuration, formatUsd, isoTime, plural } from '../../src/text/format.ts';

it.each([
  [0, '$0.00'],
  [4_200, '$0.0042'],
  [10_000, '$0.01'],
  [123_400, '$0.1234'],
  [990_000, '$0.99'],
  [1_500_000, '$1.50'],
  [1_234_567, '$1.23'],
  [50_000_000, '$50.00'],
])('%d micro-dollars read %s', (micros, text) => {
  expect(formatUsd(micros)).toBe(text);
});

it.each([
  [-5, '0.0s'],
  [0, '0.0s'],
  [300, '0.3s'],
  [1_000, '1s'],
  [41_400, '41s'],
  [59_600, '1m'],
  [60_000, '1m'],
  [125_000, '2m 5s'],
  [3_600_000, '1h'],
  [7_500_000, '2h 5m'],
  [7_561_000, '2h 6m'],
  [90_000_000, '1d 1h'],
])('%d ms read %s', (ms, text) => {
  expect(formatDuration(ms)).toBe(text);
});

it.each([
  [0, '0 tasks'],
  [1, '1 task'],
  [2, '2 tasks'],
])('%d reads %s', (count, text) => {
  expect(plural(count, 'task')).toBe(text);
});

it('given no time, then there is no text', () => {
  expect(isoTime(0)).toBe('');
});

it('given any moment up to the year 9999, then it reads as the platform’s own calendar does', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 253_402_300_799_999 }), at => {
      expect(isoTime(at)).toBe(new Date(at).toISOString());
    }),
    { numRuns: 500 },
  );
});

it.each([
  '2024-02-29T23:59:59.999Z',
  '2100-02-28T12:00:00.000Z',
  '2000-03-01T00:00:00.000Z',
  '2027-01-01T00:00:00.001Z',
])('the leap years and ends of years are right: %s', text => {
  expect(isoTime(Date.parse(text))).toBe(text);
});
