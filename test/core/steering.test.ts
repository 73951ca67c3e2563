// Proves what a working performer is told and what follows: handoffs that reach it, a person's words, nudges.
import { describe, expect, it } from 'vitest';
import { continuationPrompt } from '../../src/core/handoff.ts';
import type { Performed } from '../../src/core/input.ts';
import { claims, failed, hour, minute, only, type SettingsPart, Story, says, second, self, usd } from './given.ts';

function working(part: SettingsPart = {}): Story {
  const story = new Story(part);
  story.begin('A');
  story.when({ type: 'spawned', iteration: 1, pid: 7, startTime: '1', host: 'here' });
  return story;
}

const handoffs = (story: Story) =>
  story.effects().flatMap(effect => (effect.type === 'nudge' && effect.level === 'handoff' ? [effect] : []));

/** Stopped by us because it did not hand off in time. */
const cut = (message: string): Performed => ({ ...failed('stopped', 'handed off'), message, stoppedFor: 'handoff' });

function handsOff(story: Story, delivered: boolean) {
  const effect = handoffs(story)[0]!;
  return only(story.when({ ...effect, type: 'nudged', delivered }), 'iteration.nudged');
}

const fullContext = (story: Story, contextUsed = 0.71): void =>
  void story.when({ type: 'heard', iteration: 1, quietMs: 0, contextUsed });

describe('a handoff that reaches a live agent', () => {
  it('given a context above 70 %, then it is told to write its report and stop, once', () => {
    const story = working();
    fullContext(story, 0.7);
    expect(handoffs(story)).toEqual([]);
    fullContext(story);
    expect(handoffs(story)).toMatchObject([{ trigger: 'context_threshold' }]);
    expect(handoffs(story)[0]?.words).toContain('<report>');
    expect(handsOff(story, true)).toMatchObject({ trigger: 'context_threshold', delivered: true });
    expect(handoffs(story)).toEqual([]);
    expect(story.effectKeys()).toContain('perform:1');
  });

  it('given that it then stops by itself, then it ends as handed off, and its report is in the next prompt', () => {
    const story = working();
    fullContext(story);
    handsOff(story, true);
    story.after(10 * second);
    const report = '<report>{"completed": ["the model"], "pending": ["the page"]}</report>';
    const ended = only(story.performed(says(`Half of it.\n${report}`)), 'iteration.ended');
    expect(ended).toMatchObject({ outcome: 'handed-off', handoff: 'context_threshold' });
    expect(ended.because).toContain('it stopped as asked');
    expect(continuationPrompt(story.state)).toContain('context_threshold');
    expect(continuationPrompt(story.state)).toContain('the page');
  });

  it('given that it goes on for 60 s, then it is interrupted, and that is a handoff, no failure and no interruption', () => {
    const story = working();
    fullContext(story);
    handsOff(story, true);
    story.after(minute - 1);
    expect(story.effectKeys()).toContain('perform:1');
    expect(story.wakeAt()).toBe(story.now + 1);
    story.after(1);
    expect(story.effectKeys()).not.toContain('perform:1');
    const ended = only(story.performed(cut('')), 'iteration.ended');
    expect(ended).toMatchObject({ outcome: 'handed-off', handoff: 'context_threshold' });
    expect(ended.failure).toBeUndefined();
    expect(ended.because).toContain('it was interrupted');
  });

  it('given what it claimed or wrote into the document before we had to interrupt it, then that does not count', () => {
    const story = working();
    fullContext(story);
    handsOff(story, true);
    story.after(minute);
    const events = story.performed({ ...cut('Task A complete'), statusEdits: ['A'] });
    expect(events.flatMap(event => (event.type === 'signal.read' ? [event.accepted] : []))).toEqual([false, false]);
    expect(story.task('A').status).toBe('pending');
  });

  it('given that Ralph died or was interrupted after the word, then that is no handoff, however late it is known', () => {
    const story = working();
    fullContext(story);
    handsOff(story, true);
    story.after(5 * hour);
    story.when({ type: 'recovered', iteration: 1, holder: 'another', chance: 0.5 });
    expect(only(story.events, 'iteration.ended').outcome).toBe('interrupted');
    expect(story.task('A').attempts).toBe(0);
  });

  it('given a large task that is handed off again and again with something new each time, then it is neither blocked nor no progress', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 2, noProgressIterations: 3 } });
    for (let part = 1; part <= 6; part += 1) {
      story.begin('A');
      const iteration = story.state.iterations.begun;
      story.when({ type: 'spawned', iteration, pid: 7, startTime: '1', host: 'here' });
      story.when({ type: 'heard', iteration, quietMs: 0, contextUsed: 0.9 });
      handsOff(story, true);
      story.performed(says(`<report>{"completed": ["part ${part}"]}</report>`));
    }
    expect(story.task('A')).toMatchObject({ attempts: 0, status: 'pending' });
    expect(story.state.streaks.sinceProgress).toBe(0);
    story.begin('A');
    story.when({ type: 'spawned', iteration: 7, pid: 7, startTime: '1', host: 'here' });
    story.when({ type: 'heard', iteration: 7, quietMs: 0, contextUsed: 0.9 });
    handsOff(story, true);
    story.performed(says('<report>{"completed": ["part 6"]}</report>'));
    expect(story.task('A').attempts).toBe(1);
    expect(story.state.streaks.sinceProgress).toBe(1);
  });

  it('given that it claims the task in its last message, then the claim is read', () => {
    const story = working({ checks: ['x'] });
    fullContext(story);
    handsOff(story, true);
    story.performed(claims('A'));
    expect(story.state.claims.open).toMatchObject([{ task: 'A' }]);
  });

  it('given a stop by a person while it writes its report, then that stop counts', () => {
    const story = working();
    fullContext(story);
    handsOff(story, true);
    story.after(2 * minute);
    story.command({ type: 'stop' });
    expect(only(story.performed(failed('stopped', 'ralph stop')), 'iteration.ended').outcome).toBe('interrupted');
  });

  it('given an agent that cannot be spoken to, then it goes on, and the trigger is recorded at its end', () => {
    const story = working();
    fullContext(story);
    expect(handsOff(story, false).because).toContain('takes no messages while it works');
    story.after(hour);
    expect(story.effectKeys()).toContain('perform:1');
    const ended = only(story.performed(says('done with my part')), 'iteration.ended');
    expect(ended).toMatchObject({ outcome: 'succeeded', handoff: 'context_threshold' });
  });

  it('given that its time is nearly up, then it is told so, and the loop wakes for it', () => {
    const story = working({ limits: { iterationMsMax: 30 * minute } });
    expect(story.wakeAt()).toBe(story.now + 27 * minute);
    story.after(27 * minute);
    expect(handoffs(story)).toMatchObject([{ trigger: 'timeout' }]);
  });

  it('given an iteration of less than five minutes, then there is no such moment', () => {
    const story = working({ limits: { iterationMsMax: 4 * minute } });
    story.after(4 * minute - 1);
    expect(handoffs(story)).toEqual([]);
  });

  it('given that 80 % of the money are crossed, then once per loop, however often it is asked', () => {
    const story = working({ limits: { costUsdMicrosMax: 1_000_000 }, checks: ['x'] });
    story.when({ type: 'usage', iteration: 1, usage: usd(0.81) });
    expect(handoffs(story)).toMatchObject([{ trigger: 'token_budget' }]);
    handsOff(story, true);
    story.performed(says('as you wish'));
    expect(only(story.events, 'iteration.ended').handoff).toBe('token_budget');
    story.begin('A');
    story.when({ type: 'spawned', iteration: 2, pid: 8, startTime: '1', host: 'here' });
    story.when({ type: 'usage', iteration: 2, usage: usd(0.01) });
    expect(handoffs(story)).toEqual([]);
    expect(only(story.performed(says('more')), 'iteration.ended').handoff).toBeUndefined();
  });

  it('given an agent that cannot be told of the money, then the trigger is recorded at its end, once', () => {
    const story = working({ limits: { costUsdMicrosMax: 1_000_000 } });
    story.when({ type: 'usage', iteration: 1, usage: usd(0.81) });
    handsOff(story, false);
    expect(only(story.performed(says('done with my part')), 'iteration.ended').handoff).toBe('token_budget');
    expect(only(story.iteration('A', says('more')), 'iteration.ended').handoff).toBeUndefined();
  });

  it('given an iteration after it that never worked, then the handoff still stands for the next one', () => {
    const story = working({ performersByPhase: { reviewing: 'other' } });
    fullContext(story);
    handsOff(story, true);
    story.performed(says('<report>{"phase": "reviewing", "pending": ["the page"]}</report>'));
    const before = continuationPrompt(story.state);
    expect(before).toContain('the page');
    story.iteration('A', failed('overloaded'));
    expect(continuationPrompt(story.state)).toBe(before);
    story.after(minute);
    expect(story.effects()).toMatchObject([{ type: 'begin', performer: 'other' }]);
  });

  it('given a prompt that was too long, then a fresh context takes over', () => {
    const story = working();
    const ended = only(story.performed(failed('context-too-long')), 'iteration.ended');
    expect(ended).toMatchObject({ outcome: 'failed', handoff: 'context_threshold' });
  });
});

describe('the words of a person', () => {
  const steers = (story: Story) => story.effects().filter(effect => effect.type === 'steer');

  it('given a live agent, then they are for it, and once told they are not in the next prompt', () => {
    const story = working();
    story.command({ type: 'tell', text: 'keep the API' });
    expect(steers(story)).toMatchObject([{ iteration: 1, guidance: 'G1', words: 'keep the API' }]);
    const reached = story.when({ type: 'reached', guidance: 'G1', iteration: 1, delivered: true });
    expect(only(reached, 'guidance.delivered').because).toBe('told to agent while it works');
    expect(steers(story)).toEqual([]);
    story.performed(says('ok'));
    story.begin('A');
    expect(story.state.memory.guidance).toEqual([]);
  });

  it('given an agent that cannot be spoken to, then they stand in the next prompt, and it is not asked again', () => {
    const story = working();
    story.command({ type: 'tell', text: 'keep the API' });
    const reached = story.when({ type: 'reached', guidance: 'G1', iteration: 1, delivered: false });
    expect(only(reached, 'guidance.delivered').because).toContain('top of its next prompt');
    expect(steers(story)).toEqual([]);
    story.performed(says('ok'));
    story.begin('A');
    expect(story.state.memory.guidance).toMatchObject([{ text: 'keep the API', iteration: 2 }]);
  });

  it('given that the iteration is interrupted after it was told, then the next one hears it too', () => {
    const story = working();
    story.command({ type: 'tell', text: 'keep the API' });
    story.when({ type: 'reached', guidance: 'G1', iteration: 1, delivered: true });
    story.performed(failed('stopped', 'Ctrl-C'));
    story.begin('A');
    expect(story.state.memory.guidance).toMatchObject([{ iteration: 2 }]);
  });

  it.each([
    ['a handoff', says('<handoff>full</handoff>')],
    ['an agent that did not start', failed('spawn', 'no such file')],
  ])('given %s after it, then the next one hears it too', (_name, performed) => {
    const story = working();
    story.command({ type: 'tell', text: 'keep the API' });
    story.when({ type: 'reached', guidance: 'G1', iteration: 1, delivered: true });
    story.performed(performed);
    story.after(minute);
    story.begin('A');
    expect(story.state.memory.guidance).toMatchObject([{ iteration: 2 }]);
  });

  it('given words for another task, then the live agent does not hear them', () => {
    const story = working();
    story.command({ type: 'tell', text: 'keep the API', task: 'B' });
    expect(steers(story)).toEqual([]);
  });

  it('given words that stood in its prompt, then it is not told twice', () => {
    const story = new Story();
    story.command({ type: 'tell', text: 'keep the API' });
    story.begin('A');
    story.when({ type: 'spawned', iteration: 1, pid: 7, startTime: '1', host: 'here' });
    expect(steers(story)).toEqual([]);
    expect(story.effectKeys(self)).toContain('perform:1');
  });
});
