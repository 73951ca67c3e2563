// Proves what an ACP session has used and cost, whichever way the agent says it.
import { describe, expect, it } from 'vitest';
import { openSessionUsage } from '../../../src/agents/acp/listener.ts';
import type { PriceBook } from '../../../src/agents/agent.ts';

const prices: PriceBook = {
  costUsdMicros: ({ input, output }, model) => (input + output) * (model === 'dear' ? 100 : 1) * (input > 200 ? 2 : 1),
  windowTokens: () => undefined,
  knows: () => true,
};
const turn = { promptChars: 0, spokenChars: 0 };
const used = (inputTokens: number) => ({ usage: { inputTokens, outputTokens: 0 } });

describe('what an ACP session used over several turns', () => {
  it('costs each turn by the model that worked then, and no turn twice', () => {
    const account = openSessionUsage(prices);
    account.model('cheap');
    account.turnEnded(used(100), turn);
    expect(account.turnEnded(used(150), turn)).toMatchObject({ inputTokens: 250, costUsdMicros: 250 });
    account.model('dear');
    expect(account.turnEnded(used(10), turn)).toMatchObject({
      inputTokens: 260,
      costUsdMicros: 1_250,
      estimated: true,
    });
  });

  it('costs what the agent says of it all, as soon as it says it', () => {
    const account = openSessionUsage(prices);
    account.turnEnded(used(100), turn);
    expect(account.cost(0.5)).toMatchObject({ inputTokens: 100, costUsdMicros: 500_000, estimated: false });
    expect(account.turnEnded(used(100), turn)).toMatchObject({ inputTokens: 200, costUsdMicros: 500_000 });
  });

  it('adds a count without a name to the model that works', () => {
    const account = openSessionUsage(prices);
    account.model('dear');
    const count = (model: string) => ({ model, token_count: { input_tokens: 1, output_tokens: 0 } });
    const answer = { _meta: { quota: { model_usage: [count('dear'), count('')] } } };
    expect(account.turnEnded(answer, turn)).toMatchObject({ inputTokens: 2, costUsdMicros: 200 });
  });
});
