// Prompt rules: one task in a file, until it says that it is complete (seed 001, part 2).
import type { ModeRules } from '../../core/mode.ts';
import { limitsOfOneTask } from '../../core/settings.ts';

export const promptRules: ModeRules = {
  flags: ['checkpointInterval'],
  limits: { iterationsMax: 100, costUsdMicrosMax: 10_000_000, durationMsMax: 4 * 60 * 60_000, ...limitsOfOneTask },
  policy: { tasks: 'one', subject: 'task', claimsBy: 'checkbox', progressBy: 'changes' },
  settings: { promise: 'LOOP_COMPLETE', rollbackAfter: 3, commitEvery: 10 }, // checkpoint_interval
};
