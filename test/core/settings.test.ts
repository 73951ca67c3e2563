// Proves the presets that the seeds gave each mode, and that a loop without any bound is told apart.
import { expect, it } from 'vitest';
import {
  defaultSettings,
  isBounded,
  type Limits,
  limitPresets,
  type ModeName,
  promisePresets,
} from '../../src/core/settings.ts';
import { hour, minute } from './given.ts';

it.each<[ModeName, number, number, number | null, number, number, string, number?]>([
  ['goal', 10, 50, 120 * minute, 3, 5, 'DONE'],
  ['prompt', 100, 10, 4 * hour, 5, 5, 'LOOP_COMPLETE'],
  ['prd', 50, 50, null, 5, 5, 'DONE'],
  ['project', 50, 50, null, 5, 3, 'DONE'],
  ['plan', 10, 50, null, 10, 4, 'DONE', 10], // one try and three more; failures of all steps come in a row
  ['review', 60, 50, 30 * minute, 12, 3, 'ALL_ISSUES_RESOLVED'],
])(
  'given the mode %s, then its limits are the seed’s',
  (mode, iterations, dollars, durationMs, window, attempts, promise, errors = 5) => {
    expect(limitPresets[mode]).toMatchObject({
      iterationsMax: iterations,
      costUsdMicrosMax: dollars * 1_000_000,
      durationMsMax: durationMs,
      noProgressIterations: window,
      attemptsPerTaskMax: attempts,
      consecutiveErrorsMax: errors,
      escalationsPerTaskMax: 3,
      averageIterationMsMax: null,
    });
    expect(promisePresets[mode]).toBe(promise);
    expect(isBounded(limitPresets[mode])).toBe(true);
  },
);

it('given the default settings, then the thresholds are those of the seeds', () => {
  expect(defaultSettings('goal')).toMatchObject({
    contextFractionMax: 0.7,
    budgetAlertFraction: 0.8,
    errorsToHandOff: 3,
    contextCharsMax: 5_000,
    backoffBaseMs: 1_000,
    backoffMsMax: 60_000,
    sameErrorsToEscalate: null,
    ladder: { stuckAfterMs: 30 * minute, nudgeEveryMs: 10 * minute, nudgesMax: 3, answerWithinMs: 15 * minute },
  });
  expect(defaultSettings('prd').sameErrorsToEscalate).toBe(3);
});

it.each<[keyof Limits, boolean]>([
  ['iterationsMax', true],
  ['costUsdMicrosMax', true],
  ['tokensMax', true],
  ['durationMsMax', true],
  ['deadlineAt', true],
  ['averageIterationMsMax', false],
])('given that only %s is set, then the loop counts as bounded: %s', (name, bounded) => {
  const open: Limits = {
    ...limitPresets.prd,
    iterationsMax: null,
    costUsdMicrosMax: null,
    tokensMax: null,
    durationMsMax: null,
    deadlineAt: null,
  };
  expect(isBounded(open)).toBe(false);
  expect(isBounded({ ...open, [name]: 1 })).toBe(bounded);
});
