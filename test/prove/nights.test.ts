// The small fixed-seed form of `npm run prove -- nights`.
import { expect, it } from 'vitest';
import { isInstalled } from '../cli/kit.ts';
import { proveNight } from './nights.ts';

it.skipIf(!isInstalled('git')).each([3, 11])('night %i: what can be done is done, and nothing is lost', async seed => {
  expect((await proveNight(seed)).tasks).toBeGreaterThan(3);
});
