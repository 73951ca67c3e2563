// What every maker of forks promises, written once: its test calls this with a way to make one.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Forks } from '../../src/git/forks.ts';

export interface ForksSubject {
  readonly forks: Forks;
  /** The same forks as another process sees them, after a restart. */
  again(): Forks;
  /** In the fork of a task. */
  write(task: string, path: string, text: string): void;
  read(task: string, path: string): string;
  /** Subjects of the commits on the loop's branch, newest first. */
  log(): readonly string[];
  /** A file that every fork begins with. */
  readonly shared: string;
}

const order = (task: string, iteration = 1) => ({ loop: 'loop-1', task, title: 'Done', iteration });
const refusal = { ok: false, problem: expect.stringMatching(/^[A-Z].*\.$/) };

export function forksContract(name: string, make: () => Promise<ForksSubject>): void {
  describe(`${name} keeps the contract of forks`, () => {
    let subject: ForksSubject;
    let forks: Forks;
    let before: readonly string[];
    beforeEach(async () => {
      subject = await make();
      forks = subject.forks;
      before = subject.log();
    });

    it('each task has a place of its own, which is taken up with its work, also by a new process', async () => {
      const made = await forks.fork('T1');
      await forks.fork('T2');
      expect(forks.directory('T1')).not.toBe(forks.directory('T2'));
      subject.write('T1', 'made', 'half done');
      expect(await subject.again().fork('T1')).toEqual(made);
      expect(subject.read('T1', 'made')).toBe('half done');
    });

    it('a fork knows the commit that it stands on, and a task without one has none', async () => {
      const made = await forks.fork('T1');
      expect(made).toEqual({ ok: true, base: await forks.base('T1') });
      expect(await forks.base('T2')).toBe('');
    });

    it('without a fork, a merge is refused in one sentence, and the branch stays', async () => {
      expect([await forks.mergeIntoFork('T1'), await forks.mergeFork(order('T1'))]).toEqual([
        { ...refusal, conflicts: [] },
        refusal,
      ]);
      expect(subject.log()).toEqual(before);
    });

    it('work becomes one commit on the branch, once', async () => {
      await forks.fork('T1');
      subject.write('T1', 'made', 'by T1');
      expect(await forks.mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: false });
      const merged = await forks.mergeFork(order('T1'));
      expect(merged).toMatchObject({ ok: true, commit: expect.stringMatching(/^[0-9a-f]{40,}$/) });
      expect(await subject.again().mergeFork(order('T1'))).toEqual(merged);
      expect(await forks.mergeIntoFork('T1')).toEqual({ ok: true, changed: false, isMerged: true });
      expect(subject.log()).toEqual(['T1: Done', ...before]);
    });

    it('what others merged meanwhile comes into the fork before its own work goes out', async () => {
      await forks.fork('T1');
      await forks.fork('T2');
      subject.write('T1', 'one', 'by T1');
      subject.write('T2', 'two', 'by T2');
      await forks.mergeFork(order('T1'));
      expect(await forks.mergeFork(order('T2'))).toMatchObject(refusal);
      expect(await forks.mergeIntoFork('T2')).toEqual({ ok: true, changed: true, isMerged: false });
      expect([subject.read('T2', 'one'), subject.read('T2', 'two')]).toEqual(['by T1', 'by T2']);
      expect(await forks.mergeFork(order('T2'))).toMatchObject({ ok: true });
      expect(subject.log()).toEqual(['T2: Done', 'T1: Done', ...before]);
    });

    it('a conflict names its files and leaves both sides in the fork', async () => {
      await forks.fork('T1');
      await forks.fork('T2');
      subject.write('T1', subject.shared, 'by T1\n');
      subject.write('T2', subject.shared, 'by T2\n');
      await forks.mergeFork(order('T1'));
      expect(await forks.mergeIntoFork('T2')).toMatchObject({ ...refusal, conflicts: [subject.shared] });
      expect(subject.read('T2', subject.shared)).toMatch(/by T1\n[\s\S]*by T2\n/);
    });
  });
}
