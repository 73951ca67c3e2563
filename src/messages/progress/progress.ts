// The progress of a task: one pure function over its last iterations, what each said and left; the first rule that holds names what is wrong.
import { hasCount, hasFallen } from './counts.ts';
import { areOfPaper, bringsNews, circles, isAmong, withoutNumbers } from './words.ts';

/** One iteration of a task. All texts are normalised; `undefined`: not known. */
export interface Step {
  readonly said: string;
  readonly error?: string | undefined;
  /** The same id: the same files. */
  readonly tree?: string | undefined;
  /** What a check printed that refused its claim. */
  readonly check?: string | undefined;
  /** What its report calls completed. */
  readonly report?: string | undefined;
  /** A task was closed by it. */
  readonly closed?: boolean | undefined;
}

export interface Repetition {
  readonly kind: 'similar' | 'oscillation' | 'same-error' | 'churn';
  readonly detail: string;
}

/** `asks`: the next prompt was told, and it did not help. */
export interface Standstill extends Repetition {
  readonly asks: boolean;
}

const windowSteps = 16;

/** After so many iterations in a row the next prompt is told, then a person is asked. */
export const patience = {
  /** The same error. */
  error: { told: 2, asks: 3 },
  /** Files that were there before, and none that are new. */
  returns: { told: 1, asks: 2 },
  /** Nothing new. */
  barren: { told: 1, asks: 3 },
  /** The same files, and the same answer of the check. */
  refused: { told: 2, asks: 3 },
  /** Other files, the same answer of the check, and words that name nothing new. */
  effectless: { told: 3, asks: 5 },
  /** Other files, and nothing to show for it: words that say little, or a check that stays as it is. */
  churn: { told: 8, asks: 9 },
  /** The same, with words that tell of something. */
  tellingChurn: { told: 8, asks: 15 },
} as const;
interface Span {
  readonly steps: number;
  /** How many of them may name a number, a path or an identifier that is new. */
  readonly additions: number;
}
/** The same files, and words that circle round one thing. */
const circlesTell: readonly Span[] = [
  { steps: 2, additions: 1 },
  { steps: 3, additions: 2 },
];
const circlesAsk: readonly Span[] = [
  { steps: 3, additions: 0 },
  { steps: 4, additions: 2 },
];
/** Nothing new in so many of the last six is asked about as well. */
const barrenOf = { count: 4, of: 6 } as const;

// What an iteration brought, beside all before it.

interface Judged {
  readonly step: Step;
  /** Fewer failures, another answer of the check, a new item of the report. */
  readonly moved: boolean;
  /** Fewer failures, and not with files that stayed as they were. */
  readonly fell: boolean;
  /** Its files are those of the iteration before. */
  readonly idle: boolean;
  /** They are those of an earlier one. */
  readonly returned: boolean;
  /** They are new. */
  readonly changed: boolean;
  /** The check says what it said before. */
  readonly refused: boolean;
  readonly news: boolean;
  readonly barren: boolean;
}

const known = (texts: readonly (string | undefined)[]): readonly string[] =>
  texts.filter(text => text !== undefined && text !== '') as readonly string[];

/** What failed without a word has its error to say. */
const wordsIn = ({ said, error = '' }: Step): string => (said === '' ? error : said);

const wordsAndError = ({ said, error = '' }: Step): string => `${said} ${error}`.trim();

/** Fewer failures, by its words or by the check. */
const hasFewer = ({ said, check = '' }: Step, before: readonly Step[], isIdle: boolean, isRefused: boolean): boolean =>
  hasFallen(said, known(before.map(one => one.said)), !isRefused) ||
  (!isIdle && hasFallen(check, known(before.map(one => one.check))));

/** The check prints what it never printed, and no numbers say whether that is better. */
function hasOtherAnswer({ check = '' }: Step, before: readonly Step[]): boolean {
  const checks = known(before.map(one => one.check));
  return checks.length > 0 && check !== '' && !hasCount(check) && !checks.includes(check);
}

/** A paraphrase of the report is no news. */
const hasNewReport = ({ report = '' }: Step, before: readonly Step[]): boolean =>
  bringsNews(report, known(before.map(one => one.report)), false, 1);

/** An error's numbers differ from run to run, unless the files differ. */
function isNews(step: Step, before: readonly Step[], isIdle: boolean): boolean {
  const [said, texts] = [wordsIn(step), known(before.map(wordsIn))];
  if (!isIdle) return bringsNews(withoutNumbers(said), texts, false, 1);
  return bringsNews(step.said === '' ? withoutNumbers(said) : said, texts, true);
}

/** Its files: those of the iteration before, of an earlier one, or new. */
function filesOf({ tree }: Step, before: readonly Step[]): 'unknown' | 'idle' | 'back' | 'new' {
  if (tree === undefined) return 'unknown';
  if (tree === before.at(-1)?.tree) return 'idle';
  return before.some(one => one.tree === tree) ? 'back' : 'new';
}

const first = { moved: false, fell: false, idle: false, returned: false, changed: false, refused: false } as const;

function judge(step: Step, before: readonly Step[]): Judged {
  // The first one is what the others are compared with.
  if (before.length === 0) return { step, ...first, news: false, barren: false };
  const files = filesOf(step, before);
  const [idle, changed] = [files === 'idle', files === 'new'];
  const refused = step.check !== undefined && step.check === known(before.map(one => one.check)).at(-1);
  const fewer = hasFewer(step, before, idle, refused);
  const moved = fewer || (changed && hasOtherAnswer(step, before)) || hasNewReport(step, before);
  const words = changed ? wordsAndError : wordsIn;
  const isEqual = isAmong(words(step), known(before.map(words)));
  const news = !isEqual && isNews(step, before, idle);
  const isEmpty = idle ? !news : isEqual || (files === 'unknown' && wordsIn(step) === '');
  const returned = files === 'back' && !moved;
  return {
    step,
    moved,
    fell: fewer && !idle,
    idle,
    returned,
    changed,
    refused,
    news,
    barren: returned || (isEmpty && !moved),
  };
}

/** By the newest step: the same trail is asked about several times between two iterations. */
const judgedBefore = new WeakMap<Step, readonly Judged[]>();

function judged(trail: readonly Step[]): readonly Judged[] {
  const recent = trail.slice(-windowSteps);
  const since = recent.slice(recent.findLastIndex(one => one.closed === true) + 1);
  const last = since.at(-1);
  if (last === undefined) return [];
  const before = judgedBefore.get(last);
  if (before?.length === since.length && before.every(({ step }, at) => step === since[at])) return before;
  const steps = since.map((step, at) => judge(step, since.slice(0, at)));
  judgedBefore.set(last, steps);
  return steps;
}

// The rules. Each looks at the end of the trail.

/** How many at the end, one after another. */
const run = (steps: readonly Judged[], holds: (one: Judged) => boolean): number =>
  steps.length - 1 - steps.findLastIndex(one => !holds(one));

const saidIn = (steps: readonly Judged[], count: number): readonly string[] =>
  known(steps.slice(-count).map(({ step }) => wordsIn(step)));

type Rule = (steps: readonly Judged[]) => Standstill | undefined;

function found(
  kind: Repetition['kind'],
  count: number,
  { told, asks }: { readonly told: number; readonly asks: number },
  detail: string,
): Standstill | undefined {
  return count < told ? undefined : { kind, asks: count >= asks, detail };
}

const withoutDigits = (text: string): string => text.replace(/\d+/g, '#');

/** Further down each time, or less each time: another one. */
function goesOneWay(errors: readonly string[]): boolean {
  const ways = errors.slice(1).map((error, at) => error.localeCompare(errors[at] as string, 'en', { numeric: true }));
  return ways.every(way => way > 0) || ways.every(way => way < 0);
}

const sameError: Rule = steps => {
  const { error = '' } = steps.at(-1)?.step ?? {};
  if (error === '') return undefined;
  const count = run(steps, one => one.step.error === error && !one.moved);
  const alike = run(steps, ({ step, moved }) => withoutDigits(step.error ?? '') === withoutDigits(error) && !moved);
  const isAlike = alike > patience.error.asks && !goesOneWay(known(steps.slice(-alike).map(one => one.step.error)));
  const times = isAlike ? alike : count;
  return found('same-error', times, patience.error, `the same error ${times} times in a row`);
};

/** Between two returns it may have looked on; only files that were never there before are another way. */
const back: Rule = steps => {
  const since = steps.slice(steps.length - run(steps, one => !one.changed && !one.moved));
  const count = since.filter(one => one.returned).length;
  return found('oscillation', count, patience.returns, 'the files are again as they were some iterations before');
};

const nothingNew: Rule = steps => {
  const count = run(steps, one => one.barren);
  const which = count === 1 ? 'the last iteration' : `the last ${count} iterations`;
  const one = found('similar', count, patience.barren, `nothing new in ${which}`);
  const since = steps.slice(steps.length - run(steps, ({ moved }) => !moved)).slice(-barrenOf.of);
  const isOften = since.filter(({ barren }) => barren).length >= barrenOf.count;
  return one && { ...one, asks: one.asks || isOften };
};

const refusedAgain: Rule = steps => {
  const count = run(steps, one => one.idle && one.refused);
  return found('similar', count, patience.refused, `the same files, refused for the same ${count} times in a row`);
};

const circling: Rule = steps => {
  const count = run(steps, one => one.idle && !one.moved);
  const holds = (spans: readonly Span[]): boolean =>
    spans.some(({ steps: most, additions }) => count >= most && circles(saidIn(steps, most + 1), additions));
  const detail = `${count} iterations speak of the same and change nothing`;
  const asks = holds(circlesAsk);
  return asks || holds(circlesTell) ? { kind: 'similar', asks, detail } : undefined;
};

const effectless: Rule = steps => {
  const count = run(steps, one => one.changed && !one.moved && !one.news && one.step.check !== undefined);
  return found('churn', count, patience.effectless, `the check says the same after ${count} changes`);
};

const churn: Rule = steps => {
  const count = run(steps, one => (one.changed || one.returned) && !one.moved);
  const last = steps.slice(steps.length - count);
  const isTelling = last.filter(one => one.news).length * 2 >= count && last.some(one => one.step.check === undefined);
  return found(
    'churn',
    count,
    isTelling && !areOfPaper(saidIn(steps, count)) ? patience.tellingChurn : patience.churn,
    `the files changed ${count} times without a change in checks, tasks or report`,
  );
};

const rules: readonly Rule[] = [sameError, back, nothingNew, refusedAgain, circling, effectless, churn];

const gravest = (steps: readonly Judged[]): Standstill | undefined => {
  const all = rules.flatMap(rule => rule(steps) ?? []);
  return all.find(one => one.asks) ?? all[0];
};

/** Whether a task stands still; newest iteration last. What asks goes before what is only told, and is told once before. */
export function findStandstill(trail: readonly Step[]): Standstill | undefined {
  const steps = judged(trail);
  const now = gravest(steps);
  return now && { ...now, asks: now.asks && gravest(steps.slice(0, -1)) !== undefined };
}

/** The newest iteration brought the task on: it is no used-up attempt. A check that refused it is believed before its words. */
export function isProgress(trail: readonly Step[]): boolean {
  const last = judged(trail).at(-1);
  if (last === undefined) return false;
  return last.fell || (last.changed && !last.barren && last.step.check === undefined && last.step.error === undefined);
}

/** It left other files than ever before, and other words. */
export function isNewWork(trail: readonly Step[]): boolean {
  const last = judged(trail).at(-1);
  return last?.changed === true && !last.barren;
}
