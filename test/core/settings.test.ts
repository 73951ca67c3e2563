// Proves that a loop without any bound is told apart.
import { expect, it } from 'vitest';
import { houseSettings, isBounded, type Limits } from '../../src/core/settings.ts';

it.each<[keyof Limits, boolean]>([
  ['iterationsMax', true],
  ['costUsdMicrosMax', true],
  ['tokensMax', true],
  ['durationMsMax', true],
  ['deadlineAt', true],
  ['averageIterationMsMax', false],
])('given that only %s is set, then the loop counts as bounded: %s', (name, bounded) => {
  const open: Limits = {
    ...houseSettings.limits,
    iterationsMax: null,
    costUsdMicrosMax: null,
    tokensMax: null,
    durationMsMax: null,
    deadlineAt: null,
  };
  expect(isBounded(open)).toBe(false);
  expect(isBounded({ ...open, [name]: 1 })).toBe(bounded);
});
