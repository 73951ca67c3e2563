// Proves why an iteration starts: each of the seed's reasons from a loop that really went so.
import { describe, expect, it } from 'vitest';
import type { TerminationReason } from '../../../src/core/event.ts';
import { type TriggerReason, triggerOf, triggerOfEnd } from '../../../src/modes/prompt/trigger.ts';
import { claims, failed, type SettingsPart, Story, says, spec } from '../../core/given.ts';

const base: SettingsPart = { mode: 'goal', checks: ['npm test'] };
const reports = (completed: readonly string[], words = 'Some words.') =>
  says(`${words}\n<report>${JSON.stringify({ phase: 'implementing', completed, pending: ['more'] })}</report>`);

function story(part: SettingsPart = {}): Story {
  return new Story({ ...base, ...part }, [spec('goal')]);
}

/** Asked just before the iteration starts, and just after: the answer must be the same. */
function reasonOf(one: Story): TriggerReason {
  const before = triggerOf(one.state, one.state.iterations.begun + 1, 'goal');
  one.begin('goal');
  const after = triggerOf(one.state, one.state.iterations.begun, 'goal');
  expect(after).toBe(before);
  return before;
}

describe('an iteration starts', () => {
  it('as the initial one, given nothing before it', () => {
    expect(reasonOf(story())).toBe('initial');
  });

  it('after a success, given one that reported something new', () => {
    const one = story();
    one.iteration('goal', reports(['plan']));
    expect(reasonOf(one)).toBe('previous_success');
  });

  it('because the task is incomplete, given one that brought nothing new', () => {
    const one = story();
    one.iteration('goal', reports(['plan']));
    one.iteration('goal', reports(['plan'], 'Other words about something else entirely.'));
    expect(reasonOf(one)).toBe('task_incomplete');
  });

  it('because the task is incomplete, given a claim whose check failed', () => {
    const one = story();
    const { message } = claims('goal');
    one.iteration('goal', says(`<report>{"completed": ["something new"]}</report>\n${message}`));
    one.checked(false);
    expect(one.state.streaks.sinceProgress).toBe(0);
    expect(reasonOf(one)).toBe('task_incomplete');
  });

  it.each([
    ['failed', failed('process', 'exit code 3')],
    ['was limited by its provider', failed('rate-limit')],
    ['was cut short', failed('stopped')],
  ])('for recovery, given one that %s', (_what, performed) => {
    const one = story();
    one.iteration('goal', reports(['plan']));
    one.iteration('goal', performed);
    expect(reasonOf(one)).toBe('recovery');
  });

  it('for recovery, given a first one that was cut short', () => {
    const one = story();
    one.iteration('goal', failed('stopped'));
    expect(reasonOf(one)).toBe('recovery');
  });

  it('because going in circles was seen, given the same words again', () => {
    const one = story();
    const words = 'I looked at the parser and found that the tokens are not read in the right order. '.repeat(3);
    for (let times = 0; times < 3; times += 1) one.iteration('goal', says(words));
    expect(one.state.memory.repetition).toBeDefined();
    expect(reasonOf(one)).toBe('loop_detected');
  });
});

describe('the end of a loop', () => {
  it.each([
    ['explicit_stop', 'user_stop'],
    ['no_progress', 'loop_detected'],
    ['max_iterations', 'safety_limit'],
    ['budget_exhausted', 'safety_limit'],
    ['max_duration', 'safety_limit'],
    ['consecutive_errors', 'safety_limit'],
    ['health_failure', 'safety_limit'],
    ['circuit_breaker_open', 'safety_limit'],
    ['goal_achieved', undefined],
  ] satisfies readonly (readonly [TerminationReason, TriggerReason | undefined])[])('%s is %s', (reason, trigger) => {
    expect(triggerOfEnd(reason)).toBe(trigger);
  });
});
