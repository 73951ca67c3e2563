// Proves what recording costs when a document changed: tasks that were not read again are not looked through again.
import { expect, it } from 'vitest';
import type { Input } from '../../src/core/input.ts';
import { findTask, type TaskSpec } from '../../src/core/task.ts';
import { Recorder } from '../../src/engine/recorder.ts';
import { beginning } from '../../src/engine/replay.ts';
import { spec, startInput } from '../core/given.ts';
import { claims, loop, makeEngine, makeWorld } from './world.ts';

it('a thousand tasks are redacted once, and then the one that is another object', async () => {
  const looked: string[] = [];
  const redact = (text: string): string => {
    looked.push(text);
    return text.replace('hunter2', '[redacted]');
  };
  const engine = makeEngine(makeWorld(0), claims, { redact });
  const leased = await engine.ledger.store.lease(loop, engine.holder);
  if (!leased.ok) throw new Error('nobody else is there');
  const book = new Recorder(engine, leased.lease, beginning, failure => expect.fail(failure.detail));
  const tasks: readonly TaskSpec[] = Array.from({ length: 1_000 }, (_, at) => spec(`T${at}`, { title: `title ${at}` }));
  const read = (now: readonly TaskSpec[], hash: string): Input => ({ type: 'document', tasks: now, hash });
  await book.record({ ...startInput(), loop } as Input);
  await book.record(read(tasks, 'one'));
  expect(looked.filter(text => text.startsWith('title '))).toHaveLength(1_000);
  looked.length = 0;
  await book.record(read(tasks.with(7, spec('T7', { title: 'title hunter2' })), 'two'));
  expect(looked.filter(text => text.startsWith('title '))).toEqual(['title hunter2']);
  expect(findTask(book.state.tasks, 'T7')?.spec.title).toBe('title [redacted]');
});
