// Reads the front matter of a plan by its rules: what it is called, what it is for, and how far it may go.
import type { Json } from '../../../core/task.ts';
import type { Problem } from '../../../documents/document.ts';
import type { FrontMatter } from '../../../documents/frontmatter.ts';
import { byteOrderMark } from '../../../documents/json.ts';
import { idPattern } from '../../../documents/task-checks.ts';
import { shown, suspicion } from '../../../text/text.ts';
import type { PlanOutline } from './outline.ts';

export type PlanStatus = 'awaiting_approval' | 'approved' | 'executing' | 'completed' | 'blocked' | 'escalated';

const statuses = ['awaiting_approval', 'approved', 'executing', 'completed', 'blocked', 'escalated'];
const keys = [
  'plan_id',
  'objective',
  'total_steps',
  'completed_steps',
  'status',
  'approval_required',
  'iterations_used',
  'max_iterations',
];
/** What Ralph itself writes. */
export const writtenKeys = ['completed_steps', 'status', 'iterations_used'];
const wholeMax = 1_000_000;
const objectiveCharsMax = 4000;
/** Names that some systems give to devices: no file may be called so. */
const deviceName = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i;

export interface PlanFacts {
  readonly planId: string;
  readonly objective: string;
  readonly iterationsMax: number | undefined;
  readonly approvalRequired: boolean;
}

export function readFacts(text: string, outline: PlanOutline, problems: PlanProblems): PlanFacts {
  const { matter, head, steps } = outline;
  const nothing: PlanFacts = { planId: '', objective: '', iterationsMax: undefined, approvalRequired: true };
  if (!matter.ok) {
    const linesBefore = problems.lineAt(head) - 1;
    for (const problem of matter.problems) {
      problems.tell(problem.line === undefined ? problem : { ...problem, line: problem.line + linesBefore });
    }
    return nothing;
  }
  if (!matter.isPresent) {
    const fix = 'Begin with a line ---, then plan_id, objective and total_steps, then a line ---.';
    problems.add(head, 'The plan has no front matter.', fix);
    return nothing;
  }
  const facts = new FactReader(matter, head, problems);
  const planId = readPlanId(facts);
  const objective = facts.text('objective', 'Say what the plan is for.');
  const total = facts.whole('total_steps', 1);
  const completed = facts.whole('completed_steps', 0);
  const used = facts.whole('iterations_used', 0);
  const iterationsMax = facts.whole('max_iterations', 1);
  const approvalRequired = facts.boolean('approval_required') ?? true;
  const ticked = steps.filter(step => step.box === 'x' || step.box === 'X').length;
  if (total === undefined && !facts.has('total_steps')) facts.notice('total_steps', 'total_steps is missing.');
  if (completed !== undefined && completed !== ticked) {
    facts.notice('completed_steps', `completed_steps is ${completed}, but ${ticked} boxes are ticked.`);
  }
  if (used !== undefined && iterationsMax !== undefined && used > iterationsMax) {
    facts.notice('iterations_used', `iterations_used is ${used}, more than max_iterations.`);
  }
  readStatus(facts);
  for (const key of writtenKeys) checkPlain(text, head + (matter.offsets.get(key) ?? 0), key, problems);
  for (const key of Object.keys(matter.values)) {
    const meant = keys.find(
      each => each !== key && each.replaceAll('_', '') === key.toLowerCase().replace(/[^a-z]/g, ''),
    );
    if (meant !== undefined) facts.notice(key, `The key ${shown(key)} is ignored: write ${meant}.`);
  }
  return { planId, objective, iterationsMax, approvalRequired };
}

/** What we write must stand for itself: with an anchor, another value would change with it. */
function checkPlain(text: string, at: number, key: string, problems: PlanProblems): void {
  const written = text.slice(text.lastIndexOf('\n', at - 1) + 1, at + 1);
  if (!/:\s*[&!*]/.test(written)) return;
  problems.add(at, `${key} must be a plain value, without an anchor, alias or tag.`, `Write "${key}: …".`);
}

/** It names folders and files of the vault. */
function readPlanId(facts: FactReader): string {
  const id = facts.text('plan_id', 'Give the plan a name of its own.');
  if (id === '') return '';
  if (idPattern.test(id) && !id.includes('..') && !id.endsWith('.') && !deviceName.test(id)) return id;
  const fix = 'Use 1 to 64 letters, digits, hyphens or underscores.';
  facts.problem('plan_id', `plan_id is not usable as the name of a file: ${shown(id)}.`, fix);
  return '';
}

function readStatus(facts: FactReader): void {
  const status = facts.value('status');
  if (status === undefined || status === null) return;
  if (typeof status !== 'string')
    facts.problem('status', `status must be a word, not ${shown(status)}.`, 'Write awaiting_approval.');
  else if (!statuses.includes(status)) facts.notice('status', `status is ${shown(status)}, which Ralph does not know.`);
}

class FactReader {
  private readonly matter: FrontMatter;
  private readonly head: number;
  private readonly problems: PlanProblems;

  constructor(matter: FrontMatter, head: number, problems: PlanProblems) {
    this.matter = matter;
    this.head = head;
    this.problems = problems;
  }

  has(key: string): boolean {
    return Object.hasOwn(this.matter.values, key);
  }

  value(key: string): Json | undefined {
    return this.has(key) ? this.matter.values[key] : undefined;
  }

  problem(key: string, message: string, fix: string): void {
    this.problems.add(this.head + (this.matter.offsets.get(key) ?? 0), message, fix);
  }

  notice(key: string, message: string): void {
    this.problems.notice(this.head + (this.matter.offsets.get(key) ?? 0), message);
  }

  text(key: string, fix: string): string {
    const value = this.value(key);
    if (value === undefined) this.problem(key, `${key} is missing.`, `Add "${key}: …" to the front matter.`);
    else if (typeof value !== 'string')
      this.problem(key, `${key} must be text, not ${shown(value)}.`, 'Put it in quotes.');
    else if (value.trim() === '') this.problem(key, `${key} is empty.`, fix);
    else if (value.length > objectiveCharsMax) {
      this.problem(key, `${key} is longer than ${objectiveCharsMax} characters.`, 'Shorten it.');
    } else {
      const warning = suspicion(value);
      if (warning !== undefined) this.notice(key, `${key} ${warning}`);
      return value.trim();
    }
    return '';
  }

  whole(key: string, least: number): number | undefined {
    const value = this.value(key);
    if (value === undefined) return undefined;
    if (Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= wholeMax)
      return value as number;
    const rule = `a whole number from ${least} to ${wholeMax}`;
    this.problem(key, `${key} must be ${rule}, not ${shown(value)}.`, `Write ${key}: ${least}, without quotes.`);
    return undefined;
  }

  boolean(key: string): boolean | undefined {
    const value = this.value(key);
    if (value === undefined || typeof value === 'boolean') return value;
    this.problem(key, `${key} must be true or false, not ${shown(value)}.`, 'Write true, without quotes.');
    return undefined;
  }
}

// Collects what is wrong with a plan and what is worth saying about it, and tells both in the order of the text.

/** Lint promises all problems at once; beyond this many they are only counted. */
const problemsMax = 200;
const noticesMax = 50;

interface Entry {
  readonly offset: number;
  readonly message: string;
  readonly fix: string;
}

export class PlanProblems {
  private readonly text: string;
  private readonly entries: Entry[] = [];
  private readonly said: Entry[] = [];
  private readonly told: Problem[] = [];
  private lineStarts: readonly number[] | undefined;

  constructor(text: string) {
    this.text = text;
  }

  get count(): number {
    return this.entries.length + this.told.length;
  }

  add(offset: number, message: string, fix: string): void {
    this.entries.push({ offset, message, fix });
  }

  /** A problem that somebody else has already given a line. */
  tell(problem: Problem): void {
    this.told.push(problem);
  }

  notice(offset: number, message: string): void {
    this.said.push({ offset, message, fix: '' });
  }

  located(): readonly Problem[] {
    const problems: Problem[] = this.entries.map(({ offset, message, fix }) => ({
      message,
      fix,
      ...this.place(offset),
    }));
    const all = [...this.told, ...problems].sort(
      (one, other) => (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0),
    );
    if (all.length <= problemsMax) return all;
    const rest = all.length - problemsMax + 1;
    return [
      ...all.slice(0, problemsMax - 1),
      { message: `${rest} more problems are not listed.`, fix: 'Mend these first.' },
    ];
  }

  notices(): readonly string[] {
    const sorted = this.said.toSorted((one, other) => one.offset - other.offset);
    const sentences = sorted
      .slice(0, noticesMax)
      .map(({ offset, message }) => `Line ${this.place(offset).line}: ${message}`);
    const rest = sorted.length - noticesMax;
    return rest > 0 ? [...sentences, `${rest} more things are worth a look.`] : sentences;
  }

  lineAt(offset: number): number {
    return this.place(offset).line;
  }

  /** As `positionAt`, for many places: the line starts are found once. */
  private place(offset: number): { readonly line: number; readonly column: number } {
    this.lineStarts ??= lineStartsOf(this.text);
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: Math.max(1, offset - this.lineStarts[low]! + 1) };
  }
}

function lineStartsOf(text: string): readonly number[] {
  const starts = [text.startsWith(byteOrderMark) ? 1 : 0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}
