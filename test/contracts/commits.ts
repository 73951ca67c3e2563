// What every maker of progress commits promises, written once: its test calls this with a way to make one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Span } from '../../src/git/checkpoints.ts';
import type { Commits, Committed } from '../../src/git/commits.ts';

export interface CommitsSubject {
  readonly commits: Commits;
  /** A file that was uncommitted when the loop began. */
  readonly theirs: string;
  write(path: string, content: string): void;
  /** What there is now, as a tree. */
  tree(): string;
  /** Subjects of all commits on the branch, newest first. */
  log(): readonly string[];
  /** Paths that the newest commit changed. */
  newest(): readonly string[];
  /** Paths that differ from the newest commit. */
  uncommitted(): readonly string[];
  cleanUp(): void;
}

export function commitsContract(name: string, make: () => Promise<CommitsSubject>): void {
  describe(`${name} keeps the contract of commits`, () => {
    let subject: CommitsSubject;
    let before: readonly string[];
    beforeEach(async () => {
      subject = await make();
      before = subject.log();
    });
    afterEach(() => subject.cleanUp());

    function spanOf(work: () => void): Span {
      const from = subject.tree();
      work();
      return { from, to: subject.tree() };
    }
    const commit = (spans: readonly Span[], more: { readonly branch?: string } = {}): Promise<Committed> =>
      subject.commits.commit({
        loop: 'loop-1',
        task: 'T1',
        title: 'Add it',
        iteration: 1,
        spans,
        document: '/nowhere/PRD.json',
        ...more,
      });

    it('the branch moves by one commit, which holds the work and nothing of the user', async () => {
      const span = spanOf(() => {
        subject.write('made/deep', 'work');
        subject.write(subject.theirs, 'work on it too');
      });
      const made = await commit([span]);
      expect(made).toMatchObject({ ok: true, paths: ['made/deep'], left: [subject.theirs] });
      expect(subject.log()).toEqual(['T1: Add it', ...before]);
      expect([subject.newest(), subject.uncommitted()]).toEqual([['made/deep'], [subject.theirs]]);
    });

    it('the same order again makes no second commit', async () => {
      const span = spanOf(() => subject.write('made', 'work'));
      await commit([span]);
      expect(await commit([span])).toMatchObject({ ok: true, commit: '', paths: [], left: [] });
      expect(subject.log()).toEqual(['T1: Add it', ...before]);
    });

    it("on another branch than the loop's it is refused in one sentence, and nothing moves", async () => {
      const span = spanOf(() => subject.write('made', 'work'));
      const refused = await commit([span], { branch: 'of-the-loop' });
      expect(refused).toMatchObject({ ok: false, problem: expect.stringMatching(/^[A-Z].*\.$/) });
      expect(subject.log()).toEqual(before);
    });
  });
}
