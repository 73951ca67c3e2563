// Reads one line that says of a task whether it is complete; it is strict about a yes and accepts many forms of no.

/** A set of characters as a table: these are asked for each character of each candidate line. */
function characters(members: string): Uint8Array {
  const table = new Uint8Array(0x10000);
  for (let at = 0; at < members.length; at += 1) table[members.charCodeAt(at)] = 1;
  return table;
}

const marks = characters('*_#-+ .)0123456789[]xX\u00a0\u202f');
const marksMax = 32;
const claimCharsMax = 300;
const denialCharsMax = 120;

/** Emoji, and the parts that they are made of. */
const emoji = '\\p{Extended_Pictographic}\\p{Emoji_Modifier}\\u2713\\u2714\\ufe0f\\u200d';
const blank = ' \\t';

/** What takes a claim back that it stands beside: doubt, a cross, work that goes on, an empty box. */
const doubt = /[?？¿❌❎✖✗✘✕🚫⛔🤔❓❔⁉🤷🤨😕👎⚠🚧🛑🔴🟡🟠⏳⌛⏸🔄🔜☐⬜🔲◻]/u;

const lead = new RegExp(
  `^(?:(?:[-*+]|\\d{1,9}[.)])[${blank}]+)?(?:\\[[xX]\\][${blank}]+)?(?:#{1,6}[${blank}]+)?[${blank}*_${emoji}]*task[*_]{0,3}[${blank}]+`,
  'iu',
);
const tail = new RegExp(
  `(?<![${blank}:–—*_-])[*_]*[${blank}:–—][${blank}*_:–—${emoji}-]*` +
    `(?:(?:is|was)[${blank}*_]+(?:now[${blank}*_]+)?|has[${blank}*_]+(?:now[${blank}*_]+)?been[${blank}*_]+)?` +
    `(?:completed?|done)[${blank}*_.!…。！:;#–—${emoji}-]*$`,
  'iu',
);

/** Characters that agents type for one another; as many as before, so that places stay the same. */
const plain = (line: string): string => line.replace(/[\u2010\u2011]/g, '-').replace(/[\u00a0\u202f]/g, ' ');

/** Where `Task ` begins behind marks that may decorate it, or -1: cheap, because most lines say nothing. */
export function findTask(text: string, first: number, end: number): number {
  const last = Math.min(end, first + marksMax);
  for (let at = first; at < last; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 0x54 || code === 0x74) return /^ask[*_\s]$/i.test(text.slice(at + 1, at + 5)) ? at : -1;
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
  for (let step = 0; step < unwrapsMax && id !== task; step += 1) id = unwrapOnce(id) ?? id.replace(/^[*_]|[*_:]$/, '');
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
  const line = plain(text.slice(first, end)).trim();
  const from = lead.exec(line)?.[0];
  if (from === undefined) return undefined;
  const rest = line.slice(from.length);
  const to = tail.exec(rest);
  if (to === null) return undefined;
  const subject = rest.slice(0, to.index);
  const id = bareId(subject, plain(task));
  const around = `${from.replace(/^[-*+][ \t]/, '')} ${subject.replace(id, ' ')} ${to[0]}`;
  if (doubt.test(around) || !isEven(around, /\*+/g) || !isEven(around, /_+/g)) return undefined;
  if (id === plain(task)) return id === '' ? undefined : task;
  return looksLikeId(id) ? id : undefined;
}

// What takes a claim back: a later line with the id.

const never =
  /\b(?:not|no longer|never|reopen\w*|re-open\w*|t(?:ake|aking|ook) (?:\w+ ){0,3}back|retract\w*|withdraw\w*)\b|n['’]t\b|\btaken back\b/i;
const unfinished =
  /^[\s*_`\]:,–—-]*(?:(?:is|was|are|has|remains|was left|is still|still) )?(?:(?:incomplete|unfinished|partially|pending|in progress|blocked|failed)\b|(?:will be|should be|would be|cannot be|could not be) (?:complete|done|finished))/i;
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
  return never.test(clause) || never.test(after) || unfinished.test(after.replace(/[*_]/g, ''));
}

// What stands above: a line that announces is no statement, nor is what it announces.

const introCharsMax = 300;
const headingWordsMax = 3;
const marksAtEndMax = 8;
const condition = /\b(?:when|once|until|unless|if|would|cannot|can['’]t|example)\b/i;
const announces =
  /\b(?:next|to[- ]?do|still|remaining|open|pending|left|plan(?:ned)?|expected|format|template|say|write|print|reply|add|offen|noch|beispiel)\b/i;

/** A short heading ("Status:", "Ergebnis:") names what follows; a longer line announces it. */
function isHeading(line: string): boolean {
  const words = line.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word));
  return words.length <= headingWordsMax && !openBox.test(line) && !condition.test(line) && !announces.test(line);
}

/** Why what is announced does not count, in words. */
export const directlyUnder = 'directly under a line that ends in a colon';

export interface Above {
  readonly first: number;
  readonly end: number;
}

/**
 * Whether the line at `first` stands directly under a line that ends in a colon; a list also when one blank line lies between.
 * A condition ("When the tests pass, say:") holds at any distance.
 */
export function isAnnounced(text: string, above: Above, first: number, isList: boolean): boolean {
  let at = above.end - 1;
  while (at > above.first && above.end - at < marksAtEndMax && ' \t*_.'.includes(text.charAt(at))) at -= 1;
  const last = text.charAt(at);
  const isColon = last === ':' || last === '：';
  if (above.end === 0 || (!isColon && last !== ',')) return false;
  const between = text.slice(above.end, Math.min(first, above.end + introCharsMax));
  if (between.trim() !== '') return false;
  const line = text.slice(Math.max(above.first, at - introCharsMax), at);
  if (condition.test(line)) return true;
  const blanks = between.split(/\r\n|\r|\n/).length - 2;
  return isColon && blanks <= (isList ? 1 : 0) && !isHeading(line);
}

/** A line that goes on with the sentence above it makes that a statement of another kind. */
export const goesOn = (line: string): boolean =>
  /^(?:once|when|if|but|except|until|unless|after|as soon as|provided|pending|apart from|only)\b/.test(line);
