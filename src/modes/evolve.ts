// The fold of a ledger with the rules of every mode. Whoever only reads loops loads no decisions.
import { makeEvolve } from '../core/mode.ts';
import { findRules } from './registry.ts';

export const evolve = makeEvolve(findRules);
