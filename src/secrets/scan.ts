// The scanner for secrets, in one pass: a table of three-character marks says where a rule could begin, and only there it is tried.
import { assignmentCharsMax, assignmentWords, findAssignment } from './assignments.ts';
import { type Found, type RedactRule, redactRules } from './rules.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** Lower wins when two spans begin at one place. */
  readonly rank: number;
}

interface Trigger {
  readonly name: string;
  readonly rank: number;
  /** How far behind the literal's beginning the last of the three marks lies. */
  readonly back: number;
  readonly literal: string;
  readonly find: (text: string, at: number, coveredTo: number) => Found | undefined;
}

export type Scanner = (text: string, enough?: number) => Span[];

const pemHeader = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y;
const pemFooter = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
/** A key's body begins at once, behind a line end or a line number; a header that is only mentioned has none. */
const pemBody = /[^A-Za-z]{0,24}(?:\\{0,4}[rn]\W{0,8}){0,2}(?:[A-Za-z0-9+/]{20}|Proc-Type|DEK-Info|Version:|Comment:)/y;

/** Where the private key that begins at `at` ends: behind its footer, or at the end of the text when there is none. */
export function findPem(text: string, at: number): (Found & { readonly closed: boolean }) | undefined {
  pemHeader.lastIndex = at;
  if (!pemHeader.test(text)) return undefined;
  const from = pemHeader.lastIndex;
  pemBody.lastIndex = from;
  if (!pemBody.test(text)) return undefined;
  pemFooter.lastIndex = from;
  const closed = pemFooter.test(text);
  return { start: at, end: closed ? pemFooter.lastIndex : text.length, closed };
}

const footerHere = new RegExp(pemFooter.source, 'y');
const keyCharsMin = 20;
const keyCharsMax = 16_384;
const isKeyBody = (code: number): boolean =>
  isWordCode(code) || code === 43 || code === 47 || code === 61 || code === 10 || code === 13;

/** The end of a private key whose beginning was cut off. */
function findPemEnd(text: string, at: number): Found | undefined {
  footerHere.lastIndex = at;
  if (!footerHere.test(text)) return undefined;
  let start = at;
  while (start > 0 && at - start < keyCharsMax && isKeyBody(text.charCodeAt(start - 1))) start -= 1;
  return at - start < keyCharsMin ? undefined : { start, end: footerHere.lastIndex };
}

const isWordCode = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
const isRunCode = (code: number): boolean => isWordCode(code) || code === 45 || code === 95;

/** Nothing, punctuation, an escaped line end (`\n` in JSON) or a percent code stands before. */
function beginsWord(text: string, at: number): boolean {
  if (at === 0 || !isWordCode(text.charCodeAt(at - 1))) return true;
  if (at > 1 && text[at - 2] === '\\') return true;
  return at > 2 && text[at - 3] === '%';
}

function continuesRun(text: string, at: number): boolean {
  return at > 0 && isRunCode(text.charCodeAt(at - 1)) && !(isWordCode(text.charCodeAt(at - 1)) && beginsWord(text, at));
}

const goesBack = (rule: RedactRule, text: string, at: number): boolean =>
  rule.before === undefined ? continuesRun(text, at) : at > 0 && rule.before.test(text[at - 1] as string);

function findByRule(rule: RedactRule, text: string, at: number, coveredTo: number): Found | undefined {
  if (rule.inWord !== true && !beginsWord(text, at)) return undefined;
  rule.pattern.lastIndex = at;
  const match = rule.pattern.exec(text);
  if (match === null) return undefined;
  const secret = match.slice(rule.group ?? 0).find(part => part !== undefined) ?? '';
  if (rule.accepts !== undefined && !rule.accepts(secret)) return undefined;
  let start = rule.group === undefined ? at : at + match[0].lastIndexOf(secret);
  let end = start + secret.length;
  for (let left = rule.charsBeforeMax ?? 0; left > 0 && goesBack(rule, text, start); left -= 1) start -= 1;
  // The pattern is bounded; the rest of a longer run belongs to the secret all the same.
  if (end < coveredTo) return { start, end };
  while (end < text.length && isRunCode(text.charCodeAt(end)) && isRunCode(text.charCodeAt(end - 1))) end += 1;
  return { start, end };
}

/** A value is read up to a bound; when it is longer, all of it up to a space or a quote goes. */
function findWholeAssignment(text: string, at: number, coveredTo: number): Found | undefined {
  const found = findAssignment(text, at);
  if (found === undefined || found.end - found.start < assignmentCharsMax || found.end < coveredTo) return found;
  let end = found.end;
  while (end < text.length && !/[\s"'`<>]/.test(text[end] as string)) end += 1;
  return { start: found.start, end };
}

/** Of one byte, as the scan reads it: of a character outside Latin-1 the lower one, so a mark may be seen where none is, never missed. */
const fold = (text: string, at: number): number => (text.charCodeAt(at) & 0xff) | 32;
const hashAt = (text: string, at: number): number =>
  ((fold(text, at) << 10) ^ (fold(text, at + 1) << 5) ^ fold(text, at + 2)) & 0x7fff;

/** How seldom a character is in ordinary text, roughly. */
function rarity(character: string): number {
  if ('etaoinsrhldcu ETAOINSRHLDCU'.includes(character)) return 0;
  if ('/.:=0123456789-'.includes(character)) return 1;
  return isWordCode(character.charCodeAt(0)) ? 1.5 : 2;
}

/** Pairs of letters that are everywhere. */
const common = new Set(
  'th he in er an re nd at on nt es st en ed to it ou ea is or ti as te et ng of al de se le si ar ve ra ld ri'.split(
    ' ',
  ),
);
const isCommon = (text: string, at: number): boolean => common.has(text.slice(at, at + 2).toLowerCase());

/** The place in a literal whose three characters are the rarest. */
function rarestAt(literal: string): number {
  let best = 0;
  let bestScore = -1;
  for (let at = 0; at + 3 <= literal.length && at <= 24; at += 1) {
    const usual = (isCommon(literal, at) ? 10 : 0) + (isCommon(literal, at + 1) ? 10 : 0);
    const score = 20 - usual + [0, 1, 2].reduce((sum, step) => sum + rarity(literal[at + step] ?? ''), 0);
    if (score > bestScore) {
      best = at;
      bestScore = score;
    }
  }
  return best;
}

type Marked = Omit<Trigger, 'back'> & { readonly mark: string };

const exactly = (form: string): Marked => ({
  ...{ name: 'known-value', rank: 0, literal: form, mark: form },
  find: (_text: string, at: number) => ({ start: at, end: at + form.length }),
});

function shapes(withAssignments: boolean): readonly Marked[] {
  const pem = {
    ...{ name: 'private-key', rank: 1, literal: '-----BEGIN ', mark: '-----BEGIN ' },
    find: (text: string, at: number, coveredTo: number) => (at < coveredTo ? undefined : findPem(text, at)),
  };
  const pemEnd = {
    ...{ name: 'private-key', rank: 1, literal: '-----END ', mark: '-----END ' },
    find: (text: string, at: number, coveredTo: number) => (at < coveredTo ? undefined : findPemEnd(text, at)),
  };
  const shaped = redactRules.flatMap((rule, index) =>
    rule.literals.map(literal => ({
      ...{ name: rule.name, rank: 2 + index, literal: rule.anyCase === true ? '' : literal, mark: literal },
      find: (text: string, at: number, coveredTo: number) => findByRule(rule, text, at, coveredTo),
    })),
  );
  const assigned = assignmentWords.map(word => ({
    ...{ name: 'assignment', rank: 1_000, literal: '', mark: word, find: findWholeAssignment },
  }));
  return [pem, pemEnd, ...shaped, ...(withAssignments ? assigned : [])];
}

/** `last`: where the last of the three marks stands. */
function spanAt(trigger: Trigger, text: string, last: number, coveredTo: number): Span | undefined {
  const at = last - trigger.back;
  if (at < 0 || !text.startsWith(trigger.literal, at)) return undefined;
  const found = trigger.find(text, at, coveredTo);
  if (found === undefined || found.end <= found.start) return undefined;
  return { start: found.start, end: found.end, name: trigger.name, rank: trigger.rank };
}

/** Where a trigger may begin, by the hash of three characters; `flags` says for which of them there is one. */
interface Table {
  readonly flags: Uint8Array;
  /** By two bytes as they stand in memory: 1 when they are the first two of a mark's three, 2 when they are the last two. */
  readonly pairs: Uint8Array;
  readonly buckets: ReadonlyMap<number, readonly Trigger[]>;
}

const pairBytes = new Uint8Array(2);
const pairInMemory = new Uint16Array(pairBytes.buffer);

/** In capitals and small letters, as `fold` takes them for one. */
function markPair(pairs: Uint8Array, mark: string, at: number, place: 1 | 2): void {
  for (const capital of [0, 32, 32 << 8, 32 | (32 << 8)]) {
    pairBytes[0] = fold(mark, at) ^ (capital & 0xff);
    pairBytes[1] = fold(mark, at + 1) ^ (capital >> 8);
    pairs[pairInMemory[0]!]! |= place;
  }
}

function tableOf(all: readonly Marked[], rest?: Table): Table {
  const flags = rest === undefined ? new Uint8Array(0x8000) : rest.flags.slice();
  const pairs = rest === undefined ? new Uint8Array(0x10000) : rest.pairs.slice();
  const buckets = new Map<number, Trigger[]>();
  for (const { mark, ...trigger } of all) {
    const at = rarestAt(mark);
    const hash = hashAt(mark, at);
    flags[hash] = 1;
    markPair(pairs, mark, at, 1);
    markPair(pairs, mark, at + 1, 2);
    buckets.set(hash, [...(buckets.get(hash) ?? []), { ...trigger, back: at + 2 }]);
  }
  for (const [hash, triggers] of rest?.buckets ?? []) buckets.set(hash, [...(buckets.get(hash) ?? []), ...triggers]);
  return { flags, pairs, buckets };
}

/** The same for every scanner, and made when the first one needs it. */
const shapeTables = new Map<boolean, Table>();

function shapeTable(withAssignments: boolean): Table {
  const made = shapeTables.get(withAssignments) ?? tableOf(shapes(withAssignments));
  shapeTables.set(withAssignments, made);
  return made;
}

/** Builds the table once; the scan itself reads each character once and tries rules only at marks. */
export function makeScanner(forms: readonly string[], withAssignments: boolean): Scanner {
  const shaped = shapeTable(withAssignments);
  const table = forms.length === 0 ? shaped : tableOf(forms.map(exactly), shaped);
  return (text, enough = Number.POSITIVE_INFINITY) => scan(text, enough, table);
}

interface Search {
  readonly text: string;
  readonly table: Table;
  readonly enough: number;
  readonly spans: Span[];
  coveredTo: number;
}

/** The text is read as bytes: of a slice of a longer string each character would cost three times as much. */
const block = Buffer.allocUnsafeSlow(16_384);
const blockPairs = new Uint16Array(block.buffer);
const blockWords = new Int32Array(block.buffer);

/** Tries the rules whose mark begins at `at` of the block, which begins at `from` of the text. */
function tryAt(search: Search, from: number, at: number): void {
  const { text, table, enough, spans } = search;
  const hash = (((block[at]! | 32) << 10) ^ ((block[at + 1]! | 32) << 5) ^ (block[at + 2]! | 32)) & 0x7fff;
  if (table.flags[hash] === 0) return;
  for (const trigger of table.buckets.get(hash) ?? []) {
    if (spans.length >= enough) return;
    const span = spanAt(trigger, text, from + at + 2, search.coveredTo);
    if (span === undefined) continue;
    spans.push(span);
    search.coveredTo = Math.max(search.coveredTo, span.end);
  }
}

/** Tries what four pairs from `first` on may be part of. */
function tryPairs(search: Search, from: number, first: number, length: number): void {
  const { pairs } = search.table;
  for (let at = first; at < first + 4; at += 1) {
    const place = pairs[blockPairs[at]!]!;
    if (place > 1 && at > 0 && at * 2 + 1 < length) tryAt(search, from, at * 2 - 1);
    if ((place & 1) === 1 && at * 2 + 2 < length) tryAt(search, from, at * 2);
  }
}

/** The first of the words from `at` on, two by two, in which a pair of a mark stands; `end` when there is none. */
function nextMarked(pairs: Uint8Array, at: number, end: number): number {
  for (let word = at; word < end; word += 2) {
    const one = blockWords[word]!;
    const two = blockWords[word + 1]!;
    const first = pairs[one & 0xffff]! | pairs[one >>> 16]!;
    if ((first | pairs[two & 0xffff]! | pairs[two >>> 16]!) !== 0) return word;
  }
  return end;
}

/**
 * Of three bytes in a row two stand together at an even place, so only every second pair is looked up, four at a time. Blocks
 * overlap by two bytes: a mark lies whole in one of them.
 */
function scan(text: string, enough: number, table: Table): Span[] {
  const search: Search = { text, table, enough, spans: [], coveredTo: 0 };
  for (let from = 0; from + 2 < text.length; from += block.length - 2) {
    const length = block.write(text.slice(from, from + block.length), 'latin1');
    const end = (length + 3) >> 2;
    for (let word = nextMarked(table.pairs, 0, end); word < end; word = nextMarked(table.pairs, word + 2, end)) {
      tryPairs(search, from, word * 2, length);
      if (search.spans.length >= enough) return search.spans;
    }
  }
  return search.spans;
}
