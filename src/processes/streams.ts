// Reads the streams of a child: as text, no faster than the consumer, and to their end without waiting for them to close.
import type { Socket } from 'node:net';
import type { Intake } from './queue.ts';
import { boundedText } from './text.ts';

export interface OutputEvent {
  readonly type: 'output';
  readonly text: string;
  readonly channel: 'output' | 'errors';
}

export const weightOfEvent = 256;
/** The system would give 2 MB at once; what else waits (timers, other agents, a person) must not wait for all of that (F29). */
const bytesPerTurn = 262_144;

/** Returns how to get the last, unfinished character out. `heard`: bytes came, or are no longer held up by the consumer. */
export function readText(
  stream: Socket,
  channel: OutputEvent['channel'],
  lineBytesMax: number,
  queue: Intake<OutputEvent>,
  heard: () => void,
): () => void {
  const bounded = boundedText(lineBytesMax);
  let turnBytes = 0;
  function push(text: string): void {
    if (text !== '') queue.push({ type: 'output', text, channel }, text.length + weightOfEvent);
    if (!queue.isFull || stream.isPaused()) return;
    stream.pause();
    void queue.room().then(() => {
      heard();
      stream.resume();
    });
  }
  function endTurn(): void {
    turnBytes = 0;
    if (stream.isPaused()) return; // whoever paused it resumes it
    stream.pause();
    setImmediate(() => stream.resume());
  }
  stream.on('data', (bytes: Buffer) => {
    heard();
    const text = bounded.push(bytes);
    // Bytes lie outside the heap: where no text is made of them, nothing else would call the collector before 64 MB.
    if (text === '') bytes.toString('latin1');
    push(text);
    turnBytes += bytes.length;
    if (turnBytes >= bytesPerTurn) endTurn();
  });
  return () => push(bounded.end());
}

/**
 * After the exit of their writer: resolves when all that it wrote has been read. A process that escaped may hold the other
 * end open for ever (F75), so this does not wait for the end: a turn of the event loop that brings nothing is enough.
 */
export async function drained(streams: readonly Socket[], queue: Intake<OutputEvent>): Promise<void> {
  const open = (): readonly Socket[] => streams.filter(each => !each.readableEnded && !each.destroyed);
  const received = (): number => streams.reduce((sum, each) => sum + each.bytesRead, 0);
  for (let before = -1; open().length > 0; ) {
    if (queue.isFull) await queue.room();
    else if (before === received() && open().every(each => each.readableLength === 0)) return;
    before = received();
    await turn();
  }
}

/** Between two immediates lies one whole poll for input. */
function turn(): Promise<void> {
  return new Promise(resolve => setImmediate(() => setImmediate(resolve)));
}
