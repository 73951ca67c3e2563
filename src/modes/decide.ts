// Decisions of a loop with the rules of every mode: the events that an input leads to.
import { makeDecide } from '../core/decide/decide.ts';
import { evolve } from './evolve.ts';
import { findRules } from './registry.ts';

export const decide = makeDecide(findRules, evolve);
