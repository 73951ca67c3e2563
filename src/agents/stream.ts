// Reads JSON events out of the text of a stream, one object per line, and bears with everything that is not (B52-B56).

import { cutMarker, splitLines } from '../processes/streams.ts';
import { type Fields, isFields } from '../text/fields.ts';
import type { AgentEvent, Reader } from './agent.ts';
import { unknownEvent } from './reader.ts';

export interface ParseProblems {
  /** Lines, or rests of lines, that are no event. */
  notUnderstood: number;
  tooLong: number;
  unknownEvents: number;
}

const cutHeadChars = 200;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const quote = 0x22;
const backslash = 0x5c;

/**
 * `onEvent` gets what each line means, in order; `onStray` the lines that mean nothing. A line is looked at once, and never copied
 * before it is parsed.
 */
export function readJsonLines(
  reader: Reader,
  lineBytesMax: number,
  onEvent: (event: AgentEvent) => void,
  onStray: (line: string) => void = () => {},
) {
  const problems: ParseProblems = { notUnderstood: 0, tooLong: 0, unknownEvents: 0 };
  const marker = cutMarker(lineBytesMax);
  const isPlain = reader.readPlain !== undefined; // what looks like an event is a quotation then (B67)

  function tell(all: readonly AgentEvent[]): void {
    if (all === unknownEvent) problems.unknownEvents += 1;
    else for (const each of all) onEvent(each);
  }

  /** False when the text is not one whole object. */
  function readObject(text: string): boolean {
    const event = parseFields(text);
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
    problems.tooLong += 1;
    if (reader.readCut) tell(reader.readCut(line.slice(0, cutHeadChars)));
  }

  function readObjects(text: string, line: string): void {
    const objects = objectsIn(text);
    const understood = objects.filter(readObject).length;
    if (understood === 0) readPlain(line);
    else if (understood < objects.length) problems.notUnderstood += 1;
  }

  function readPlain(line: string): void {
    if (reader.readPlain) tell(reader.readPlain(line));
    else if (line.trim() !== '') {
      problems.notUnderstood += 1;
      onStray(line);
    }
  }

  return { problems: problems as Readonly<ParseProblems>, ...splitLines(readLine) };
}

export function parseFields(text: string): Fields | undefined {
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
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === quote) at = stringEnd(text, at);
    else if (code === openBrace) depth += 1;
    if (code !== closeBrace) continue;
    depth = Math.max(0, depth - 1);
    if (depth > 0) continue;
    pieces.push(text.slice(from, at + 1));
    from = at + 1;
  }
  const left = text.slice(from);
  return left.trim() === '' ? pieces : [...pieces, left];
}

/** Where the string that begins at `from` has its closing quote; the end of the text when it has none. */
function stringEnd(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}
