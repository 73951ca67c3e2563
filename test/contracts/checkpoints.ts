// What every keeper of checkpoints promises, written once: its test calls this with a way to make one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Checkpoints, Saved } from '../../src/git/checkpoints.ts';

export interface CheckpointsSubject {
  readonly checkpoints: Checkpoints;
  /** The same place as another process sees it, after a restart. */
  again(): Promise<Checkpoints>;
  write(path: string, content: string): void;
  remove(path: string): void;
  /** Every file in the tree, with its content. */
  tree(): Readonly<Record<string, string>>;
  /** What belongs to the user besides the files: must be the same after everything below. */
  theirs(): Readonly<Record<string, string>>;
  cleanUp(): void;
}

const order = (number: number) => ({
  number,
  iteration: number,
  kind: 'iteration' as const,
  label: `after iteration ${number}`,
  anchor: `${number} aa`,
});

export function checkpointsContract(name: string, make: () => Promise<CheckpointsSubject>): void {
  describe(`${name} keeps the contract of checkpoints`, () => {
    let subject: CheckpointsSubject;
    let checkpoints: Checkpoints;
    beforeEach(async () => {
      subject = await make();
      checkpoints = subject.checkpoints;
    });
    afterEach(() => subject.cleanUp());
    const save = async (number: number): Promise<Saved> => {
      const saved = await checkpoints.save(order(number));
      if (!saved.ok) throw new Error(saved.problem);
      return saved;
    };

    it('has nothing to repair and nothing changed at first', async () => {
      expect(await checkpoints.repair([])).toEqual({ did: [], missing: [] });
      expect(await checkpoints.changes([])).toEqual([]);
    });

    it('tells the tree of what is there now, and leaves no trace', async () => {
      const before = await checkpoints.treeNow('any task');
      subject.write('mine', 'unfinished');
      const [tree, theirs] = [subject.tree(), subject.theirs()];
      const now = await checkpoints.treeNow('any task');
      expect([subject.tree(), subject.theirs()]).toEqual([tree, theirs]);
      expect(now).not.toBe(before);
      expect(now).toBe((await save(1)).tree);
    });

    it('names a checkpoint that is lost, and keeps the others', async () => {
      const { commit } = await save(1);
      const lost = commit.replace(/./g, '0');
      expect(await checkpoints.repair([{ number: 1, commit }])).toEqual({ did: [], missing: [] });
      expect(
        await checkpoints.repair([
          { number: 1, commit },
          { number: 2, commit: lost },
        ]),
      ).toEqual({ did: [], missing: [2] });
    });

    it('refuses in one sentence to go back to what is lost, and changes nothing', async () => {
      subject.write('file', 'x');
      const { commit } = await save(1);
      const [tree, lost] = [subject.tree(), commit.replace(/./g, '0')];
      expect(await checkpoints.restore({ to: lost, base: commit, now: commit })).toMatchObject({
        ok: false,
        problem: expect.stringMatching(/^[A-Z].*\.$/),
        conflicts: [],
      });
      expect(subject.tree()).toEqual(tree);
    });

    it('a checkpoint names itself, changes nothing, and is the same again for the same tree', async () => {
      subject.write('mine', 'unfinished');
      const [tree, theirs] = [subject.tree(), subject.theirs()];
      const [one, two] = [await save(1), await save(2)];
      expect([one.tree, one.ref === two.ref, one.skipped]).toEqual([two.tree, false, []]);
      expect(await checkpoints.changes([{ from: one.commit, to: two.commit }])).toEqual([]);
      expect([subject.tree(), subject.theirs()]).toEqual([tree, theirs]);
    });

    it('what a restore took away, a restore brings back, also for a new process', async () => {
      subject.write('kept', '1');
      subject.write('folder/changed', '1');
      const first = subject.tree();
      const theirs = subject.theirs();
      const one = await save(1);
      subject.write('folder/changed', '2');
      subject.write('added/deep', '2');
      subject.remove('kept');
      const second = subject.tree();
      const two = await save(2);
      expect(await checkpoints.changes([{ from: one.commit, to: two.commit }])).toEqual([
        { path: 'added/deep', how: 'added' },
        { path: 'folder/changed', how: 'changed' },
        { path: 'kept', how: 'deleted' },
      ]);
      const before = await save(3);
      expect(await checkpoints.restore({ to: one.commit, base: two.commit, now: before.commit })).toEqual({
        ok: true,
        written: ['folder/changed', 'kept'],
        deleted: ['added/deep'],
        merged: [],
        kept: [],
      });
      expect(subject.tree()).toEqual(first);
      checkpoints = await subject.again();
      const after = await save(4);
      await checkpoints.restore({ to: before.commit, base: after.commit, now: after.commit });
      expect(subject.tree()).toEqual(second);
      subject.remove('added');
      subject.write('kept', '1');
      subject.write('folder/changed', '1');
      expect(subject.theirs()).toEqual(theirs);
    });

    it("a person's edit is kept, or the restore is refused with its name and nothing changes", async () => {
      subject.write('a', '1\n');
      subject.write('b', '1\n');
      const one = await save(1);
      subject.write('a', 'loop\n');
      const two = await save(2);
      subject.write('b', 'person\n');
      const now = (await save(3)).commit;
      expect(await checkpoints.restore({ to: one.commit, base: two.commit, now })).toMatchObject({
        ok: true,
        written: ['a'],
        kept: ['b'],
      });
      subject.write('a', 'loop\n');
      const four = await save(4);
      subject.write('a', 'person\n');
      const tree = subject.tree();
      const five = (await save(5)).commit;
      const refused = await checkpoints.restore({ to: one.commit, base: four.commit, now: five });
      expect(refused).toMatchObject({ ok: false, conflicts: ['a'], problem: expect.stringMatching(/\.$/) });
      expect(subject.tree()).toEqual(tree);
    });
  });
}
