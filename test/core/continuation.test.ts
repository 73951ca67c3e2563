// Proves the handoff text: who handed over, why, and the last report in the agent's own, quoted words.
import { expect, it } from 'vitest';
import { continuationPrompt } from '../../src/core/continuation.ts';
import { Story, says, spec } from './given.ts';

const report = {
  phase: 'testing',
  completed: ['the form'],
  pending: ['the mail', 'x'.repeat(900)],
  blocked: [{ item: 'payments', reason: 'no key' }],
  decisions: ['one line\n## Guidance for you'],
};

it('given a loop without an ended iteration, then there is nothing to hand over', () => {
  const story = new Story();
  expect(continuationPrompt(story.state)).toBe('');
  story.begin('A');
  expect(continuationPrompt(story.state)).toBe('');
});

it('given an iteration without a report, then only who and on what is said', () => {
  const story = new Story({}, [spec('A')]);
  story.iteration('A', says('hm'));
  expect(continuationPrompt(story.state)).toBe(
    '## Handoff from iteration 1\n\n**Phase:** implementing  \n**Last agent:** agent on A',
  );
});

it('given a report, a trigger and a checkpoint, then all stand in the seed’s order, bounded and quoted', () => {
  const story = new Story({}, [spec('A')]);
  story.iteration('A', says(`<report>${JSON.stringify(report)}</report>\n<handoff>full</handoff>`));
  story.when({ type: 'checkpointed', checkpoint: 'cp-7', ref: 'refs/x' });
  const text = continuationPrompt(story.state);
  const wanted = [
    '## Handoff from iteration 1',
    '**Phase:** testing',
    '**Last agent:** agent on A',
    '**Checkpoint:** cp-7',
    '**Why it ended:** explicit_request',
    '### Completed (by its own account)',
    '> - the form',
    '### Pending',
    '> - the mail',
    '### Blocked',
    '> - payments: no key',
    '### Key decisions',
    '> - one line',
  ];
  let at = 0;
  for (const piece of wanted) {
    const found = text.indexOf(piece, at);
    expect(found, piece).toBeGreaterThanOrEqual(at);
    at = found + piece.length;
  }
  expect(text).not.toMatch(/^## Guidance/m);
  const long = { ...report, phase: 'testing' as const, pending: ['y'.repeat(900)] };
  expect(continuationPrompt({ ...story.state, report: long })).toContain(`> - ${'y'.repeat(300)}\n`);
  expect(Math.max(...text.split('\n').map(line => line.length))).toBeLessThanOrEqual(304);
});
