// Budgets and usage: what a budget allows, over nested scopes, and where the spend is heading.
import { formatUsd } from '../text/format.ts';
import { takeCharacters } from '../text/text.ts';
import type { LimitWindow, NewEvent, Usage } from './event.ts';
import { countedUsdMicros, type LiveIteration, type State } from './state.ts';

export type BudgetAction = 'allow' | 'alert_only' | 'throttle' | 'deny';
type BudgetScope = 'organisation' | 'project' | 'task';

export interface Budget {
  readonly scope: BudgetScope;
  readonly usedUsdMicros: number;
  /** null: no limit in this scope. */
  readonly limitUsdMicros: number | null;
  /** A subscription's money is only an equivalent: it alerts and never denies. */
  readonly alertOnly?: boolean;
}

export interface BudgetVerdict {
  readonly action: BudgetAction;
  readonly fraction: number;
  readonly because: string;
}

const strictness: readonly BudgetAction[] = ['allow', 'alert_only', 'throttle', 'deny'];
const scopeOrder: readonly BudgetScope[] = ['organisation', 'project', 'task'];

/** Below the alert: allow. From it: warn. In the last twentieth: one worker at a time. At the limit: nothing more. */
function verdictOf(budget: Budget, alertFraction: number): BudgetVerdict {
  const limit = budget.limitUsdMicros;
  if (limit === null || limit <= 0) return { action: 'allow', fraction: 0, because: `no ${budget.scope} budget` };
  const fraction = budget.usedUsdMicros / limit;
  const kind = budget.alertOnly ? ' API-equivalent, which ends nothing' : '';
  const because = `${budget.scope} budget: ${formatUsd(budget.usedUsdMicros)} of ${formatUsd(limit)} used${kind}`;
  if (fraction < alertFraction) return { action: 'allow', fraction, because };
  if (budget.alertOnly) return { action: 'alert_only', fraction, because };
  if (fraction >= 1) return { action: 'deny', fraction, because };
  return { action: fraction >= 0.95 ? 'throttle' : 'alert_only', fraction, because };
}

/** The strictest scope wins; among equals the outermost one explains. */
export function checkBudget(budgets: readonly Budget[], alertFraction = 0.8): BudgetVerdict {
  const ordered = [...budgets].sort((a, b) => scopeOrder.indexOf(a.scope) - scopeOrder.indexOf(b.scope));
  let strictest: BudgetVerdict = { action: 'allow', fraction: 0, because: 'no budget is set' };
  for (const budget of ordered) {
    const verdict = verdictOf(budget, alertFraction);
    const harder = strictness.indexOf(verdict.action) - strictness.indexOf(strictest.action);
    if (harder > 0 || (harder === 0 && verdict.fraction > strictest.fraction)) strictest = verdict;
  }
  return strictest;
}

/**
 * How many more iterations the money allows beside those at work: each reserves what the dearest one so far has cost, or a
 * tenth of the budget while that is unknown. One may always work: the limit itself stops it (F60).
 */
export function affordable(facts: {
  readonly usedUsdMicros: number;
  readonly limitUsdMicros: number | null;
  readonly dearestUsdMicros: number;
  readonly liveUsdMicros: readonly number[];
}): number {
  const { usedUsdMicros, limitUsdMicros, dearestUsdMicros, liveUsdMicros } = facts;
  if (limitUsdMicros === null) return Number.POSITIVE_INFINITY;
  const reservation = dearestUsdMicros > 0 ? dearestUsdMicros : Math.max(1, limitUsdMicros / 10);
  const promised = liveUsdMicros.reduce((sum, spent) => sum + Math.max(0, reservation - spent), 0);
  const room = Math.floor((limitUsdMicros - usedUsdMicros - promised) / reservation);
  return Math.max(liveUsdMicros.length === 0 ? 1 : 0, room);
}

export interface Forecast {
  readonly totalUsdMicros: number;
  readonly basis: 'tasks' | 'iterations';
}

/** What the whole loop will have cost; unknown before three iterations (UX 4). */
export function forecastCost(facts: {
  readonly usedUsdMicros: number;
  readonly iterations: number;
  readonly tasksClosed: number;
  readonly tasksOpen: number;
}): Forecast | undefined {
  if (facts.iterations < 3 || facts.usedUsdMicros <= 0) return undefined;
  const closed = facts.tasksClosed;
  const perTask = closed > 0 ? facts.usedUsdMicros / closed : facts.usedUsdMicros / facts.iterations;
  return {
    totalUsdMicros: Math.round(facts.usedUsdMicros + perTask * facts.tasksOpen),
    basis: closed > 0 ? 'tasks' : 'iterations',
  };
}

type Amounts = Omit<Usage, 'estimated' | PartName>;
/** Parts of the cost. */
type PartName = 'unbilledUsdMicros' | 'boundUsdMicros';
type CostParts = Pick<Usage, PartName>;

export const combineUsage = (a: Amounts, b: Amounts, by: (a: number, b: number) => number): Amounts => ({
  inputTokens: by(a.inputTokens, b.inputTokens),
  outputTokens: by(a.outputTokens, b.outputTokens),
  cacheReadTokens: by(a.cacheReadTokens, b.cacheReadTokens),
  cacheWriteTokens: by(a.cacheWriteTokens, b.cacheWriteTokens),
  costUsdMicros: by(a.costUsdMicros, b.costUsdMicros),
});

/** Absent where there is nothing, so that the usage of most loops looks as it always did. */
const combineParts = (a: CostParts, b: CostParts, by: (a: number, b: number) => number): CostParts => ({
  unbilledUsdMicros: by(a.unbilledUsdMicros ?? 0, b.unbilledUsdMicros ?? 0) || undefined,
  boundUsdMicros: by(a.boundUsdMicros ?? 0, b.boundUsdMicros ?? 0) || undefined,
});

const sum = (one: number, other: number): number => one + other;

export function addUsage(a: Usage, b: Usage): Usage {
  return { ...combineUsage(a, b, sum), ...combineParts(a, b, sum), estimated: a.estimated || b.estimated };
}

// Usage arrives as a running total per iteration; the ledger gets only what is new, and never less than before.

/** Sums of it stay numbers, whatever an agent says. */
const amountMax = Number.MAX_SAFE_INTEGER;

const more = (now: number, before: number): number =>
  Number.isFinite(now) ? Math.max(0, Math.min(Math.round(now), amountMax) - before) : 0;

export function recordUsage(state: State, live: LiveIteration, total: Usage): readonly NewEvent[] {
  const before = live.usage;
  const amounts = combineUsage(total, before, more);
  // A running total: what the agent states for all of it makes exact what was estimated on the way, unless that was more.
  const estimated = total.estimated || total.costUsdMicros < before.costUsdMicros;
  // Parts are corrected in both directions: who pays and what the model is may turn out late.
  const parts = combineParts(total, before, (now, then) => more(now, 0) - then);
  const usage: Usage = { ...amounts, ...parts, estimated };
  const isNothing = [...Object.values(amounts), ...Object.values(parts)].every(amount => (amount ?? 0) === 0);
  if (isNothing && (before.estimated === estimated || !before.estimated)) return [];
  const { iteration, performer, task } = live;
  const recorded: NewEvent = { type: 'usage.recorded', iteration, performer, task, usage };
  if (state.spend.isAlerted) return [recorded];
  const verdict = checkBudget(budgetsOf(state, addUsage(state.spend.usage, usage)), state.settings.budgetAlertFraction);
  if (verdict.action === 'allow') return [recorded];
  return [recorded, { type: 'budget.alerted', fraction: verdict.fraction, because: verdict.because }];
}

/** What counts binds; the rest of a subscription's money is told all the same. */
function budgetsOf({ settings }: State, usage: Usage): readonly Budget[] {
  const { costUsdMicrosMax: limitUsdMicros } = settings.limits;
  const counted = countedUsdMicros(settings, usage);
  const budget: Budget = { scope: 'task', usedUsdMicros: counted, limitUsdMicros };
  if (counted === usage.costUsdMicros) return [budget];
  return [budget, { scope: 'task', usedUsdMicros: usage.costUsdMicros, limitUsdMicros, alertOnly: true }];
}

// Windows of a provider's limits: a set, as it is reported; every request tells it, and only what matters is recorded.

const windowsMax = 20;
const nameCharsMax = 60;
const windowStep = 0.05;

function isSameWindow(a: LimitWindow, b: LimitWindow | undefined): boolean {
  if (b === undefined || a.name !== b.name || a.isUsedUp !== b.isUsedUp || a.resetAtMs !== b.resetAtMs) return false;
  return Math.abs((a.usedFraction ?? 0) - (b.usedFraction ?? 0)) < windowStep;
}

export function recordWindows(
  { performers }: State,
  { iteration, performer }: LiveIteration,
  reported: readonly LimitWindow[],
): readonly NewEvent[] {
  const windows = reported.slice(0, windowsMax).map(one => ({ ...one, name: takeCharacters(one.name, nameCharsMax) }));
  const before = performers.windows?.[performer] ?? []; // some plans have none: that needs no record
  const isSame = before.length === windows.length && windows.every((one, at) => isSameWindow(one, before[at]));
  return isSame ? [] : [{ type: 'windows.reported', iteration, performer, windows }];
}
