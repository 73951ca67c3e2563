// Proves that the mode prd is data that fits together: its format, its instructions, its prompt, its promise.
import { expect, it } from 'vitest';
import { readSignals } from '../../../src/messages/claims.ts';
import { prdMode } from '../../../src/modes/prd/mode.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';
import { Story, spec } from '../../core/given.ts';

it('reads PRD.json, keeps instructions in PROMPT.md, and promises what its seed promised', () => {
  expect(prdMode).toMatchObject({ instructions: { name: 'PROMPT.md' } });
  expect(prdMode.formats[0]?.name).toBe('prd');
  expect(defaultSettings('prd').promise).toBe('DONE');
});

it('given no PROMPT.md, then its own instructions explain both reasons to ask, with a block that we can read', () => {
  const defaultInstructions = prdMode.instructions?.text ?? '';
  expect(defaultInstructions).toMatch(/\*\*stuck\*\*/);
  expect(defaultInstructions).toMatch(/\*\*deviation\*\*/);
  const block = /^<escalate[\s\S]*^<\/escalate>/m.exec(defaultInstructions)?.[0].replace('one line', 'No key') ?? '';
  expect(readSignals(block, { task: 'A', promise: 'DONE' }).escalate).toMatchObject({
    type: 'stuck',
    summary: 'No key',
    options: ['one way forward', 'another way'],
    question: 'the question to answer',
  });
});

it('given the instructions quoted back, then they escalate nothing', () => {
  expect(readSignals(prdMode.instructions?.text ?? '', { task: 'A', promise: 'DONE' }).escalate).toBeUndefined();
});

it('given a live iteration, then its prompt has the instructions first and the task after them', () => {
  const story = new Story({}, [spec('A')]);
  story.begin('A');
  const { text } = prdMode.prompt(story.state, story.state.live[0]!, prdMode.instructions?.text ?? '');
  expect(text.indexOf('# Instructions for every iteration')).toBe(0);
  expect(text.indexOf('**A**')).toBeGreaterThan(text.indexOf('<promise>DONE</promise>'));
});
