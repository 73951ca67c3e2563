// The Plan.md format of seed 004: steps with actions that a person approves, read strictly and marked without touching another byte.
import type { Format, Problem } from '../../../documents/document.ts';
import { markPlan } from './plan-marks.ts';
import { readPlan } from './rules.ts';

export { setPlanFacts } from './plan-marks.ts';

const headCharsMax = 8 * 1024;

export const plan: Format = {
  name: 'plan',

  /** Also true for a broken document, so that its faults are told. */
  recognises(fileName, text) {
    if (!/\.(?:md|markdown)$/i.test(fileName)) return false;
    return (
      /^plan_id[ \t]*:/m.test(text.slice(0, headCharsMax)) ||
      /^ {0,3}[-*+][ \t]+\[.\][ \t]+\*\*Step[ \t]+\d+:\*\*.*\(action_type:/m.test(text)
    );
  },

  parse(text, options = {}) {
    const { problems, document } = readPlan(text, options.acceptTicked === true);
    return problems.count > 0 ? { ok: false, problems: problems.located() } : { ok: true, document };
  },

  mark: markPlan,
};

export interface PlanLint {
  readonly problems: readonly Problem[];
  readonly notices: readonly string[];
}

/** All that is wrong with a plan and all that is worth a look, at once. */
export function lintPlan(text: string): PlanLint {
  const { problems } = readPlan(text, false);
  return { problems: problems.located(), notices: problems.notices() };
}
