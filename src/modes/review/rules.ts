// Review rules: rounds over one document, which is the work itself (seed 001, part 3). What its reviewers answered, whether it is
// achieved, and if not, why.

import type { Event, EventOf } from '../../core/event.ts';
import { quoted } from '../../core/memory.ts';
import type { Expansion, ModeRules } from '../../core/mode.ts';
import { limitsOfOneTask, type Settings } from '../../core/settings.ts';
import type { ModeState, State } from '../../core/state.ts';
import { allTasks, findTask, type Task, type TaskSpec } from '../../core/task.ts';
import { type MergedIssue, mergeIssues, severityRank } from '../../messages/review.ts';
import { plural } from '../../text/format.ts';
import { oneLine, takeCharacters } from '../../text/text.ts';

/** What only a review is set to. */
interface OwnSettings {
  /** Who looks at the document in every round, by role. */
  readonly reviewers: readonly string[];
  /** Percent. */
  readonly targetConfidence: number;
  /** Only this part of the document, and the workflow that it belongs to. */
  readonly section?: string;
  readonly workflow?: string;
}

export interface ReviewSettings extends OwnSettings {
  readonly roundsMax: number;
}

export const reviewSettings = ({ own, rounds }: Settings): ReviewSettings => ({
  ...(own as OwnSettings),
  roundsMax: rounds ?? 1,
});

interface OwnFlags extends Partial<Omit<OwnSettings, 'reviewers'>> {
  readonly reviewer?: readonly string[];
}

const usualReviewers = ['adversarial', 'facilitator', 'elicitation'];

function own({ reviewer = [], targetConfidence = 95, section, workflow }: OwnFlags): OwnSettings {
  const reviewers = reviewer.length === 0 ? usualReviewers : [...new Set(reviewer)];
  return { reviewers, targetConfidence, section, workflow };
}

/** What this mode keeps in the state. */
interface ReviewState {
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

const ownState = ({ mode }: State): ReviewState | undefined => mode.own as ReviewState | undefined;

const issuesPerRoundMax = 300;
const wordingsMax = 9;
const namedMax = 5;

const noReview: ReviewState = { round: 0, confidences: {}, issues: [], leftOut: 0, foundBefore: 0 };

function nextRound(before: ReviewState, round: number, fixedBefore: number): ReviewState {
  const previousConfidence = lowestConfidence(before);
  return {
    ...noReview,
    round,
    fixedBefore,
    foundBefore: before.foundBefore + before.issues.length,
    initialConfidence: before.initialConfidence ?? previousConfidence,
    previousConfidence,
  };
}

type Answered = EventOf<'review.answered'>;

function withAnswer(current: ReviewState, role: string, { answer, seen }: Answered): ReviewState {
  const merged = mergeIssues(current.issues, answer.issues);
  const isFirst = Object.keys(current.confidences).length === 0;
  const same = isFirst || current.seen === seen ? seen : '';
  return {
    ...current,
    seen: same ?? current.seen,
    confidences: { ...current.confidences, [role]: answer.confidence },
    issues: merged.slice(0, issuesPerRoundMax).map(one => ({ ...one, also: one.also.slice(0, wordingsMax) })),
    leftOut: current.leftOut + Math.max(0, merged.length - issuesPerRoundMax),
  };
}

/** The fold of `review.answered`. */
function reviewAnswered(state: State, event: Answered): ReviewState {
  const before = ownState(state) ?? noReview;
  const { round, role } = findTask(state.tasks, event.task)?.spec ?? {};
  // Others have looked at the document since: what a late reviewer of an old round saw may be mended.
  if (round === undefined || role === undefined || round < before.round) return before;
  const fixed = fixedCount(reviewStanding(state).fixes);
  return withAnswer(round === before.round ? before : nextRound(before, round, fixed), role, event);
}

/** How the review came to its good end, with its numbers. Undefined: it has not. */
function reviewAchievement(state: State): string | undefined {
  const review = reviewSettings(state.settings);
  const standing = reviewStanding(state);
  if (!isAchieved(standing, review)) return undefined;
  const { round, finders, fixes, currentConfidence = 0 } = standing;
  const absent = finders.filter(task => task.status === 'skipped');
  const fixed = fixedCount(fixes);
  const left = fixes.length - fixed;
  return [
    `review round ${round} found nothing, confidence ${currentConfidence} % (${review.targetConfidence} % wanted)`,
    absent.length > 0 && `${plural(absent.length, 'reviewer')} left out ${named(absent)}`,
    fixes.length > 0 && `${fixed} of ${plural(fixes.length, 'issue')} fixed`,
    left > 0 && `${left} left out`,
  ]
    .filter(Boolean)
    .join('; ');
}

function named(tasks: readonly Task[]): string {
  const ids = tasks.slice(0, namedMax).map(({ id }) => id);
  return `(${ids.join(', ')}${tasks.length > ids.length ? ', …' : ''})`;
}

function aboutIssues({ round, answers, fixes }: ReviewStanding): readonly (string | false)[] {
  const found = answers?.issues.length ?? 0;
  const ofRound = fixes.filter(task => task.spec.round === round);
  const fixed = fixedCount(ofRound);
  const leftOut = ofRound.filter(task => task.status === 'skipped').length;
  const fixedOfOthers = fixedCount(fixes) - fixed;
  const blocked = fixes.filter(task => task.status === 'blocked');
  const later = fixedOfOthers - (answers?.fixedBefore ?? fixedOfOthers);
  const beyond = answers?.leftOut ? `, ${answers.leftOut} more were too many to take` : '';
  return [
    found > 0 &&
      `it found ${plural(found, 'issue')}: ${fixed} fixed and not reviewed again${leftOut > 0 ? `, ${leftOut} left out` : ''}${beyond}`,
    later > 0 && `${plural(later, 'older issue')} fixed since and not reviewed again`,
    blocked.length > 0 && `${plural(blocked.length, 'issue')} could not be fixed ${named(blocked)}`,
  ];
}

/** Fixes explain that the document is another one than its reviewers saw. */
const isMendedSince = ({ fixes, answers }: ReviewStanding): boolean => fixedCount(fixes) > (answers?.fixedBefore ?? 0);

/** Who of the reviewers gave no answer. */
function aboutReviewers({ finders, answers }: ReviewStanding): string | false {
  if (answers === undefined) {
    const none =
      finders.length === 1 ? 'its reviewer did not answer' : `none of its ${finders.length} reviewers answered`;
    return `${none} ${named(finders)}`;
  }
  const failed = finders.filter(task => task.status === 'blocked');
  return (
    failed.length > 0 && `${failed.length} of ${plural(finders.length, 'reviewer')} did not answer ${named(failed)}`
  );
}

/** Something is blocked that a person may try again or leave out: that is a question, not an end. */
export function isReviewLeftToPeople(state: State): boolean {
  const { finders, fixes } = reviewStanding(state);
  return [...finders, ...fixes].some(task => task.status === 'blocked');
}

/** Why the review is not achieved although nothing is left to do, with its numbers; undefined while something is. */
export function reviewShortfall(state: State): string | undefined {
  if (!state.document.isLoaded) return undefined;
  const review = reviewSettings(state.settings);
  const standing = reviewStanding(state);
  const { round, answers, currentConfidence = 100 } = standing;
  const isOver = round > 0 && standing.isQuiet && standing.waiting.length === 0;
  if (!isOver || isNextRoundDue(standing, review) || isAchieved(standing, review)) return undefined;
  const { targetConfidence, roundsMax } = review;
  const isUnsure = answers !== undefined && currentConfidence < targetConfidence;
  const parts = [
    aboutReviewers(standing),
    ...aboutIssues(standing),
    answers !== undefined &&
      !standing.isSeen &&
      !isMendedSince(standing) &&
      'the document was edited since, and not reviewed again',
    isUnsure && `confidence ${currentConfidence} %, ${targetConfidence} % wanted (--target-confidence)`,
  ].filter(Boolean);
  return `review round ${round} of ${roundsMax} (--rounds): ${parts.join('; ')}`;
}

// Where a review stands, from its tasks and its reviewers' answers alone: so the counts are right after every crash.

interface ReviewStanding {
  /** The newest one that has tasks; 0 before the first. */
  readonly round: number;
  /** Its reviewers. */
  readonly finders: readonly Task[];
  /** Nobody of them is still to answer. */
  readonly isLookedAt: boolean;
  /** No task of any round is still to be worked on; a person may have reopened an old one. */
  readonly isQuiet: boolean;
  /** The tasks that mend issues, of all rounds. */
  readonly fixes: readonly Task[];
  /** Issues of this round that have no task yet. */
  readonly waiting: readonly { readonly id: string; readonly issue: MergedIssue }[];
  /** All of this round looked at the document as it is now. */
  readonly isSeen: boolean;
  /** The answers of this round; undefined before the first. */
  readonly answers?: ReviewState;
  /** Rounds in which all reviewers are through and at least one has answered. */
  readonly roundsComplete: number;
  readonly initialConfidence?: number;
  readonly currentConfidence?: number;
}

/** Nobody works on it any more, or will without a person's word. */
const isSettled = ({ status }: Task): boolean => status === 'done' || status === 'skipped' || status === 'blocked';

function isComplete(finders: readonly Task[]): boolean {
  return finders.every(isSettled) && finders.some(task => task.status === 'done');
}

/** A document is as good as its strictest reader says: an average would hide the one who saw the flaw. */
function lowestConfidence({ confidences }: ReviewState): number | undefined {
  const all = Object.values(confidences);
  return all.length === 0 ? undefined : Math.min(...all);
}

/** The id of the task that mends the issue at this place of the list. */
function fixTaskId({ foundBefore }: ReviewState, index: number): string {
  return `I${foundBefore + index + 1}`;
}

function confidences(review: ReviewState | undefined, isWhole: boolean): Partial<ReviewStanding> {
  if (review === undefined) return {};
  const lowest = isWhole ? lowestConfidence(review) : undefined;
  return {
    initialConfidence: review.initialConfidence ?? lowest,
    currentConfidence: lowest ?? review.previousConfidence,
  };
}

const fixedCount = (fixes: readonly Task[]): number => fixes.filter(task => task.status === 'done').length;

export function reviewStanding(state: State): ReviewStanding {
  const { tasks, document } = state;
  const review = ownState(state);
  const rounds = new Map<number, Task[]>();
  const fixes: Task[] = [];
  for (const task of allTasks(tasks)) {
    if (task.spec.round === undefined) continue;
    if (task.spec.completion !== 'findings') fixes.push(task);
    else rounds.set(task.spec.round, [...(rounds.get(task.spec.round) ?? []), task]);
  }
  const round = Math.max(0, ...rounds.keys());
  const finders = rounds.get(round) ?? [];
  const answers = review?.round === round ? review : undefined;
  const waiting = (answers?.issues ?? [])
    .map((issue, index) => ({ id: answers === undefined ? '' : fixTaskId(answers, index), issue }))
    .filter(({ id }) => findTask(tasks, id) === undefined);
  return {
    round,
    finders,
    isLookedAt: finders.every(isSettled),
    isQuiet: [...rounds.values(), fixes].every(one => one.every(isSettled)),
    fixes,
    waiting,
    isSeen: answers?.seen === undefined || answers.seen === document.hash,
    answers,
    roundsComplete: [...rounds.values()].filter(isComplete).length,
    ...confidences(review, review !== undefined && isComplete(rounds.get(review.round) ?? [])),
  };
}

/**
 * The newest round has nothing more to say about the document as it is now. A reviewer that a person skipped is left out on
 * purpose; one that failed has not looked.
 */
function isContent(standing: ReviewStanding, { targetConfidence }: ReviewSettings): boolean {
  const { answers, finders, fixes, isQuiet, currentConfidence } = standing;
  return (
    answers !== undefined &&
    isQuiet &&
    standing.isSeen &&
    finders.every(task => task.status !== 'blocked') &&
    answers.issues.length === 0 &&
    (answers.fixedBefore ?? fixedCount(fixes)) >= fixedCount(fixes) &&
    currentConfidence !== undefined &&
    currentConfidence >= targetConfidence
  );
}

/** No earlier issue is left either. */
function isAchieved(standing: ReviewStanding, review: ReviewSettings): boolean {
  return isContent(standing, review) && standing.fixes.every(task => task.status !== 'blocked');
}

/** Where nobody answered, the same reviewers would not answer the next time either; who is content would say it again. */
function isNextRoundDue(standing: ReviewStanding, review: ReviewSettings): boolean {
  const { answers, isQuiet, waiting, round } = standing;
  const isOver = answers !== undefined && waiting.length === 0 && isQuiet;
  return isOver && round < review.roundsMax && !isContent(standing, review);
}

// How a review grows: reviewers look, every issue becomes a task, and a new round looks again until nothing is left to say.

const placeCharsMax = 40;
const titleCharsMax = 120;

const open = { dependsOn: [], done: false, skipped: false } as const;

/** A look of a round, as below, or one of its issues. */
export function mayFind(id: string, settings: Settings): boolean {
  const { reviewers, roundsMax } = reviewSettings(settings);
  const [, round, role = ''] = /^R([1-9]\d*)-(.+)$/.exec(id) ?? [];
  return /^I[1-9]\d*$/.test(id) || (Number(round) <= roundsMax && reviewers.includes(role));
}

function findTasks({ reviewers, roundsMax }: ReviewSettings, round: number): readonly TaskSpec[] {
  return [...new Set(reviewers)].map(role => ({
    ...open,
    id: `R${round}-${role}`,
    title: `Review as ${role}, round ${round} of ${roundsMax}`,
    description: 'Look at the document, change nothing, and say what is wrong with it.',
    criteria: ['The last message holds one <review> block by the schema'],
    readOnly: true,
    completion: 'findings',
    round,
    role,
  }));
}

/** What the reviewers said is quoted: whoever mends it reads it as data. */
function fixTask(id: string, { issue, severity, place, confidence, also }: MergedIssue, round: number): TaskSpec {
  const first = (issue.split('\n')[0] ?? '').trim();
  const where = oneLine(place, placeCharsMax);
  const head = `${severity}${where === '' ? '' : ` (${where})`}: `;
  const title = takeCharacters(first, titleCharsMax);
  const others = also.length === 0 ? [] : ['', 'Other reviewers put it so:', ...also.map(quoted)];
  return {
    ...open,
    id,
    title: `${head}${title}${title.length < first.length ? '…' : ''}`,
    description: [
      `Severity: ${severity}; a reviewer of round ${round} is ${confidence} % sure that it is one.`,
      '',
      'The place:',
      quoted(place === '' ? '(the whole document)' : place),
      '',
      'The issue:',
      quoted(issue),
      ...others,
    ].join('\n'),
    criteria: ['The issue does not hold any more', 'The rest of the document says what it said before'],
    round,
    role: 'fixer',
  };
}

/** What the state after a decision needs next: a round of reviewers, tasks for what they found, or nothing. */
function tasksDue(state: State): readonly TaskSpec[] {
  if (!state.document.isLoaded) return [];
  const review = reviewSettings(state.settings);
  const standing = reviewStanding(state);
  if (standing.round === 0) return findTasks(review, 1);
  if (!standing.isLookedAt) return [];
  if (standing.waiting.length > 0) {
    return [...standing.waiting]
      .sort((a, b) => severityRank(a.issue) - severityRank(b.issue))
      .map(({ id, issue }) => fixTask(id, issue, standing.round));
  }
  return isNextRoundDue(standing, review) ? findTasks(review, standing.round + 1) : [];
}

function expand(state: State): Expansion | undefined {
  const tasks = tasksDue(state);
  const [first] = tasks;
  if (first === undefined) return undefined;
  const round = `round ${first.round ?? 1}`;
  const isRound = first.completion === 'findings';
  return { tasks, because: isRound ? `${round} of the review begins` : `what ${round} of the review found` };
}

function evolve(before: ModeState, event: Event, state: State): ModeState {
  const answered = event.type === 'review.answered' ? reviewAnswered(state, event) : before.own;
  const now = { ...state, mode: { own: answered } };
  const exhausted = isReviewLeftToPeople(now) ? undefined : reviewShortfall(now);
  return { own: answered, achieved: reviewAchievement(now), exhausted };
}

export const reviewRules: ModeRules = {
  flags: ['maxAttempts', 'haltOnMaxAttempts', 'rounds', 'targetConfidence', 'reviewer', 'section', 'workflow'],
  // Three reviewers who answer nonsense three times are nine iterations, and five failures are a question.
  limits: {
    ...limitsOfOneTask,
    iterationsMax: 60,
    durationMsMax: 30 * 60_000,
    attemptsPerTaskMax: 3,
    noProgressIterations: 12,
  },
  policy: {
    subject: 'document',
    claimsBy: 'review-tag',
    achievedBy: 'rounds',
    onErrors: 'ask',
    restoreKeepsDocument: false,
    setsAside: false,
  },
  evolve,
  expand,
  settings: { promise: 'ALL_ISSUES_RESOLVED', rounds: 3 },
  own,
};
