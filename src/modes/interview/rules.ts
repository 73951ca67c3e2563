// Interview rules: those of the project that it is about, but its spec.md is the work.
import type { ModeRules } from '../../core/mode.ts';
import { limitsOfOneTask } from '../../core/settings.ts';
import { projectRules } from '../project/rules.ts';

export const interviewRounds = 3; // seed 002

export const interviewRules: ModeRules = {
  ...projectRules,
  flags: [...(projectRules.flags ?? []), 'rounds'],
  limits: { ...projectRules.limits, ...limitsOfOneTask },
  settings: { ...projectRules.settings, rounds: interviewRounds },
  policy: { ...projectRules.policy, restoreKeepsDocument: false, setsAside: false },
};
