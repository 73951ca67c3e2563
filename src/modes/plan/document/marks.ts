// Marks of a plan: writes what became of its steps, byte for byte nothing else, and gives the text without our own writing.

import type { TaskStatus } from '../../../core/task.ts';
import type { TaskMark } from '../../../documents/document.ts';
import { type Plain, readFrontMatter, setFrontMatter } from '../../../documents/frontmatter.ts';
import { type PlanStatus, writtenKeys } from './facts.ts';
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
  const wanted = new Map(marks.map(mark => [mark.id, statusOf(mark)]));
  const marked = spliced(text, steps, step => wanted.get(`step_${step.number}`));
  if (marked === text) return text;
  const done = steps.filter(step => {
    const status = wanted.get(`step_${step.number}`);
    return status === undefined ? /x/i.test(step.box) : status === 'done';
  });
  return setPlanFacts(marked, { completedSteps: done.length });
}

function statusOf(mark: TaskMark): TaskStatus {
  return mark.status ?? (mark.done ? 'done' : mark.skipped ? 'skipped' : 'pending');
}

function spliced(
  text: string,
  steps: readonly PlanStep[],
  statusFor: (step: PlanStep) => TaskStatus | undefined,
): string {
  const pieces: string[] = [];
  let at = 0;
  for (const step of steps) {
    const status = statusFor(step);
    if (status === undefined) continue;
    const isKept = step.box.toLowerCase() === boxOf[status];
    pieces.push(text.slice(at, step.boxAt), isKept ? step.box : boxOf[status]);
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
  readonly completedSteps?: number;
  readonly iterationsUsed?: number;
}

/** A key that is missing is added at the end of the front matter; a text without one stays as it is. */
export function setPlanFacts(text: string, facts: WrittenFacts): string {
  const { head, matter } = outlinePlan(text);
  if (!matter.ok || !matter.isPresent) return text;
  const values: readonly (readonly [string, Plain | undefined])[] = [
    ['completed_steps', facts.completedSteps],
    ['status', facts.status],
    ['iterations_used', facts.iterationsUsed],
  ];
  let rest = text.slice(head);
  for (const [key, value] of values) if (value !== undefined) rest = setFrontMatter(rest, key, value);
  return text.slice(0, head) + rest;
}

/** Written one after the other, so that it does not matter how a value was written before. */
const emptied = 'ralph-emptied';
const gone = 'ralph-gone';

/** The text without what Ralph writes into it: the same before and after every mark, another after every other edit. */
export function planSubstance(text: string): string {
  const plain = spliced(text, outlinePlan(text).steps, () => 'pending');
  const { head, matter } = outlinePlan(plain);
  if (!matter.ok || !matter.isPresent) return plain;
  let block = plain.slice(head, head + matter.bodyStart);
  for (const key of writtenKeys) {
    if (Object.hasOwn(matter.values, key)) block = withoutValue(block, key);
  }
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
