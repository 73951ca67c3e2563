// A new item in a checklist, and a new section in a plan of sections, written as the one before it is.

import { lineEndOf, withEdits } from '../edits.ts';
import { type ChecklistItem, checklist, checklistItems, leadingId } from '../formats/checklist.ts';
import { planOf, sectionedPlan } from '../formats/sectioned-plan.ts';
import { boxLine, boxMeaning, heading, lastLine, type MarkdownLine, markdownLines } from '../markdown.ts';
import type { Adder, NewTask } from './new-task.ts';

/** Behind this line, whether or not a line end follows it. */
function withLines(text: string, after: MarkdownLine, added: readonly string[]): string {
  const at = after.start + after.text.length;
  const lineEnd = lineEndOf(text);
  return withEdits(text, [{ start: at, end: at, text: added.map(line => lineEnd + line).join('') }]);
}

const below = ({ description, criteria }: NewTask, indent: string, bullet: string): readonly string[] => [
  ...(description === '' ? [] : description.split('\n').map(line => (line === '' ? '' : indent + line))),
  ...criteria.map(criterion => `${indent}${bullet}[ ] ${criterion}`),
];

const doneHeading = /^\W*(?:done|completed?|finished|archived?)\b/i;

/** The heading above it, where that says that what follows is over. */
function doneAbove(lines: readonly MarkdownLine[], item: ChecklistItem): MarkdownLine | undefined {
  const above = lines.findLast(line => line.start < item.head.start && heading(line) !== undefined);
  return above !== undefined && doneHeading.test(heading(above)?.text ?? '') ? above : undefined;
}

/** Below the last open item: people keep what is done at the end. Without one, below the last that is not filed as done. */
const lastOpen = (lines: readonly MarkdownLine[], items: readonly ChecklistItem[]): ChecklistItem | undefined =>
  items.findLast(item => boxMeaning(item.state) === 'open') ??
  items.findLast(item => doneAbove(lines, item) === undefined);

/** `**US-001:** ` becomes `**US-002:** `, `Task 3: ` becomes `Task 4: `. */
function idPrefixLike(text: string, id: string): string {
  const leading = leadingId(text);
  const prefix = leading === undefined ? '' : text.slice(0, text.length - leading.rest.length);
  const number = /\d[\w.-]*(?=\W*$)/.exec(prefix)?.[0] ?? '';
  const made =
    leading !== undefined && prefix.includes(leading.id)
      ? prefix.replace(leading.id, id)
      : prefix.replace(number, /\d[\w.-]*$/.exec(id)?.[0] ?? '');
  return leadingId(`${made}x`)?.id === id ? made : `${id}: `;
}

/** The new item, written like this one. */
function itemLike({ head }: ChecklistItem, task: NewTask, id?: string): readonly string[] {
  const box = boxLine(head)!;
  const bullet = head.text.slice(box.indent.length, box.offset - head.start - 1);
  const next = bullet.replace(/^\d+/, number => String(Number(number) + 1));
  const prefix = id === undefined ? '' : idPrefixLike(box.text, id);
  const indent = `${box.indent}${/^\d/.test(next) ? ' '.repeat(next.length) : '  '}`;
  return [`${box.indent}${next}[ ] ${prefix}${task.title}`, ...below(task, indent, '- ')];
}

function withItem(text: string, items: readonly ChecklistItem[], task: NewTask, id?: string): string {
  const lines = markdownLines(text);
  const open = lastOpen(lines, items);
  if (open !== undefined) return withLines(text, lastLine(open), itemLike(open, task, id));
  // All there is has been filed as done: what is not goes before that.
  const [first] = items;
  const { start } = doneAbove(lines, first!)!;
  const lineEnd = lineEndOf(text);
  const added = [...itemLike(items.at(-1)!, task, id), '', ''].join(lineEnd);
  return withEdits(text, [{ start, end: start, text: added }]);
}

export const checklistAdder: Adder = {
  noun: 'checklist',
  format: checklist,
  hasDependencies: false,
  needsCriteria: false,
  needsId: false,

  open(text) {
    const items = checklistItems(markdownLines(text));
    return {
      // A list whose last item has no id of its own goes without.
      writtenIds: items.at(-1)?.id === undefined ? [] : items.flatMap(item => item.id ?? []),
      put: (task, id) => withItem(text, items, task, id),
    };
  },
};

/** `### Task 2: ` as the last heading has it; another kind of id gets a heading of its own kind. */
function headingFor(line: string, id: string): string {
  const marks = /^ {0,3}#{2,4}[ \t]+/.exec(line)?.[0] ?? '### ';
  const number = /^task-(.+)$/.exec(id)?.[1];
  const word = /^\W*(Task|Iteration)\b/.exec(line)?.[1] ?? 'Task';
  return number === undefined ? `${marks}${id}: ` : `${marks}${word} ${number}: `;
}

function withSection(text: string, task: NewTask, id: string): string {
  const section = planOf(markdownLines(text)).sections.at(-1)!;
  const isAiry = section.below[0]?.text.trim() === '';
  const title = `${headingFor(section.head.text, id)}${task.title}`;
  const added = ['', title, ...(isAiry ? [''] : []), ...below(task, '', '- ')];
  return withLines(text, lastLine(section), added);
}

export const sectionAdder: Adder = {
  noun: 'plan of sections',
  format: sectionedPlan,
  hasDependencies: false,
  needsCriteria: true,
  needsId: true,

  open(text) {
    return {
      writtenIds: planOf(markdownLines(text)).sections.map(section => section.id),
      put: (task, id = 'task-1') => withSection(text, task, id),
    };
  },
};
