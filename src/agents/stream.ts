// Reads events out of the text of a stream, one JSON object per line, and bears with everything that is not (B52-B56).

import { cutMarker } from '../processes/streams.ts';
import { type Fields, isFields } from '../text/fields.ts';
import type { AgentEvent, Reader } from './agent.ts';
import { unknownEvent } from './reader.ts';

export interface ParseProblems {
  /** Lines, or rests of lines, that are no event. */
  notUnderstood: number;
  tooLong: number;
  unknownEvents: number;
}

export interface JsonLines {
  push(text: string): void;
  /** The last line may lack its newline. */
  end(): void;
  readonly problems: Readonly<ParseProblems>;
}

const cutHeadChars = 200;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;

/**
 * `hear` gets what each line means, in order; `odd` the lines that mean nothing. A line is looked at once, and never copied
 * before it is parsed.
 */
export function readJsonLines(
  reader: Reader,
  lineBytesMax: number,
  hear: (heard: AgentEvent) => void,
  odd: (line: string) => void = () => {},
): JsonLines {
  const oddities: ParseProblems = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };
  const marker = cutMarker(lineBytesMax);
  const isPlain = reader.readPlain !== undefined; // what looks like an event is a quotation then (B67)

  function tell(all: readonly AgentEvent[]): void {
    if (all === unknownEvent) oddities.unknownEvents += 1;
    else for (const each of all) hear(each);
  }

  /** False when the text is not one whole object. */
  function readObject(text: string): boolean {
    const event = parsed(text);
    if (event !== undefined) tell(reader.read(event));
    return event !== undefined;
  }

  function readLine(line: string): void {
    if (reader.skips?.(line) === true) return;
    if (isPlain || line.charCodeAt(0) !== openBrace || !readObject(line)) readOddLine(line);
  }

  function readOddLine(line: string): void {
    const text = line.trim(); // takes a byte order mark away too
    if (line.length > lineBytesMax / 4 && line.endsWith(marker)) readCut(line);
    else if (isPlain || text.charCodeAt(0) !== openBrace) readPlain(line);
    else if (text.length === line.length || !readObject(text)) readObjects(text, line);
  }

  function readCut(line: string): void {
    oddities.tooLong += 1;
    if (reader.readCut) tell(reader.readCut(line.slice(0, cutHeadChars)));
  }

  function readObjects(text: string, line: string): void {
    const objects = objectsIn(text);
    const understood = objects.filter(readObject).length;
    if (understood === 0) readPlain(line);
    else if (understood < objects.length) oddities.notUnderstood += 1;
  }

  function readPlain(line: string): void {
    if (reader.readPlain) tell(reader.readPlain(line));
    else if (line.trim() !== '') {
      oddities.notUnderstood += 1;
      odd(line);
    }
  }

  return { problems: oddities, ...splitLines(readLine) };
}

/** A line that came in several chunks is put together once. */
function splitLines(each: (line: string) => void): Pick<JsonLines, 'push' | 'end'> {
  let rest = '';
  return {
    push(text) {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        const line = rest + text.slice(from, at);
        from = at + 1;
        rest = '';
        each(line);
      }
      if (from < text.length) rest += from === 0 ? text : text.slice(from);
    },
    end() {
      const line = rest;
      rest = '';
      if (line !== '') each(line);
    },
  };
}

function parsed(text: string): Fields | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isFields(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** The objects that stand one after another on a line, and at the end what is left of it. */
function objectsIn(text: string): readonly string[] {
  const pieces: string[] = [];
  let depth = 0;
  let from = 0;
  let inText = false;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (inText) {
      if (code === backslash) at += 1;
      else if (code === quote) inText = false;
    } else if (code === quote) inText = true;
    else if (code === openBrace) depth += 1;
    else if (code === closeBrace) {
      depth -= 1;
      if (depth > 0) continue;
      pieces.push(text.slice(from, at + 1));
      from = at + 1;
      depth = 0;
    }
  }
  const left = text.slice(from);
  return left.trim() === '' ? pieces : [...pieces, left];
}
