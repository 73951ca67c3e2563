// Plan rules: steps of agents and actions, tried once and three times more (seed 004).
import type { ModeRules } from '../../core/mode.ts';
import { defaultBreaker } from '../../core/settings.ts';

export const planRules: ModeRules = {
  flags: ['maxAttempts', 'haltOnMaxAttempts', 'retries', 'onApproval', 'mcpConfig'],
  formerly: { MAX_PLAN_ITERATIONS: 'maxIterations', PLAN_RETRY_ATTEMPTS: 'retries' },
  // A step that fails must not end those that can go on.
  limits: {
    iterationsMax: 10,
    attemptsPerTaskMax: 4,
    consecutiveErrorsMax: 10,
    noProgressIterations: 10,
    blockedMax: null,
  },
  policy: { subject: 'steps', countsRetries: true, documentShows: 'blocked', vault: true, setsAside: false },
  settings: {
    breaker: { ...defaultBreaker, failuresToOpen: 8 }, // retries come first
    retryMs: [5_000, 10_000, 20_000],
  },
};
