// Review rules: rounds over one document, which is the work itself (seed 001, part 3).
import type { ModeRules } from '../../core/settings.ts';

export const reviewRules: ModeRules = {
  flags: ['maxAttempts', 'haltOnMaxAttempts', 'rounds', 'targetConfidence', 'reviewer', 'section', 'workflow'],
  // Three reviewers who answer nonsense three times are nine iterations, and five failures are a question.
  limits: { iterationsMax: 60, durationMsMax: 30 * 60_000, attemptsPerTaskMax: 3, noProgressIterations: 12 },
  policy: { subject: 'document', claimsBy: 'review-tag', onErrors: 'ask', restoreKeepsDocument: false },
  settings: {
    promise: 'ALL_ISSUES_RESOLVED',
    review: { reviewers: ['adversarial', 'facilitator', 'elicitation'], roundsMax: 3, targetConfidence: 95 },
  },
};
