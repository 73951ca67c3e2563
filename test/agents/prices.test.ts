// What tokens cost: exactly what the provider's list says where it is known, and never nothing where it is not.
import { calcPrice, findProvider } from '@pydantic/genai-prices';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Tokens } from '../../src/agents/agent.ts';
import { openPriceBook, priceBook, spellings } from '../../src/agents/prices.ts';

const book = await openPriceBook();

const tokens = (given: Partial<Tokens>): Tokens => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, ...given });
const anyCount = fc.oneof(
  fc.nat(50_000_000),
  fc.double(),
  fc.constantFrom(Number.NaN, -1, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, Number.MAX_VALUE, -0),
);
const anyTokens = fc.record({ input: anyCount, output: anyCount, cacheRead: anyCount, cacheWrite: anyCount });
const wholeTokens = fc.record({
  input: fc.nat(5_000_000),
  output: fc.nat(500_000),
  cacheRead: fc.nat(5_000_000),
  cacheWrite: fc.nat(5_000_000),
});
const known = [
  'claude-sonnet-4-5',
  'claude-opus-5-5',
  'gpt-5',
  'gpt-5.6-sol',
  'gemini-2.5-pro',
  'gemini-3.1-pro-preview',
];
const anyModel = fc.oneof(
  fc.constantFrom(...known, 'mock/m1', 'opus', 'openai/gpt-5', '__proto__', 'constructor', '', '/', '//', '[1m]'),
  fc.string(),
  fc.constant(undefined),
);

describe('the cost of a known model', () => {
  it('equals what claude itself charged for the same tokens', () => {
    const recorded = tokens({ input: 1_230, output: 130, cacheRead: 3_100, cacheWrite: 300 });
    expect(book.costUsdMicros(recorded, 'claude-sonnet-4-5')).toBe(7_695);
    expect(book.costUsdMicros(tokens({ input: 5_000, output: 250 }), 'claude-opus-5-5')).toBe(25_000);
    expect(book.costUsdMicros(tokens({ input: 200_000, output: 10_000 }), 'claude-sonnet-4-5')).toBe(750_000);
  });

  it('counts what came from the cache at the lower rate, and never twice', () => {
    const fresh = book.costUsdMicros(tokens({ input: 100_000 }), 'claude-sonnet-4-5');
    const cached = book.costUsdMicros(tokens({ cacheRead: 100_000 }), 'claude-sonnet-4-5');
    const written = book.costUsdMicros(tokens({ cacheWrite: 100_000 }), 'claude-sonnet-4-5');
    expect([fresh, cached, written]).toEqual([300_000, 30_000, 375_000]);
  });

  it.each([
    ['claude-sonnet-4-5-20250929'],
    ['anthropic/claude-sonnet-4-5'],
    ['anthropic/claude-sonnet-4-5-20250929'],
    ['openrouter/anthropic/claude-sonnet-4-5'],
    ['claude-sonnet-4-5[1m]'],
    [' claude-sonnet-4-5 '],
    ['us.anthropic.claude-sonnet-4-6-v1:0'],
    ['global.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['eu.anthropic.claude-sonnet-4-6'],
    ['anthropic.claude-sonnet-4-6-v1:0[1m]'],
    ['arn:aws:bedrock:us-east-1:1:inference-profile/apac.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['bedrock/us.anthropic.claude-sonnet-4-6-v1:0'],
    ['vertex_ai/claude-sonnet-4-6@20260101'],
  ])('is found under the spelling %s', name => {
    expect(book.costUsdMicros(tokens({ input: 1_000 }), name)).toBe(3_000);
    expect(book.knows(name)).toBe(true);
  });

  it('is what the library itself calculates, tiers and all', () => {
    const names = ['anthropic', 'openai', 'google', 'x-ai', 'mistral'].flatMap(providerId =>
      (findProvider({ providerId })?.models ?? []).map(model => model.id),
    );
    const calculated = (name: string, { input, output, cacheRead, cacheWrite }: Tokens): number | undefined => {
      const read = { cache_read_tokens: cacheRead, cache_write_tokens: cacheWrite };
      return calcPrice({ input_tokens: input + cacheRead + cacheWrite, output_tokens: output, ...read }, name)
        ?.total_price;
    };
    fc.assert(
      fc.property(fc.constantFrom(...names), wholeTokens, (name, some) => {
        const usd = calculated(name, some) ?? 0;
        fc.pre(usd > 0);
        expect(Math.abs(book.costUsdMicros(some, name) - usd * 1_000_000)).toBeLessThanOrEqual(1);
      }),
      { numRuns: 500 },
    );
  });

  it('is looked up once for each name, known or not, unless it depends on the time of day', () => {
    const asked: string[] = [];
    const counting = priceBook({
      calcPrice: (usage, name) => {
        asked.push(name);
        return calcPrice(usage, name);
      },
    });
    for (const name of ['gpt-5', 'mock', 'deepseek-chat'])
      for (let time = 0; time < 3; time += 1) counting.costUsdMicros(tokens({ input: 1 }), name);
    expect(asked).toEqual(['gpt-5', 'mock', 'deepseek-chat', 'deepseek-chat', 'deepseek-chat']);
  });

  it('never falls when a count grows', () => {
    fc.assert(
      fc.property(wholeTokens, wholeTokens, fc.constantFrom(...known, 'mock/m1'), (some, more, model) => {
        const both = {
          input: some.input + more.input,
          output: some.output + more.output,
          cacheRead: some.cacheRead + more.cacheRead,
          cacheWrite: some.cacheWrite + more.cacheWrite,
        };
        expect(book.costUsdMicros(both, model)).toBeGreaterThanOrEqual(book.costUsdMicros(some, model));
      }),
    );
  });

  it('stays below the bound for an unknown one', () => {
    fc.assert(
      fc.property(wholeTokens, fc.constantFrom(...known), (some, model) => {
        expect(book.costUsdMicros(some, model)).toBeLessThanOrEqual(Math.max(1, book.costUsdMicros(some, undefined)));
      }),
    );
  });
});

describe('the cost of a model that nobody knows (F58)', () => {
  it.each([['mock/m1'], ['opus'], ['default'], [''], [undefined]])('is the upper bound for %s', model => {
    const million = { input: 1_000_000, output: 0, cacheRead: 0, cacheWrite: 0 };
    expect(book.costUsdMicros(million, model)).toBe(30_000_000);
    expect(book.costUsdMicros({ ...million, input: 0, cacheRead: 1_000_000 }, model)).toBe(3_000_000);
    expect(book.costUsdMicros({ ...million, input: 0, cacheWrite: 1_000_000 }, model)).toBe(30_000_000);
    expect(book.costUsdMicros({ ...million, input: 0, output: 1_000_000 }, model)).toBe(180_000_000);
    expect(book.knows(model ?? '')).toBe(false);
    expect(book.windowTokens(model)).toBeUndefined();
  });

  it.each([
    ['nothing', () => null],
    ['no price', () => ({ model_price: {}, model: {} })],
    ['a price of 0', () => ({ model_price: { output_mtok: 0 }, model: {} })],
    ['a price that is no number', () => ({ model_price: { output_mtok: Number.NaN }, model: {} })],
    ['a negative price', () => ({ model_price: { output_mtok: -1 }, model: {} })],
    [
      'an error',
      () => {
        throw new Error('no such unit');
      },
    ],
  ])('is the upper bound when the tables answer with %s', (_name, calcPrice) => {
    const strange = priceBook({ calcPrice } as never);
    expect(strange.costUsdMicros(tokens({ output: 1_000 }), 'claude-sonnet-4-5')).toBe(180_000);
    expect(strange.windowTokens('claude-sonnet-4-5')).toBeUndefined();
  });
});

describe('whatever counts and names an agent gives (F57)', () => {
  it('the cost is a whole number of micro-dollars, and above 0 exactly when a token was counted', () => {
    fc.assert(
      fc.property(anyTokens, anyModel, (given, model) => {
        const cost = book.costUsdMicros(given, model);
        expect(Number.isSafeInteger(cost)).toBe(true);
        const used = Object.values(given).some(one => Number.isFinite(one) && one > 0);
        expect(cost > 0).toBe(used);
      }),
    );
  });

  it('a name is tried without each of its prefixes, and the trial ends', () => {
    fc.assert(
      fc.property(fc.string(), name => {
        expect(spellings(name).every(one => one !== '' && name.includes(one))).toBe(true);
      }),
    );
    expect(spellings('a/b/c[1m]')).toEqual(['a/b/c', 'b/c', 'c']);
    expect(spellings('')).toEqual([]);
  });
});

describe('the context window', () => {
  it('is what the tables say, a million where the name says so, and unknown where they do not', () => {
    expect(book.windowTokens('claude-sonnet-4-5')).toBe(200_000);
    expect(book.windowTokens('anthropic/claude-sonnet-4-5[1m]')).toBe(1_000_000);
    expect(book.windowTokens('gpt-5')).toBe(400_000);
    expect(book.windowTokens('mock/m1')).toBeUndefined();
  });
});
