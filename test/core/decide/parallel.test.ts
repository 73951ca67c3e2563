// Tasks side by side: what is asked about one of them is said of that one, and a merge that fails again is named as the reason.
import { describe, expect, it } from 'vitest';
import type { Event } from '../../../src/core/event.ts';
import { MetricsView } from '../../../src/views/metrics.ts';
import { claims, failed, only, Story, says, spec } from '../given.ts';

const sideBySide = { worktreePerTask: true, parallel: 2, checkpoints: true };
const other = ['Wrote the parser.', 'Wrote the scanner.', 'Wrote the emitter.', 'Wrote the linker.'];

/** Both begin, A says this and B works well; all of it is saved. */
function together(story: Story, words: Parameters<Story['performed']>[0], at: number): readonly Event[] {
  story.after(60_000).begin('A');
  const first = story.state.iterations.begun;
  story.begin('B');
  const events = story.performed(words, first);
  story.performed(says(other[at] ?? ''), first + 1);
  story.checkpointed(`cp-a-${at}`, 'the same tree');
  story.checkpointed(`cp-b-${at}`, `tree of B ${at}`);
  return events;
}

describe('tasks side by side', () => {
  it('given a task that stands still, then the question quotes its own agent and not the one that ended last', () => {
    const story = new Story(sideBySide, [spec('A'), spec('B')]);
    for (let at = 0; at < 4; at += 1) together(story, says('I looked around.'), at);
    expect(only(story.begin('A'), 'escalation.raised').escalation).toMatchObject({
      task: 'A',
      context: 'I looked around.',
    });
  });

  it('given the same crash of one task three times while the other works well, then a person is asked as if it were alone', () => {
    const story = new Story({ ...sideBySide, sameErrorsToEscalate: 3 }, [spec('A'), spec('B')]);
    const crash = failed('process', 'ended by SIGSEGV');
    for (let at = 0; at < 2; at += 1) together(story, crash, at);
    expect(story.state.questions.open).toEqual([]);
    expect(only(together(story, crash, 2), 'escalation.raised').escalation).toMatchObject({
      kind: 'stuck',
      task: 'A',
      summary: 'The same error 3 times in a row',
    });
    story.command({ type: 'answer', escalation: 'E1', answer: { kind: 'retry' } });
    together(story, crash, 3);
    expect(story.state.questions.open).toEqual([]);
  });
});

describe('work that cannot be merged', () => {
  const conflict = { paths: ['done.txt'], others: ['A'] };
  const refused = (story: Story): void => {
    story.iteration('B', claims('B'));
    story.checkpointed(`cp-${story.state.checkpoints.made}`, 'the same tree');
    story.checked(true);
    const { begun: iteration } = story.state.iterations;
    story.when({ type: 'merged', iteration, merged: false, detail: 'Conflict markers are left.', conflict });
  };
  const why = 'its work conflicts with A in done.txt';

  it('given the same conflict again and again, then the question and the blocked task name it as the reason', () => {
    const story = new Story({ ...sideBySide, checks: ['x'], limits: { attemptsPerTaskMax: 9 } }, [
      spec('A'),
      spec('B'),
    ]);
    for (let at = 0; at < 4; at += 1) refused(story);
    const asked = only(story.begin('B'), 'escalation.raised').escalation;
    expect(asked.summary).toBe(`B does not move: ${why}`);
    expect(story.task('B').blockedBecause).toContain(why);
  });

  it('given attempts that are used up by it, then the blocked task says so, and it is counted', () => {
    const story = new Story({ ...sideBySide, checks: ['x'], limits: { attemptsPerTaskMax: 2 } }, [
      spec('A'),
      spec('B'),
    ]);
    for (let at = 0; at < 2; at += 1) refused(story);
    expect(story.task('B')).toMatchObject({ status: 'blocked', blockedBecause: expect.stringContaining(why) });
    const view = new MetricsView();
    for (const event of story.events) view.add(event);
    expect(view.metrics()).toMatchObject({ merges: 0, merges_refused: 2, merge_conflicts: 2, claims_refused: 2 });
  });
});
