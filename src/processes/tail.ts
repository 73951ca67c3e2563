// Keeps the end of a text that may be endless.

export interface Tail {
  add(text: string): void;
  text(): string;
}

const shortCharsMax = 65_536;
const charBytes = 2; // of UTF-16

/**
 * A long text lies in bytes of our own: kept as strings, what an agent floods us with would live just long enough to make
 * the collector let the heap grow by a hundred megabytes (F28, F29).
 */
export function tailOf(charsMax: number): Tail {
  let short = '';
  let bytes: Buffer | undefined;
  let length = 0;

  /** Room for twice of what is kept, so that it is moved seldom. */
  function makeRoom(chars: number): Buffer {
    const held = bytes ?? Buffer.alloc(0);
    if (length + chars > 2 * charsMax) {
      held.copyWithin(0, (length - charsMax) * charBytes, length * charBytes);
      length = charsMax;
    }
    const needed = (length + chars) * charBytes;
    if (needed <= held.length) return held;
    const larger = Buffer.allocUnsafeSlow(Math.min(2 * needed, 2 * charsMax * charBytes));
    held.copy(larger, 0, 0, length * charBytes);
    return larger;
  }

  function write(text: string): void {
    bytes = makeRoom(text.length);
    bytes.write(text, length * charBytes, 'utf16le');
    length += text.length;
  }

  return {
    add(text) {
      if (bytes === undefined && short.length + text.length <= shortCharsMax) {
        short += text;
        return;
      }
      if (short !== '') write(short.slice(-charsMax));
      short = '';
      write(text.slice(-charsMax));
    },
    text() {
      const from = Math.max(0, length - charsMax) * charBytes;
      const end = bytes?.toString('utf16le', from, length * charBytes) ?? short.slice(-charsMax);
      const first = end.charCodeAt(0);
      return first >= 0xdc00 && first <= 0xdfff ? end.slice(1) : end; // half a character says nothing
    },
  };
}
