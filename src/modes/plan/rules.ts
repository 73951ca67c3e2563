// Plan rules: steps of agents and actions, tried once and three times more (seed 004).
import type { ModeRules } from '../../core/mode.ts';
import { defaultBreaker } from '../../core/settings.ts';

export const planRules: ModeRules = {
  name: 'plan',
  // A step that fails must not end those that can go on.
  limits: { iterationsMax: 10, attemptsPerTaskMax: 4, consecutiveErrorsMax: 10, noProgressIterations: 10 },
  policy: { subject: 'steps', countsRetries: true, documentShows: 'parked', vault: true },
  settings: {
    breaker: { ...defaultBreaker, failuresToOpen: 8 }, // retries come first
    retryMs: [5_000, 10_000, 20_000],
  },
};
