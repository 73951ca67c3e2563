// Redactors: take secrets out of text before it is stored, shown or sent, known values in every spelling and key shapes.
import { isSecretField } from './assignments.ts';
import { redactRules } from './rules.ts';
import { findPem, makeScanner, type Scanner, type Span } from './scan.ts';

/** Idempotent, linear, and the same string when there is nothing to hide. */
export type Redact = (text: string) => string;

/** A replacement can lay open what stood behind it; in practice the second round finds nothing. */
const roundsMax = 8;

const names = new Set(['known-value', 'private-key', 'assignment', ...redactRules.map(rule => rule.name)]);
const marks = [...names].map(name => `[redacted:${name}]`).join('\n');
const markPattern = new RegExp(`\\[redacted:(?:${[...names].join('|')})\\]`, 'g');

/** Colour and cursor sequences, raw or as JSON and shells write them. */
const ansiPattern = /(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-?]{0,32}[ -/]{0,4}[@-~]/g;
const ansiHints = ['\\u001', '\\x1', '\\033[', '\\e['];
const mayHaveAnsi = (text: string): boolean =>
  text.includes('\x1b[') || (text.includes('\\') && ansiHints.some(hint => text.includes(hint)));

/** The text without the sequences, and the way back from its places to those of the original. */
function withoutAnsi(text: string): { plain: string; toOriginal: (at: number, isEnd: boolean) => number } {
  const cuts: number[] = [];
  const removed: number[] = [0];
  let total = 0;
  const plain = text.replace(ansiPattern, (sequence, at: number) => {
    cuts.push(at - total);
    total += sequence.length;
    removed.push(total);
    return '';
  });
  const toOriginal = (at: number, isEnd: boolean): number => {
    let low = 0;
    let high = cuts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      const cut = cuts[middle] ?? 0;
      if (isEnd ? cut < at : cut <= at) low = middle + 1;
      else high = middle;
    }
    return at + (removed[low] ?? 0);
  };
  return { plain, toOriginal };
}

function findSpans(scan: Scanner, text: string): Span[] {
  if (!mayHaveAnsi(text)) return scan(text);
  // Blanked: a sequence parts words. Cut out: a sequence inside a secret hides nothing. As it is: a value may hold one.
  const blank = text.replace(ansiPattern, sequence => ' '.repeat(sequence.length));
  if (blank === text) return scan(text);
  const { plain, toOriginal } = withoutAnsi(text);
  const joined = scan(plain).map(span => ({
    ...span,
    start: toOriginal(span.start, false),
    end: toOriginal(span.end, true),
  }));
  return [...scan(text), ...scan(blank), ...joined];
}

/** Joins what overlaps, and grows over marks that are touched; a span that covers only marks hides nothing new. */
function settle(text: string, found: readonly Span[]): Span[] {
  const present: Span[] = [...(text.includes('[redacted:') ? text.matchAll(markPattern) : [])].map(match => ({
    ...{ start: match.index, end: match.index + match[0].length, name: '', rank: Number.MAX_SAFE_INTEGER },
  }));
  const groups: { start: number; end: number; name: string; rank: number; markedChars: number }[] = [];
  for (const span of [...found, ...present].sort((a, b) => a.start - b.start || a.rank - b.rank)) {
    const markedChars = span.name === '' ? span.end - span.start : 0;
    const last = groups.at(-1);
    if (last === undefined || span.start >= last.end) {
      groups.push({ ...span, markedChars });
      continue;
    }
    last.end = Math.max(last.end, span.end);
    last.name ||= span.name;
    last.markedChars += markedChars;
  }
  return groups.filter(group => group.end - group.start > group.markedChars);
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  const parts: string[] = [];
  let from = 0;
  for (const span of spans) {
    parts.push(text.slice(from, span.start), `[redacted:${span.name}]`);
    from = span.end;
  }
  parts.push(text.slice(from));
  return parts.join('');
}

/** A run asks for the same redactor in many places: the last one is kept. */
let last: { readonly values: readonly string[]; readonly redact: Redact } | undefined;

/** Values shorter than 8 characters are ignored; so is a value that our own marks contain. */
export function makeRedactor(exactValues: readonly string[]): Redact {
  const isSame =
    last?.values.length === exactValues.length && last.values.every((value, at) => value === exactValues[at]);
  if (last === undefined || !isSame) last = { values: [...exactValues], redact: freshRedactor(exactValues) };
  return last.redact;
}

function freshRedactor(exactValues: readonly string[]): Redact {
  let made: Scanner | undefined;
  return text => {
    // Made when there is something to read: a light command reads nothing.
    made ??= makeScanner(exactForms(exactValues), true);
    const scan = made;
    let result = text;
    for (let round = 0; round < roundsMax; round += 1) {
      const found = findSpans(scan, result);
      const spans = found.length === 0 ? [] : settle(result, found);
      if (spans.length === 0) return result;
      result = replaceSpans(result, spans);
    }
    return result;
  };
}

/** Every shape has a digit, a capital or a sign in it. */
const plainWord = /^[a-z-]*$/;

/** Whether the text holds something with a key's shape; an assignment by name alone is not enough. */
export function looksSecret(text: string): boolean {
  return !plainWord.test(text) && makeScanner([], false)(text, 1).length > 0;
}

type Json = Record<string, unknown> | unknown[];

interface Visit {
  readonly source: Json;
  readonly keys: readonly string[];
  next: number;
  copy: Json | undefined;
}

function isPlain(value: unknown): value is Json {
  if (typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function put(visit: Visit, key: string, value: unknown): void {
  visit.copy ??= Array.isArray(visit.source) ? [...visit.source] : { ...visit.source };
  Object.defineProperty(visit.copy, key, { value, writable: true, enumerable: true, configurable: true });
}

function putIntoParent(parent: Visit | undefined, copy: Json | undefined): void {
  if (parent !== undefined && copy !== undefined) put(parent, parent.keys[parent.next - 1] ?? '', copy);
}

function redactField(key: string, text: string, redact: Redact): string {
  const safe = redact(text);
  return safe === text && isSecretField(key, text) ? '[redacted:assignment]' : safe;
}

/** Redacts every string value of plain JSON data, also by its field's name; the same object when nothing changed. */
export function redactDeep<T>(value: T, redact: Redact): T {
  if (typeof value === 'string') return redact(value) as T;
  if (!isPlain(value)) return value;
  const visitOf = (source: Json): Visit => ({ source, keys: Object.keys(source), next: 0, copy: undefined });
  const first = visitOf(value);
  const stack: Visit[] = [first];
  for (let visit = stack.at(-1); visit !== undefined; visit = stack.at(-1)) {
    const key = visit.keys[visit.next];
    if (key === undefined) {
      stack.pop();
      putIntoParent(stack.at(-1), visit.copy);
      continue;
    }
    visit.next += 1;
    const child = (visit.source as Record<string, unknown>)[key];
    const safe = typeof child === 'string' ? redactField(key, child, redact) : child;
    if (safe !== child) put(visit, key, safe);
    if (isPlain(child)) stack.push(visitOf(child));
  }
  return (first.copy ?? first.source) as T;
}

/** Shorter values would redact ordinary words. */
const exactCharsMin = 8;

/** The part of the base64 text that is the value's alone, for each of the three places it can have in a longer text. */
function base64Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map(before => {
    const bits = 8 * (before + bytes.length);
    const longer = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return longer.slice([0, 2, 3][before], Math.floor(bits / 6));
  });
  const alone = bytes.toString('base64');
  return [...forms, alone.replace(/=+$/, ''), alone];
}

const jsonEscape = (text: string): string => JSON.stringify(text).slice(1, -1);
const asciiEscape = (text: string): string =>
  text.replace(/[^\x20-\x7e]/g, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);

function formsOf(value: string): string[] {
  const bytes = Buffer.from(value);
  const escaped = jsonEscape(value);
  const encoded = encodeURIComponent(value.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, mark => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`);
  const small = (text: string): string => text.replace(/%[0-9A-F]{2}/g, code => code.toLowerCase());
  const hex = bytes.toString('hex');
  const inBase64 = base64Forms(bytes);
  return [
    ...[value, escaped, jsonEscape(escaped), asciiEscape(escaped), escaped.replaceAll('/', '\\/')],
    ...[encoded, strict, small(encoded), small(strict), encoded.replaceAll('%20', '+'), strict.replaceAll('%20', '+')],
    ...[hex, hex.toUpperCase()],
    ...inBase64,
    ...inBase64.map(form => form.replaceAll('+', '-').replaceAll('/', '_')),
  ];
}

/** Lines of a many-line value that are telling by themselves: output is often read line by line. */
function tellingLines(value: string): string[] {
  if (!value.includes('\n')) return [];
  const lines = value.split(/\r?\n/).map(line => line.trim());
  return lines.filter(line => line.length >= 24 && !/\s/.test(line) && /[0-9]/.test(line) && /[A-Za-z]/.test(line));
}

/** Every text that gives one of the values away: as it is, JSON-escaped, in base64, percent-encoded, in hexadecimal. */
function exactForms(values: readonly string[]): readonly string[] {
  const wanted = values.flatMap(value => [value, value.trim(), ...tellingLines(value)]);
  const forms = wanted.filter(value => value.trim().length >= exactCharsMin).flatMap(formsOf);
  return [...new Set(forms)].filter(form => form.length >= exactCharsMin && !marks.includes(form));
}

const secretName = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;

/** The values of an environment that are secrets by the name of their variable. */
export function secretValues(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(environment).flatMap(([name, value]) =>
    secretName.test(name) && value !== undefined && value.length >= exactCharsMin ? [value] : [],
  );
}

/** Redacts output as it arrives: what could still become a secret is held back until the line or the key block ends. */
export interface StreamRedactor {
  /** Returns what is now safe to write. */
  readonly push: (chunk: string) => string;
  readonly end: () => string;
}

/** A longer line is flushed in parts, so that a flood without line ends stays bounded. */
const pendingCharsMax = 65_536;
const overlapChars = 4_096;
const bodyCharsMin = 512;

/** Where the last private key begins that has not ended before `lineAt`; `lineAt` when there is none. */
function pemOrLineAt(text: string, lineAt: number): number {
  // Forwards first: that is thirty times as fast, and most text has none.
  const at = text.includes('-----BEGIN ') ? text.lastIndexOf('-----BEGIN ', lineAt) : -1;
  if (at < 0 || at >= lineAt) return lineAt;
  // Too little to tell a key from a mention yet.
  if (lineAt - at < bodyCharsMin) return at;
  return (findPem(text, at)?.end ?? 0) > lineAt || findPem(text.slice(0, lineAt), at)?.closed === false ? at : lineAt;
}

/** The line before `lineAt` when it only names what the next line may hold (`- name: TOKEN`), else `lineAt`. */
function nameLineAt(text: string, lineAt: number): number {
  const start = text.lastIndexOf('\n', lineAt - 2) + 1;
  return lineAt - start < 200 && /name:[ \t]*["']?[\w.-]+["']?[ \t]*\r?\n$/i.test(text.slice(start, lineAt))
    ? start
    : lineAt;
}

/** A cut that no secret straddles: both halves redacted apart read as the whole; all of it when there is no such cut. */
function cutOf(text: string, redact: Redact): number {
  const whole = redact(text);
  for (let back = overlapChars; back <= overlapChars * 4; back += overlapChars / 4) {
    const cut = text.length - back;
    if (redact(text.slice(0, cut)) + redact(text.slice(cut)) === whole) return cut;
  }
  return text.length;
}

export function makeStreamRedactor(redact: Redact): StreamRedactor {
  let pending = '';
  return {
    push: chunk => {
      pending += chunk;
      if (!chunk.includes('\n') && pending.length <= pendingCharsMax) return '';
      let cut = pemOrLineAt(pending, nameLineAt(pending, pending.lastIndexOf('\n') + 1));
      if (pending.length - cut > pendingCharsMax) cut = cutOf(pending, redact);
      const out = redact(pending.slice(0, cut));
      pending = pending.slice(cut);
      return out;
    },
    end: () => {
      const out = redact(pending);
      pending = '';
      return out;
    },
  };
}
