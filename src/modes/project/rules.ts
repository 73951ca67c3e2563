// Project rules: tasks.json shows who is at work, and an attempt counts when it begins (seed 002).
import type { ModeRules } from '../../core/mode.ts';

export const projectRules: ModeRules = {
  flags: ['maxAttempts', 'haltOnMaxAttempts', 'parallel'],
  limits: { attemptsPerTaskMax: 3 },
  policy: { crashIsAttempt: true, documentShows: 'progress' },
};
