// Takes secrets out of text before it is stored, shown or sent: known values in every spelling, and what has a key's shape.
import { isSecretField } from './redact-assignment.ts';
import { exactForms } from './redact-exact.ts';
import { redactRules } from './rules.ts';
import { makeScanner, type Scanner, type Span } from './scan.ts';

export { redactRules } from './rules.ts';
export { makeStreamRedactor } from './redact-stream.ts';

/** Idempotent, linear, and the same string when there is nothing to hide. */
export type Redact = (text: string) => string;

/** A replacement can lay open what stood behind it; in practice the second round finds nothing. */
const roundsMax = 8;

const names = new Set(['known-value', 'private-key', 'assignment', ...redactRules.map(rule => rule.name)]);
const marks = [...names].map(name => `[redacted:${name}]`);
const markPattern = new RegExp(`\\[redacted:(?:${[...names].join('|')})\\]`, 'g');

/** Colour and cursor sequences, raw or as JSON and shells write them. */
const ansiPattern = /(?:\x1b|\\u001[bB]|\\x1[bB]|\\033|\\e)\[[0-?]{0,32}[ -/]{0,4}[@-~]/g;
const ansiHints = ['\x1b[', '\\u001', '\\x1', '\\033[', '\\e['];

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
  if (!ansiHints.some(hint => text.includes(hint))) return scan(text);
  // Blanked: a sequence parts words. Cut out: a sequence inside a secret hides nothing. As it is: a value may hold one.
  const blanked = scan(text.replace(ansiPattern, sequence => ' '.repeat(sequence.length)));
  const { plain, toOriginal } = withoutAnsi(text);
  const joined = scan(plain).map(span => ({
    ...span,
    start: toOriginal(span.start, false),
    end: toOriginal(span.end, true),
  }));
  return [...scan(text), ...blanked, ...joined];
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

/** Values shorter than 8 characters are ignored; so is a value that our own marks contain. */
export function makeRedactor(exactValues: readonly string[]): Redact {
  const forms = exactForms(exactValues, form => marks.some(mark => mark.includes(form)));
  const scan = makeScanner(forms, true);
  return text => {
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

const scanShapes = makeScanner([], false);

/** Whether the text holds something with a key's shape; an assignment by name alone is not enough. */
export function looksSecret(text: string): boolean {
  return scanShapes(text, 1).length > 0;
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

/** Redacts every string value of plain JSON data, also by its field's name; the same object when nothing changed. */
export function redactDeep<T>(value: T, redact: Redact): T {
  if (typeof value === 'string') return redact(value) as T;
  if (!isPlain(value)) return value;
  const visitOf = (source: Json): Visit => ({ source, keys: Object.keys(source), next: 0, copy: undefined });
  const stack: Visit[] = [visitOf(value)];
  for (;;) {
    const visit = stack.at(-1) as Visit;
    const key = visit.keys[visit.next];
    if (key === undefined) {
      stack.pop();
      const parent = stack.at(-1);
      if (parent === undefined) return (visit.copy ?? visit.source) as T;
      const parentKey = parent.keys[parent.next] ?? '';
      if (visit.copy !== undefined) put(parent, parentKey, visit.copy);
      parent.next += 1;
      continue;
    }
    const child = (visit.source as Record<string, unknown>)[key];
    if (isPlain(child)) {
      stack.push(visitOf(child));
      continue;
    }
    if (typeof child === 'string') {
      const safe = redact(child);
      const hidden = safe === child && isSecretField(key, child) ? '[redacted:assignment]' : safe;
      if (hidden !== child) put(visit, key, hidden);
    }
    visit.next += 1;
  }
}
