// Reads one line that says of a task whether it is complete; it is strict about a yes and accepts many forms of no.

import { latePattern } from '../text/late-pattern.ts';
import { isAgenda, isCondition, isOpen, leadsIn, negates } from './languages.ts';

/** A set of characters as a table: these are asked for each character of each candidate line. */
function characters(members: string): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let at = 0; at < members.length; at += 1) table[members.charCodeAt(at)] = 1;
  return table;
}

const marks = characters('*_#-+ .)0123456789[]xX=\u00a0\u00b7\u202f');
const marksMax = 32;
const claimCharsMax = 300;
const denialCharsMax = 120;

/** Emoji, frames and stars, and the parts that emoji are made of. */
const ornament = '\\p{So}\\p{Emoji_Modifier}\\ufe0f\\u200d·•';
const blank = ' \\t';

/** What takes a claim back that it stands beside: doubt, a cross, work that goes on, an empty box. */
const doubt = /[?？¿❌❎✖✗✘✕🚫⛔🤔❓❔⁉🤷🤨😕👎⚠🚧🛑🔴🟡🟠⏳⌛⏸🔄🔜☐⬜🔲◻]/u;

const lead = latePattern(
  () =>
    `^(?:(?:[-*+]|\\d{1,9}[.)])[${blank}]+)?(?:\\[[xX]\\][${blank}]+)?(?:#{1,6}[${blank}]+)?[${blank}*_${ornament}]*(?:the[${blank}]+)?task[*_]{0,3}[${blank}]+`,
  'iu',
);
/** How far it is over, where that is not all the way, is not among these. */
const adverb = '(?:now|all|already|fully|completely|entirely|totally|finally|formally|officially|successfully)';
const tail = latePattern(
  () =>
    `(?<![${blank}:–—→*_-])[*_]*(?:[${blank}:–—→]|[-=]+>)(?:[${blank}*_:–—→${ornament}-]|[-=]+>)*` +
    `(?:(?:is|was|has[${blank}*_]+(?:${adverb}[${blank}*_]+)?been)[${blank}*_]+(?:${adverb}[${blank}*_]+)*)?` +
    `(?:completed?|done)[${blank}*_.!…。！:;#~–—${ornament}-]*$`,
  'iu',
);
const framed = /^([-=~])\1+[ \t]+(.*?)[ \t]+\1{2,}$/;

/** Characters that agents type for one another; as many as before, so that places stay the same. */
const plain = (line: string): string => line.replace(/[\u2010\u2011]/g, '-').replace(/[\u00a0\u202f]/g, ' ');

/** The same id, whichever dash is typed in it. */
const sameId = (id: string, task: string): boolean =>
  id === task || id.replace(/[\u2012-\u2015\u2212]/g, '-') === task.replace(/[\u2012-\u2015\u2212]/g, '-');

/** Where `Task ` begins behind marks that may decorate it, or -1: cheap, because most lines say nothing. */
export function findTask(text: string, first: number, end: number): number {
  const last = Math.min(end, first + marksMax);
  for (let at = first; at < last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x54 || code === 0x74) return /^(?:the[ \t]+)?task[*_\s]/i.test(text.slice(at, at + 12)) ? at : -1;
    if (marks[code] !== 1 && code < 0x2000) return -1;
  }
  return -1;
}

/** The last letter of a line that claims; anything behind it is no letter. */
function mayClaim(text: string, from: number, end: number): boolean {
  for (let at = end - 1; at > from; at -= 1) {
    const code = text.charCodeAt(at) | 0x20;
    if (code >= 0x61 && code <= 0x7a) return code === 0x65 || code === 0x64;
  }
  return false;
}

const idWrappers: readonly (readonly [open: string, close: string])[] = [
  ['`', '`'],
  ['[', ']'],
  ['(', ')'],
  ['"', '"'],
  ['\u201c', '\u201d'],
  ...['**', '__', '*', '_'].map(mark => [mark, mark] as const),
];

function unwrapOnce(text: string): string | undefined {
  const found = idWrappers.find(
    ([open, close]) => text.length > open.length + close.length && text.startsWith(open) && text.endsWith(close),
  );
  return found === undefined ? undefined : text.slice(found[0].length, -found[1].length);
}

const unwrapsMax = 8;

/** The id without its marks; those of the task itself belong to it. */
function bareId(subject: string, task: string): string {
  let id = subject.trim();
  for (let step = 0; step < unwrapsMax && !sameId(id, task); step += 1)
    id = unwrapOnce(id) ?? id.replace(/^[*_#]|[*_:]$/, '');
  return id;
}

/** Emphasis that is opened is closed: an even number of marks, in more than one place. */
function isEven(line: string, runs: RegExp): boolean {
  const found = line.match(runs) ?? [];
  return found.length !== 1 && found.join('').length % 2 === 0;
}

const placeholders = /^(?:task[-_]?id|id|undefined|null|nan)$/i;

/** Ids of other tasks are unknown here, so that a bare word ("Task almost done") must not pass for one. */
const looksLikeId = (text: string): boolean =>
  text.length <= 100 && /^(?=\S*[\d_#/:-])[^\s<>()[\]{}"'`|]+$/.test(text) && !placeholders.test(text);

/** The id of the task that the line calls complete. */
export function readClaim(text: string, first: number, end: number, task: string): string | undefined {
  if (end - first > claimCharsMax + task.length || !mayClaim(text, first, end)) return undefined;
  const raw = plain(text.slice(first, end)).trim();
  const line = framed.exec(raw)?.[2] ?? raw;
  const from = lead.exec(line)?.[0];
  if (from === undefined) return undefined;
  const rest = line.slice(from.length);
  const to = tail.exec(rest);
  if (to === null) return undefined;
  const subject = rest.slice(0, to.index);
  const id = bareId(subject, plain(task));
  const around = `${from.replace(/^[-*+][ \t]/, '')} ${subject.replace(id, ' ')} ${to[0]}`;
  if (doubt.test(around) || !isEven(around, /\*+/g) || !isEven(around, /_+/g)) return undefined;
  if (sameId(id, plain(task))) return id === '' ? undefined : task;
  return looksLikeId(id) ? id : undefined;
}

// What takes a claim back: a later line with the id.

const reopens =
  /\b(?:re-?open\w*|t(?:ake|aking|ook) (?:\w+ ){0,3}back|retract\w*|withdraw\w*|taken back|too (?:early|soon|quick|fast)\b)/i;
const link =
  /^(?:[\s*_`\])|:,–—-]|(?:is|was|are|has|been|got|gets|needs?|remains|left|only|just|still|again|now|currently|actually|unfortunately|est|es|está|è|é|ist|bleibt|noch|leider|sigue|reste|ainda|wieder|encore)\b)*/i;
const endsLabel = /^\s*(?:[.,;:!|)\]…]|$|[-–—] |(?:until|because|by|on|for|in|review|approval)\b|\d)/i;
const isOpenBefore =
  /(?:\b(?:still|remaining|to-?do|unfinished|incomplete|in progress|blocked|offen|reste|pendiente|continue|(?:go|going|carry) on) *(?:of|for|in|on|with|about)?|\b(?:open|pending|failed|left) *[:–—-]) *[:–—-]? *(?:task|story)? *[*_`[]*$/i;

/** "ID is still red", "ID: in progress"; but "ID: failed logins are counted" says what it is about. */
function isCalledOpen(behind: string): boolean {
  const between = link.exec(behind)?.[0] ?? '';
  const rest = behind.slice(between.length);
  const open = isOpen.exec(rest);
  return open?.index === 0 && (/\p{L}/u.test(between) || endsLabel.test(rest.slice(open[0].length)));
}

const openBox = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?(?:\[ ?\]|[☐⬜🔲◻])/u;
const isWordBefore = /[\p{L}\p{N}_]$/u;
const isWordAfter = /^(?:[\p{L}\p{N}_]|[-./](?=[\p{L}\p{N}]))/u;

const isOfAnother = /^\W*task\s+\S*[\p{L}\p{N}]\S*\s/iu;

const namesTask = /\btask[*_]*\s+[*_`[]*$/i;
const hasPredicate = /^[*_`]*\s+(?:is|was|has|does|did|can|still|needs?)/i;

/** A number or a word alone stands in many lines that are not about the task. */
export const isStrongId = (task: string): boolean => (/\d/.test(task) ? /\D/.test(task) : /[-_/#:]/.test(task));

/** Whether the line, in which the id stands at `at`, says that the task is not complete. */
export function denies(
  text: string,
  { first, end, at, task }: { first: number; end: number; at: number; task: string },
): boolean {
  const before = plain(text.slice(Math.max(first, at - denialCharsMax), at));
  const after = plain(text.slice(at + task.length, Math.min(end, at + task.length + denialCharsMax)));
  if (isWordBefore.test(before) || isWordAfter.test(after) || isOfAnother.test(before)) return false;
  if (!isStrongId(task) && !namesTask.test(before) && !hasPredicate.test(after)) return false;
  if (openBox.test(text.slice(first, at))) return true;
  const clause = before.slice(Math.max(...['.', ';', ':', ','].map(stop => before.lastIndexOf(stop))) + 1);
  const said = after.replace(/[*_]/g, '');
  if ([clause, said].some(part => negates.test(part) || reopens.test(part)) || isOpenBefore.test(before)) return true;
  return isCalledOpen(said);
}

// What stands above: a line that announces is no statement, nor is what it announces.

const introCharsMax = 300;
const headingWordsMax = 3;
const marksAtEndMax = 8;
const sentenceWordsMin = 3;
const isEntry = /^(?:[-*+•–]|\d{1,9}[.)]|#+|\|)\s/;
const joinedCharsPerWord = 2;

const joinedScripts = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu;

/** Scripts that put no blanks between words have about two characters for each. */
function wordCount(line: string): number {
  const joined = line.match(joinedScripts)?.length ?? 0;
  const free = line.replace(joinedScripts, ' ').split(/\s+/);
  return Math.floor(joined / joinedCharsPerWord) + free.filter(word => /[\p{L}\p{N}]/u.test(word)).length;
}

/** A short heading ("Status:", "Ergebnis:") names what follows; a longer line announces it. */
function isHeading(line: string): boolean {
  return wordCount(line) <= headingWordsMax && !openBox.test(line) && !isCondition.test(line) && !isAgenda.test(line);
}

/** Why what is announced does not count, in words. */
export const directlyUnder = 'directly under a line that ends in a colon';

export interface Above {
  readonly first: number;
  readonly end: number;
}

/**
 * Whether the line at `first` stands directly under a line that ends in a colon; a list also when one blank line lies between.
 * A condition ("When the tests pass, say:") holds at any distance; a sentence that stops before its last word, on the next line alone.
 */
export function isAnnounced(text: string, above: Above, first: number, isList: boolean): boolean {
  let at = above.end - 1;
  while (at > above.first && above.end - at < marksAtEndMax && ' \t*_.'.includes(text.charAt(at))) at -= 1;
  if (above.end === 0) return false;
  const between = text.slice(above.end, Math.min(first, above.end + introCharsMax));
  if (between.trim() !== '') return false;
  const line = text.slice(Math.max(above.first, at + 1 - introCharsMax), at + 1);
  const blanks = between.split(/\r\n|\r|\n/).length - 2;
  // Without a colon only the line right below takes it up: output that was cut anywhere ends in such a word too.
  if (/[\p{L}\p{N}]$/u.test(line))
    return (
      blanks === 0 &&
      at === above.end - 1 &&
      !isEntry.test(line) &&
      wordCount(line) >= sentenceWordsMin &&
      leadsIn.test(line)
    );
  const isColon = /[:：]$/.test(line);
  if (!isColon && !/[,，、]$/.test(line)) return false;
  if (isCondition.test(line) || (isColon && negates.test(line))) return true;
  return isColon && blanks <= (isList ? 1 : 0) && !isHeading(line.slice(0, -1));
}
