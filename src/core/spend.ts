// Money before it is spent: what a budget allows, over nested scopes, and where the spend is heading.
import { formatUsd } from '../text/format.ts';

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
  const because = `${budget.scope} budget: ${formatUsd(budget.usedUsdMicros)} of ${formatUsd(limit)} used`;
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
