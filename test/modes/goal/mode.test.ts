// Proves that the mode goal is data that fits together: the goal's text, its one task, its prompt, its promise.
import { expect, it } from 'vitest';
import { goalMode } from '../../../src/modes/goal/mode.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';
import { Story } from '../../core/given.ts';

const text = '# Feature X\n\nImplement feature X with tests.\n';

it('reads a goal as one task, has no instructions of the user’s, and promises what its seed promised', () => {
  const [format] = goalMode.formats;
  const parsed = format?.parse(text, {});
  expect(parsed).toMatchObject({ ok: true, document: { tasks: [{ id: 'goal', done: false }] } });
  expect([goalMode.instructions, goalMode.view]).toEqual([undefined, undefined]);
  expect(defaultSettings('goal').promise).toBe('DONE');
});

it('has the limits of its seed', () => {
  const { limits, policy, contextFractionMax, budgetAlertFraction } = defaultSettings('goal');
  expect(limits).toMatchObject({ iterationsMax: 10, costUsdMicrosMax: 50_000_000, durationMsMax: 120 * 60_000 });
  expect([policy.tasks, contextFractionMax, budgetAlertFraction]).toEqual(['one', 0.7, 0.8]);
});

it('given a live iteration, then its prompt holds the whole text of the goal', () => {
  const parsed = goalMode.formats[0]?.parse(text, {});
  const tasks = parsed?.ok === true ? parsed.document.tasks : [];
  const story = new Story({ mode: 'goal' }, tasks);
  story.begin('goal');
  const made = goalMode.prompt(story.state, story.state.live[0]!, '');
  expect(made.text).toContain(`# The goal\n\n${text.trim()}`);
});
