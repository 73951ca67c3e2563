// The short form of `npm run accuracy` for standstill: our own set, and its shape.
import { expect, it } from 'vitest';
import { isReached, readRows } from './figure.ts';
import { type StuckRow, stuckDetector } from './stuck.ts';

const rows = readRows('own')<StuckRow>('stuck.jsonl');

it.each(['stuck', 'productive'] as const)('the set has at least a hundred sequences that are %s', expected => {
  const own = rows.filter(row => row.expect === expected);
  expect(own.length).toBeGreaterThanOrEqual(100);
  expect(new Set(own.map(row => JSON.stringify(row.iterations))).size).toBe(own.length);
});

it('who moves is left alone, and who stands still is asked about', async () => {
  for (const figure of await stuckDetector.measure(readRows('own'))) {
    expect(figure.of, figure.measure).toBeGreaterThan(0);
    expect(isReached(figure), `${figure.measure}: ${figure.misses.join(', ')}`).toBe(true);
  }
});
