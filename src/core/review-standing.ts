// Where a review stands, from its tasks and its reviewers' answers alone: so the counts are right after every crash.
import type { ReviewSettings, Settings } from './settings.ts';
import type { MergedIssue, ReviewState } from './review.ts';
import { allTasks, findTask, type Task, type TaskTable } from './task.ts';

/** What of the loop's state a review is made of. */
export interface Reviewing {
  readonly settings: Settings;
  readonly loaded: boolean;
  readonly tasks: TaskTable;
  readonly review?: ReviewState;
  readonly documentHash?: string;
}

export interface ReviewStanding {
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
export function lowestConfidence({ confidences }: ReviewState): number | undefined {
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
  const current = lowest ?? review.previousConfidence;
  const initial = review.initialConfidence ?? lowest;
  return {
    initialConfidence: initial,
    currentConfidence: current,
  };
}

export const fixedCount = (fixes: readonly Task[]): number => fixes.filter(task => task.status === 'done').length;

export function reviewStanding({
  tasks,
  review,
  documentHash,
}: Pick<Reviewing, 'tasks' | 'review' | 'documentHash'>): ReviewStanding {
  const rounds = new Map<number, Task[]>();
  const fixes: Task[] = [];
  for (const task of allTasks(tasks)) {
    if (task.round === undefined) continue;
    if (task.closing !== 'findings') fixes.push(task);
    else rounds.set(task.round, [...(rounds.get(task.round) ?? []), task]);
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
    isSeen: answers?.seen === undefined || answers.seen === documentHash,
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

export function isAchieved(standing: ReviewStanding, review: ReviewSettings): boolean {
  return isContent(standing, review) && standing.fixes.every(task => task.status !== 'blocked');
}

/** A person could still do something about what this round or nobody could do. */
export function isLeftToPeople({ finders, fixes }: ReviewStanding): boolean {
  return [...finders, ...fixes].some(task => task.status === 'blocked');
}

/** Where nobody answered, the same reviewers would not answer the next time either; who is content would say it again. */
export function isNextRoundDue(standing: ReviewStanding, review: ReviewSettings): boolean {
  const { answers, isQuiet, waiting, round } = standing;
  const isOver = answers !== undefined && waiting.length === 0 && isQuiet;
  return isOver && round < review.roundsMax && !isContent(standing, review);
}
