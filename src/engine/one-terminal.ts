// Where agents work at the terminal, it can serve only one at a time.
import type { Plan } from '../core/next.ts';

/** A question and an agent cannot both have the terminal: the question comes first. */
export function oneAtTheTerminal(plan: Plan): Plan {
  const asks = plan.effects.some(effect => effect.type === 'ask');
  return asks ? { ...plan, effects: plan.effects.filter(effect => effect.type !== 'begin') } : plan;
}
