// Reads the claims in an agent's final message; text is never evidence, so whatever is doubtful does not count.
import { type EscalateBlock, escalateSeek, type RawBlock, readEscalate, takeEscalate, takeHandoff } from './blocks.ts';
import { seeker, walkLines } from './lines.ts';
import { lastReport, type ReportReading, takeReport } from './report.ts';
import {
  affirms,
  denies,
  findPredicate,
  findTask,
  isIntroducedAsCondition,
  readClaim,
  type TaskLine,
} from './statements.ts';

export interface Dialect {
  /** The active task's id. */
  readonly task: string;
  readonly promise: string;
}

export interface Signals extends ReportReading {
  /** A line of its own says that the active task is complete. */
  readonly done: boolean;
  /** Well-formed completion lines that name another task (at most 9). */
  readonly doneElsewhere: readonly string[];
  /** The exact promise is the last non-empty line. */
  readonly promise: boolean;
  /** The last line looks like a promise but is not the one asked for: why, for the next prompt. */
  readonly promiseRefused?: string;
  /** The last non-empty line is a ticked box TASK_COMPLETE. */
  readonly checkbox: boolean;
  /** A box was ticked, but other text followed it: why that does not count. */
  readonly checkboxRefused?: string;
  readonly escalate?: EscalateBlock;
  readonly review?: 'complete' | 'blocked' | 'timeout';
  /** The reason the agent gave for wanting a fresh context. */
  readonly handoff?: string;
}

const elsewhereMax = 9;
const elsewhereTriesMax = 1_000; // lines about other tasks are a courtesy: only so many are read
const laterCharsMax = 2_000;
const reportTriesMax = 8; // the last report wins; this many are tried when it cannot be read
const lastLineCharsMax = 1_000;
const checkboxCharsMax = 100;

/** What one pass over the lines that count has found. */
interface Found {
  done: boolean;
  /** Where the last ticked box stands; undefined when none is, or one after it is open. */
  ticked?: number | undefined;
  lastLineCounts: boolean;
  escalate?: RawBlock;
  handoff?: string;
  readonly later: string[];
  readonly elsewhere: Set<string>;
  readonly reports: string[];
  /** Why a report block after those could not be taken at all. */
  reportNotTaken?: string | undefined;
}

/** True and false for a ticked and an open box, undefined for any other line. */
function readCheckbox(text: string, first: number, end: number): boolean | undefined {
  const box = text[first] === '[' ? first : first + 2;
  if (end - first > checkboxCharsMax || !text.startsWith('] TASK_COMPLETE', box + 2)) return undefined;
  const line = /^(?:[-*+] )?\[([xX ])\] TASK_COMPLETE$/.exec(text.slice(first, end).trimEnd());
  return line === null ? undefined : line[1] !== ' ';
}

/** Visits tags that begin a line: a block that was taken is not read as lines. */
function tagVisitor(text: string, found: Found): (first: number, end: number) => number {
  const seekEscalate = escalateSeek(text);
  const reportClose = seeker(text, '</report>');
  const handoffClose = seeker(text, '</handoff>');
  let laterChars = 0;
  const visitEscalate = (first: number, end: number): number => {
    const block = takeEscalate(text, first, end, seekEscalate);
    if (block === undefined) return -1;
    if (found.escalate === undefined) found.escalate = block;
    else if (laterChars < laterCharsMax) {
      const raw = text.slice(first, Math.min(block.end, first + laterCharsMax));
      laterChars += raw.length;
      found.later.push(raw);
    }
    return block.end;
  };
  const visitReport = (first: number): number => {
    const block = takeReport(text, first, reportClose);
    found.reportNotTaken = typeof block === 'string' ? block : undefined;
    if (typeof block === 'string') return -1;
    found.reports.push(block.body);
    if (found.reports.length > reportTriesMax) found.reports.shift();
    return block.end;
  };
  return (first, end) => {
    if (text.startsWith('<escalate', first)) return visitEscalate(first, end);
    if (text.startsWith('<report>', first)) return visitReport(first);
    const handoff = text.startsWith('<handoff>', first) ? takeHandoff(text, first, handoffClose) : undefined;
    if (handoff !== undefined) found.handoff = handoff.body;
    return handoff?.end ?? -1;
  };
}

/** Visits lines about a task: a denial takes the claim back, and a condition before a claim makes it none. */
function taskVisitor(text: string, task: string, found: Found): (line: TaskLine) => void {
  let elsewhereTries = 0;
  return line => {
    const { end, taskAt } = line;
    const predicateAt = findPredicate(text, taskAt, end, task);
    const isOther = predicateAt < 0;
    if (isOther) elsewhereTries += 1;
    else if (denies(text, predicateAt, end)) found.done = false;
    const isWorthReading = isOther
      ? elsewhereTries <= elsewhereTriesMax
      : !found.done && affirms(text, predicateAt, end);
    if (!isWorthReading || isIntroducedAsCondition(text, line)) return;
    const claimed = readClaim(text, line, task);
    if (claimed === task) found.done = true;
    else if (claimed !== undefined && found.elsewhere.size < elsewhereMax) found.elsewhere.add(claimed);
  };
}

function readLines(text: string, task: string, lastLineStart: number): Found {
  const found: Found = { done: false, lastLineCounts: false, later: [], elsewhere: new Set(), reports: [] };
  const visitTag = tagVisitor(text, found);
  const visitTask = taskVisitor(text, task, found);
  let previousFirst = 0;
  let previousEnd = 0;
  walkLines(text, (first, end) => {
    if (first >= lastLineStart) found.lastLineCounts = true;
    if (text.charCodeAt(first) === 0x3c) return visitTag(first, end);
    const taskAt = findTask(text, first, end);
    if (taskAt >= 0) visitTask({ first, end, taskAt, previousFirst, previousEnd });
    else {
      const isTicked = readCheckbox(text, first, end);
      if (isTicked !== undefined) found.ticked = isTicked ? first : undefined;
    }
    previousFirst = first;
    previousEnd = end;
    return -1;
  });
  return found;
}

const reviewLines: ReadonlyMap<string, NonNullable<Signals['review']>> = new Map([
  ['<review-complete>ALL_ISSUES_RESOLVED</review-complete>', 'complete'],
  ['<review-blocked>MANUAL_INTERVENTION_REQUIRED</review-blocked>', 'blocked'],
  ['<review-timeout>MAX_ITERATIONS_REACHED</review-timeout>', 'timeout'],
]);

function oneSpaced(text: string): string {
  return text.trim().replace(/\s+/g, ' ');
}

/** The text a line promises, by comparison alone: a promise may contain what a pattern would interpret. */
function promises(line: string, promise: string): boolean {
  if (promise === '') return false;
  const inTags = line.startsWith('<promise>') && line.endsWith('</promise>');
  return oneSpaced(line) === promise || (inTags && oneSpaced(line.slice(9, -10)) === promise);
}

function resembles(line: string, promise: string): boolean {
  const lower = line.toLowerCase();
  if (lower.includes('<promise') || lower.includes('</promise')) return true;
  const plain = (text: string): string => oneSpaced(text.replace(/[*_`"'.!]/g, ''));
  const wanted = plain(promise.toLowerCase());
  return wanted !== '' && plain(lower) === wanted;
}

function readPromise(
  text: string,
  line: string,
  wanted: string,
  found: Found,
): Pick<Signals, 'promise' | 'promiseRefused'> {
  const promise = oneSpaced(wanted);
  const exact = `<promise>${promise}</promise>`;
  const refuse = (why: string) => ({ promise: false, promiseRefused: why });
  if (line.length <= lastLineCharsMax + promise.length && promises(line, promise)) {
    if (found.escalate !== undefined) return refuse('The message also escalates, and an escalation beats a promise.');
    if (!found.lastLineCounts)
      return refuse(`The promise stands in code, in a quotation or in a comment; write ${exact} as plain text.`);
    return { promise: true };
  }
  if (resembles(line.slice(-lastLineCharsMax), promise))
    return refuse(`The last line resembles the promise but is not it; it must be exactly ${exact}.`);
  if (promise !== '' && text.includes(exact))
    return refuse(`The promise ${exact} must be the last line, and other text followed it.`);
  return { promise: false };
}

/** Text after the box may take the claim back. */
function readBox({ ticked, escalate }: Found, lastLineStart: number): Pick<Signals, 'checkbox' | 'checkboxRefused'> {
  if (ticked === undefined || escalate !== undefined) return { checkbox: false };
  if (ticked >= lastLineStart) return { checkbox: true };
  const checkboxRefused =
    'The box - [x] TASK_COMPLETE must be the last line of the message, and other text followed it.';
  return { checkbox: false, checkboxRefused };
}

/**
 * Reads only the message it is given: the performer's final one, with terminal sequences already stripped.
 * Linear in its length, whatever it contains; never throws.
 */
export function readSignals(message: string, dialect: Dialect): Signals {
  const text = message.trimEnd();
  const lastLineStart = Math.max(text.lastIndexOf('\n'), text.includes('\r') ? text.lastIndexOf('\r') : -1) + 1;
  const lastLine = text.slice(lastLineStart).trimStart();
  const found = readLines(text, dialect.task, lastLineStart);
  const escalates = found.escalate !== undefined;
  const review = found.lastLineCounts ? reviewLines.get(lastLine.slice(0, lastLineCharsMax)) : undefined;
  return {
    done: found.done && !escalates,
    doneElsewhere: [...found.elsewhere],
    ...readPromise(text, lastLine, dialect.promise, found),
    ...readBox(found, lastLineStart),
    escalate: found.escalate === undefined ? undefined : readEscalate(found.escalate, found.later),
    review: escalates && review === 'complete' ? undefined : review,
    handoff: found.handoff,
    ...lastReport(found.reports, found.reportNotTaken),
  };
}
