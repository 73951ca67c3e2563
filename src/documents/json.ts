// JSON with places: one walk without recursion tells where each key, value and fault stands in the text.
import { startOf } from './edits.ts';

/** Deeper nesting than this is an attack or an accident, not a backlog. */
export const depthMax = 100;

/** They reach into the prototype of whatever is made from the text. */
export const dangerousKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

interface JsonFault {
  readonly offset: number;
  readonly message: string;
  readonly fix: string;
}

/** The keys and list positions that lead to a value. One array is reused between calls: only [0, depth) holds. */
export type JsonPath = readonly (string | number)[];

export interface JsonWatcher {
  /** A key was read, its escapes resolved; `path[depth - 1]` is the key itself. */
  key?(path: JsonPath, depth: number, offset: number): void;
  /** A value ended: text.slice(start, end). Parts are told before the whole. */
  value?(path: JsonPath, depth: number, start: number, end: number): void;
  /** A comment or a trailing comma; without this they are faults, as JSON has neither. */
  ignored?(start: number, end: number): void;
  /** Levels of nesting, where `depthMax` is too many. */
  readonly depthMax?: number;
}

/** Tells the watcher every key and value; the first fault ends the walk. A leading BOM is allowed. */
export function scanJson(text: string, watcher: JsonWatcher = {}): JsonFault | undefined {
  return new JsonScan(text, watcher).run();
}

/** The codes of ", \\ and /. */
const quote = 0x22;
const backslash = 0x5c;
const slash = 0x2f;

const word = /[-+.\w]*/y;
const numberOrName = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;
const comment = /\/\/[^\r\n]*|\/\*[\s\S]*?\*\//y;
const escapeSequence = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;

class JsonScan {
  private readonly text: string;
  private readonly watcher: JsonWatcher;
  private at: number;
  private depth = 0;
  private fault: JsonFault | undefined;
  private readonly path: (string | number)[] = [];
  private readonly starts: number[] = [];
  private readonly closers: string[] = [];

  constructor(text: string, watcher: JsonWatcher) {
    this.text = text;
    this.watcher = watcher;
    this.at = startOf(text);
  }

  run(): JsonFault | undefined {
    this.skipSpace();
    if (this.fault !== undefined) return this.fault;
    if (this.at >= this.text.length) {
      return { offset: this.at, message: 'The document is empty.', fix: 'Write it as a JSON object.' };
    }
    while (this.beginValue() && this.afterValue());
    return this.fault;
  }

  /** Reads up to the end of a scalar or an empty container; opens a container and goes on to its first member otherwise. */
  private beginValue(): boolean {
    for (;;) {
      const character = this.text[this.at];
      if (character !== '{' && character !== '[') return this.readScalar();
      const closer = character === '{' ? '}' : ']';
      if (!this.open(closer)) return false;
      if (this.text[this.at] === closer) {
        this.close();
        return true;
      }
      if (closer === ']') this.path[this.depth - 1] = 0;
      else if (!this.readKey()) return false;
    }
  }

  private readScalar(): boolean {
    const start = this.at;
    if (!(this.text[this.at] === '"' ? this.readString() : this.readWord())) return false;
    this.watcher.value?.(this.path, this.depth, start, this.at);
    return true;
  }

  private open(closer: string): boolean {
    const most = this.watcher.depthMax ?? depthMax;
    if (this.depth === most) return this.fail(this.at, `The JSON is nested deeper than ${most} levels.`, 'Flatten it.');
    this.starts[this.depth] = this.at;
    this.closers[this.depth] = closer;
    this.depth++;
    this.at++;
    this.skipSpace();
    return true;
  }

  /** Closes what ends here; true when another value must follow, false at the end or at a fault. */
  private afterValue(): boolean {
    for (;;) {
      this.skipSpace();
      if (this.depth === 0) return this.endText();
      const closer = this.closers[this.depth - 1]!;
      if (this.text[this.at] === closer) {
        this.close();
        continue;
      }
      if (this.text[this.at] !== ',') return this.unexpected(`a comma or ${closer}`);
      const commaAt = this.at;
      this.at++;
      this.skipSpace();
      if (this.text[this.at] === closer) {
        if (this.watcher.ignored === undefined)
          return this.fail(commaAt, `A comma stands before ${closer}.`, 'Remove it: JSON has no trailing commas.');
        this.watcher.ignored(commaAt, commaAt + 1);
        continue;
      }
      if (closer === '}') return this.readKey();
      this.path[this.depth - 1] = (this.path[this.depth - 1] as number) + 1;
      return true;
    }
  }

  private endText(): boolean {
    if (this.at >= this.text.length) return false;
    return this.fail(
      this.at,
      `${this.here()} stands after the end of the JSON.`,
      'Remove what follows the last brace.',
    );
  }

  private close(): void {
    this.at++;
    this.depth--;
    this.watcher.value?.(this.path, this.depth, this.starts[this.depth]!, this.at);
  }

  private readKey(): boolean {
    const start = this.at;
    if (this.text[start] !== '"') return this.unexpected('a key in double quotes');
    if (!this.readString()) return false;
    this.path[this.depth - 1] = stringAt(this.text, start, this.at);
    this.watcher.key?.(this.path, this.depth, start);
    this.skipSpace();
    if (this.text[this.at] !== ':') return this.unexpected('a colon after the key');
    this.at++;
    this.skipSpace();
    return true;
  }

  private readString(): boolean {
    const { text } = this;
    for (let at = this.at + 1; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === quote) {
        this.at = at + 1;
        return true;
      }
      if (code < 0x20) return this.controlCharacter(at, code);
      if (code !== backslash) continue;
      escapeSequence.lastIndex = at;
      if (!escapeSequence.test(text)) return this.wrongEscape(at);
      at = escapeSequence.lastIndex - 1;
    }
    return this.cutOff();
  }

  private wrongEscape(at: number): boolean {
    if (/^\\(?:u[0-9a-fA-F]{0,3})?$/.test(this.text.slice(at, at + 7))) return this.cutOff();
    return this.fail(at, 'This backslash starts no JSON escape.', 'Write two backslashes for one.');
  }

  private controlCharacter(at: number, code: number): boolean {
    const what = code === 0x0a || code === 0x0d ? 'A line break' : 'A control character';
    return this.fail(at, `${what} stands inside a quoted text.`, 'Close the quote, or write \\n or \\t instead.');
  }

  private readWord(): boolean {
    word.lastIndex = this.at;
    const found = word.exec(this.text)![0];
    if (numberOrName.test(found)) {
      this.at += found.length;
      return true;
    }
    if (found === '') return this.unexpected('a value');
    if (this.at + found.length === this.text.length && found.length < 40) return this.cutOff();
    const shownWord = found.length > 12 ? 'This word' : found; // a long one may be a secret
    const fix = 'Write text in double quotes, a plain number, true, false or null.';
    return this.fail(this.at, `${shownWord} is not a JSON value.`, fix);
  }

  private skipSpace(): void {
    for (;;) {
      const code = this.text.charCodeAt(this.at);
      if (code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09) this.at++;
      else if (code !== slash || !this.skipComment()) return;
    }
  }

  private skipComment(): boolean {
    if (this.watcher.ignored === undefined) return false;
    const start = this.at;
    comment.lastIndex = start;
    if (comment.test(this.text)) {
      this.at = comment.lastIndex;
      this.watcher.ignored(start, this.at);
      return true;
    }
    if (!this.text.startsWith('/*', start)) return false;
    this.at = this.text.length;
    return this.fail(start, 'This comment is never closed.', 'End it with */.');
  }

  private here(): string {
    const found = String.fromCodePoint(this.text.codePointAt(this.at) ?? 0x20);
    if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(found)) return found === '"' ? 'A quote' : `"${found}"`;
    return `The character U+${found.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}`;
  }

  private unexpected(wanted: string): boolean {
    if (this.at >= this.text.length) return this.cutOff();
    const fix =
      this.text.startsWith('/', this.at) && this.watcher.ignored === undefined
        ? 'Remove the comment: JSON has none.'
        : this.text.startsWith("'", this.at)
          ? 'Use double quotes.'
          : 'Correct the JSON here or just before.';
    return this.fail(this.at, `${this.here()} stands where ${wanted} must be.`, fix);
  }

  private cutOff(): boolean {
    const fix = 'The file looks cut off: finish it or take it from version control.';
    return this.fail(this.text.length, 'The text ends before its JSON is complete.', fix);
  }

  /** The first one counts: what follows a fault is found by mistake. */
  private fail(offset: number, message: string, fix: string): boolean {
    this.fault ??= { offset, message, fix };
    return false;
  }
}

/** The text that the JSON string at [start, end) stands for. The string must be a valid one. */
export function stringAt(text: string, start: number, end: number): string {
  const raw = text.slice(start + 1, end - 1);
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw;
}

/** Tells of keys that stand twice in one object, which JSON.parse passes over in silence, and of dangerous ones. */
export function keyWatcher(
  tell: (what: 'twice' | 'dangerous', key: string, offset: number) => void,
  mayStandTwice: (path: JsonPath, depth: number) => boolean = () => false,
): Required<Pick<JsonWatcher, 'key' | 'value'>> {
  const seen: Set<string>[] = [];
  return {
    key(path, depth, offset) {
      const key = path[depth - 1] as string;
      if (dangerousKeys.has(key)) tell('dangerous', key, offset);
      if (mayStandTwice(path, depth)) return;
      seen[depth] ??= new Set();
      if (seen[depth].has(key)) tell('twice', key, offset);
      seen[depth].add(key);
    },
    value(_path, depth) {
      seen[depth + 1]?.clear();
    },
  };
}

export interface JsonPart {
  /** Empty for an element of a list. */
  readonly name: string;
  /** Where its key stands; that of an element is the element itself. */
  readonly keyStart: number;
  readonly start: number;
  readonly end: number;
}

/** The members or elements of the object or list that a JSON text is. */
export function partsOf(text: string): readonly JsonPart[] {
  const parts: JsonPart[] = [];
  let keyStart = 0;
  scanJson(text, {
    key(_path, depth, offset) {
      if (depth === 1) keyStart = offset;
    },
    value([name], depth, start, end) {
      if (depth !== 1) return;
      parts.push(typeof name === 'string' ? { name, keyStart, start, end } : { name: '', keyStart: start, start, end });
    },
  });
  return parts;
}
