// A task that stands still is asked about before another iteration is paid for; one that moves uses up no attempt (F77, F93).
import { describe, expect, it } from 'vitest';
import { only, type SettingsPart, Story, says, second, spec, types } from '../given.ts';

const words = ['thinking', 'red tokens', 'blue scanner', 'green parser', 'white emitter', 'black linker'];

/** An iteration that is saved as this tree. */
function turn(story: Story, said: string, tree: string, refusal?: string): void {
  story.iteration('A', says(refusal === undefined ? said : `${said}\n\nTask A complete`));
  story.checkpointed(`cp-${story.state.checkpoints.made}`, tree);
  if (refusal === undefined) return;
  const outcome = { name: 'npm test', passed: false, detail: refusal, durationMs: 10 };
  story.when({ type: 'checked', iteration: story.state.iterations.begun, outcomes: [outcome] });
}

const begun = (part: SettingsPart = {}): Story => new Story({ checkpoints: true, ...part }, [spec('A'), spec('B')]);

const stuckStory = (part: SettingsPart = {}): Story => {
  const story = begun(part);
  for (let times = 0; times < 4; times += 1) turn(story, 'thinking', 'same');
  return story;
};

describe('a task that stands still', () => {
  it('given four iterations with the same words and files, then it is set aside and a person is asked', () => {
    const events = stuckStory().begin('A');
    expect(types(events)).toEqual(['task.blocked', 'escalation.raised']);
    expect(events[1]).toMatchObject({ escalation: { kind: 'stuck', task: 'A', iteration: 4 } });
  });

  it('given an agent that never claims, then the question says so, and "nothing new" only where no file changed', () => {
    const said = (story: Story) => only(story.begin('A'), 'escalation.raised').escalation;
    const idle = said(stuckStory());
    expect([idle.title, idle.summary]).toEqual([
      'Title of A',
      'A does not move: nothing new in the last 3 iterations, and its agent never writes the line "Task A complete"',
    ]);
    const working = begun();
    for (let at = 0; at < 4; at += 1) turn(working, 'I did it.', `tree ${at}`);
    expect(said(working).summary).toBe(
      'A does not move: its agent never writes the line "Task A complete", though files changed in 4 iterations',
    );
  });

  it('given the one task of a loop, then it waits for the answer and is not blocked', () => {
    expect(types(stuckStory({ mode: 'prompt' }).begin('A'))).toEqual(['escalation.raised']);
  });

  it('given an answer, then it is tried again with nothing behind it', () => {
    const story = stuckStory();
    story.begin('A');
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'option', option: 1 } });
    story.checkpointed('cp-user');
    expect(story.state.trail).toEqual([]);
    expect(types(story.begin('A'))).toEqual(['iteration.started']);
  });

  it('given words about another task between, then each has its own trail', () => {
    const story = begun({ limits: { attemptsPerTaskMax: 9 } });
    for (let times = 0; times < 3; times += 1) turn(story, 'thinking', 'same');
    story.when({ type: 'begin', task: 'B', performer: 'agent', holder: 'holder-1' });
    expect(story.state.trail.map(one => one.task)).toEqual(['A', 'A', 'A']);
  });
});

describe('an iteration that made progress', () => {
  it('given other files and other words, then only the first attempt is counted', () => {
    const story = begun();
    for (const [at, said] of words.entries()) turn(story, `Wrote the ${said}`, `tree ${at}`);
    expect(story.task('A')).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('given fewer failures in the check of each refused claim, then only the first is counted', () => {
    const story = begun({ checks: ['npm test'] });
    for (let left = 40; left > 0; left -= 1) turn(story, 'Fixed one.', `tree ${left}`, `Tests: ${left} failed`);
    expect(story.task('A')).toMatchObject({ status: 'pending', attempts: 1 });
    expect(story.state.questions.open).toEqual([]);
  });

  it('given the same answer of the check, then each is counted, whatever it says', () => {
    const story = begun({ checks: ['npm test'], sameErrorsToEscalate: null });
    for (let at = 0; at < 3; at += 1) turn(story, `Wrote the ${words[at]}`, `tree ${at}`, '4 failed');
    expect(story.task('A').attempts).toBe(3);
  });

  it('given no checkpoints, then the count in its words is enough', () => {
    const story = new Story({}, [spec('A')]);
    for (let left = 40; left > 0; left -= 1) {
      story.iteration('A', says(`Fixed one, ${left} tests still fail.`));
      story.after(second);
    }
    expect(story.task('A')).toMatchObject({ status: 'pending', attempts: 1 });
  });

  it('given the same words as a prompt while fewer fail, then the window without progress begins anew', () => {
    const story = begun({ mode: 'prompt', checks: ['npm test'], sameErrorsToEscalate: null });
    for (let left = 12; left > 0; left -= 1) turn(story, 'Fixed one.', `tree ${left}`, `${left} failed`);
    expect(story.state.streaks.sinceProgress).toBe(0);
    expect(types(story.begin('A'))).toEqual(['iteration.started']);
  });
});
