// A review as the ledger tells it: what its reviewers answered, whether it is achieved, and if not, why.
import { plural } from '../text/format.ts';
import { mergeIssues } from '../messages/review-merge.ts';
import {
  fixedCount,
  isAchieved,
  isLeftToPeople,
  isNextRoundDue,
  lowestConfidence,
  type Reviewing,
  type ReviewStanding,
  reviewStanding,
} from './review-standing.ts';
import { findTask, type Task } from './task.ts';

export { readReview } from '../messages/review.ts';

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

export interface ReviewState {
  /** The newest round that a reviewer has answered in. */
  readonly round: number;
  /** What each reviewer of this round said about the whole, by role. */
  readonly confidences: Readonly<Record<string, number>>;
  /** What this round found, in the order in which it was first said. */
  readonly issues: readonly MergedIssue[];
  /** Issues of this round beyond the bound. */
  readonly leftOut: number;
  /** Issues of all rounds before: the first of this round has the next number. */
  readonly foundBefore: number;
  /** The lowest confidence of the first round, once another has begun. */
  readonly initialConfidence?: number;
  /** The lowest confidence of the round before this one. */
  readonly previousConfidence?: number;
  /** The document that all of this round looked at; empty: it was changed while they did. */
  readonly seen?: string;
  /** Issues of earlier rounds that were mended when this round began to look; one mended later was seen by nobody. */
  readonly fixedBefore?: number;
}

const issuesPerRoundMax = 300;
const wordingsMax = 9;
const namedMax = 5;

const noReview: ReviewState = { round: 0, confidences: {}, issues: [], leftOut: 0, foundBefore: 0 };

function nextRound(before: ReviewState, round: number, fixedBefore: number): ReviewState {
  const previous = lowestConfidence(before);
  const initial = before.initialConfidence ?? previous;
  return {
    ...noReview,
    round,
    fixedBefore,
    foundBefore: before.foundBefore + before.issues.length,
    initialConfidence: initial,
    previousConfidence: previous,
  };
}

function withAnswer(
  before: ReviewState,
  { round, role, fixed }: { readonly round: number; readonly role: string; readonly fixed: number },
  { answer, seen }: { readonly answer: ReviewAnswer; readonly seen?: string },
): ReviewState {
  // Others have looked at the document since: what a late reviewer of an old round saw may be mended.
  if (round < before.round) return before;
  const current = round === before.round ? before : nextRound(before, round, fixed);
  const merged = mergeIssues(current.issues, answer.issues);
  const isFirst = Object.keys(current.confidences).length === 0;
  const same = isFirst || current.seen === seen ? seen : '';
  return {
    ...current,
    seen: same ?? current.seen,
    confidences: { ...current.confidences, [role]: answer.confidence },
    issues: merged
      .slice(0, issuesPerRoundMax)
      .map(one => (one.also.length > wordingsMax ? { ...one, also: one.also.slice(0, wordingsMax) } : one)),
    leftOut: current.leftOut + Math.max(0, merged.length - issuesPerRoundMax),
  };
}

/** The fold of `review.answered`. */
export function reviewAnswered(
  state: Pick<Reviewing, 'tasks' | 'review'>,
  event: { readonly task: string; readonly answer: ReviewAnswer; readonly seen?: string },
): ReviewState {
  const before = state.review ?? noReview;
  const { round, role } = findTask(state.tasks, event.task) ?? {};
  if (round === undefined || role === undefined) return before;
  return withAnswer(before, { round, role, fixed: fixedCount(reviewStanding(state).fixes) }, event);
}

/** The newest round is complete, found nothing, and is as sure as asked; and no earlier issue is left. True without a review. */
export function isReviewAchieved(state: Reviewing): boolean {
  const { review } = state.settings;
  return review === null || isAchieved(reviewStanding(state), review);
}

/** How the review came to its good end, with its numbers. Undefined: it has not, or there is none. */
export function reviewAchievement(state: Reviewing): string | undefined {
  const { review } = state.settings;
  if (review === null) return undefined;
  const standing = reviewStanding(state);
  if (!isAchieved(standing, review)) return undefined;
  const { round, finders, fixes, currentConfidence = 0 } = standing;
  const absent = finders.filter(task => task.status === 'skipped');
  const fixed = fixedCount(fixes);
  const left = fixes.length - fixed;
  const parts = [
    `review round ${round} found nothing, confidence ${currentConfidence} of ${review.targetConfidence}`,
    ...(absent.length === 0 ? [] : [`${plural(absent.length, 'reviewer')} left out ${named(absent)}`]),
    ...(fixes.length === 0 ? [] : [`${fixed} of ${plural(fixes.length, 'issue')} fixed`]),
    ...(left === 0 ? [] : [`${left} left out`]),
  ];
  return parts.join('; ');
}

function named(tasks: readonly Task[]): string {
  const ids = tasks.slice(0, namedMax).map(({ id }) => id);
  return `(${ids.join(', ')}${tasks.length > ids.length ? ', …' : ''})`;
}

function aboutIssues({ round, answers, fixes }: ReviewStanding): readonly string[] {
  const found = answers?.issues.length ?? 0;
  const fixed = fixes.filter(task => task.round === round && task.status === 'done').length;
  const blocked = fixes.filter(task => task.status === 'blocked');
  const later = fixedCount(fixes) - fixed - (answers?.fixedBefore ?? fixedCount(fixes) - fixed);
  const beyond =
    answers === undefined || answers.leftOut === 0 ? '' : `, ${answers.leftOut} more were too many to take`;
  return [
    ...(found === 0 ? [] : [`it found ${plural(found, 'issue')}: ${fixed} fixed and not reviewed again${beyond}`]),
    ...(later <= 0 ? [] : [`${plural(later, 'older issue')} fixed since and not reviewed again`]),
    ...(blocked.length === 0 ? [] : [`${plural(blocked.length, 'issue')} could not be fixed ${named(blocked)}`]),
  ];
}

/** Something is parked that a person may try again or leave out: that is a question, not an end. */
export function isReviewLeftToPeople(state: Reviewing): boolean {
  return state.settings.review !== null && isLeftToPeople(reviewStanding(state));
}

/** Why the review is not achieved although nothing is left to do, with its numbers; undefined while something is. */
export function reviewShortfall(state: Reviewing): string | undefined {
  const { review } = state.settings;
  if (review === null || !state.loaded) return undefined;
  const standing = reviewStanding(state);
  const { round, finders, answers, currentConfidence } = standing;
  const isOver = round > 0 && standing.isQuiet && standing.waiting.length === 0;
  if (!isOver || isNextRoundDue(standing, review) || isAchieved(standing, review)) return undefined;
  const failed = finders.filter(task => task.status === 'blocked');
  const { targetConfidence, roundsMax } = review;
  const parts = [
    ...(answers === undefined
      ? [
          `${finders.length === 1 ? 'its reviewer did not answer' : `none of its ${finders.length} reviewers answered`} ${named(finders)}`,
        ]
      : failed.length === 0
        ? []
        : [`${failed.length} of ${plural(finders.length, 'reviewer')} did not answer ${named(failed)}`]),
    ...aboutIssues(standing),
    ...(answers === undefined || standing.isSeen ? [] : ['the document was edited since, and not reviewed again']),
    ...(answers === undefined || currentConfidence === undefined || currentConfidence >= targetConfidence
      ? []
      : [`confidence ${currentConfidence} of ${targetConfidence} (--target-confidence)`]),
  ];
  return `review round ${round} of ${roundsMax} (--rounds): ${parts.join('; ')}`;
}
