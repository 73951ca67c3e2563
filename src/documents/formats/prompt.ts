// PROMPT.md: the whole text is one task, and a box of its own says whether it is complete.
import { takeCharacters } from '../../text/text.ts';
import type { Format, Parsed, ParsedDocument, TaskMark, Wishes } from '../document.ts';
import { type Edit, withEdits } from '../edits.ts';
import { type FrontMatter, readFrontMatter, valueProblem } from '../frontmatter.ts';
import { byteOrderMark } from '../json.ts';
import { heading, type MarkdownLine, markdownLines, watchHidden, watchMerge } from '../markdown.ts';
import { ProblemList, positionAt } from '../problems.ts';

/** An agent reads all of it in every iteration. */
const promptCharsMax = 1024 * 1024;
const titleCharsMax = 120;
const id = 'prompt';

export const prompt: Format = {
  name: id,

  recognises(fileName, text) {
    const name = fileName.slice(Math.max(fileName.lastIndexOf('/'), fileName.lastIndexOf('\\')) + 1).toLowerCase();
    if (name === 'prompt.md') return true;
    return name.endsWith('.md') && text.includes('TASK_COMPLETE') && findBoxes(markdownLines(text)).length > 0;
  },

  parse: parsePrompt,

  mark(text, marks) {
    const mark = marks.findLast(each => each.id === id);
    return mark === undefined ? text : markPrompt(text, mark);
  },
};

const boxPattern = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?\[([ xX-])\][ \t]*TASK_COMPLETE[ \t]*$/;

interface Box {
  readonly line: MarkdownLine;
  readonly state: string;
  /** Where the character in the box stands. */
  readonly offset: number;
}

function findBoxes(lines: readonly MarkdownLine[]): readonly Box[] {
  return lines.flatMap(line => {
    if (line.isCode || line.isComment) return [];
    const found = boxPattern.exec(line.text);
    if (found === null) return [];
    return [{ line, state: found[1]!.toLowerCase(), offset: line.start + line.text.indexOf('[') + 1 }];
  });
}

function stateOf(boxes: readonly Box[]): string {
  if (boxes.some(box => box.state === 'x')) return 'x';
  return boxes.some(box => box.state === '-') ? '-' : ' ';
}

interface Body {
  readonly start: number;
  readonly lines: readonly MarkdownLine[];
  readonly matter: FrontMatter | undefined;
  readonly notices: readonly string[];
}

/** A text between two rules is no front matter, and belongs to the prompt. */
function bodyOf(text: string): Body {
  const matter = readFrontMatter(text);
  const start = matter.ok ? matter.bodyStart : text.startsWith(byteOrderMark) ? 1 : 0;
  const notices = matter.ok
    ? []
    : [`What begins like front matter is read as part of the text: ${matter.problems[0]!.message}`];
  return { start, lines: markdownLines(text, start), matter: matter.ok ? matter : undefined, notices };
}

function parsePrompt(text: string): Parsed {
  const problems = new ProblemList();
  if (text.length > promptCharsMax) {
    problems.add(0, 'The document is larger than 1 MB.', 'Shorten it: agents read all of it each time.');
    return { ok: false, problems: problems.located(text.slice(0, 1)) };
  }
  const { start, lines, matter, notices } = bodyOf(text);
  watchMerge(lines, problems);
  const wishes = matter === undefined ? undefined : readWishes(matter, problems);
  const boxes = findBoxes(lines);
  const description = withoutBoxes(text, start, boxes);
  if (description === '') {
    problems.add(start, 'The document says nothing.', 'Write what is to be done.');
  }
  if (problems.count > 0) return { ok: false, problems: problems.located(text) };
  const title = titleOf(lines, boxes);
  const state = stateOf(boxes);
  const task = { id, title, description, criteria: [], dependsOn: [], done: state === 'x', skipped: state === '-' };
  const document: ParsedDocument = {
    project: title,
    goal: title,
    tasks: [task],
    notices: [...notices, ...watchHidden(lines, positionAt(text, start).line)],
    wishes,
  };
  return { ok: true, document };
}

/** Whether it is complete is no part of what is to be done. */
function withoutBoxes(text: string, start: number, boxes: readonly Box[]): string {
  const cuts = boxes.map(({ line }) => {
    const end = text.indexOf('\n', line.start);
    return { start: line.start, end: end === -1 ? text.length : end + 1, text: '' };
  });
  return withEdits(text, [{ start: 0, end: start, text: '' }, ...cuts]).trim();
}

/** The first heading, or else the first line that says something. */
function titleOf(lines: readonly MarkdownLine[], boxes: readonly Box[]): string {
  const hidden = new Set(boxes.map(box => box.line));
  const shownLines = lines.filter(line => !hidden.has(line) && line.text.trim() !== '');
  const first = shownLines.find(line => !line.isCode && !line.isComment) ?? shownLines[0];
  const title = lines.map(line => heading(line)?.text ?? '').find(text => text !== '');
  return shortened(title ?? first?.text ?? '', titleCharsMax);
}

/** On one line, cut between words. */
export function shortened(text: string, charsMax: number): string {
  const line = text.trim().replaceAll(/\s+/g, ' ');
  if (line.length <= charsMax) return line;
  const cut = takeCharacters(line, charsMax - 1);
  const space = cut.lastIndexOf(' ');
  return `${space > charsMax / 2 ? cut.slice(0, space) : cut}…`;
}

function markPrompt(text: string, mark: TaskMark): string {
  const wanted = mark.done ? 'x' : mark.skipped ? '-' : ' ';
  const boxes = findBoxes(bodyOf(text).lines);
  if (stateOf(boxes) === wanted) return text;
  if (boxes.length === 0) return withNewBox(text, wanted);
  const edits: Edit[] = boxes.map(({ offset, state }, row) => {
    const now = row === 0 ? wanted : ' ';
    return { start: offset, end: offset + 1, text: now === state ? text[offset]! : now };
  });
  return withEdits(text, edits);
}

function withNewBox(text: string, state: string): string {
  const lineEnd = /\r?\n/.exec(text)?.[0] ?? '\n';
  const line = `- [${state}] TASK_COMPLETE`;
  return text.endsWith('\n') ? `${text}${line}${lineEnd}` : `${text}${lineEnd}${line}`;
}

// What the front matter of a prompt may ask of the loop: a promise to wait for and a number of iterations.

const iterationsHighest = 1_000_000;

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= iterationsHighest;
}

export function readWishes(matter: FrontMatter, problems: ProblemList): Wishes | undefined {
  const { completion_promise: promise, max_iterations: iterations } = matter.values;
  const wishes: { promise?: string; iterationsMax?: number | null } = {};
  if (typeof promise === 'string' && promise.trim() !== '') wishes.promise = promise.trim();
  else if (promise !== undefined && promise !== null && promise !== '') {
    valueProblem(problems, matter, 'completion_promise', 'text', 'Write it in double quotes.');
  }
  if (isCount(iterations)) wishes.iterationsMax = iterations === 0 ? null : iterations;
  else if (iterations !== undefined && iterations !== null) {
    const fix = 'Write a number, or 0 for no limit.';
    valueProblem(problems, matter, 'max_iterations', 'a whole number up to 1,000,000', fix);
  }
  return Object.keys(wishes).length === 0 ? undefined : wishes;
}
