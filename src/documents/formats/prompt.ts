// PROMPT.md: the whole text is one task, and a box of its own says whether it is complete.
import type { TaskMark, TaskSpec } from '../../core/task.ts';
import { takeCharacters } from '../../text/text.ts';
import type { DocumentDefaults, Format, Parsed } from '../document.ts';
import { lineEndOf, startOf, withEdits } from '../edits.ts';
import { type FrontMatter, readFrontMatter, valueProblems } from '../frontmatter.ts';
import { heading, type MarkdownLine, markdownLines, watchHidden, watchMerge } from '../markdown.ts';
import { ProblemList, positionsIn, sizeRefusal } from '../problems.ts';

const promptCharsMax = 1024 * 1024;
const titleCharsMax = 120;
/** Of the one task that a prompt is. */
export const id = 'prompt';

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

/** A text between two rules is no front matter, and belongs to the prompt. */
function bodyOf(text: string) {
  const matter = readFrontMatter(text);
  if (matter.ok) return { matter, start: matter.bodyStart, lines: markdownLines(text, matter.bodyStart), notices: [] };
  const why = `What begins like front matter is read as part of the text: ${matter.problems[0]!.message}`;
  return { matter: undefined, start: startOf(text), lines: markdownLines(text), notices: [why] };
}

/** An agent reads all of it in every iteration. */
export const promptTooLarge = (text: string): Parsed | undefined =>
  sizeRefusal(text, promptCharsMax, '1 MB', 'Shorten it: agents read all of it each time.');

/** The document whose whole text is one task. */
export function promptDocument(
  task: Pick<TaskSpec, 'title' | 'description' | 'done' | 'skipped'>,
  notices: readonly string[],
  defaults: DocumentDefaults | undefined,
): Parsed {
  const tasks = [{ id, criteria: [], dependsOn: [], ...task }];
  return { ok: true, document: { project: task.title, goal: task.title, tasks, notices, defaults } };
}

function parsePrompt(text: string): Parsed {
  const tooLarge = promptTooLarge(text);
  if (tooLarge !== undefined) return tooLarge;
  const problems = new ProblemList();
  const { start, lines, matter, notices } = bodyOf(text);
  watchMerge(lines, problems);
  const defaults = matter === undefined ? undefined : readDefaults(matter, problems);
  const boxes = findBoxes(lines);
  const description = withoutBoxes(text, start, boxes);
  if (description === '') {
    problems.add(start, 'The document says nothing.', 'Write what is to be done.');
  }
  if (problems.count > 0) return problems.refusal(text);
  const state = stateOf(boxes);
  const task = { title: titleOf(lines, boxes), description, done: state === 'x', skipped: state === '-' };
  return promptDocument(task, [...notices, ...watchHidden(lines, positionsIn(text)(start).line)], defaults);
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
  if (boxes.length === 0) {
    const lineEnd = lineEndOf(text);
    const line = `- [${wanted}] TASK_COMPLETE`;
    return text.endsWith('\n') ? `${text}${line}${lineEnd}` : `${text}${lineEnd}${line}`;
  }
  const edits = boxes.map(({ offset, state }, row) => {
    const now = row === 0 ? wanted : ' ';
    return { start: offset, end: offset + 1, text: now === state ? text[offset]! : now };
  });
  return withEdits(text, edits);
}

// The front matter of a prompt: a promise to wait for and a number of iterations.

const iterationsHighest = 1_000_000;

export function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= iterationsHighest;
}

export function readDefaults(matter: FrontMatter, problems: ProblemList): DocumentDefaults | undefined {
  const { completion_promise: promise, max_iterations: iterations } = matter.values;
  const wrong = valueProblems(problems, matter);
  const defaults: { promise?: string; iterationsMax?: number | null } = {};
  if (typeof promise === 'string' && promise.trim() !== '') defaults.promise = promise.trim();
  else if (promise !== undefined && promise !== null && promise !== '') {
    wrong('completion_promise', 'text', 'Write it in double quotes.');
  }
  if (isCount(iterations)) defaults.iterationsMax = iterations === 0 ? null : iterations;
  else if (iterations !== undefined && iterations !== null) {
    wrong('max_iterations', 'a whole number up to 1,000,000', 'Write a number, or 0 for no limit.');
  }
  return Object.keys(defaults).length === 0 ? undefined : defaults;
}
