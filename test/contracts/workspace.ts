// What every place of work promises, written once: each workspace's test calls this with a way to make one.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Saved, Workspace } from '../../src/git/workspace.ts';

export interface WorkspaceSubject {
  readonly workspace: Workspace;
  /** The same place as another process sees it, after a restart. */
  again(): Promise<Workspace>;
  /** Where the loop works. */
  readonly directory: string;
  write(path: string, content: string): void;
  remove(path: string): void;
  /** Every file in the tree, with its content. */
  tree(): Readonly<Record<string, string>>;
  /** What belongs to the user besides the files: must be the same after everything below. */
  theirs(): Readonly<Record<string, string>>;
  cleanUp(): void;
}

/** True, or the reason why this workspace cannot show it; then all of it is refused in a sentence, and nothing changes. */
export interface WorkspaceFeatures {
  readonly checkpoints: true | string;
}

const order = (number: number) => ({
  number,
  iteration: number,
  kind: 'iteration' as const,
  label: `after iteration ${number}`,
  anchor: `${number} aa`,
});

export function workspaceContract(
  name: string,
  make: () => Promise<WorkspaceSubject>,
  features: WorkspaceFeatures,
): void {
  describe(`${name} keeps the contract of a workspace`, () => {
    let subject: WorkspaceSubject;
    let workspace: Workspace;
    beforeEach(async () => {
      subject = await make();
      workspace = subject.workspace;
    });
    afterEach(() => subject.cleanUp());
    const save = async (number: number): Promise<Saved> => {
      const saved = await workspace.save(order(number));
      if (!saved.ok) throw new Error(saved.problem);
      return saved;
    };

    it('works where it was told to, without a fork', () => {
      expect(workspace.directory('any task')).toBe(subject.directory);
    });

    it('has nothing to repair and nothing changed at first', async () => {
      expect(await workspace.repair([])).toEqual({ did: [], missing: [] });
      expect(await workspace.changes([])).toEqual([]);
    });

    it('refuses forks in one sentence when it has none', async () => {
      const answers = [
        await workspace.fork('a'),
        await workspace.mergeIntoFork('a'),
        await workspace.mergeFork(landing),
      ];
      for (const answer of answers)
        expect(answer).toMatchObject({ ok: false, problem: expect.stringMatching(/^[A-Z].*\.$/) });
    });

    if (features.checkpoints !== true) {
      it(`refuses checkpoints in one sentence, and touches nothing [${features.checkpoints}]`, async () => {
        subject.write('file', 'x');
        const before = subject.tree();
        expect(await workspace.save(order(1))).toMatchObject({ ok: false, problem: expect.stringMatching(/\.$/) });
        expect(await workspace.restore({ to: 'a', base: 'b', now: 'c' })).toMatchObject({ ok: false, conflicts: [] });
        expect(subject.tree()).toEqual(before);
      });
      return;
    }

    it('a checkpoint names itself, changes nothing, and is the same again for the same tree', async () => {
      subject.write('mine', 'unfinished');
      const [tree, theirs] = [subject.tree(), subject.theirs()];
      const [one, two] = [await save(1), await save(2)];
      expect([one.tree, one.ref === two.ref, one.skipped]).toEqual([two.tree, false, []]);
      expect(await workspace.changes([{ from: one.commit, to: two.commit }])).toEqual([]);
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
      expect(await workspace.changes([{ from: one.commit, to: two.commit }])).toEqual([
        { path: 'added/deep', how: 'added' },
        { path: 'folder/changed', how: 'changed' },
        { path: 'kept', how: 'deleted' },
      ]);
      const before = await save(3);
      expect(await workspace.restore({ to: one.commit, base: two.commit, now: before.commit })).toEqual({
        ok: true,
        written: ['folder/changed', 'kept'],
        deleted: ['added/deep'],
        merged: [],
        kept: [],
      });
      expect(subject.tree()).toEqual(first);
      workspace = await subject.again();
      const after = await save(4);
      await workspace.restore({ to: before.commit, base: after.commit, now: after.commit });
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
      expect(await workspace.restore({ to: one.commit, base: two.commit, now })).toMatchObject({
        ok: true,
        written: ['a'],
        kept: ['b'],
      });
      subject.write('a', 'loop\n');
      const four = await save(4);
      subject.write('a', 'person\n');
      const tree = subject.tree();
      const five = (await save(5)).commit;
      const refused = await workspace.restore({ to: one.commit, base: four.commit, now: five });
      expect(refused).toMatchObject({ ok: false, conflicts: ['a'], problem: expect.stringMatching(/\.$/) });
      expect(subject.tree()).toEqual(tree);
    });
  });
}

const landing = { loop: 'loop-1', task: 'a', title: 'a', iteration: 1 };
