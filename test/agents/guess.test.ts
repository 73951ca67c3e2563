// Proves the guess of what an agent used that did not live to say it.
import { describe, expect, it } from 'vitest';
import { estimateTokens } from '../../src/agents/usage.ts';

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
