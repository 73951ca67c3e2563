// Reads the claims in an agent's final message; text is never evidence, so whatever is doubtful does not count.
import {
  boxLine,
  escalateSeek,
  isEcho,
  isToken,
  isVisible,
  promiseLine,
  type RawBlock,
  readEscalate,
  takeEscalate,
  takeHandoff,
} from './blocks.ts';
import { seeker, walkLines } from './lines.ts';
import { readItem } from './lists.ts';
import { nearMisses, notClaimed } from './near.ts';
import { isReportEcho, lastReport, type ReportReading, takeReport } from './report.ts';
import type { Dialect, Signals } from './signals.ts';
import { StatementReader } from './statement-reader.ts';
import { type Above, directlyUnder, isAnnounced } from './statements.ts';

export type { Dialect, Signals } from './signals.ts';

const laterCharsMax = 2_000;
const reportTriesMax = 8; // the last report wins; this many are tried when it cannot be read
const lastLineCharsMax = 1_000;

/** What one pass over the lines that count has found beside statements. */
interface Found {
  lastLineCounts: boolean;
  /** It stands directly under a line that ends in a colon. */
  isLastAnnounced: boolean;
  escalate?: RawBlock;
  handoff?: string;
  readonly later: string[];
  readonly reports: string[];
  /** Why a report block after those could not be taken at all. */
  reportNotTaken?: string | undefined;
}

/** Visits tags that begin a line: a block that was taken is not read as lines. A question counts in code as well. */
function tagVisitor(text: string, found: Found): (first: number, end: number, above?: Above) => number {
  const seekEscalate = escalateSeek(text);
  const reportClose = seeker(text, '</report>');
  const handoffClose = seeker(text, '</handoff>');
  let laterChars = 0;
  const visitEscalate = (first: number, end: number): number => {
    const block = takeEscalate(text, first, end, seekEscalate);
    if (block === undefined || isEcho(block)) return block?.end ?? -1;
    if (found.escalate === undefined) found.escalate = block;
    else if (laterChars < laterCharsMax) {
      const raw = text.slice(first, Math.min(block.end, first + laterCharsMax));
      laterChars += raw.length;
      found.later.push(raw);
    }
    return block.end;
  };
  const visitReport = (first: number, above: Above): number => {
    const block = takeReport(text, first, reportClose);
    if (typeof block !== 'string' && isReportEcho(block)) return block.end;
    const isRead = typeof block !== 'string' && !isAnnounced(text, above, first, false);
    found.reportNotTaken = isRead ? undefined : typeof block === 'string' ? block : `it stands ${directlyUnder}`;
    if (typeof block === 'string') return -1;
    if (isRead) found.reports.push(block.body);
    if (found.reports.length > reportTriesMax) found.reports.shift();
    return block.end;
  };
  return (first, end, above) => {
    if (text.startsWith('<escalate', first)) return visitEscalate(first, end);
    if (above === undefined) return -1;
    if (text.startsWith('<report>', first)) return visitReport(first, above);
    const handoff = text.startsWith('<handoff>', first) ? takeHandoff(text, first, handoffClose) : undefined;
    if (handoff !== undefined) found.handoff = handoff.body;
    return handoff?.end ?? -1;
  };
}

interface Read {
  readonly found: Found;
  readonly statements: StatementReader;
}

function readLines(text: string, task: string, lastLineStart: number): Read {
  const found: Found = { lastLineCounts: false, isLastAnnounced: false, later: [], reports: [] };
  const statements = new StatementReader(text, task);
  const visitTag = tagVisitor(text, found);
  const above = { first: 0, end: 0 };
  walkLines(
    text,
    (first, end) => {
      if (first >= lastLineStart) {
        found.lastLineCounts = true;
        const isItem = readItem(text, first, end) !== undefined;
        found.isLastAnnounced = isAnnounced(text, above, first, isItem);
      }
      const isTag = text.charCodeAt(first) === 0x3c;
      const blockEnd = isTag ? visitTag(first, end, above) : -1;
      if (!isTag) statements.visit(first, end, above);
      above.first = first;
      above.end = end;
      return blockEnd;
    },
    (first, end) => (text.charCodeAt(first) === 0x3c ? visitTag(first, end) : -1),
  );
  statements.end();
  return { found, statements };
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
function promises(line: string, promise: string, isBareTaken: boolean): boolean {
  if (!isVisible(promise)) return false;
  const inTags = line.startsWith('<promise>') && line.endsWith('</promise>');
  return (isBareTaken && oneSpaced(line) === promise) || (inTags && oneSpaced(line.slice(9, -10)) === promise);
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
  { promise: wanted, hasBox }: Dialect,
  found: Found,
): Pick<Signals, 'promise' | 'promiseRefused'> {
  const promise = oneSpaced(wanted);
  const exact = promiseLine(promise);
  const refuse = (why: string) => ({ promise: false, promiseRefused: why });
  const isBareTaken = hasBox === true && isToken(promise);
  if (line.length <= lastLineCharsMax + promise.length && promises(line, promise, isBareTaken)) {
    if (found.escalate !== undefined) return refuse('The message also escalates, and an escalation beats a promise.');
    if (!found.lastLineCounts)
      return refuse(`The promise stands in code, in a quotation or in a comment; write ${exact} as plain text.`);
    if (found.isLastAnnounced)
      return refuse(`The promise stands ${directlyUnder}; write ${exact} as the last line, below a blank one.`);
    return { promise: true };
  }
  if (resembles(line.slice(-lastLineCharsMax), promise))
    return refuse(`The last line resembles the promise but is not it; it must be exactly ${exact}.`);
  if (promise !== '' && text.includes(exact))
    return refuse(`The promise ${exact} must be the last line, and other text followed it.`);
  return { promise: false };
}

const boxHint = 'When the task is complete, it must be the last line of the message.';

/** What the report beside it leaves open takes the box back. */
function readBox(
  { found, statements }: Read,
  { report }: ReportReading,
): Pick<Signals, 'checkbox' | 'checkboxRefused'> {
  const { isTicked, box } = statements;
  if (found.escalate !== undefined) return { checkbox: false };
  const isPending = isTicked && (report?.pending.length ?? 0) > 0;
  if (isTicked && !isPending) return { checkbox: true };
  const why = isPending ? 'the report beside it lists what is pending' : box.refused;
  if (why === undefined) return { checkbox: false };
  return { checkbox: false, checkboxRefused: `The box ${boxLine} was not taken: ${why}. ${boxHint}` };
}

function readDone({ found, statements }: Read, task: string): Pick<Signals, 'done' | 'doneRefused'> {
  const { isDone, done } = statements;
  if (isDone || done.refused === undefined) return { done: isDone && found.escalate === undefined };
  return { done: false, doneRefused: notClaimed(task, done.refused) };
}

/**
 * Reads only the message it is given: the performer's final one, with terminal sequences already stripped.
 * Linear in its length, whatever it contains; never throws.
 */
export function readSignals(message: string, dialect: Dialect): Signals {
  const text = message.trimEnd();
  const lastLineStart = Math.max(text.lastIndexOf('\n'), text.includes('\r') ? text.lastIndexOf('\r') : -1) + 1;
  const lastLine = text.slice(lastLineStart).trimStart();
  const read = readLines(text, dialect.task, lastLineStart);
  const { found, statements } = read;
  const escalates = found.escalate !== undefined;
  const review =
    found.lastLineCounts && !found.isLastAnnounced ? reviewLines.get(lastLine.slice(0, lastLineCharsMax)) : undefined;
  const reported = lastReport(found.reports, found.reportNotTaken);
  const signals: Signals = {
    ...readDone(read, dialect.task),
    doneElsewhere: [...statements.elsewhere],
    ...readPromise(text, lastLine, dialect, found),
    ...readBox(read, reported),
    escalate: found.escalate === undefined ? undefined : readEscalate(found.escalate, found.later),
    review: escalates && review === 'complete' ? undefined : review,
    handoff: found.handoff,
    ...reported,
  };
  return { ...signals, ...nearMisses(text, signals, dialect) };
}
