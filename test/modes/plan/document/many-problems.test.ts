import { expect, it } from 'vitest';
import { lintPlan } from '../../../../src/modes/plan/document/plan.ts';

it('given more problems than are told, then the rest is counted', () => {
  const text = `---\nplan_id: a\nobjective: b\n---\n\n${'- [ ] Step 1 is no step\n'.repeat(250)}`;
  const { problems } = lintPlan(text);
  // The 250 lines, and that the plan has no steps.
  expect(problems).toHaveLength(200);
  expect(problems.at(-1)?.message).toBe('52 more problems are not listed.');
});
