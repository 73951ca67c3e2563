// Turns what an ACP session lets us hear into the activities of a performer.
import type { Heard, PriceBook, StreamProblem } from '../agent.ts';
import type { Activity, Note } from '../performer.ts';
import { listenToSession } from './listening.ts';
import { openAccount } from './usage.ts';

export interface Ear {
  update(params: unknown): void;
  permission(params: unknown): void;
  session(id: string, model: string | undefined): void;
  turnBegan(promptChars: number, notes: readonly Note[]): void;
  /** Says what went wrong although the turn ended well. */
  turnEnded(answer: unknown): StreamProblem | undefined;
  /** Ends a line that is still open, for whoever reads along. */
  lineEnd(): void;
  /** The text in which signals are read. */
  message(): string;
}

/** `busy` hears whether a tool is at work. */
export function openEar(prices: PriceBook, tell: (activity: Activity) => void, busy: (isBusy: boolean) => void): Ear {
  const listening = listenToSession();
  const account = openAccount(prices);
  let promptChars = 0;
  let wasBusy = false;
  let usedFraction = -1;
  let isLineOpen = false;

  function say(text: string): void {
    tell({ type: 'text', text, channel: 'output' });
    isLineOpen = !text.endsWith('\n');
  }

  function lineEnd(): void {
    if (isLineOpen) say('\n');
  }

  function hear(heard: Heard): void {
    if (heard.type === 'text') say(heard.text);
    else if (heard.type === 'tool' && heard.phase === 'began') {
      lineEnd();
      tell({ type: 'tool', name: heard.name, detail: heard.detail });
    } else if (heard.type === 'context') {
      const now = account.usedFraction(heard);
      if (now !== usedFraction) tell({ type: 'context', usedFraction: now });
      usedFraction = now;
    } else if (heard.type === 'usage') tellUsage(account.cost(heard.costUsd));
  }

  function tellUsage(usage: ReturnType<typeof account.cost>): void {
    const { inputTokens = 0, outputTokens = 0, costUsdMicros = 0 } = usage ?? {};
    if (usage !== undefined && inputTokens + outputTokens + costUsdMicros > 0) tell({ type: 'usage', usage });
  }

  function hearAll(all: readonly Heard[]): void {
    for (const heard of all) hear(heard);
    if (listening.isBusy() !== wasBusy) busy(!wasBusy);
    wasBusy = listening.isBusy();
  }

  return {
    update: params => hearAll(listening.update(params)),
    permission: params => hearAll(listening.permission(params)),
    session(id, model) {
      listening.session(id);
      account.model(model);
      tell({ type: 'session', id });
    },
    turnBegan(chars, notes) {
      promptChars = chars;
      listening.turnBegan();
      lineEnd();
      for (const note of notes) tell({ type: 'told', note: note.id });
    },
    turnEnded(answer) {
      hearAll(listening.turnEnded());
      const [spokenChars, usedTokens] = [listening.spokenChars(), listening.usedTokens()];
      tellUsage(account.turnEnded(answer, { promptChars, spokenChars, usedTokens }));
      return listening.problem();
    },
    lineEnd,
    message: () => listening.message(),
  };
}
