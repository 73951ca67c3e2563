// JSON of config files, with what JSON.parse keeps to itself: where each key stands, duplicate keys, and depth (B21-B25).
import { shown } from './reading.ts';

const depthMax = 50;
/** Settings are never deeper than this, so that a hostile file cannot make the table of places large. */
const placedDepthMax = 2;
const forbiddenKeys: readonly string[] = ['__proto__', 'constructor', 'prototype'];

export type ReadJson =
  /** `places`: the offset of each key and element by its path, like `verify[1]`. */
  | { readonly ok: true; readonly value: unknown; readonly places: ReadonlyMap<string, number> }
  | { readonly ok: false; readonly message: string; readonly offset: number };

/** Thrown and caught in this file only. */
class Stop extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.offset = offset;
  }
}

function readJson(text: string): ReadJson {
  const places = new Map<string, number>();
  try {
    const reader = { text, at: 0, places };
    const value = readValue(reader, '', 0);
    skipBlank(reader);
    if (reader.at < text.length) throw new Stop(`${found(reader)} stands after the end of the document`, reader.at);
    return { ok: true, value, places };
  } catch (error) {
    if (error instanceof Stop) return { ok: false, message: error.message, offset: error.offset };
    throw error;
  }
}

interface Reader {
  readonly text: string;
  at: number;
  readonly places: Map<string, number>;
}

function skipBlank(reader: Reader): void {
  while (reader.at < reader.text.length && ' \t\r\n'.includes(reader.text[reader.at]!)) reader.at++;
}

function found(reader: Reader): string {
  const point = reader.text.codePointAt(reader.at);
  return point === undefined ? 'the end of the file' : shown(String.fromCodePoint(point));
}

function take(reader: Reader, unit: string): boolean {
  skipBlank(reader);
  if (reader.text[reader.at] !== unit) return false;
  reader.at++;
  return true;
}

const numberPattern = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const wordPattern = /[A-Za-z0-9_.+-]+/y;
const words: Readonly<Record<string, unknown>> = { true: true, false: false, null: null };

function readValue(reader: Reader, path: string, depth: number): unknown {
  skipBlank(reader);
  if (depth > depthMax) throw new Stop(`values are nested deeper than ${depthMax} levels`, reader.at);
  const unit = reader.text[reader.at];
  if (unit === '{') return readObject(reader, path, depth);
  if (unit === '[') return readArray(reader, path, depth);
  if (unit === '"') return readString(reader);
  if (unit === "'") throw new Stop('text stands in single quotes; use double quotes', reader.at);
  return readWord(reader);
}

function readWord(reader: Reader): unknown {
  wordPattern.lastIndex = reader.at;
  const word = wordPattern.exec(reader.text)?.[0];
  if (word === undefined) throw new Stop(`expected a value but found ${found(reader)}`, reader.at);
  numberPattern.lastIndex = reader.at;
  const number = numberPattern.exec(reader.text)?.[0];
  if (number !== word && !Object.hasOwn(words, word))
    throw new Stop(`${shown(word)} is not a JSON value; text needs double quotes`, reader.at);
  reader.at += word.length;
  return number === word ? Number(number) : words[word];
}

function readString(reader: Reader): string {
  const start = reader.at;
  reader.at = stringEnd(reader.text, start);
  try {
    return JSON.parse(reader.text.slice(start, reader.at)) as string;
  } catch {
    throw new Stop('this text is not closed on its line or has a wrong escape or control character', start);
  }
}

function readObject(reader: Reader, path: string, depth: number): Record<string, unknown> {
  const value: Record<string, unknown> = {};
  reader.at++;
  if (take(reader, '}')) return value;
  do {
    skipBlank(reader);
    const start = reader.at;
    if (reader.text[start] !== '"') throw new Stop(`expected a key in double quotes but found ${found(reader)}`, start);
    const key = readString(reader);
    if (forbiddenKeys.includes(key)) throw new Stop(`the key ${shown(key)} is not allowed; remove it`, start);
    if (Object.hasOwn(value, key)) throw new Stop(`the key ${shown(key)} is given twice; keep one`, start);
    const place = path === '' ? key : `${path}.${key}`;
    if (depth < placedDepthMax) reader.places.set(place, start);
    if (!take(reader, ':')) throw new Stop(`expected ":" after ${shown(key)} but found ${found(reader)}`, reader.at);
    value[key] = readValue(reader, place, depth + 1);
  } while (take(reader, ','));
  if (!take(reader, '}')) throw new Stop(`expected "," or "}" but found ${found(reader)}`, reader.at);
  return value;
}

function readArray(reader: Reader, path: string, depth: number): unknown[] {
  const value: unknown[] = [];
  reader.at++;
  if (take(reader, ']')) return value;
  do {
    skipBlank(reader);
    const place = `${path}[${value.length}]`;
    if (depth < placedDepthMax) reader.places.set(place, reader.at);
    value.push(readValue(reader, place, depth + 1));
  } while (take(reader, ','));
  if (!take(reader, ']')) throw new Stop(`expected "," or "]" but found ${found(reader)}`, reader.at);
  return value;
}

/** People may write comments and trailing commas in config files (B27). */
export function readCommentedJson(text: string): ReadJson {
  const stripped = withoutComments(text);
  return typeof stripped === 'string' ? readJson(stripped) : stripped;
}

export function lineAndColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
  return { line: lines.length, column: (lines.at(-1) ?? '').length + 1 };
}

/** Strict JSON of the same length: comments and trailing commas become blanks, so that every offset stays. */
export function withoutComments(text: string): string | Extract<ReadJson, { ok: false }> {
  const units = text.split('');
  /** Offset of a comma that may turn out to be a trailing one. */
  let comma: number | undefined;
  let last = '';
  const mark = (at: number, unit: string): void => {
    if ('}]'.includes(unit) && comma !== undefined) units[comma] = ' ';
    comma = unit === ',' && !'[{,'.includes(last) ? at : undefined;
    last = unit;
  };
  for (let at = 0; at < text.length; at++) {
    const unit = text[at]!;
    if (/^\/[/*]$/.test(text.slice(at, at + 2))) {
      const end = commentEnd(text, at);
      if (end === undefined) return { ok: false, message: 'this comment is not closed; end it with */', offset: at };
      units.fill(' ', at, end);
      for (const line of text.slice(at, end).matchAll(/[\r\n]/g)) units[at + line.index] = line[0];
      at = end - 1;
    } else if (!' \t\r\n'.includes(unit)) {
      mark(at, unit);
      if (unit === '"') at = stringEnd(text, at) - 1;
    }
  }
  return units.join('');
}

function commentEnd(text: string, at: number): number | undefined {
  if (text[at + 1] === '/') {
    const end = /[\r\n]/g;
    end.lastIndex = at;
    return end.exec(text)?.index ?? text.length;
  }
  const end = text.indexOf('*/', at + 2);
  return end === -1 ? undefined : end + 2;
}

/** Just behind the closing quote; an open string ends with its line, and the parser will say so. */
function stringEnd(text: string, at: number): number {
  for (let i = at + 1; i < text.length; i++) {
    const unit = text[i];
    if (unit === '\\') i++;
    else if (unit === '"') return i + 1;
    else if (unit === '\n' || unit === '\r') return i;
  }
  return text.length;
}
