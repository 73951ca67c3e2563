// Proves a fifth of the claims of our own set, row by row; `npm run accuracy` measures all of them.
import { describe, expect, it } from 'vitest';
import { type ClaimRow, wrongWith } from './claims.ts';
import { readRows } from './figure.ts';

const rows = readRows('own')<ClaimRow>('claims.jsonl');

describe('given messages of agents', () => {
  it.each([
    ['contract', true, 340],
    ['contract', false, 340],
    ['meaning', true, 140],
    ['meaning', false, 70],
    ['near', false, 110],
  ] as const)(
    'of the set %s (meant: %s): every fifth of at least %i is read as a person would',
    (set, isMeant, least) => {
      const all = rows.filter(row => row.set === set && (row.expect !== 'none') === isMeant);
      expect(all.length).toBeGreaterThanOrEqual(least);
      const fifth = all.filter((_row, at) => at % 5 === 0);
      const wrong = fifth.map(row => [row.id, wrongWith(row)] as const).filter(([, why]) => why !== undefined);
      expect(wrong).toEqual([]);
    },
  );
});
