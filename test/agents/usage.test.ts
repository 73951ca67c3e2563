// Proves that tokens and money are neither lost, doubled nor decreased, whatever an agent states (F57).
import { describe, expect, it } from 'vitest';
import type { PriceBook, Tokens } from '../../src/agents/agent.ts';
import { estimateTokens, openMeter, openTokenTotals } from '../../src/agents/usage.ts';

const prices: PriceBook = {
  costUsdMicros: ({ input, output }, model) => (input + output) * (model === 'dear' ? 100 : 1),
  windowTokens: model => (model === 'wide' ? 1_000_000 : undefined),
  knows: () => true,
};
const tokens = (input: number, output = 0, more: Partial<Tokens> = {}): Tokens => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  ...more,
});
const meter = () => openMeter(prices, undefined);

describe('what an agent has used', () => {
  it('costs what the agent says', () => {
    expect(meter().usage({ type: 'usage', tokens: tokens(10, 5), costUsd: 0.007695 })).toEqual({
      inputTokens: 10,
      outputTokens: 5,
      cacheReadTokens: 0,
      cacheWriteTokens: 0,
      costUsdMicros: 7_695,
      estimated: false,
    });
  });

  it.each([undefined, null, Number.NaN, -1, 0, '0.5', Number.POSITIVE_INFINITY, 1e300, {}])(
    'is estimated from its tokens when the cost is %s (F57)',
    costUsd => {
      const usage = meter().usage({ type: 'usage', tokens: tokens(10, 5), costUsd });
      expect(usage).toMatchObject({ costUsdMicros: 15, estimated: true });
    },
  );

  it('is never nothing when it is less than a micro-dollar', () => {
    expect(meter().usage({ type: 'usage', tokens: tokens(1), costUsd: 1e-9 })?.costUsdMicros).toBe(1);
  });

  it('has no tokens where their number is nonsense', () => {
    const odd = { input: Number.NaN, output: -5, cacheRead: 1.5, cacheWrite: Number.POSITIVE_INFINITY };
    expect(meter().usage({ type: 'usage', tokens: odd })).toMatchObject({
      inputTokens: 0,
      outputTokens: 0,
      cacheReadTokens: 1,
      cacheWriteTokens: 0,
    });
  });

  it('is the sum over its models, each at its own price', () => {
    const both = meter();
    both.usage({ type: 'usage', tokens: tokens(10), model: 'cheap' });
    expect(both.usage({ type: 'usage', tokens: tokens(10), model: 'dear' })).toMatchObject({
      inputTokens: 20,
      costUsdMicros: 1_010,
    });
  });

  it('has the price of the model that was asked for when none is named', () => {
    const usage = openMeter(prices, 'dear').usage({ type: 'usage', tokens: tokens(1) });
    expect(usage?.costUsdMicros).toBe(100);
  });

  it('never shrinks, in no field (F57, B56)', () => {
    const one = meter();
    one.usage({ type: 'usage', tokens: tokens(100, 10, { cacheRead: 7 }), costUsd: 0.5 });
    expect(one.usage({ type: 'usage', tokens: tokens(50, 20), costUsd: 0.2 })).toEqual({
      inputTokens: 100,
      outputTokens: 20,
      cacheReadTokens: 7,
      cacheWriteTokens: 0,
      costUsdMicros: 500_000,
      estimated: false,
    });
  });

  it('stays an estimate when that was higher than what the agent says in the end', () => {
    const one = openMeter(prices, 'dear');
    one.usage({ type: 'usage', tokens: tokens(100) });
    one.usage({ type: 'usage', tokens: tokens(101), costUsd: 0.000_001 });
    expect(one.usage({ type: 'usage', tokens: tokens(102), costUsd: 0.000_002 })).toMatchObject({
      costUsdMicros: 10_000,
      estimated: true,
    });
  });

  it('has the price of each request, not of their sum', () => {
    const tiered = { ...prices, costUsdMicros: ({ input }: Tokens) => input * (input > 200 ? 2 : 1) };
    const one = openMeter(tiered, undefined);
    for (const input of [100, 200, 300, 400]) one.usage({ type: 'usage', tokens: tokens(input) });
    expect(one.usage({ type: 'usage', tokens: tokens(700) })?.costUsdMicros).toBe(400 + 600);
  });

  it('is not priced twice when its tokens go down and up again', () => {
    const one = meter();
    for (const input of [100, 50, 100]) one.usage({ type: 'usage', tokens: tokens(input) });
    expect(one.usage({ type: 'usage', tokens: tokens(101) })?.costUsdMicros).toBe(101);
  });

  it('costs what the agent said, and what came since by the tables', () => {
    const one = meter();
    one.usage({ type: 'usage', tokens: tokens(100) });
    one.usage({ type: 'usage', tokens: tokens(200), costUsd: 0.001 });
    expect(one.usage({ type: 'usage', tokens: tokens(250) })).toMatchObject({ costUsdMicros: 1_050, estimated: true });
    expect(one.usage({ type: 'usage', tokens: tokens(250), costUsd: 0.0015 })).toMatchObject({
      costUsdMicros: 1_500,
      estimated: false,
    });
  });

  it('costs what the agent says as soon as that is more than what was told before', () => {
    const one = openMeter(prices, 'dear');
    one.usage({ type: 'usage', tokens: tokens(100) });
    one.usage({ type: 'usage', tokens: tokens(100), costUsd: 0.001 });
    expect(one.usage({ type: 'usage', tokens: tokens(300), costUsd: 0.02 })).toMatchObject({
      costUsdMicros: 20_000,
      estimated: false,
    });
  });

  it('is not said again when nothing changed', () => {
    const one = meter();
    one.usage({ type: 'usage', tokens: tokens(5) });
    expect(one.usage({ type: 'usage', tokens: tokens(5) })).toBeUndefined();
  });
});

describe('what an agent has used that says its cost itself, with a model whose price nobody knows', () => {
  const unlisted: PriceBook = {
    ...prices,
    costUsdMicros: ({ input }) => input * 1_000,
    knows: name => name === 'listed',
  };
  const stating = () => openMeter(unlisted, undefined, true);

  it('is told in tokens at once, and in money when it says so', () => {
    const one = stating();
    expect(one.usage({ type: 'usage', tokens: tokens(100), model: 'new' })).toMatchObject({
      inputTokens: 100,
      costUsdMicros: 0,
      estimated: false,
    });
    one.usage({ type: 'usage', tokens: tokens(200), model: 'new' });
    expect(one.usage({ type: 'usage', tokens: tokens(200), model: 'new', costUsd: 0.0005 })).toMatchObject({
      inputTokens: 200,
      costUsdMicros: 500,
      estimated: false,
    });
    expect(one.end()).toBeUndefined();
  });

  it('costs the upper bound at the end, for all that it never gave a cost for', () => {
    const one = stating();
    one.usage({ type: 'usage', tokens: tokens(100), costUsd: 0.0005 });
    one.usage({ type: 'usage', tokens: tokens(110) });
    expect(one.usage({ type: 'usage', tokens: tokens(103) })).toBeUndefined();
    one.usage({ type: 'usage', tokens: tokens(7), model: 'new' });
    expect(one.end()).toMatchObject({ inputTokens: 117, costUsdMicros: 500 + 17_000, estimated: true });
    expect(one.end()).toBeUndefined();
  });

  it('owes nothing for what turned out to be counted under another name', () => {
    const one = stating();
    one.usage({ type: 'usage', tokens: tokens(100), model: 'new' });
    one.usage({ type: 'usage', tokens: tokens(0), model: 'new' });
    one.usage({ type: 'usage', tokens: tokens(100), model: 'newer', costUsd: 0.0005 });
    expect(one.end()).toBeUndefined();
  });

  it('is priced at once where the model is known, or the agent says no cost', () => {
    const listed = { type: 'usage', tokens: tokens(1), model: 'listed' } as const;
    expect(stating().usage(listed)?.costUsdMicros).toBe(1_000);
    expect(openMeter(unlisted, undefined).usage({ type: 'usage', tokens: tokens(1) })?.costUsdMicros).toBe(1_000);
  });

  it('is nothing at the end when nothing was told', () => {
    expect(stating().end()).toBeUndefined();
    expect(stating().isEmpty()).toBe(true);
  });
});

describe('a context', () => {
  it.each([
    ['by the window that the agent names', { usedTokens: 50_000, windowTokens: 100_000 }, 0.5],
    ['by the window of its model', { usedTokens: 100_000, model: 'wide' }, 0.1],
    ['by the usual window', { usedTokens: 100_000 }, 0.5],
    ['by the usual window when the one named is nonsense', { usedTokens: 100_000, windowTokens: Number.NaN }, 0.5],
    ['to the brim and no more', { usedTokens: 900_000 }, 1],
    ['by nothing that is nonsense', { usedTokens: Number.NaN }, 0],
  ])('is filled %s', (_how, heard, fraction) => {
    expect(meter().usedFraction({ type: 'context', ...heard })).toBe(fraction);
  });

  it('is told once while it stays the same', () => {
    const { usedFraction } = meter();
    const half = { type: 'context', usedTokens: 50, windowTokens: 100 } as const;
    expect([usedFraction(half), usedFraction(half), usedFraction({ ...half, usedTokens: 60 })]).toEqual([
      0.5,
      undefined,
      0.6,
    ]);
  });
});

describe('a turn that its agent said nothing about', () => {
  it('used what its prompt and its words are long', () => {
    expect(estimateTokens({ promptChars: 3_000, spokenChars: 300 })).toEqual({
      input: 1_000,
      output: 100,
      cacheRead: 0,
      cacheWrite: 0,
    });
  });

  it('sent its context again with every call of a tool', () => {
    expect(estimateTokens({ promptChars: 3_000, spokenChars: 300, toolCalls: 4 })).toMatchObject({
      cacheRead: 4 * 1_050,
    });
  });

  it('used the context that the agent stated, where that is more', () => {
    expect(estimateTokens({ promptChars: 3_000, spokenChars: 0, usedTokens: 4_000 })).toMatchObject({ input: 4_000 });
  });

  it('used nothing when nothing was done', () => {
    expect(estimateTokens({ promptChars: 3_000, spokenChars: 0 })).toBeUndefined();
  });

  it('did not use more than windows can hold and sessions last, however much it babbles', () => {
    const babble = { promptChars: 9_000_000, spokenChars: 9_000_000, toolCalls: 1_000_000 };
    expect(estimateTokens(babble)?.cacheRead).toBe(200 * 200_000);
  });
});

describe('totals of single messages', () => {
  const tokens = { input: 100, output: 10, cacheRead: 5, cacheWrite: 1 };

  it('tells running totals, each model apart', () => {
    const totals = openTokenTotals();
    totals.add(tokens, 'large', 0.5);
    expect(totals.add(tokens, 'small')).toEqual({ type: 'usage', tokens, model: 'small' });
    expect(totals.add(tokens, 'large', 0.25)).toEqual({
      type: 'usage',
      tokens: { input: 200, output: 20, cacheRead: 10, cacheWrite: 2 },
      model: 'large',
      costUsd: 0.75,
    });
  });

  it.each([Number.NaN, -1, '1', null, undefined])('adds no cost for %s (F57)', costUsd => {
    const totals = openTokenTotals();
    totals.add(tokens, 'large', 0.5);
    expect(totals.add(tokens, 'large', costUsd)).toMatchObject({ costUsd: 0.5 });
  });

  it('counts what cannot be counted as nothing', () => {
    const nonsense = { input: Number.NaN, output: -5, cacheRead: Number.POSITIVE_INFINITY, cacheWrite: 2 };
    expect(openTokenTotals().add(nonsense)).toEqual({
      type: 'usage',
      tokens: { input: 0, output: 0, cacheRead: 0, cacheWrite: 2 },
    });
  });
});
