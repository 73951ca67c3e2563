// Goal rules: one task in words, steered by what the agent reports (seed 000).
import type { ModeRules } from '../../core/mode.ts';
import { limitsOfOneTask } from '../../core/settings.ts';

export const goalRules: ModeRules = {
  limits: { ...limitsOfOneTask, iterationsMax: 10, durationMsMax: 120 * 60_000, noProgressIterations: 3 },
  policy: {
    tasks: 'one',
    subject: 'goal',
    claimsBy: 'report',
    progressBy: 'report',
    documentShows: 'nothing',
    textFixedAtStart: true,
  },
};
