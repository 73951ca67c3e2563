// Proves that output is read no faster than it is taken, and to its end.
import type { Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { expect, it, vi } from 'vitest';
import { type OutputEvent, openQueue, readText } from '../../src/processes/streams.ts';

it('a stream that we held up counts as heard when we let it go, so that its silence begins only then', async () => {
  const stream = new PassThrough();
  const queue = openQueue<OutputEvent>(1_000);
  let heard = 0;
  const onHeard = (): void => {
    heard += 1;
  };
  readText(stream as unknown as Socket, { channel: 'output', lineBytesMax: 1_000_000, queue, heard: onHeard });
  stream.write('x'.repeat(2_000));
  await vi.waitFor(() => expect(stream.isPaused()).toBe(true));
  expect(heard).toBe(1);
  await queue.take();
  await vi.waitFor(() => expect(stream.isPaused()).toBe(false));
  expect(heard).toBe(2);
});
