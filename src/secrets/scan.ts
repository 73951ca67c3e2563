// The scanner for secrets, in one pass: three characters of each literal say where a rule could begin, and only there it is tried.
import { assignmentCharsMax, assignmentWords, findAssignment } from './assignments.ts';
import { charRates, pairClasses, pairRates } from './pairs.ts';
import type { Found, RedactRule } from './rule.ts';
import { redactRules } from './rules.ts';

export interface Span {
  readonly start: number;
  readonly end: number;
  readonly name: string;
  /** Lower wins when two spans begin at one place. */
  readonly rank: number;
}

/** What the scan looks for, and what it tries where that stands. */
export interface Trigger {
  readonly name: string;
  readonly rank: number;
  readonly literal: string;
  readonly anyCase?: boolean;
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

const isSmall = (code: number): boolean => code >= 97 && code <= 122;
const isWordCode = (code: number): boolean => (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || isSmall(code);
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

/** Small and capital letters are one; so are a few signs, which the rule itself tells apart. */
const fold = (text: string, at: number): number => text.charCodeAt(at) | 32;

const classes = new Uint8Array(0x80).fill(pairClasses.length);
for (let at = 0; at < pairClasses.length; at += 1) classes[fold(pairClasses, at)] = at;
classes.fill(pairClasses.indexOf('0'), 48, 58);
const classAt = (text: string, at: number): number => classes[fold(text, at) & 0x7f]!;
const rateOf = (rates: string, at: number): number => rates.charCodeAt(at) - 48;

/** The place in a literal whose three characters are the rarest, as far as pairs tell. */
function rarestAt(literal: string): number {
  const places = Math.min(literal.length - 2, 24);
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  let one = classAt(literal, 0);
  let two = classAt(literal, 1);
  for (let at = 0; at < places; at += 1) {
    const three = classAt(literal, at + 2);
    const rate = rateOf(pairRates[one]!, two) + rateOf(pairRates[two]!, three) - rateOf(charRates, two);
    if (rate < least) {
      best = at;
      least = rate;
    }
    one = two;
    two = three;
  }
  return best;
}

const exactly = (form: string): Trigger => ({
  ...{ name: 'known-value', rank: 0, literal: form },
  find: (_text: string, at: number) => ({ start: at, end: at + form.length }),
});

const assignmentRank = 1_000;

/** Of the rules, in the order in which they are tried at one place. */
function shapes(): readonly Trigger[] {
  const pem = {
    ...{ name: 'private-key', rank: 1, literal: '-----BEGIN ' },
    find: (text: string, at: number, coveredTo: number) => (at < coveredTo ? undefined : findPem(text, at)),
  };
  const pemEnd = {
    ...{ name: 'private-key', rank: 1, literal: '-----END ' },
    find: (text: string, at: number, coveredTo: number) => (at < coveredTo ? undefined : findPemEnd(text, at)),
  };
  const shaped = redactRules.flatMap((rule, index) => {
    const find = (text: string, at: number, coveredTo: number) => findByRule(rule, text, at, coveredTo);
    const { name, anyCase = false } = rule;
    return rule.literals.map(literal => ({ name, rank: 2 + index, literal, anyCase, find }));
  });
  const assigned = assignmentWords.map(literal => ({
    ...{ name: 'assignment', rank: assignmentRank, literal, anyCase: true },
    // Most are parts of a longer word: `tokens`, `pattern`. What is a word of ours again has a trigger of its own.
    find: (text: string, at: number, coveredTo: number) =>
      isSmall(text.charCodeAt(at + literal.length)) ? undefined : findWholeAssignment(text, at, coveredTo),
  }));
  return [pem, pemEnd, ...shaped, ...assigned];
}

function standsAt({ literal, anyCase }: Trigger, text: string, at: number): boolean {
  if (anyCase !== true) return text.startsWith(literal, at);
  for (let i = 0; i < literal.length; i += 1) if (fold(literal, i) !== fold(text, at + i)) return false;
  return true;
}

export function spanAt(trigger: Trigger, text: string, at: number, coveredTo: number): Span | undefined {
  if (at < 0 || !standsAt(trigger, text, at)) return undefined;
  const found = trigger.find(text, at, coveredTo);
  if (found === undefined || found.end <= found.start) return undefined;
  return { start: found.start, end: found.end, name: trigger.name, rank: trigger.rank };
}

/** Small and capital letters are one here too; of a character outside Latin-1 the lower byte counts. */
const markOf = (one: number, two: number, three: number): number =>
  (one & 0xff) | ((two & 0xff) << 8) | ((three & 0xff) << 16) | 0x202020;

const hashBits = 17;
/** Multiplied, so that marks that differ little lie apart. */
const hashOf = (mark: number): number => Math.imul(mark, 0x9e3779b1) >>> (32 - hashBits);

interface Place {
  readonly trigger: Trigger;
  readonly mark: number;
  /** How far into its literal the mark stands. */
  readonly back: number;
}

interface Table {
  /** By the hash of three characters: 0 when they are no mark, else the index of a list of places. */
  readonly slots: Uint16Array;
  readonly lists: readonly (readonly Place[])[];
}

function tableOf(triggers: readonly Trigger[], rest?: Table): Table {
  const slots = rest === undefined ? new Uint16Array(1 << hashBits) : rest.slots.slice();
  const lists: Place[][] = rest === undefined ? [[]] : rest.lists.map(places => [...places]);
  for (const trigger of triggers) {
    const { literal } = trigger;
    const back = rarestAt(literal);
    const mark = markOf(literal.charCodeAt(back), literal.charCodeAt(back + 1), literal.charCodeAt(back + 2));
    const hash = hashOf(mark);
    if (slots[hash] === 0) slots[hash] = lists.push([]) - 1;
    lists[slots[hash]!]!.push({ trigger, mark, back });
  }
  return { slots, lists };
}

/** The same for every scanner, and made when the first one needs it. */
let shapeTable: Table | undefined;

/** Of all rules, and of values that are known, in any of these forms. */
export function tableFor(forms: readonly string[]): Table {
  shapeTable ??= tableOf(shapes());
  return forms.length === 0 ? shapeTable : tableOf(forms.map(exactly), shapeTable);
}

const blockChars = 16_384;
/** The text is read as bytes: of a slice of a longer string each character would cost three times as much. */
const block = Buffer.allocUnsafeSlow(blockChars + 4);

/** Fewer are read one by one: a call out of JavaScript costs as much as some sixty characters. */
const shortCharsMax = 64;

function readBlock(text: string, from: number): number {
  if (text.length - from > shortCharsMax) return block.write(text.slice(from, from + blockChars), 'latin1');
  for (let at = from; at < text.length; at += 1) block[at - from] = text.charCodeAt(at);
  return text.length - from;
}

/** The first place from `from` on where a mark may stand; `length` or more when there is none. Four are asked for at once. */
function nextMarked(slots: Uint16Array, from: number, length: number): number {
  let four = markOf(0, block[from]!, block[from + 1]!);
  for (let at = from; at + 2 < length; at += 4) {
    const one = (four >>> 8) | ((block[at + 2]! | 32) << 16);
    const two = (one >>> 8) | ((block[at + 3]! | 32) << 16);
    const three = (two >>> 8) | ((block[at + 4]! | 32) << 16);
    four = (three >>> 8) | ((block[at + 5]! | 32) << 16);
    if ((slots[hashOf(one)]! | slots[hashOf(two)]!) !== 0) return slots[hashOf(one)]! === 0 ? at + 1 : at;
    if ((slots[hashOf(three)]! | slots[hashOf(four)]!) !== 0) return slots[hashOf(three)]! === 0 ? at + 3 : at + 2;
  }
  return length;
}

interface Search {
  readonly text: string;
  readonly spans: Span[];
  readonly enough: number;
  /** Where the rules end that are tried. */
  readonly rankEnd: number;
  coveredTo: number;
}

/** Tries what the mark at `at` of the text may be part of. */
function tryPlaces(search: Search, places: readonly Place[], mark: number, at: number): void {
  for (const { trigger, mark: own, back } of places) {
    if (own !== mark || search.spans.length >= search.enough) continue;
    const span = trigger.rank < search.rankEnd ? spanAt(trigger, search.text, at - back, search.coveredTo) : undefined;
    if (span === undefined) continue;
    search.spans.push(span);
    search.coveredTo = Math.max(search.coveredTo, span.end);
  }
}

/** One pass: each character is read once, and rules are tried only at marks. Blocks overlap, so that a mark lies whole in one. */
export function makeScanner(forms: readonly string[], withAssignments: boolean): Scanner {
  const { slots, lists } = tableFor(forms);
  const rankEnd = withAssignments ? Number.POSITIVE_INFINITY : assignmentRank;
  return (text, enough = Number.POSITIVE_INFINITY) => {
    const search: Search = { text, spans: [], enough, rankEnd, coveredTo: 0 };
    for (let from = 0; from + 2 < text.length && search.spans.length < enough; from += blockChars - 2) {
      const length = readBlock(text, from);
      for (let at = nextMarked(slots, 0, length); at + 2 < length; at = nextMarked(slots, at + 1, length)) {
        const mark = markOf(block[at]!, block[at + 1]!, block[at + 2]!);
        tryPlaces(search, lists[slots[hashOf(mark)]!]!, mark, from + at);
      }
    }
    return search.spans;
  };
}
