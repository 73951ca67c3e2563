// Finds the lines of a message that the agent says itself: not code, not a quotation, not a comment, not a thought.

/** Told about each line that counts, by where its text begins and ends; answers where the block it took ends, or -1. */
type VisitLine = (first: number, end: number) => number;

/** A search that only moves forward and remembers its find, so that any number of questions costs one pass. */
export function seeker(text: string, needle: string): (from: number) => number {
  let found = -1;
  return from => {
    if (found < from) {
      const at = text.indexOf(needle, from);
      found = at < 0 ? Number.POSITIVE_INFINITY : at;
    }
    return found;
  };
}

interface Fence {
  readonly code: number;
  readonly length: number;
  readonly indentMax: number;
}

const space = 0x20;
const tab = 0x09;
const quoteMark = 0x3e;
const tagMark = 0x3c;
const backtick = 0x60;
const tilde = 0x7e;
const listNestingMax = 3;
const indentMax = 3; // Markdown: four spaces or a tab are code

/** Elements in which agents quote or think aloud. */
const quotingElements = ['pre', 'blockquote', 'think', 'thinking', 'example'] as const;

/** The first visible character of a line, or -1 when the line is blank or indented as code. */
function firstVisible(text: string, at: number, end: number, indent: number): number {
  if (text.charCodeAt(at) > space) return at;
  let first = at;
  while (first < end && text.charCodeAt(first) === space && first - at <= indent) first += 1;
  return first >= end || first - at > indent || text.charCodeAt(first) === tab ? -1 : first;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

/** Where a list item's text begins, or `at` itself when no list mark stands there. */
function afterListMark(text: string, at: number, end: number): number {
  let next = at;
  const code = text.charCodeAt(at);
  if (code === 0x2d || code === 0x2a || code === 0x2b) next += 1;
  else {
    while (next < end && next - at < 9 && isDigit(text.charCodeAt(next))) next += 1;
    const mark = text.charCodeAt(next);
    if (next === at || (mark !== 0x2e && mark !== 0x29)) return at;
    next += 1;
  }
  if (next >= end || text.charCodeAt(next) !== space) return at;
  while (next < end && text.charCodeAt(next) === space) next += 1;
  return next;
}

function runLength(text: string, at: number, end: number, code: number): number {
  let next = at;
  while (next < end && text.charCodeAt(next) === code) next += 1;
  return next - at;
}

function mayOpenFence(code: number): boolean {
  return code === backtick || code === tilde || (code >= 0x2a && code <= 0x2d) || isDigit(code);
}

/** The length of a run that opens a fence: three or more, and of backticks only where no other follows in the line. */
function fenceLength(text: string, at: number, end: number): number {
  const code = text.charCodeAt(at);
  const length = runLength(text, at, end, code);
  const isInline = code === backtick && text.slice(at + length, end).includes('`');
  return length < 3 || isInline ? 0 : length;
}

function openedFence(text: string, lineStart: number, first: number, end: number): Fence | undefined {
  let at = first;
  for (let depth = 0; depth < listNestingMax; depth += 1) {
    const code = text.charCodeAt(at);
    if (code === backtick || code === tilde) {
      const length = fenceLength(text, at, end);
      return length === 0 ? undefined : { code, length, indentMax: (at === first ? 0 : at - lineStart) + indentMax };
    }
    const next = afterListMark(text, at, end);
    if (next === at) return undefined;
    at = next;
  }
  return undefined;
}

function closesFence(text: string, at: number, end: number, fence: Fence): boolean {
  const first = firstVisible(text, at, end, fence.indentMax);
  if (first < 0 || text.charCodeAt(first) !== fence.code) return false;
  const length = runLength(text, first, end, fence.code);
  return length >= fence.length && text.slice(first + length, end).trim() === '';
}

function countBackticks(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = from; at < to; at += 1) if (text.charCodeAt(at) === backtick) count += 1;
  return count;
}

type LineEnd = (from: number) => number;

/** A lone carriage return ends a line as well; most texts have none, and then nobody pays for it. */
function lineEnds(text: string): LineEnd {
  const nextLineFeed = seeker(text, '\n');
  const nextReturn = seeker(text, '\r');
  if (nextReturn(0) < text.length) return from => Math.min(nextLineFeed(from), nextReturn(from), text.length);
  return from => Math.min(nextLineFeed(from), text.length);
}

/** Where the comments that begin in this line end, or -1 when none does. */
function commentsIn(text: string, lineEnd: LineEnd): VisitLine {
  const nextOpen = seeker(text, '<!--');
  const nextClose = seeker(text, '-->');
  if (nextOpen(0) > text.length) return () => -1;
  return (first, end) => {
    let hiddenTo = -1;
    let open = nextOpen(first);
    let from = first;
    let lineTo = end;
    let backticks = 0;
    while (open < lineTo) {
      backticks += countBackticks(text, from, open);
      from = open;
      if (backticks % 2 === 0) {
        const close = nextClose(open + 2);
        if (close === Number.POSITIVE_INFINITY) return open === first ? text.length : hiddenTo;
        hiddenTo = close + 3;
        from = hiddenTo;
        lineTo = lineEnd(hiddenTo);
        backticks = 0;
        open = nextOpen(hiddenTo);
      } else {
        open = nextOpen(open + 4);
      }
    }
    return hiddenTo;
  };
}

/** Where the quoting element that begins this line ends, or -1. Unclosed, it counts only when alone on its line. */
function quotingElementsIn(text: string): VisitLine {
  const elements = quotingElements.map(name => ({ name, nextClose: seeker(text, `</${name}>`) }));
  return (first, end) => {
    const isAt = (name: string): boolean =>
      text.startsWith(name, first + 1) && [' ', '>'].includes(text.charAt(first + 1 + name.length));
    const element = elements.find(({ name }) => isAt(name));
    if (element === undefined) return -1;
    const close = element.nextClose(first);
    if (close !== Number.POSITIVE_INFINITY) return close;
    return text.slice(first, Math.min(end, first + 200)).trimEnd() === `<${element.name}>` ? text.length : -1;
  };
}

/** Says of each line in turn whether it is code in a fence, or the fence itself. */
function fencesIn(text: string): (lineStart: number, first: number, end: number) => boolean {
  let fence: Fence | undefined;
  return (lineStart, first, end) => {
    if (fence !== undefined) {
      if (closesFence(text, lineStart, end, fence)) fence = undefined;
      return true;
    }
    if (first < 0 || !mayOpenFence(text.charCodeAt(first))) return false;
    fence = openedFence(text, lineStart, first, end);
    return fence !== undefined;
  };
}

/** The first character of a line of code that is to be seen. */
function firstOfCode(text: string, at: number, end: number): number {
  let first = at;
  while (first < end && text.charCodeAt(first) <= space) first += 1;
  return first;
}

/** Calls `visit` for each line that counts and `visitCode` for those in fences or indented as code, in one pass. */
export function walkLines(text: string, visit: VisitLine, visitCode: VisitLine = () => -1): void {
  const lineEnd = lineEnds(text);
  const isCode = fencesIn(text);
  const commentEnd = commentsIn(text, lineEnd);
  const elementEnd = quotingElementsIn(text);
  const visitCounting: VisitLine = (first, end) => {
    const hiddenTo = commentEnd(first, end);
    if (hiddenTo >= 0) return hiddenTo;
    const quotedTo = text.charCodeAt(first) === tagMark ? elementEnd(first, end) : -1;
    return quotedTo >= 0 ? quotedTo : visit(first, end);
  };
  for (let at = 0, end = 0; at < text.length; at = end + 1) {
    end = lineEnd(at);
    const first = firstVisible(text, at, end, indentMax);
    let blockEnd = -1;
    if (isCode(at, first, end) || first < 0) blockEnd = visitCode(firstOfCode(text, at, end), end);
    else if (text.charCodeAt(first) === quoteMark) continue;
    else blockEnd = visitCounting(first, end);
    if (blockEnd > end) end = lineEnd(blockEnd);
  }
}
