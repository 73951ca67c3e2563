// Streams of a child: read as bounded text, no faster than the consumer, and to their end without waiting for them to close.
import type { Socket } from 'node:net';
import { StringDecoder } from 'node:string_decoder';
import { takeLastWhole } from '../text/text.ts';

export interface OutputEvent {
  readonly type: 'output';
  readonly text: string;
  readonly channel: 'output' | 'errors';
}

export const weightOfEvent = 256;
/** The system would give 2 MB at once; what else waits (timers, other agents, a person) must not wait for all of that (F29). */
const bytesPerTurn = 262_144;

interface ReadOrder {
  readonly channel: OutputEvent['channel'];
  readonly lineBytesMax: number;
  readonly queue: Intake<OutputEvent>;
  /** Bytes came, or are no longer held up by the consumer. */
  readonly heard: () => void;
}

/** Returns how to get the last, unfinished character out. */
export function readText(stream: Socket, { channel, lineBytesMax, queue, heard }: ReadOrder): () => void {
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
  stream.resume();
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

const newline = 0x0a;
const megabyte = 1_000_000;

/** Bytes as text: characters are never split, and a line without end does not fill the memory. */
export interface BoundedText {
  /** May be empty: all bytes belonged to a cut line or to half a character. */
  push(bytes: Buffer): string;
  end(): string;
}

export function cutMarker(lineBytesMax: number): string {
  const size = lineBytesMax % megabyte === 0 ? `${lineBytesMax / megabyte} MB` : `${lineBytesMax} bytes`;
  return `[… line cut at ${size}]`;
}

export function boundedText(lineBytesMax: number): BoundedText {
  const decoder = new StringDecoder('utf8');
  const marker = cutMarker(lineBytesMax);
  let lineBytes = 0;
  let cut = false;

  function pushPart(part: Buffer): string {
    if (cut) return '';
    let fits = Math.min(part.length, Math.max(0, lineBytesMax - lineBytes));
    // A character that began inside the limit is finished: UTF-8 has at most three bytes after the first.
    while (fits < part.length && lineBytes + fits < lineBytesMax + 3 && (part[fits]! & 0xc0) === 0x80) fits += 1;
    lineBytes += fits;
    if (fits === part.length) return decoder.write(part);
    cut = true;
    return decoder.write(part.subarray(0, fits)) + decoder.end() + marker;
  }

  return {
    push(bytes) {
      let text = '';
      let from = 0;
      // Most chunks hold no line that could reach the limit: they are decoded in one piece.
      if (!cut && lineBytes + bytes.length <= lineBytesMax) {
        const last = bytes.lastIndexOf(newline);
        lineBytes = last < 0 ? lineBytes + bytes.length : bytes.length - last - 1;
        return decoder.write(bytes);
      }
      for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, from)) {
        text += pushPart(bytes.subarray(from, at));
        text += decoder.write(bytes.subarray(at, at + 1));
        from = at + 1;
        lineBytes = 0;
        cut = false;
      }
      return text + pushPart(bytes.subarray(from));
    },
    end: () => decoder.end(),
  };
}

/** Text in lines. One that came in several chunks is put together once. */
export function splitLines(each: (line: string) => void) {
  let rest = '';
  return {
    push(text: string): void {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        const line = rest + text.slice(from, at);
        from = at + 1;
        rest = '';
        each(line);
      }
      if (from < text.length) rest += from === 0 ? text : text.slice(from);
    },
    /** The last line may lack its newline. */
    end(): void {
      const line = rest;
      rest = '';
      if (line !== '') each(line);
    },
  };
}

/** The end of a text that may be endless, from the beginning of a line or word: it is redacted later. */
export interface Tail {
  add(text: string): void;
  text(): string;
}

const shortCharsMax = 65_536;
/** Of what is not ASCII, UTF-8 takes more bytes than there are characters: with so many to spare that shows at once. */
const spareBytes = 4;

/**
 * A long text lies in bytes of our own: kept as strings, what an agent floods us with would live just long enough to make
 * the collector let the heap grow by a hundred megabytes (F28, F29).
 */
export function tailOf(charsMax: number): Tail {
  const kept = charsMax + 1; // one more tells that something was cut
  let short = '';
  let ring: Tail | undefined;
  return {
    add(text) {
      if (ring === undefined && short.length + text.length <= shortCharsMax) {
        short += text;
        return;
      }
      ring ??= ringOf(kept);
      if (short !== '') ring.add(short.slice(-kept));
      short = '';
      ring.add(text.slice(-kept));
    },
    text() {
      return takeLastWhole(ring?.text() ?? short, charsMax);
    },
  };
}

/** Takes texts of at most `charsMax`. One byte for each character while all of it is ASCII. */
function ringOf(charsMax: number): Tail {
  const ringChars = charsMax + spareBytes;
  let bytes: Buffer | undefined;
  let charBytes: 1 | 2 = 1;
  /** All that was ever written: it goes round, so that nothing is moved. */
  let length = 0;

  const charsIn = (held: Buffer): number => (held.length - spareBytes) / charBytes;

  /** It grows only before it has gone round once. */
  function roomFor(chars: number): Buffer {
    const needed = Math.min(length + chars, ringChars);
    if (bytes !== undefined && needed <= charsIn(bytes)) return bytes;
    const larger = Buffer.allocUnsafeSlow(Math.min(2 * needed, ringChars) * charBytes + spareBytes);
    bytes?.copy(larger, 0, 0, length * charBytes);
    return larger;
  }

  /** False when it is not ASCII, and all is. */
  function put(held: Buffer, text: string, at: number): boolean {
    if (charBytes === 2) return held.write(text, at * charBytes, 'utf16le') === text.length * charBytes;
    return held.write(text, at, text.length + spareBytes, 'utf8') === text.length;
  }

  function write(text: string): void {
    const held = roomFor(text.length);
    bytes = held;
    const at = length % charsIn(held);
    const fits = charsIn(held) - at;
    if (put(held, text.slice(0, fits), at) && put(held, text.slice(fits), 0)) length += text.length;
    else widen(held, text);
  }

  /** What `text` has overwritten was too old already. */
  function widen(held: Buffer, text: string): void {
    const before = written(held);
    [bytes, length, charBytes] = [undefined, 0, 2];
    write(before.slice(Math.max(0, before.length + text.length - charsMax)) + text);
  }

  function written(held: Buffer): string {
    const encoding = charBytes === 2 ? 'utf16le' : 'latin1';
    const end = length * charBytes;
    const last = charsIn(held) * charBytes;
    if (end <= last) return held.toString(encoding, 0, end);
    return held.toString(encoding, end % last, last) + held.toString(encoding, 0, end % last);
  }

  return { add: write, text: () => (bytes === undefined ? '' : written(bytes)) };
}

/** The producer's side. */
interface Intake<Item> {
  push(item: Item, weight: number): void;
  readonly isFull: boolean;
  /** Resolves when a full queue has been emptied to half, or closed. */
  room(): Promise<void>;
}

/** Between a producer that is pushed and a consumer that pulls: says when the producer must wait. */
export interface Queue<Item> extends Intake<Item> {
  /** Nothing more comes; what is inside can still be taken. */
  close(): void;
  /** For one consumer. Undefined after `close` when everything was taken. */
  take(): Promise<Item | undefined>;
}

export function openQueue<Item>(weightMax: number): Queue<Item> {
  const items: { readonly item: Item; readonly weight: number }[] = [];
  let weight = 0;
  let full = false;
  let closed = false;
  let taker: ((item: Item | undefined) => void) | undefined;
  const blocked: (() => void)[] = [];

  function unblock(): void {
    full = false;
    for (const go of blocked.splice(0)) go();
  }

  return {
    get isFull() {
      return full;
    },
    room: () => (full ? new Promise(go => blocked.push(go)) : Promise.resolve()),
    push(item, itemWeight) {
      if (closed) return;
      if (taker) {
        taker(item);
        taker = undefined;
        return;
      }
      items.push({ item, weight: itemWeight });
      weight += itemWeight;
      full ||= weight > weightMax;
    },
    close() {
      closed = true;
      taker?.(undefined);
      taker = undefined;
      unblock();
    },
    take() {
      const next = items.shift();
      if (next) {
        weight -= next.weight;
        if (full && weight <= weightMax / 2) unblock();
        return Promise.resolve(next.item);
      }
      return closed ? Promise.resolve(undefined) : new Promise(give => (taker = give));
    },
  };
}

/** Where a producer puts what it has. */
export interface Sink<Item> {
  push(item: Item): void;
  /** Resolves when more may come. */
  room(): Promise<void>;
  /** Aborted when nobody listens any more. */
  readonly left: AbortSignal;
}

const queuedWeightMax = 262_144;

/** What `produce` has, in order and as it comes. It must not fail, and it does not outlive the one who listens. */
export async function* itemsOf<Item extends object>(
  produce: (sink: Sink<Item>) => Promise<void>,
): AsyncGenerator<Item, void, void> {
  const queue = openQueue<Item>(queuedWeightMax);
  const leaving = new AbortController();
  const push = (item: Item): void =>
    queue.push(item, weightOfEvent + ('text' in item && typeof item.text === 'string' ? item.text.length : 0));
  const over = produce({ push, room: queue.room, left: leaving.signal }).finally(queue.close);
  try {
    for (let item = await queue.take(); item !== undefined; item = await queue.take()) yield item;
  } finally {
    queue.close(); // nobody listens any more, so nothing may wait for it
    leaving.abort();
    await over;
  }
}
