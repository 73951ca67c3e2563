import { describe, expect, it } from 'vitest';
import { itemsOf, openQueue } from '../../src/processes/streams.ts';

describe('a queue between a pushing producer and a pulling consumer', () => {
  it('gives in order, also to a consumer who came first', async () => {
    const queue = openQueue<number>(10);
    const early = queue.take();
    for (const item of [1, 2, 3]) queue.push(item, 1);
    expect([await early, await queue.take(), await queue.take()]).toEqual([1, 2, 3]);
  });

  it('is full above its limit and has room again at half of it', async () => {
    const queue = openQueue<number>(10);
    for (const item of [1, 2, 3, 4]) queue.push(item, 3);
    expect(queue.isFull).toBe(true);
    let hasRoom = false;
    const room = queue.room().then(() => {
      hasRoom = true;
    });
    await queue.take();
    await queue.take();
    expect({ full: queue.isFull, hasRoom }).toEqual({ full: true, hasRoom: false });
    await queue.take();
    await room;
    expect(queue.isFull).toBe(false);
  });

  it('gives what is inside after it was closed, then nothing', async () => {
    const queue = openQueue<number>(10);
    queue.push(1, 1);
    queue.close();
    queue.push(2, 1);
    expect([await queue.take(), await queue.take(), await queue.take()]).toEqual([1, undefined, undefined]);
  });

  it('releases whoever waits when it is closed', async () => {
    const hungry = openQueue<number>(1);
    const taken = hungry.take();
    hungry.close();
    expect(await taken).toBeUndefined();
    const full = openQueue<number>(1);
    full.push(1, 2);
    const room = full.room();
    full.close();
    await expect(room).resolves.toBeUndefined();
  });
});

describe('the items of a producer', () => {
  it('come in order until it is done', async () => {
    const items = itemsOf<{ readonly at: number }>(async ({ push }) => {
      for (const at of [1, 2, 3]) push({ at });
    });
    const taken: number[] = [];
    for await (const { at } of items) taken.push(at);
    expect(taken).toEqual([1, 2, 3]);
  });

  it('tell it when nobody listens any more, and wait for its end', async () => {
    let isOver = false;
    const items = itemsOf<object>(async ({ push, left }) => {
      push({});
      await new Promise(resolve => left.addEventListener('abort', resolve));
      isOver = true;
    });
    for await (const _ of items) break;
    expect(isOver).toBe(true);
  });
});
