// Proves which mail is a command, and that a newer Ralph writes it so that an older holder understands it.
import { describe, expect, it } from 'vitest';
import { type Command, commandVersion, isCommand, versionOf } from '../../src/core/input.ts';
import { only, Story, says, types } from './given.ts';

const answer = (option: number | string): Command => ({
  type: 'answer',
  escalation: 'E1',
  answer: { kind: 'option', option },
});
const mark = { checkpoint: 'c', number: 1, commit: 'c1', tree: 't1' };

describe('the version of a command is the lowest that can express it', () => {
  it.each<[Command, number]>([
    [answer(2), 1],
    [{ type: 'answer', escalation: 'E1', answer: { kind: 'text', text: 'leave-out' } }, 1],
    [{ type: 'stop' }, 1],
    [{ type: 'checkpoint', label: 'by hand', request: 'r1' }, 1],
    [{ type: 'restore', to: mark, because: 'b' }, 1],
    [answer('leave-out'), 2],
  ])('%o: %d', (command, version) => {
    expect(isCommand(command)).toBe(true);
    expect(versionOf(command)).toBe(version);
    expect(version).toBeLessThanOrEqual(commandVersion);
  });
});

it('an answer by mail cannot call itself a policy', () => {
  expect(isCommand({ ...answer(1), policy: true })).toBe(false);
});

const stalled = (): Story => {
  const story = new Story({ limits: { attemptsPerTaskMax: 1 } });
  for (const task of ['A', 'B']) story.iteration(task, says('no'));
  story.when({ type: 'stalled' });
  return story;
};

it.each([2, 'leave-out'])('given the answer %o, as 0.4 sends it or by id, then the same follows', option => {
  const events = stalled().command(answer(option));
  expect(types(events)).toEqual(['escalation.answered', 'task.skipped', 'task.skipped']);
  expect(only(events, 'escalation.answered').late).toBeUndefined();
});

it.each([3, 0, 'more-time', 'agent-1'])(
  'given %o, which the question does not offer, then it is kept without effect',
  option => {
    const story = stalled();
    expect(story.command(answer(option))).toMatchObject([{ type: 'escalation.answered', late: true }]);
    expect(story.state.questions.open).toHaveLength(1);
  },
);

it('given an agent whose option reads like ours, then it is guidance all the same', () => {
  const story = new Story();
  const block =
    '<escalate type="stuck">\n<summary>s</summary>\n<options>\n1. Try\n2. Leave this task out\n</options>\n</escalate>';
  story.iteration('A', says(block));
  expect(types(story.command(answer(2)))).toEqual(['escalation.answered', 'guidance.given']);
});

it('given a policy that skips, then the task says so; given a person called like a flag, then it was a person', () => {
  const because = (policy?: true): string => {
    const story = new Story();
    story.iteration('A', says('<escalate type="stuck">\n<summary>s</summary>\n</escalate>'));
    const skip: Command = { type: 'answer', escalation: 'E1', answer: { kind: 'skip' }, policy };
    return only(story.command(skip, '--on-escalation skip'), 'task.skipped').because;
  };
  expect([because(true), because()]).toEqual(['by policy, unanswered', 'a human left it out']);
});
