// Proves that the mode review is data that fits together, by a whole review through the core: three rounds, crashes, one end.
import { describe, expect, it } from 'vitest';
import type { Performed } from '../../../src/core/input.ts';
import { initialState } from '../../../src/core/state.ts';

import { evolve } from '../../../src/modes/evolve.ts';
import { defaultSettings } from '../../../src/modes/registry.ts';
import { reviewMode } from '../../../src/modes/review/mode.ts';
import { type ReviewSettings, reviewStanding } from '../../../src/modes/review/rules.ts';

import { claims, failed, only, Story, says, second } from '../../core/given.ts';
import { found } from './review-world.ts';

const { performers: _performers, ...presets } = defaultSettings('review');
const two = ['adversarial', 'facilitator'];

const start = ({ roundsMax: rounds = 3, ...part }: Partial<ReviewSettings> = {}): Story =>
  new Story({ ...presets, rounds, own: { reviewers: two, targetConfidence: 95, ...part } }, []);

const answers = (confidence: number, ...issues: readonly ReturnType<typeof found>[]): Performed =>
  says(`Read it.\n<review>\n${JSON.stringify({ confidence, issues })}\n</review>`);

const begun = (story: Story): readonly string[] =>
  story.effects().flatMap(effect => (effect.type === 'begin' ? [effect.task] : []));

/** Both at the same time, the second one first. */
function round(story: Story, number: number, first: Performed, other: Performed): void {
  expect(begun(story)).toEqual(two.map(role => `R${number}-${role}`));
  for (const role of two) story.begin(`R${number}-${role}`);
  story.after(second).performed(other, story.state.iterations.begun);
  story.after(second).performed(first, story.state.iterations.begun - 1);
  story.saved();
}

const ending = (story: Story) => {
  story.saved();
  const effect = story.effects().find(one => one.type === 'end');
  return effect?.type === 'end' ? effect.termination : undefined;
};

/** What a new process knows. */
const refolded = (story: Story) => story.events.reduce(evolve, initialState);

it('binds the format, the prompts and the files', () => {
  expect(reviewMode.formats.map(one => one.name)).toEqual(['review']);
  expect(defaultSettings('review').promise).toBe('ALL_ISSUES_RESOLVED');
  const story = start();
  story.begin('R1-adversarial');
  const { text } = reviewMode.prompt(story.state, story.state.live[0]!, 'Write British English.', {});
  expect(text).toContain('Write British English.');
  const place = { directory: '/somewhere', document: '/somewhere/PRD.json', folder: '/loops/1' };
  expect(reviewMode.view?.(place).files(story.state)).toHaveLength(2);
});

describe('a review through the core', () => {
  it('finds, mends, looks again and is done in the third round, the same for a process that starts anew', () => {
    const story = start();
    round(story, 1, answers(60, found('The limit is not named')), answers(70, found('Who pays?', { place: 'Money' })));
    expect(begun(story)).toEqual(['I1']);
    story.iteration('I1', claims('I1'));
    story.saved();
    expect(refolded(story)).toEqual(story.state);
    story.iteration('I2', failed('process'));
    story.after(2 * 60_000).iteration('I2', claims('I2'));
    story.saved();
    round(story, 2, answers(90, found('One more')), answers(97));
    story.iteration('I3', says('<review-complete>ALL_ISSUES_RESOLVED</review-complete>'));
    story.saved();
    expect(refolded(story)).toEqual(story.state);
    round(story, 3, answers(96), answers(99));
    expect(ending(story)).toMatchObject({ reason: 'goal_achieved' });
    const standing = reviewStanding(refolded(story));
    expect(standing).toMatchObject({ initialConfidence: 60, currentConfidence: 96, roundsComplete: 3 });
  });

  it('is over and not done when its rounds are used up', () => {
    const story = start({ roundsMax: 1 });
    round(story, 1, answers(90, found('One')), answers(99));
    story.begin('I1');
    story.when({ type: 'document', tasks: [], hash: 'mended' });
    story.performed(claims('I1'));
    expect(ending(story)).toEqual({
      reason: 'max_iterations',
      limit: 'rounds',
      because:
        'review round 1 of 1 (--rounds): it found 1 issue: 1 fixed and not reviewed again; confidence 90 %, 95 % wanted (--target-confidence)',
    });
  });

  it('takes no answer that is not by the schema, and blocks the reviewer after three', () => {
    const story = start({ reviewers: ['adversarial'] });
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const events = story.iteration('R1-adversarial', says('Looks fine to me. 100 %!'));
      expect(only(events, 'signal.read')).toMatchObject({ accepted: false, signal: 'review' });
    }
    expect(story.task('R1-adversarial')).toMatchObject({
      status: 'blocked',
      blockedBecause: expect.stringMatching(/3 attempts .*; the last answer: There is no <review> block/),
    });
    const { escalation } = only(story.when({ type: 'stalled' }), 'escalation.raised');
    expect(escalation.context).toContain('There is no <review> block');
    expect(ending(story)?.reason).not.toBe('goal_achieved');
    expect(begun(story)).toEqual([]);
  });

  it('asks a person where a fixer says that only a person can decide', () => {
    const story = start({ reviewers: ['adversarial'] });
    story.iteration('R1-adversarial', answers(50, found('Who decides?')));
    story.saved();
    const blocked = 'I cannot know.\n<review-blocked>MANUAL_INTERVENTION_REQUIRED</review-blocked>';
    const events = story.iteration('I1', says(blocked));
    expect(only(events, 'escalation.raised').escalation).toMatchObject({ task: 'I1' });
    expect(ending(story)).toBeUndefined();
  });
});
