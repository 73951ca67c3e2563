// Says which issues of several reviewers are one and the same, without losing anybody's words.
import { normalise } from './repetition.ts';
import type { MergedIssue, ReviewIssue, Severity } from '../core/review.ts';
import { similarity } from '../text/similarity.ts';

/** Reviewers word the same thing differently; a wrong merge costs little, because every wording is kept. */
const ratioMin = 0.8;
/** Below this, one changed word is most of the text: only equality counts. */
const comparableCharsMin = 20;
/** An issue says in its first words what it is; comparing all of 300 long ones would take seconds. */
const comparedCharsMax = 200;

export const severities: readonly Severity[] = ['critical', 'high', 'medium', 'low'];

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
    words: normalise(one.issue).slice(0, comparedCharsMax),
    numbers: (one.issue.match(/\p{Nd}+/gu) ?? []).join(' '),
  };
}

function isAlike(a: Print, b: Print): boolean {
  if (a.place !== b.place || a.numbers !== b.numbers) return false;
  if (Math.min(a.words.length, b.words.length) < comparableCharsMin) return a.words === b.words && a.words !== '';
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
