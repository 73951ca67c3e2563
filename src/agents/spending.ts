// Tells what a run of an agent CLI used: as the agent says it, and by a guess where it ended before it could.
import type { Heard } from './agent.ts';
import type { Activity } from './performer.ts';
import type { Conversation } from './conversation.ts';
import { guessOf } from './guess.ts';
import { meterOf } from './usage.ts';

export interface Spending {
  hear(heard: Extract<Heard, { type: 'text' | 'tool' | 'usage' | 'context' }>): void;
  /** `message` is its final one, empty for none. */
  end(message: string): void;
}

export function openSpending(
  { cli, prices, launchOrder }: Pick<Conversation, 'cli' | 'prices' | 'launchOrder'>,
  push: (activity: Activity) => void,
): Spending {
  const meter = meterOf(prices, launchOrder.model, cli.statesCost);
  let toolCalls = 0;
  let spokenChars = 0;
  let usedFraction = -1;

  function tell(usage: ReturnType<typeof meter.usage>): void {
    if (usage !== undefined) push({ type: 'usage', usage });
  }

  return {
    hear(heard) {
      if (heard.type === 'text') spokenChars += heard.text.length;
      else if (heard.type === 'usage') tell(meter.usage(heard));
      else if (heard.type === 'context') {
        const used = meter.usedFraction(heard);
        if (used !== usedFraction) push({ type: 'context', usedFraction: used });
        usedFraction = used;
      } else if (heard.phase === 'began') {
        toolCalls += 1;
        spokenChars += heard.detail.length;
      }
    },
    end(message) {
      // Neither work nor an answer: what was said is how it was refused, and that costs nothing.
      const isWork = toolCalls > 0 || message !== '';
      const turn = { promptChars: launchOrder.prompt.length, spokenChars, toolCalls };
      const tokens = cli.can.usage && isWork && meter.isEmpty() ? guessOf(turn) : undefined;
      if (tokens !== undefined) tell(meter.usage({ type: 'usage', tokens }));
      tell(meter.end());
    },
  };
}
