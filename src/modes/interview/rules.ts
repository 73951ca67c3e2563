// Interview rules: those of the project that it is about, but its spec.md is the work.
import type { ModeRules } from '../../core/mode.ts';
import { projectRules } from '../project/rules.ts';

export const interviewRules: ModeRules = {
  ...projectRules,
  flags: [...(projectRules.flags ?? []), 'rounds'],
  policy: { ...projectRules.policy, restoreKeepsDocument: false },
};
