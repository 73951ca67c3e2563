// Proves what a budget allows over nested scopes, that the strictest one wins, and where the spend is heading.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { affordable, type Budget, type BudgetAction, checkBudget, forecastCost } from '../../src/core/spend.ts';
import { only, Story, says, spec, types, usd } from './given.ts';

const budget = (scope: Budget['scope'], used: number, limit: number | null, alertOnly = false): Budget => ({
  scope,
  usedUsdMicros: used * 1_000_000,
  limitUsdMicros: limit === null ? null : limit * 1_000_000,
  ...(alertOnly ? { alertOnly } : {}),
});

describe('one budget', () => {
  it.each<[number, number | null, BudgetAction]>([
    [0, 100, 'allow'],
    [79.99, 100, 'allow'],
    [80, 100, 'alert_only'],
    [94.99, 100, 'alert_only'],
    [95, 100, 'throttle'],
    [99.99, 100, 'throttle'],
    [100, 100, 'deny'],
    [150, 100, 'deny'],
    [1e6, null, 'allow'],
    [1, 0, 'allow'],
  ])('given $%d of %s, then it says %s', (used, limit, action) => {
    expect(checkBudget([budget('task', used, limit)]).action).toBe(action);
  });

  it('given a subscription, then it alerts and never denies', () => {
    expect(checkBudget([budget('task', 79, 100, true)]).action).toBe('allow');
    expect(checkBudget([budget('task', 300, 100, true)]).action).toBe('alert_only');
  });

  it('given another alert fraction, then the alert comes there', () => {
    expect(checkBudget([budget('task', 50, 100)], 0.5).action).toBe('alert_only');
    expect(checkBudget([budget('task', 49, 100)], 0.5).action).toBe('allow');
  });
});

describe('three scopes', () => {
  it.each<[string, Budget[], BudgetAction, string]>([
    [
      'the organisation denies',
      [budget('task', 1, 10), budget('project', 9, 10), budget('organisation', 5, 5)],
      'deny',
      'organisation',
    ],
    [
      'the project throttles',
      [budget('organisation', 85, 100), budget('project', 9.6, 10), budget('task', 1, 10)],
      'throttle',
      'project',
    ],
    [
      'the task denies',
      [budget('organisation', 96, 100), budget('project', 9, 10), budget('task', 2, 2)],
      'deny',
      'task',
    ],
    ['two deny alike', [budget('task', 10, 10), budget('organisation', 10, 10)], 'deny', 'organisation'],
    [
      'nothing is near',
      [budget('organisation', 1, 100), budget('project', 3, 100), budget('task', 2, 100)],
      'allow',
      'project',
    ],
  ])('when %s, then the strictest wins and is named', (_name, budgets, action, scope) => {
    const verdict = checkBudget(budgets);
    expect(verdict.action).toBe(action);
    expect(verdict.because).toContain(scope);
    expect(verdict.because).toContain('$');
  });

  it('given none, then everything is allowed', () => {
    expect(checkBudget([])).toEqual({ action: 'allow', fraction: 0, because: 'no budget is set' });
  });
});

describe('the forecast', () => {
  const facts = { usedUsdMicros: 6_000_000, iterations: 3, tasksClosed: 2, tasksOpen: 4 };

  it('is unknown before three iterations and before any spend', () => {
    expect(forecastCost({ ...facts, iterations: 2 })).toBeUndefined();
    expect(forecastCost({ ...facts, usedUsdMicros: 0 })).toBeUndefined();
  });

  it('given closed tasks, then it goes by what one costs', () => {
    expect(forecastCost(facts)).toEqual({ totalUsdMicros: 18_000_000, basis: 'tasks' });
  });

  it('given no closed task, then it goes by what an iteration costs', () => {
    expect(forecastCost({ ...facts, tasksClosed: 0 })).toEqual({ totalUsdMicros: 14_000_000, basis: 'iterations' });
  });

  it('given nothing open, then it is what was spent', () => {
    expect(forecastCost({ ...facts, tasksOpen: 0 })?.totalUsdMicros).toBe(6_000_000);
  });
});

describe('in a loop', () => {
  it('given usage that crosses 80 %, then one alert is recorded and no second one', () => {
    const story = new Story({ limits: { costUsdMicrosMax: 10_000_000 } }, [spec('A')]);
    story.begin('A');
    const total = (dollars: number) => story.when({ type: 'usage', iteration: 1, usage: usd(dollars) });
    expect(types(total(7.9))).toEqual(['usage.recorded']);
    expect(only(total(8), 'budget.alerted').fraction).toBe(0.8);
    expect(types(total(9))).toEqual(['usage.recorded']);
    expect(story.state.spend.usage.costUsdMicros).toBe(9_000_000);
  });

  it('given a message that crosses 80 %, then the iteration hands off for the budget, and the next one does not', () => {
    const story = new Story({ limits: { costUsdMicrosMax: 10_000_000 } }, [spec('A')]);
    story.begin('A');
    story.when({ type: 'usage', iteration: 1, usage: usd(8.5) });
    expect(only(story.performed(says('on the way', { usage: usd(8.6) })), 'iteration.ended').handoff).toBe(
      'token_budget',
    );
    expect(
      only(story.iteration('A', says('going on', { usage: usd(0.1) })), 'iteration.ended').handoff,
    ).toBeUndefined();
  });

  it('given the last twentieth of the money, then one iteration runs at a time', () => {
    const story = new Story({ parallel: 3, limits: { costUsdMicrosMax: 10_000_000 } });
    expect(story.effectKeys()).toEqual(['begin:A', 'begin:B']);
    story.iteration('A', says('costly', { usage: usd(9.5) }));
    expect(story.effectKeys()).toEqual(['begin:A']);
  });
});

describe('fifty workers and the last dollar (F60)', () => {
  const dollar = 1_000_000;
  const facts = { usedUsdMicros: 49 * dollar, limitUsdMicros: 50 * dollar, dearestUsdMicros: dollar / 10 };

  it('given what the dearest iteration cost, then only as many begin as the rest can pay', () => {
    expect(affordable({ ...facts, liveUsdMicros: [] })).toBe(10);
    expect(affordable({ ...facts, liveUsdMicros: [0, 0, 0] })).toBe(7);
  });

  it('given what a live one has already spent, then only its rest is reserved', () => {
    expect(affordable({ ...facts, liveUsdMicros: [dollar / 10] })).toBe(10);
    expect(affordable({ ...facts, liveUsdMicros: [2 * dollar] })).toBe(10);
  });

  it('given less than one reservation, then one may work while nobody does, and nobody beside it', () => {
    const poor = { ...facts, usedUsdMicros: 49.95 * dollar };
    expect(affordable({ ...poor, liveUsdMicros: [] })).toBe(1);
    expect(affordable({ ...poor, liveUsdMicros: [0] })).toBe(0);
  });

  it('given nothing known, then a tenth of the budget is reserved for each; without a limit everyone works', () => {
    const fresh = { usedUsdMicros: 0, dearestUsdMicros: 0, liveUsdMicros: [] };
    expect(affordable({ ...fresh, limitUsdMicros: dollar })).toBe(10);
    expect(affordable({ ...fresh, limitUsdMicros: null })).toBe(Number.POSITIVE_INFINITY);
  });

  it('given any prices, then what is reserved never exceeds the limit by more than one reservation', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 100 * dollar }),
        fc.integer({ min: 0, max: 100 * dollar }),
        fc.integer({ min: 1, max: 10 * dollar }),
        fc.array(fc.integer({ min: 0, max: dollar }), { maxLength: 50 }),
        (limitUsdMicros, usedUsdMicros, dearestUsdMicros, live) => {
          const more = affordable({ limitUsdMicros, usedUsdMicros, dearestUsdMicros, liveUsdMicros: live });
          if (more === 0) return;
          const promised = live.reduce((sum, spent) => sum + Math.max(0, dearestUsdMicros - spent), 0);
          const alone = live.length === 0 && more === 1;
          expect(alone || usedUsdMicros + promised + more * dearestUsdMicros <= limitUsdMicros).toBe(true);
        },
      ),
    );
  });
});
