// PRD rules: a list of stories, as the house has it (seed 003).
import type { ModeRules } from '../../core/mode.ts';

export const prdRules: ModeRules = {
  flags: ['maxAttempts', 'haltOnMaxAttempts', 'parallel'],
  settings: { sameErrorsToEscalate: 3 }, // STUCK_THRESHOLD
};
