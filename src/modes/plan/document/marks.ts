// Marks of a plan: writes what became of its steps, byte for byte nothing else, and gives the text without our own writing.

import type { TaskMark } from '../../../core/task.ts';
import { markedStatus, type WrittenStatus } from '../../../documents/document.ts';
import { type Edit, withEdits } from '../../../documents/edits.ts';
import { readFrontMatter, setFrontMatter } from '../../../documents/frontmatter.ts';
import { boxCharacter } from '../../../documents/markdown.ts';
import { type PlanStatus, writtenKeys } from './front-matter.ts';
import { outlinePlan, type PlanStep, readHead } from './outline.ts';

const failedWord = ' (FAILED)';

/** Boxes, the word (FAILED), and with them completed_steps. */
export function markPlan(text: string, marks: readonly TaskMark[]): string {
  const { steps } = outlinePlan(text);
  const statuses = new Map(marks.map(mark => [mark.id, markedStatus(mark, 'open')]));
  const statusFor = ({ number }: PlanStep): WrittenStatus | undefined => statuses.get(`step_${number}`);
  const marked = withEdits(
    text,
    steps.flatMap(step => editsFor(step, statusFor(step))),
  );
  if (marked === text) return text;
  const done = steps.filter(step => (statusFor(step) ?? (/x/i.test(step.box) ? 'done' : 'open')) === 'done');
  return setPlanFacts(marked, { completed_steps: done.length });
}

function editsFor(
  { box, boxAt, failedStart, failedEnd }: PlanStep,
  status: WrittenStatus | undefined,
): readonly Edit[] {
  if (status === undefined) return [];
  const isSame = box.toLowerCase() === boxCharacter[status];
  const hasWord = failedEnd > failedStart;
  const isFailed = status === 'blocked';
  return [
    ...(isSame ? [] : [{ start: boxAt, end: boxAt + 1, text: boxCharacter[status] }]),
    ...(hasWord === isFailed ? [] : [{ start: failedStart, end: failedEnd, text: isFailed ? failedWord : '' }]),
  ];
}

export interface WrittenFacts {
  readonly status?: PlanStatus;
  readonly completed_steps?: number;
  readonly iterations_used?: number;
}

/** A key that is missing is added at the end of the front matter; a text without one stays as it is. */
export function setPlanFacts(text: string, facts: WrittenFacts): string {
  const { head, matter } = readHead(text);
  if (!matter.ok || !matter.isPresent) return text;
  return writtenKeys.reduce((changed, key) => {
    const value = facts[key];
    return value === undefined ? changed : setFrontMatter(changed, key, value, head);
  }, text);
}

/** Written one after the other, so that it does not matter how a value was written before. */
const emptied = 'ralph-emptied';
const gone = 'ralph-gone';

/** The text without what Ralph writes into it: the same before and after every mark, another after every other edit. */
export function planSubstance(text: string): string {
  const { steps } = outlinePlan(text);
  const plain = withEdits(
    text,
    steps.flatMap(step => editsFor(step, 'open')),
  );
  const { head, matter } = readHead(plain);
  if (!matter.ok || !matter.isPresent) return plain;
  const written = writtenKeys.filter(key => key in matter.values);
  const block = written.reduce(withoutValue, plain.slice(head, matter.bodyStart));
  return plain.slice(0, head) + block + plain.slice(matter.bodyStart);
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
