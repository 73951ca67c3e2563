// Proves the task table: what is ready, how far the loop has come, and that a change costs the change.
import { describe, expect, it } from 'vitest';
import {
  addTasks,
  allTasks,
  emptyTable,
  findTask,
  isReady,
  openTasks,
  progress,
  readyTasks,
  setTask,
  type TaskStatus,
  type TaskTable,
  taskAt,
  taskFromSpec,
} from '../../src/core/task.ts';
import { spec } from './given.ts';

const tableOf = (...specs: Parameters<typeof addTasks>[1]): TaskTable => addTasks(emptyTable, specs);
const withStatus = (table: TaskTable, id: string, status: TaskStatus): TaskTable =>
  setTask(table, { ...findTask(table, id)!, status });
const ids = (tasks: Iterable<{ id: string }>): string[] => [...tasks].map(one => one.id);

describe('a task from a document', () => {
  it.each([
    [{ done: false, skipped: false }, 'pending'],
    [{ done: true, skipped: false }, 'done'],
    [{ done: false, skipped: true }, 'skipped'],
    [{ done: true, skipped: true }, 'done'],
  ] as const)('given %o, then it is %s, with no attempt yet', (said, status) => {
    expect(taskFromSpec(spec('A', said))).toMatchObject({ status, attempts: 0, escalations: 0, claimFailed: false });
  });
});

describe('readiness', () => {
  it('given no dependencies, then tasks are ready in document order and only as many as asked for', () => {
    const table = tableOf(spec('C'), spec('A'), spec('B'));
    expect(ids(readyTasks(table, 9))).toEqual(['C', 'A', 'B']);
    expect(ids(readyTasks(table, 2))).toEqual(['C', 'A']);
  });

  it('given a dependency, then the task waits until it is done, and skipped is not done', () => {
    const table = tableOf(spec('B', { dependsOn: ['A'] }), spec('A'));
    expect(ids(readyTasks(table, 9))).toEqual(['A']);
    expect(ids(readyTasks(withStatus(table, 'A', 'done'), 9))).toEqual(['B']);
    expect(ids(readyTasks(withStatus(table, 'A', 'skipped'), 9))).toEqual([]);
    expect(ids(readyTasks(withStatus(table, 'A', 'blocked'), 9))).toEqual([]);
  });

  it('given that a human said to go on, then a skipped or missing dependency no longer holds it up, an open one does', () => {
    const table = tableOf(spec('A'), spec('B', { dependsOn: ['A', 'ghost'] }));
    const going = setTask(table, { ...findTask(table, 'B')!, ignoresUnmet: true });
    expect(isReady(going, findTask(going, 'B')!)).toBe(false);
    const skipped = withStatus(going, 'A', 'skipped');
    expect(isReady(skipped, findTask(skipped, 'B')!)).toBe(true);
  });

  it.each(['active', 'done', 'blocked', 'skipped'] as const)(
    'given a task that is %s, then it is not ready',
    status => {
      expect(readyTasks(withStatus(tableOf(spec('A')), 'A', status), 1)).toEqual([]);
    },
  );

  it('given a question about a task, then it is not ready', () => {
    const table = tableOf(spec('A'));
    expect(readyTasks(setTask(table, { ...findTask(table, 'A')!, openQuestion: 'E1' }), 1)).toEqual([]);
  });

  it('given a task that opens again before the first open one, then it is found again', () => {
    const closed = withStatus(withStatus(tableOf(spec('A'), spec('B'), spec('C')), 'A', 'done'), 'B', 'skipped');
    expect(closed.firstOpen).toBe(2);
    const reopened = withStatus(closed, 'A', 'pending');
    expect(reopened.firstOpen).toBe(0);
    expect(ids(openTasks(reopened))).toEqual(['A', 'C']);
    expect(ids(readyTasks(reopened, 9))).toEqual(['A', 'C']);
  });
});

describe('the table', () => {
  it('leaves out an id that it has, whether in the table or twice in one batch', () => {
    const table = addTasks(tableOf(spec('A', { title: 'first' })), [
      spec('A', { title: 'second' }),
      spec('B'),
      spec('B'),
    ]);
    expect(ids(allTasks(table))).toEqual(['A', 'B']);
    expect(findTask(table, 'A')?.spec.title).toBe('first');
    expect(progress(table).total).toBe(2);
  });

  it('is not changed by a task that it does not have', () => {
    const table = tableOf(spec('A'));
    expect(setTask(table, taskFromSpec(spec('ghost')))).toBe(table);
    expect(findTask(table, 'ghost')).toBeUndefined();
  });

  it('counts what is done, skipped, blocked, open and unverified as statuses change back and forth', () => {
    let table = tableOf(spec('A'), spec('B'), spec('C', { skipped: true }), spec('D', { done: true }), spec('E'));
    table = setTask(table, { ...findTask(table, 'A')!, status: 'done', verified: false });
    table = setTask(table, { ...findTask(table, 'B')!, status: 'blocked' });
    expect(progress(table)).toEqual({ total: 5, done: 2, skipped: 1, blocked: 1, open: 2, unverified: 1 });
    table = setTask(table, { ...findTask(table, 'A')!, status: 'pending' });
    expect(progress(table)).toEqual({ total: 5, done: 1, skipped: 1, blocked: 1, open: 3, unverified: 0 });
  });

  it('given additions one by one past the end of chunks, then every task is where its id says', () => {
    let table = emptyTable;
    for (let n = 0; n < 300; n += 1) table = addTasks(table, [spec(`T${n}`)]);
    expect(ids(allTasks(table))).toEqual(Array.from({ length: 300 }, (_, n) => `T${n}`));
    for (let n = 0; n < 300; n += 1) expect(findTask(table, `T${n}`)?.id).toBe(`T${n}`);
    expect(taskAt(table, 299)?.id).toBe('T299');
    expect(taskAt(table, 300)).toBeUndefined();
    expect(table.index.length).toBeLessThan(12);
  });
});

describe('at 100,000 tasks', () => {
  const size = 100_000;
  const table = tableOf(
    ...Array.from({ length: size }, (_, n) => spec(`T${n}`, n === 0 ? {} : { dependsOn: [`T${n - 1}`] })),
  );

  it('progress is known without counting, and the first ready task without looking at the rest', () => {
    let read = 0;
    const watched: TaskTable = {
      ...table,
      chunks: new Proxy(table.chunks, {
        get(chunks, key, receiver) {
          if (typeof key === 'string' && /^\d+$/.test(key)) read += 1;
          return Reflect.get(chunks, key, receiver);
        },
      }),
    };
    expect(progress(watched)).toEqual({ total: size, done: 0, skipped: 0, blocked: 0, open: size, unverified: 0 });
    expect(read).toBe(0);
    expect(ids(readyTasks(watched, 1))).toEqual(['T0']);
    expect(read).toBeLessThan(5);
  });

  it('given one change, then exactly one chunk is a new object', () => {
    const changed = withStatus(table, 'T50000', 'blocked');
    const copied = changed.chunks.filter((chunk, at) => chunk !== table.chunks[at]);
    expect(copied).toHaveLength(1);
    expect(changed.chunks).toHaveLength(Math.ceil(size / 64));
    expect(changed.index).toBe(table.index);
    expect(findTask(table, 'T50000')?.status).toBe('pending');
    expect(findTask(changed, 'T50000')?.status).toBe('blocked');
  });

  it('given one addition, then every full chunk is the same object and the large index is not copied', () => {
    const grown = addTasks(table, [spec('new')]);
    const full = Math.floor(size / 64);
    for (let at = 0; at < full; at += 1) expect(grown.chunks[at]).toBe(table.chunks[at]);
    expect(grown.index[0]).toBe(table.index[0]);
    expect(grown.index.at(-1)?.size).toBe(1);
    expect(findTask(grown, 'new')?.status).toBe('pending');
  });
});
