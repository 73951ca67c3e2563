// Reads a reviewer's answer from its final message: the last review block, held to the schema and to bounds.

import { type Fields, isFields } from '../text/fields.ts';
import { plural } from '../text/format.ts';
import { similarity } from '../text/similarity.ts';
import { oneLine, stripControls, takeCharacters } from '../text/text.ts';
import { parseObject } from './blocks.ts';
import { seeker, walkLines } from './lines.ts';

export type Severity = 'critical' | 'high' | 'medium' | 'low';

export interface ReviewIssue {
  readonly issue: string;
  readonly severity: Severity;
  /** Where in the document: a heading, a line, a quote. */
  readonly place: string;
  /** How sure the reviewer is that this is one, 0 to 100. */
  readonly confidence: number;
}

export interface ReviewAnswer {
  /** How sure the reviewer is that the document is good as it stands, 0 to 100. */
  readonly confidence: number;
  readonly issues: readonly ReviewIssue[];
}

/** One issue that several reviewers may have found: the first one's words, and the others' beside them. */
export interface MergedIssue extends ReviewIssue {
  readonly also: readonly string[];
}

const tag = '<review>';
const blockCharsMax = 262_144;
const issuesMax = 100;
const issueCharsMax = 500;
const placeCharsMax = 200;

export type ReviewReading =
  /** `leftOut`: what of the block was not taken, and why, as the end of a sentence. */
  { readonly answer: ReviewAnswer; readonly leftOut?: string } | { readonly problem: string };

/** The body of the last block that begins a line of its own words; a string says why there is none. */
function lastBlock(text: string): { readonly body: string } | string {
  const nextClose = seeker(text, '</review>');
  let last: { readonly body: string } | string | undefined;
  walkLines(text, first => {
    if (!text.startsWith(tag, first)) return -1;
    const start = first + tag.length;
    const close = nextClose(start);
    if (close === Number.POSITIVE_INFINITY) last = 'The <review> block is not closed by </review>.';
    else if (close - start > blockCharsMax) last = `The <review> block is longer than ${blockCharsMax} characters.`;
    else {
      last = { body: text.slice(start, close) };
      return close;
    }
    return -1;
  });
  if (last !== undefined) return last;
  return text.includes(tag)
    ? 'The <review> block stands in code, in a quotation or in the middle of a line; write it as plain text, its tag at the start of a line.'
    : 'There is no <review> block in the last message.';
}

/** Percent, rounded down. A fraction such as 0.95 is somebody's other scale, so it is not guessed at. */
function percent(value: unknown): number | undefined {
  if (typeof value !== 'number' || !(value >= 0 && value <= 100)) return undefined;
  return value > 0 && value < 1 ? undefined : Math.floor(value);
}

const unseen =
  /[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]|\p{Cs}/gu;

/** What a reader could not see is written out: the words go into prompts, files and terminals. */
function plain(text: string): string {
  return stripControls(text)
    .replace(unseen, character => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`)
    .trim();
}

interface Taken {
  readonly issue: ReviewIssue;
  readonly isCut: boolean;
}

/** Undefined: it is not by the schema. */
function takeIssue(entry: unknown): Taken | undefined {
  if (!isFields(entry) || typeof entry['issue'] !== 'string' || typeof entry['place'] !== 'string') return undefined;
  const confidence = percent(entry['confidence']);
  const severity = severities.find(known => known === String(entry['severity']).trim().toLowerCase());
  const issue = plain(entry['issue']);
  const place = plain(entry['place']).replace(/\s+/g, ' ');
  if (confidence === undefined || severity === undefined || issue === '') return undefined;
  const isCut = issue.length > issueCharsMax || place.length > placeCharsMax;
  const texts = { issue: takeCharacters(issue, issueCharsMax), place: takeCharacters(place, placeCharsMax) };
  return { issue: { ...texts, severity, confidence }, isCut };
}

const schema =
  'an issue is {"issue": text, "severity": critical, high, medium or low, "place": text, "confidence": 0 to 100}';

/** Keys that we do not know are ignored. An answer whose issues are all unreadable is no answer: it would pass for praise. */
function readAnswer(value: Fields): ReviewReading {
  const confidence = percent(value['confidence']);
  if (confidence === undefined) return { problem: 'The "confidence" of the review must be a number from 0 to 100.' };
  const given: unknown = value['issues'];
  if (!Array.isArray(given)) return { problem: 'The "issues" of the review must be a list, [] when there are none.' };
  const read = given.slice(0, issuesMax).map(takeIssue);
  const taken = read.filter(one => one !== undefined);
  const wrong = read.length - taken.length;
  if (taken.length === 0 && wrong > 0)
    return { problem: `The review lists ${plural(given.length, 'issue')} and none is by the schema: ${schema}.` };
  const cut = taken.filter(one => one.isCut).length;
  const beyond = given.length - read.length;
  const notTaken = [
    wrong > 0 && `${wrong} ${wrong === 1 ? 'entry' : 'entries'} not by the schema (${schema})`,
    beyond > 0 && `${plural(beyond, 'issue')} beyond the first ${issuesMax}`,
    cut > 0 && `the end of ${plural(cut, 'text')} longer than ${issueCharsMax} characters`,
  ].filter(Boolean);
  return {
    answer: { confidence, issues: taken.map(one => one.issue) },
    leftOut: notTaken.length === 0 ? undefined : `not taken: ${notTaken.join('; ')}`,
  };
}

/** Linear in the message's length, whatever it contains; never throws. */
export function readReview(message: string): ReviewReading {
  const block = lastBlock(message);
  if (typeof block === 'string') return { problem: block };
  const value = parseObject(block.body, tag);
  return value === undefined
    ? { problem: 'There is no JSON object between <review> and </review>.' }
    : readAnswer(value);
}

// Says which issues of several reviewers are one and the same, without losing anybody's words.

/** Reviewers word the same thing differently; a wrong merge costs little, because every wording is kept. */
const ratioMin = 0.8;
/** An issue says in its first words what it is; comparing all of 300 long ones would take seconds. */
const comparedCharsMax = 200;
/** Below this, one changed word is a tenth of the text: only equality counts. */
const comparedCharsMin = 20;

const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

/** The most severe first. */
export const severityRank = ({ severity }: ReviewIssue): number => severities.indexOf(severity);

/** `## Goals` and `goals.` are one place; `line 3` and `line 4` are two. */
function placeOf({ place }: ReviewIssue): string {
  return place
    .toLowerCase()
    .replace(/[\s"'`*_#>§]+/g, ' ')
    .replace(/[.:,;]+(?= |$)/g, '')
    .trim();
}

interface Print {
  readonly place: string;
  readonly words: string;
  /** Texts that differ only in a number are about different things. */
  readonly numbers: string;
}

function printOf(one: ReviewIssue): Print {
  return {
    place: placeOf(one),
    words: oneLine(one.issue, comparedCharsMax).toLowerCase(),
    numbers: (one.issue.match(/\p{Nd}+/gu) ?? []).join(' '),
  };
}

function isAlike(a: Print, b: Print): boolean {
  if (a.place !== b.place || a.numbers !== b.numbers || a.words === '') return false;
  if (Math.min(a.words.length, b.words.length) < comparedCharsMin) return a.words === b.words;
  return similarity(a.words, b.words, ratioMin) > 0;
}

function joined(known: MergedIssue, found: ReviewIssue): MergedIssue {
  const isNew = known.issue !== found.issue && !known.also.includes(found.issue);
  return {
    ...known,
    severity: severityRank(found) < severityRank(known) ? found.severity : known.severity,
    confidence: Math.max(known.confidence, found.confidence),
    also: isNew ? [...known.also, found.issue] : known.also,
  };
}

/**
 * In the order in which they were first said, so that merging step by step gives what merging all at once does. Of one that
 * was found several times the highest severity and confidence stay. What is merged already changes nothing.
 */
export function mergeIssues(known: readonly MergedIssue[], found: readonly ReviewIssue[]): readonly MergedIssue[] {
  const merged = [...known];
  const prints = known.map(printOf);
  for (const one of found) {
    const print = printOf(one);
    const says = (other: MergedIssue, at: number): boolean =>
      prints[at]?.place === print.place && (other.issue === one.issue || other.also.includes(one.issue));
    const said = merged.findIndex(says);
    const at = said >= 0 ? said : prints.findIndex(other => isAlike(other, print));
    const same = merged[at];
    if (same !== undefined) merged[at] = joined(same, one);
    else {
      const { issue, severity, place, confidence } = one;
      merged.push({ issue, severity, place, confidence, also: [] });
      prints.push(print);
    }
  }
  return merged;
}
