// Proves how counts of single messages are added up (F57).
import { describe, expect, it } from 'vitest';
import { openTokenTotals } from '../../src/agents/usage.ts';

const tokens = { input: 100, output: 10, cacheRead: 5, cacheWrite: 1 };

describe('a tally', () => {
  it('tells running totals, each model apart', () => {
    const tally = openTokenTotals();
    tally.add(tokens, 'large', 0.5);
    expect(tally.add(tokens, 'small')).toEqual({ type: 'usage', tokens, model: 'small' });
    expect(tally.add(tokens, 'large', 0.25)).toEqual({
      type: 'usage',
      tokens: { input: 200, output: 20, cacheRead: 10, cacheWrite: 2 },
      model: 'large',
      costUsd: 0.75,
    });
  });

  it.each([Number.NaN, -1, '1', null, undefined])('adds no cost for %s (F57)', costUsd => {
    const tally = openTokenTotals();
    tally.add(tokens, 'large', 0.5);
    expect(tally.add(tokens, 'large', costUsd)).toMatchObject({ costUsd: 0.5 });
  });

  it('counts what cannot be counted as nothing', () => {
    const nonsense = { input: Number.NaN, output: -5, cacheRead: Number.POSITIVE_INFINITY, cacheWrite: 2 };
    expect(openTokenTotals().add(nonsense)).toEqual({
      type: 'usage',
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 2 },
    });
  });
});
