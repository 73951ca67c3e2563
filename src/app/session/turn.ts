// Turn of a session as the end of an iteration: its message, what its provider said instead, its tokens and their price.
import type { Tokens } from '../../agents/agent.ts';
import { classifyFailure } from '../../core/failure.ts';
import type { Performed } from '../../core/input.ts';

interface TurnUsage {
  readonly model: string;
  readonly input: number;
  readonly output: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
}

export interface Turn {
  readonly message: string;
  readonly error: string | undefined;
  readonly tools: number;
  readonly usage: readonly TurnUsage[];
}

async function usageOf(messages: readonly TurnUsage[]): Promise<Performed['usage']> {
  if (messages.length === 0) return undefined;
  const { addTokens, noTokens, openMeter } = await import('../../agents/usage.ts');
  const { openPriceBook } = await import('../../agents/prices.ts');
  const totals = new Map<string, Tokens>();
  for (const { model, ...tokens } of messages) totals.set(model, addTokens(totals.get(model) ?? noTokens, tokens));
  const meter = openMeter(await openPriceBook(), undefined);
  let used: Performed['usage'];
  for (const [model, tokens] of totals)
    used = meter.usage({ type: 'usage', tokens, model: model || undefined }) ?? used;
  return meter.end() ?? used;
}

export async function performedIn({ message, error, tools, usage }: Turn): Promise<Performed> {
  const failure = error === undefined ? undefined : classifyFailure({ text: error, isError: true });
  return { message: error === undefined ? message : '', failure, toolCalls: tools, usage: await usageOf(usage) };
}
