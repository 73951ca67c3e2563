// What every source of tasks promises, written once: each source's test calls this with a way to make one.
import { beforeEach, describe, expect, it } from 'vitest';
import type { Loaded, TaskSource } from '../../src/documents/document.ts';

/** A source over a document with at least two open tasks, and the document as another program sees it. */
export interface SourceSubject {
  readonly source: TaskSource;
  /** A second source over the same document, as after a restart. */
  again(): TaskSource;
  readonly ids: readonly [string, string];
  /** The document with the second task's status set to done by somebody else. */
  edited(text: string): string;
  read(): Promise<string>;
  write(text: string): Promise<void>;
  remove(): Promise<void>;
}

export function sourceContract(name: string, make: () => Promise<SourceSubject>): void {
  describe(`${name} keeps the contract of a task source`, () => {
    let subject: SourceSubject;
    let source: TaskSource;
    beforeEach(async () => {
      subject = await make();
      source = subject.source;
    });
    const mark = (done: boolean, skipped = false) => [{ id: subject.ids[0], done, skipped }];

    describe('loading', () => {
      it('gives the tasks once, and then says that nothing changed', async () => {
        const before = await subject.read();
        const loaded = await source.load();
        expect(tasksOf(loaded).map(task => task.id)).toEqual(expect.arrayContaining([...subject.ids]));
        expect(await source.load()).toEqual({ type: 'unchanged' });
        expect(await subject.read()).toBe(before);
      });

      it('tells what somebody else wrote, with the statuses that they claim', async () => {
        await source.load();
        await subject.write(subject.edited(await subject.read()));
        expect(taskOf(await source.load(), subject.ids[1]).done).toBe(true);
        expect(await source.load()).toEqual({ type: 'unchanged' });
      });

      it('fails with problems on a broken or missing document, and writes nothing', async () => {
        await source.load();
        await subject.write('{ broken');
        expect(await source.load()).toMatchObject({ type: 'failed', problems: [{ message: expect.any(String) }] });
        expect(await subject.read()).toBe('{ broken');
        await subject.remove();
        expect(await source.load()).toMatchObject({ type: 'failed', problems: [{ message: expect.any(String) }] });
        await expect(subject.read()).rejects.toThrow();
      });
    });

    describe('saving', () => {
      it('writes the marks, and our own write is no change', async () => {
        await source.load();
        const saved = await source.save(mark(true));
        expect(saved).toMatchObject({ type: 'saved' });
        expect(saved).toEqual(expect.not.objectContaining({ restored: expect.anything() }));
        expect(await source.load()).toEqual({ type: 'unchanged' });
        const fresh = await subject.again().load();
        expect(taskOf(fresh, subject.ids[0]).done).toBe(true);
        expect(fresh).toMatchObject({ hash: (saved as { hash: string }).hash });
      });

      it('can be undone to the very same text', async () => {
        const before = await subject.read();
        await source.load();
        await source.save(mark(true));
        expect(await subject.read()).not.toBe(before);
        await source.save(mark(false));
        expect(await subject.read()).toBe(before);
      });

      it('ignores tasks that it does not know', async () => {
        const before = await subject.read();
        await source.load();
        expect(await source.save([{ id: 'nobody', done: true, skipped: true }])).toMatchObject({ type: 'saved' });
        expect(await subject.read()).toBe(before);
      });

      it('keeps an edit that somebody made meanwhile, and the next load tells it', async () => {
        await source.load();
        await subject.write(subject.edited(await subject.read()));
        await source.save(mark(true));
        const loaded = await source.load();
        expect(taskOf(loaded, subject.ids[0]).done).toBe(true);
        expect(taskOf(loaded, subject.ids[1]).done).toBe(true);
      });

      it('tells that edit also when the marks changed nothing', async () => {
        await source.load();
        await subject.write(subject.edited(await subject.read()));
        await source.save(mark(false));
        expect(taskOf(await source.load(), subject.ids[1]).done).toBe(true);
      });

      it('works before any load', async () => {
        expect(await source.save(mark(true))).toMatchObject({ type: 'saved' });
        expect(taskOf(await source.load(), subject.ids[0]).done).toBe(true);
      });
    });

    describe('restoring', () => {
      it('puts a broken document back, with the marks, and says so in one sentence', async () => {
        await source.load();
        await source.save(mark(true));
        const good = await subject.read();
        await subject.write(good.slice(0, good.length / 2));
        const saved = await source.save(mark(true));
        expect(saved).toMatchObject({ type: 'saved', restored: expect.stringMatching(/^[^\n]+\.$/) });
        expect(await subject.read()).toBe(good);
        expect(await source.load()).toEqual({ type: 'unchanged' });
      });

      it('puts a deleted document back', async () => {
        await source.load();
        const good = await subject.read();
        await subject.remove();
        expect(await source.save(mark(false))).toMatchObject({
          type: 'saved',
          restored: expect.stringMatching(/gone/),
        });
        expect(await subject.read()).toBe(good);
      });

      it('also after a restart', async () => {
        await source.load();
        await subject.write('{ broken');
        const restarted = subject.again();
        expect(await restarted.load()).toMatchObject({ type: 'failed' });
        expect(await restarted.save(mark(true))).toMatchObject({ type: 'saved', restored: expect.any(String) });
        expect(taskOf(await restarted.load(), subject.ids[0]).done).toBe(true);
      });

      it('fails and leaves the document alone when no good version was ever seen', async () => {
        await subject.write('{ broken');
        expect(await source.save(mark(true))).toMatchObject({ type: 'failed' });
        expect(await subject.read()).toBe('{ broken');
      });
    });

    it('given many saves and loads at once, then each sees the one before it whole', async () => {
      const before = await subject.read();
      await source.load();
      const results = await Promise.all([
        source.save(mark(true)),
        source.load(),
        source.save(mark(false)),
        source.load(),
      ]);
      expect(results.map(result => result.type)).toEqual(['saved', 'unchanged', 'saved', 'unchanged']);
      expect(await subject.read()).toBe(before);
    });

    it('gives instructions', async () => {
      expect(await source.instructions()).not.toBe('');
    });
  });
}

function tasksOf(loaded: Loaded) {
  if (loaded.type !== 'loaded') throw new Error(`not loaded: ${JSON.stringify(loaded)}`);
  return loaded.document.tasks;
}

function taskOf(loaded: Loaded, id: string) {
  const found = tasksOf(loaded).find(task => task.id === id);
  if (!found) throw new Error(`no task ${id}`);
  return found;
}
