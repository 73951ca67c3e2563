// Marks of a plan: writes what became of its steps, byte for byte nothing else, and gives the text without our own writing.

import type { TaskStatus } from '../../../core/task.ts';
import type { TaskMark } from '../../../documents/document.ts';
import { readFrontMatter, setFrontMatter } from '../../../documents/frontmatter.ts';
import { type PlanStatus, writtenKeys } from './front-matter.ts';
import { outlinePlan, type PlanStep } from './outline.ts';

const failedWord = ' (FAILED)';
const boxOf: Readonly<Record<TaskStatus, string>> = {
  pending: ' ',
  active: ' ',
  done: 'x',
  blocked: '!',
  skipped: '-',
};

/** Boxes, the word (FAILED), and with them completed_steps. */
export function markPlan(text: string, marks: readonly TaskMark[]): string {
  const { steps } = outlinePlan(text);
  const statuses = new Map(marks.map(mark => [mark.id, statusOf(mark)]));
  const statusFor = ({ number }: PlanStep): TaskStatus | undefined => statuses.get(`step_${number}`);
  const marked = withBoxes(text, steps, statusFor);
  if (marked === text) return text;
  const done = steps.filter(step => (statusFor(step) ?? (/x/i.test(step.box) ? 'done' : 'pending')) === 'done');
  return setPlanFacts(marked, { completed_steps: done.length });
}

const statusOf = (mark: TaskMark): TaskStatus =>
  mark.status ?? (mark.done ? 'done' : mark.skipped ? 'skipped' : 'pending');

function withBoxes(
  text: string,
  steps: readonly PlanStep[],
  statusFor: (step: PlanStep) => TaskStatus | undefined,
): string {
  const pieces: string[] = [];
  let at = 0;
  for (const step of steps) {
    const status = statusFor(step);
    if (status === undefined) continue;
    const isSame = step.box.toLowerCase() === boxOf[status];
    pieces.push(text.slice(at, step.boxAt), isSame ? step.box : boxOf[status]);
    pieces.push(text.slice(step.boxAt + 1, step.failedStart));
    const hasWord = step.failedEnd > step.failedStart;
    if (status === 'blocked') pieces.push(hasWord ? text.slice(step.failedStart, step.failedEnd) : failedWord);
    at = step.failedEnd;
  }
  pieces.push(text.slice(at));
  return pieces.join('');
}

export interface WrittenFacts {
  readonly status?: PlanStatus;
  readonly completed_steps?: number;
  readonly iterations_used?: number;
}

/** A key that is missing is added at the end of the front matter; a text without one stays as it is. */
export function setPlanFacts(text: string, facts: WrittenFacts): string {
  const { head, matter } = outlinePlan(text);
  if (!matter.ok || !matter.isPresent) return text;
  const rest = writtenKeys.reduce((block, key) => {
    const value = facts[key];
    return value === undefined ? block : setFrontMatter(block, key, value);
  }, text.slice(head));
  return text.slice(0, head) + rest;
}

/** Written one after the other, so that it does not matter how a value was written before. */
const emptied = 'ralph-emptied';
const gone = 'ralph-gone';

/** The text without what Ralph writes into it: the same before and after every mark, another after every other edit. */
export function planSubstance(text: string): string {
  const plain = withBoxes(text, outlinePlan(text).steps, () => 'pending');
  const { head, matter } = outlinePlan(plain);
  if (!matter.ok || !matter.isPresent) return plain;
  const written = writtenKeys.filter(key => key in matter.values);
  const block = written.reduce(withoutValue, plain.slice(head, head + matter.bodyStart));
  return plain.slice(0, head) + block + plain.slice(head + matter.bodyStart);
}

/** A line that says nothing else goes as a whole: a mark may have added it. */
function withoutValue(block: string, key: string): string {
  const emptyBlock = setFrontMatter(setFrontMatter(block, key, emptied), key, gone);
  const matter = readFrontMatter(emptyBlock);
  const at = matter.ok ? (matter.offsets.get(key) ?? 0) : 0;
  const start = emptyBlock.lastIndexOf('\n', at) + 1;
  const end = emptyBlock.indexOf('\n', at) + 1;
  const isAlone = emptyBlock.slice(start, end).trim() === `${key}: ${gone}`;
  return isAlone ? emptyBlock.slice(0, start) + emptyBlock.slice(end) : emptyBlock;
}
