// Turns the bytes of a stream into text: characters are never split, and a line without end does not fill the memory.
import { StringDecoder } from 'node:string_decoder';

const newline = 0x0a;
const megabyte = 1_000_000;

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
