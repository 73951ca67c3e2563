// Outline of a plan: its steps and their fields, each with its place; what only looks like one is told, never guessed.

import type { Problem } from '../../../documents/document.ts';
import { startOf, type TextLine, textLines } from '../../../documents/edits.ts';
import { type FrontMatterResult, readFrontMatter } from '../../../documents/frontmatter.ts';
import { firstNotices, ProblemList, positionsIn } from '../../../documents/problems.ts';
import { fieldNameOf, nearFieldName, type PlanFieldName } from './fields.ts';

export interface PlanField {
  readonly name: PlanFieldName;
  /** Where its name stands; the value is text.slice(valueStart, end) and may go on over several lines. */
  readonly start: number;
  readonly valueStart: number;
  readonly end: number;
}

export interface PlanStep {
  readonly number: number;
  readonly start: number;
  /** The one character between the brackets. */
  readonly boxAt: number;
  readonly box: string;
  /** [failedStart, failedEnd) is our word about a failure, with the space before it; empty when there is none. */
  readonly failedStart: number;
  readonly failedEnd: number;
  readonly description: string;
  /** Undefined: the line does not name one. */
  readonly actionType: string | undefined;
  readonly fields: readonly PlanField[];
}

interface PlanHead {
  /** Where the front matter begins: behind a BOM and comment lines. */
  readonly head: number;
  readonly matter: FrontMatterResult;
}

export interface PlanOutline extends PlanHead {
  readonly steps: readonly PlanStep[];
}

export function readHead(text: string, problems?: PlanProblems): PlanHead {
  const head = headEnd(text);
  return { head, matter: readFrontMatter(text, head, problems) };
}

export function outlinePlan(text: string, problems = new PlanProblems()): PlanOutline {
  const { head, matter } = readHead(text, problems);
  const scan = new OutlineScan(problems);
  for (const line of textLines(text.slice(0, head), startOf(text))) scan.takeHead(line);
  for (const line of textLines(text, matter.ok ? matter.bodyStart : head)) scan.take(line);
  scan.end();
  return { head, matter, steps: scan.steps };
}

const headLinesMax = 20;

/** Plans may begin with comment lines. */
function headEnd(text: string): number {
  const begin = startOf(text);
  let count = 0;
  for (const line of textLines(text, begin)) {
    const words = line.text.trim();
    if (words === '---') return line.start;
    if (++count > headLinesMax || (words !== '' && !(words.startsWith('<!--') && words.endsWith('-->')))) return begin;
  }
  return begin;
}

const stepLine = /^([ \t]*[-*+][ \t]+\[)([ xX!-])\][ \t]+\*\*Step[ \t]+(\d{1,6})[ \t]*:[ \t]*\*\*/;
const failedWords = /^(?:[ \t]*\(FAILED\))+/;
const nearStep = [
  /(?<!`)\([ \t]*action[_ -]?type[ \t]*:/i,
  /^[ \t]*[-*+][ \t]*\[[^\]]{0,3}\][ \t]*[*_]*step\b/i,
  /^[ \t]*(?:[-*+]|\d{1,6}[.)])[ \t]+\*\*step[ \t]*\d/i,
];
const item = /^[ \t]*[-*+][ \t]+/;
const fieldLine = /^([ \t]*[-*+][ \t]+(?:\*\*)?)([A-Za-z][A-Za-z _-]{0,30}?)[ \t]*(?:\*\*)?:(?:\*\*)?/;
const fence = /^ {0,3}(`{3,}|~{3,})/;
const stepForm = 'Write it as "- [ ] **Step 1:** what to do (action_type: agent)", at the beginning of the line.';

const commentNotice = 'This comment is not read, and a rendered page does not show it.';
const pathComment = /^<!--[ \t]*\S+[ \t]*-->$/;

type OpenField = PlanField & { end: number; readonly indent: number };
type OpenStep = PlanStep & { readonly fields: PlanField[] };

class OutlineScan {
  readonly steps: PlanStep[] = [];
  private readonly problems: PlanProblems;
  private step: OpenStep | undefined;
  private stepIndent = 0;
  private field: OpenField | undefined;
  private isAfterBlank = false;
  private fence: { readonly mark: string; readonly start: number } | undefined;
  private commentStart: number | undefined;

  constructor(problems: PlanProblems) {
    this.problems = problems;
  }

  /** A comment that only names the file hides nothing. */
  takeHead(line: TextLine): void {
    const words = line.text.trim();
    if (words !== '' && !pathComment.test(words)) this.problems.notice(line.start, commentNotice);
  }

  take(line: TextLine): void {
    if (this.fence !== undefined || this.commentStart !== undefined) this.takeHidden(line);
    else if (line.text.trim() === '') this.isAfterBlank = true;
    else {
      if (this.step !== undefined && line.indent > this.stepIndent) this.takeInside(line);
      else this.takeOutside(line);
      this.isAfterBlank = false;
    }
  }

  end(): void {
    this.closeStep();
    if (this.fence !== undefined)
      this.problems.add(
        this.fence.start,
        'This code block is never closed.',
        'Close it, or the steps behind it are lost.',
      );
    if (this.commentStart !== undefined)
      this.problems.add(this.commentStart, 'This comment is never closed.', 'Add --> at its end.');
  }

  /** Inside a code block or a comment: no step, and whoever hides one there is told that it is not done. */
  private takeHidden(line: TextLine): void {
    if (this.commentStart !== undefined) {
      if (stepLine.test(line.text)) this.problems.notice(line.start, 'This step stands in a comment and is not done.');
      if (line.text.includes('-->')) this.commentStart = undefined;
      return;
    }
    const { mark } = this.fence!;
    const words = line.text.trim();
    if (words.startsWith(mark) && words === mark[0]!.repeat(words.length)) this.fence = undefined;
  }

  private takeOutside(line: TextLine): void {
    this.closeStep();
    const opened = fence.exec(line.text);
    if (opened !== null) {
      this.fence = { mark: opened[1]!, start: line.start };
      return;
    }
    if (this.takeComment(line)) return;
    if (line.indent <= 3 && this.beginStep(line)) return;
    const name = fieldNameOf(fieldLine.exec(line.text)?.[2] ?? '');
    if (nearStep.some(pattern => pattern.test(line.text)))
      this.problems.add(line.start, 'This looks like a step, but is not written as one.', stepForm);
    else if (name !== undefined)
      this.problems.add(line.start, `${name} stands outside of a step.`, 'Indent it below its step.');
  }

  /** True when the line is nothing but a comment, or the beginning of one. */
  private takeComment(line: TextLine): boolean {
    const at = line.text.lastIndexOf('<!--');
    if (at === -1) return false;
    const isOpen = !line.text.includes('-->', at);
    if (isOpen) this.commentStart = line.start + at;
    if (!stepLine.test(line.text)) this.problems.notice(line.start, commentNotice);
    const words = line.text.trim();
    return words.startsWith('<!--') && (isOpen || words.endsWith('-->'));
  }

  private takeInside(line: TextLine): void {
    const field = this.field;
    const isItem = item.test(line.text);
    const continues = field !== undefined && (line.indent >= field.indent + 2 || (!isItem && !this.isAfterBlank));
    if (continues) {
      field.end = line.end;
      return;
    }
    this.closeField();
    if (nearStep.some(pattern => pattern.test(line.text))) {
      this.problems.add(line.start, 'A step stands inside another step.', stepForm);
      return;
    }
    const [whole = '', before = '', written = ''] = fieldLine.exec(line.text) ?? [];
    const name = fieldNameOf(written);
    if (name !== undefined) {
      const [start, valueStart] = [line.start + before.length, line.start + whole.length];
      this.field = { name, start, valueStart, end: line.end, indent: line.indent };
      return;
    }
    const { number } = this.step!;
    const meant = nearFieldName(written);
    if (meant === undefined) this.problems.notice(line.start, `This line of step ${number} is not read.`);
    else this.problems.add(line.start, `Step ${number} has a field that is nearly ${meant}.`, `Write "- ${meant}:".`);
  }

  private beginStep(line: TextLine): boolean {
    const found = stepLine.exec(line.text);
    if (found === null) return false;
    const failedAt = found[0].length;
    const failed = failedWords.exec(line.text.slice(failedAt))?.[0] ?? '';
    const rest = line.text.slice(failedAt + failed.length);
    const typeAt = rest.lastIndexOf('(action_type:');
    const type = typeAt === -1 ? null : /^\(action_type:([^()]*)\)[ \t]*$/.exec(rest.slice(typeAt));
    this.stepIndent = line.indent;
    this.step = {
      number: Number(found[3]),
      start: line.start,
      boxAt: line.start + found[1]!.length,
      box: found[2]!,
      failedStart: line.start + failedAt,
      failedEnd: line.start + failedAt + failed.length,
      description: (type === null ? rest : rest.slice(0, typeAt)).trim(),
      actionType: type?.[1]?.trim(),
      fields: [],
    };
    return true;
  }

  private closeField(): void {
    if (this.field !== undefined) this.step?.fields.push(this.field);
    this.field = undefined;
  }

  private closeStep(): void {
    this.closeField();
    if (this.step !== undefined) this.steps.push(this.step);
    this.step = undefined;
  }
}

/** Lint promises all problems at once; beyond this many they are only counted. */
const problemsMax = 200;
const noticesMax = 50;

/** Problems and notices of a plan: added by offset, told with their lines in the order of the text. */
export class PlanProblems extends ProblemList {
  private readonly notes: { readonly at: number; readonly message: string }[] = [];

  constructor() {
    super(problemsMax);
  }

  notice(at: number, message: string): void {
    this.notes.push({ at, message });
  }

  located(text: string): readonly Problem[] {
    this.entries.sort((one, other) => (one.place as number) - (other.place as number));
    return this.refusal(text).problems;
  }

  notices(text: string): readonly string[] {
    const positionOf = positionsIn(text);
    const inOrder = this.notes.toSorted((one, other) => one.at - other.at);
    const told = inOrder.map(({ at, message }) => `Line ${positionOf(at).line}: ${message}`);
    return firstNotices(told, 'things are worth a look', noticesMax);
  }
}
