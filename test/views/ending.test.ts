// Proves how a loop ends on every surface: the exit codes of UX.md, one sentence, and what to do next.
import { describe, expect, it } from 'vitest';
import type { Escalation, LimitId, TerminationReason } from '../../src/core/event.ts';
import { askedQuestion, endedByLimit, endingOf } from '../../src/views/ending.ts';
import { claims, failed, Story, says, spec, t0, usd } from '../core/given.ts';

const ended = (reason: TerminationReason, story = new Story(), limit?: LimitId): Story =>
  story.given({ type: 'loop.ended', at: t0, reason, limit, because: 'the numbers' });

describe('a loop that ended', () => {
  it.each<[TerminationReason, number, boolean, string, LimitId?]>([
    ['explicit_stop', 0, false, 'ralph report shop'],
    ['circuit_breaker_open', 6, false, 'ralph explain shop'],
    ['health_failure', 6, false, 'ralph explain shop'],
    ['consecutive_errors', 6, false, 'ralph explain shop'],
    ['budget_exhausted', 4, true, 'ralph resume shop --max-cost', 'cost'],
    ['budget_exhausted', 4, true, 'ralph resume shop --max-tokens', 'tokens'],
    ['max_iterations', 3, true, 'ralph resume shop --max-iterations', 'iterations'],
    ['max_duration', 3, true, 'ralph resume shop --max-duration', 'duration'],
    ['max_duration', 3, true, 'ralph resume shop --deadline HH:MM', 'deadline'],
    ['no_progress', 6, false, 'ralph explain shop'],
  ])('by %s exits %d (by a limit: %s) and says what next', (reason, exitCode, byLimit, what, limit) => {
    const { state } = ended(reason, new Story(), limit);
    const ending = endingOf(state);
    expect(ending.exitCode).toBe(exitCode);
    expect(ending.sentence).toContain('the numbers');
    expect(ending.sentence).toContain('0 iterations');
    expect(ending.next.join('\n')).toContain(what);
    expect(endedByLimit(state)).toBe(byLimit);
  });

  it('given tasks that an undo has opened again, then it no longer says that all is done', () => {
    const { exitCode, sentence } = endingOf(ended('goal_achieved', new Story()).state);
    expect([exitCode, sentence]).toEqual([
      0,
      expect.stringMatching(
        /^It was done, but 2 tasks are open again since then \(ralph undo, ralph task retry\)\. 0\/2 tasks done/,
      ),
    ]);
  });

  it('given a loop whose first agent was killed, then nothing is said to have cost $0.00', () => {
    const story = new Story({}, [spec('A')]);
    story.begin('A');
    expect(endingOf(story.state).sentence).toContain('1 iteration, cost not reported yet');
  });

  it('given a limit, then the hint is one line that goes on', () => {
    const [hint] = endingOf(ended('max_iterations', new Story(), 'iterations').state).next;
    expect(hint).toMatch(/^ralph resume shop --max-iterations \d+ {3}# goes on, counters kept$/);
  });

  it('given an average that was too long, then no resume is hinted at, which would end again at once', () => {
    const story = ended('max_duration', new Story(), 'average-duration');
    const next = endingOf(story.state).next.join('\n');
    expect(next).toContain('the same command with --new');
    expect(next).not.toContain('ralph resume');
  });

  it('given work closed on the agent’s word, then the sentence says so, and with --require-checks it is no success', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', claims('A'));
    ended('goal_achieved', story);
    expect(endingOf(story.state)).toMatchObject({ exitCode: 0, sentence: expect.stringContaining('verified: false') });
    expect(endingOf(story.state, true).exitCode).toBe(8);
  });

  it('given proven work, then --require-checks changes nothing', () => {
    const story = new Story({ checks: ['x'] }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.checked(true);
    ended('goal_achieved', story);
    expect(endingOf(story.state, true).exitCode).toBe(0);
    expect(endingOf(story.state).sentence).not.toContain('verified');
  });

  it('given that every open task’s last claim failed its check, then health’s 6 becomes 8 and a limit’s code stays', () => {
    const lied = (): Story => {
      const story = new Story({ checks: ['x'] }, [spec('A')]);
      story.iteration('A', claims('A'));
      story.checked(false);
      return story;
    };
    expect(endingOf(ended('no_progress', lied()).state).exitCode).toBe(8);
    expect(endingOf(ended('max_iterations', lied()).state).exitCode).toBe(3);
  });

  it('given money spent, skipped and blocked tasks, then the tally names them, and an estimate as one', () => {
    const story = new Story({ limits: { attemptsPerTaskMax: 1 } }, [
      spec('A'),
      spec('B'),
      spec('C', { skipped: true }),
    ]);
    story.iteration('A', says('no', { usage: usd(1.5, { estimated: true }) }));
    const { sentence } = endingOf(ended('no_progress', story).state);
    expect(sentence).toContain('0/3 tasks done, 1 skipped, 1 blocked, 1 iteration, $1.50 est.');
  });
});

describe('a loop that stands still', () => {
  it.each([
    ['a question of the agent', says('<escalate type="stuck">\n<summary>no key</summary>\n</escalate>'), 5],
    ['a login that is gone', failed('auth'), 7],
    ['no credit', failed('billing'), 7],
  ])('given %s, then it exits with the code for it and says how to answer', (_name, performed, exitCode) => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', performed);
    const ending = endingOf(story.state);
    expect(ending.exitCode).toBe(exitCode);
    expect(ending.sentence).toMatch(/^Waiting for you: /);
    expect(ending.next.join('\n')).toContain('ralph answer shop/E1');
    expect(endedByLimit(story.state)).toBe(false);
  });

  it('given nothing ready because every claim failed, then it is 8', () => {
    const story = new Story({ checks: ['x'], limits: { attemptsPerTaskMax: 1 } }, [spec('A')]);
    story.iteration('A', claims('A'));
    story.checked(false);
    story.when({ type: 'stalled' });
    expect(endingOf(story.state).exitCode).toBe(8);
  });

  it('given neither an end nor a question, then it is said to be unfinished', () => {
    expect(endingOf(new Story().state).sentence).toContain('Not finished');
  });

  it('says that the document is behind, and exits 5, when a person stopped a loop whose document cannot be written', () => {
    const story = new Story({}, [spec('A')]);
    story.iteration('A', claims('A'));
    story.when({ type: 'saved', marks: [{ id: 'A', done: true, skipped: false }], hash: '', failed: 'EACCES' });
    story.when({ type: 'end' });
    expect(story.state.control.ended).toBeUndefined();
    story.when({ type: 'command', command: { type: 'stop' }, by: 'ada' });
    story.when({ type: 'end' });
    expect(story.state.control.ended?.reason).toBe('goal_achieved');
    expect(endingOf(story.state)).toMatchObject({
      exitCode: 5,
      sentence: expect.stringContaining('does not show what was done'),
    });
  });
});

it('given a question, then programs get its options as texts, with the ids beside them', () => {
  const options = [
    { id: 'retry', text: 'Try again' },
    { id: 'abort', text: 'End the loop' },
  ];
  const asked = askedQuestion({ id: 'E1', options } as unknown as Escalation);
  expect(asked).toEqual({ id: 'E1', options: ['Try again', 'End the loop'], optionIds: ['retry', 'abort'] });
});
