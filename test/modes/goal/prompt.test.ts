// Proves the prompt of goal mode: the phase that comes now, the items, the exact way to end, and what goes where.
import { describe, expect, it } from 'vitest';
import { phaseNow } from '../../../src/core/scheduling.ts';
import { readSignals } from '../../../src/messages/claims.ts';
import type { Phase } from '../../../src/messages/report.ts';
import { goalPrompt } from '../../../src/modes/goal/mode.ts';
import type { PromptText } from '../../../src/modes/iteration-prompt.ts';
import { failed, type SettingsPart, Story, says, spec } from '../../core/given.ts';

const goal = spec('goal', { title: 'Feature X', description: 'Implement feature X with tests', criteria: [] });
const goalStory = (part: SettingsPart = {}): Story => new Story({ mode: 'goal', ...part }, [goal]);
const promptOf = (story: Story): PromptText => goalPrompt(story.state, story.state.live[0]!, '');

function reports(phase: Phase | undefined, pending: readonly string[], completed: readonly string[] = []): string {
  return `Words.\n<report>${JSON.stringify({ phase, completed, pending })}</report>`;
}

const after = (phase: Phase | undefined, pending: readonly string[]): Phase => {
  const story = goalStory({ checks: ['npm test'] });
  story.iteration('goal', says(reports(phase, pending)));
  if (story.state.claims.open.length > 0) story.checked(false);
  return phaseNow(story.state);
};

describe('the phase that comes now', () => {
  it('is planning at first', () => {
    expect(phaseNow(goalStory().state)).toBe('planning');
  });

  it.each<[Phase | undefined, Phase, Phase]>([
    [undefined, 'planning', 'planning'],
    ['planning', 'implementing', 'planning'],
    ['implementing', 'implementing', 'testing'],
    ['testing', 'testing', 'reviewing'],
    ['reviewing', 'reviewing', 'handoff'],
    ['handoff', 'implementing', 'complete'],
    ['complete', 'implementing', 'testing'],
  ])('after a report of %s is %s while items are pending, else %s', (phase, pending, none) => {
    expect([after(phase, ['form']), after(phase, [])]).toEqual([pending, none]);
  });

  it('leads from the first to the last when nothing stays pending on the way', () => {
    const way: Phase[] = [after('planning', ['form'])];
    for (let steps = 0; way.at(-1) !== 'complete' && steps < 10; steps += 1) way.push(after(way.at(-1), []));
    expect(way).toEqual(['implementing', 'testing', 'reviewing', 'handoff', 'complete']);
  });
});

describe('the prompt', () => {
  it('holds the goal, all six phases, and the current one by itself after everything that stays the same', () => {
    const story = goalStory();
    story.iteration('goal', says(reports('planning', ['form', 'mail'])));
    story.begin('goal');
    const { text } = promptOf(story);
    expect(text).toContain('# The goal\n\nImplement feature X with tests');
    for (const phase of ['planning', 'implementing', 'testing', 'reviewing', 'handoff', 'complete'])
      expect(text).toContain(`**${phase}**: `);
    expect(text.match(/## Your phase now: .*/g)).toEqual(['## Your phase now: implementing (2 of 6)']);
    expect(text.indexOf('## Your phase now')).toBeGreaterThan(text.indexOf('## How an iteration ends'));
    expect(text).toContain('Iteration 2 of at most 50.');
  });

  it('puts the handoff of the one before into the system prompt and nowhere else; the first has none', () => {
    const story = goalStory();
    story.begin('goal');
    expect(promptOf(story).system).toBeUndefined();
    story.performed(says(reports('planning', ['the form of the shop'], ['a plan'])));
    story.begin('goal');
    const { text, system } = promptOf(story);
    expect(system).toContain('## Handoff from iteration 1');
    expect(system).toContain('> - the form of the shop');
    expect(text).not.toContain('## Handoff from');
  });

  it('has a part that stays the same from iteration to iteration, and its hash', () => {
    const story = goalStory();
    story.begin('goal');
    const first = promptOf(story);
    story.performed(says(reports('planning', ['form'])));
    story.begin('goal');
    const second = promptOf(story);
    expect(second.stableHash).toBe(first.stableHash);
    const common = first.text.slice(0, first.text.indexOf('## Your phase now'));
    expect(common.length).toBeGreaterThan(3_000);
    expect(second.text.startsWith(common)).toBe(true);
  });

  it('names the words that end it, which then do: phase complete and the promise', () => {
    const story = goalStory({ promise: 'ALL * GREEN' });
    story.begin('goal');
    const { text } = promptOf(story);
    expect(text).toContain('`<promise>ALL * GREEN</promise>`');
    story.performed(says(`${reports('complete', [], ['form'])}\n<promise>ALL * GREEN</promise>`));
    expect(story.task('goal').status).toBe('done');
  });

  it('says what is refused, and after how many iterations without news the loop ends', () => {
    const story = goalStory({ limits: { noProgressIterations: 3 } });
    story.begin('goal');
    const { text } = promptOf(story);
    expect(text).toContain('With a pending or blocked item in your report they are refused');
    expect(text).toContain(
      'when 3 iterations in a row name no newly completed item and no later phase, the loop is ended',
    );
  });

  it('quoted back by an agent, it claims nothing, asks nothing and reports nothing', () => {
    const story = goalStory();
    story.begin('goal');
    const { text } = promptOf(story);
    const signals = readSignals(text, { task: 'goal', promise: story.state.settings.promise });
    expect(signals).toMatchObject({ done: false, promise: false, checkbox: false });
    expect([signals.escalate, signals.report, signals.handoff]).toEqual([undefined, undefined, undefined]);
  });

  it('teaches a question that we can read', () => {
    const story = goalStory();
    story.begin('goal');
    const shown = /^<escalate[\s\S]*^<\/escalate>/m.exec(promptOf(story).text)?.[0] ?? '';
    const block = shown.replace('one line', 'No key');
    expect(readSignals(block, { task: 'goal', promise: 'DONE' }).escalate).toMatchObject({
      type: 'stuck',
      summary: 'No key',
      options: ['one way forward', 'another way'],
      question: 'the question to answer',
    });
  });

  it.each([
    [[], 'recorded as unverified'],
    [['a'], 'runs a check itself'],
    [['a', 'b'], 'runs 2 checks itself'],
  ])('given the checks %o, then it says what becomes of a claim', (checks, words) => {
    const story = goalStory({ checks });
    story.begin('goal');
    expect(promptOf(story).text).toContain(words);
  });

  it('tells guidance first, then why a claim was refused, and what earlier ones left, as quotations', () => {
    const story = goalStory({ checks: ['npm test'] });
    story.iteration('goal', says('All done.\n\nTask goal complete'));
    story.checked(false);
    story.command({ type: 'tell', text: 'Use the old parser.' });
    story.begin('goal');
    const { text } = promptOf(story);
    expect(text.startsWith('## Guidance for you\n\nFrom ada:\n> Use the old parser.')).toBe(true);
    expect(text).toContain('The last claim that goal is done was not accepted:\n> ');
    expect(text).toContain('> All done.');
  });

  it('given an iteration that left no report, then it says so, and to draw up the items anew', () => {
    const story = goalStory();
    story.begin('goal');
    expect(promptOf(story).text).not.toContain('left no report');
    story.performed(failed('process', 'exit code 3'));
    story.begin('goal');
    expect(promptOf(story).text).toContain('left no report');
  });
});
