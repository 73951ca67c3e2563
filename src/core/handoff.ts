// When a fresh context should take over: the seed's six triggers as one ordered table, and how a live agent is asked to.
import type { HandoffTrigger } from './event.ts';
import { formatDuration } from '../text/format.ts';
import { hasNewItem } from './reported.ts';
import type { Report } from '../messages/claims.ts';
import { type LiveIteration, type State, usedFractionBefore } from './state.ts';

export interface HandoffFacts {
  readonly contextUsed: number;
  readonly contextFractionMax: number;
  readonly errorsInRow: number;
  readonly errorsToHandOff: number;
  readonly budgetUsed: number;
  readonly budgetAlertFraction: number;
  /** The budget trigger fires once per loop. */
  readonly budgetAlerted: boolean;
  readonly phaseComplete: boolean;
  readonly requested: boolean;
  readonly timedOut: boolean;
}

export const handoffTriggers: readonly {
  readonly trigger: HandoffTrigger;
  readonly holds: (facts: HandoffFacts) => boolean;
}[] = [
  { trigger: 'explicit_request', holds: facts => facts.requested },
  { trigger: 'context_threshold', holds: facts => facts.contextUsed > facts.contextFractionMax },
  { trigger: 'error_threshold', holds: facts => facts.errorsInRow >= facts.errorsToHandOff },
  { trigger: 'token_budget', holds: facts => !facts.budgetAlerted && facts.budgetUsed > facts.budgetAlertFraction },
  { trigger: 'phase_complete', holds: facts => facts.phaseComplete },
  { trigger: 'timeout', holds: facts => facts.timedOut },
];

export function shouldHandOff(facts: HandoffFacts): HandoffTrigger | undefined {
  return handoffTriggers.find(row => row.holds(facts))?.trigger;
}

/**
 * A handoff that we asked for, with something new completed by its report, is a step of a large task: it counts neither as
 * an attempt nor against progress. Iterations, money and time still bound it.
 */
export function isAdvance(state: State, live: LiveIteration, report: Report | undefined): boolean {
  return live.handoff?.delivered === true && hasNewItem(state, report);
}

export interface HandoffDue {
  readonly trigger: HandoffTrigger;
  readonly because: string;
}

const minute = 60_000;

/** When the time of an iteration is nearly up: early enough to write a report. Short iterations have no such moment. */
function timeIsShortAt({ startedAt }: LiveIteration, iterationMsMax: number): number | undefined {
  if (iterationMsMax < 5 * minute) return undefined;
  return startedAt + iterationMsMax - Math.min(5 * minute, Math.max(1.5 * minute, iterationMsMax / 10));
}

/** Why a working performer should be asked now to write its report and stop; else when time alone will be the reason. */
export function handoffOfLive(
  state: State,
  live: LiveIteration,
  now: number,
): { readonly due?: HandoffDue; readonly dueAt?: number } {
  if (live.handoff !== undefined || live.process === undefined) return {};
  const { contextFractionMax, budgetAlertFraction, limits } = state.settings;
  const percent = (fraction: number): string => `${Math.round(fraction * 100)} %`;
  if (live.contextUsed > contextFractionMax) {
    const because = `its context is ${percent(live.contextUsed)} full, ${percent(contextFractionMax)} allowed`;
    return { due: { trigger: 'context_threshold', because } };
  }
  const { before, used } = usedFractionBefore(state, live);
  if (!state.budgetHandedOff && before <= budgetAlertFraction && used > budgetAlertFraction) {
    return { due: { trigger: 'token_budget', because: `${percent(used)} of the money is spent` } };
  }
  const shortAt = timeIsShortAt(live, limits.iterationMsMax);
  if (shortAt === undefined) return {};
  if (shortAt > now) return { dueAt: shortAt };
  return { due: { trigger: 'timeout', because: `its ${formatDuration(limits.iterationMsMax)} are nearly up` } };
}

/** What a working performer is told: our own words, as a note. */
export function handoffWords(because: string, withinMs: number): string {
  return [
    `A fresh context will go on with this task, because ${because}.`,
    `Leave the files in a state from which another can work. Then, within ${formatDuration(withinMs)}, write your last message:`,
    'what is done, what is left, what you decided and why, in the <report> block you were told about. Claim the task only if it is done. Then stop.',
  ].join('\n');
}

export const nudgeWords =
  'You have been silent for a long time. If you are stuck, say in your last message what holds you up, and stop; else go on.';
