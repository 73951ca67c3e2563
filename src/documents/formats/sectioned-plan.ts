// Plans whose tasks are sections ("### Task 1: …", as ralphex writes them): a section is done when all of its boxes are ticked.
import type { TaskMark } from '../../core/task.ts';
import { shown } from '../../text/text.ts';
import { type Format, markEdits, statusFields, type WrittenStatus } from '../document.ts';
import { type Edit, withEdits } from '../edits.ts';
import {
  boxCharacter,
  boxLine,
  boxMeaning,
  heading,
  type MarkdownLine,
  type MarkdownPart,
  markdownLines,
  parseMarkdownTasks,
} from '../markdown.ts';
import type { ProblemList } from '../problems.ts';
import { idRule, isTaskId } from '../task-checks.ts';
import { belowOf } from './checklist.ts';

const headingCharsMax = 500;
/** "Task 1: title", "Iteration 2.5: title", "US-001: title" */
const sectionHeading = /^(?:(?:Task|Iteration)\s+(?<number>[^:]+)|(?<id>[A-Z]{1,8}-\d+)\s*):(?<title>.*)$/;

interface SectionBox {
  readonly offset: number;
  readonly meaning: WrittenStatus;
}

interface Section extends MarkdownPart {
  readonly id: string;
  readonly title: string;
  readonly depth: number;
  /** From 1. */
  readonly line: number;
  readonly boxes: SectionBox[];
  readonly below: MarkdownLine[];
}

export const sectionedPlan: Format = {
  name: 'sectioned-plan',

  recognises(fileName, text) {
    if (!/\.(?:md|markdown)$/i.test(fileName)) return false;
    if (!/^ {0,3}#{2,4}[ \t]+(?:(?:Task|Iteration)\s|[A-Z]{1,8}-\d)/m.test(text)) return false;
    return planOf(markdownLines(text)).sections.some(section => section.boxes.length > 0);
  },

  parse(text) {
    return parseMarkdownTasks(text, 'section', (lines, problems) => {
      const { sections, strayBoxes } = planOf(lines);
      if (sections.length === 0) {
        problems.add(0, 'The document has no task section.', 'Begin each task with a line "### Task 1: title".');
      }
      for (const section of sections) checkSection(section, problems);
      const listed = sections.map(({ id, title, boxes, head, line, below }) => {
        const status = statusFields(boxes.length === 0 ? 'open' : meaningOf(boxes));
        return { task: { id, title, ...belowOf(below), dependsOn: [], ...status }, start: head.start, line };
      });
      return {
        title: lines.map(line => heading(line)).find(each => each?.depth === 1)?.text || 'Plan',
        listed,
        notices: strayBoxes === 0 ? [] : [`${strayBoxes} boxes stand in no task section and are no tasks.`],
      };
    });
  },

  mark(text, marks) {
    return withEdits(
      text,
      markEdits(planOf(markdownLines(text)).sections, marks, ({ boxes }, mark) => editsFor(boxes, mark)),
    );
  },
};

/** The section that a heading begins, if it does. */
function sectionAt(row: number, head: MarkdownLine, title: { readonly depth: number; readonly text: string }) {
  const { depth, text } = title;
  if (depth < 2 || depth > 4 || text.length > headingCharsMax) return undefined;
  const groups = sectionHeading.exec(text)?.groups;
  if (groups === undefined) return undefined;
  const id = groups['id'] ?? `task-${groups['number']!.trim().replace(/\s+/g, '-').toLowerCase()}`;
  return { id, title: groups['title']!.trim() || text, depth, head, line: row + 1, boxes: [], below: [] };
}

/** A section ends at the next heading that is not below it; boxes that stand in none are only counted. */
export function planOf(lines: readonly MarkdownLine[]): {
  readonly sections: readonly Section[];
  readonly strayBoxes: number;
} {
  const sections: Section[] = [];
  let open: Section | undefined;
  let strayBoxes = 0;
  for (const [row, line] of lines.entries()) {
    const title = heading(line);
    if (title !== undefined && (open === undefined || title.depth <= open.depth)) {
      open = sectionAt(row, line, title);
      if (open !== undefined) sections.push(open);
      continue;
    }
    const box = sectionBox(line);
    if (box !== undefined && open === undefined) strayBoxes += 1;
    if (box !== undefined) open?.boxes.push(box);
    open?.below.push(line);
  }
  return { sections, strayBoxes };
}

function sectionBox(line: MarkdownLine): SectionBox | undefined {
  const box = boxLine(line);
  const meaning = box && boxMeaning(box.state);
  return meaning === undefined || box?.text === '' ? undefined : { offset: box!.offset, meaning };
}

function meaningOf(boxes: readonly SectionBox[]): WrittenStatus {
  if (boxes.every(box => box.meaning === 'done')) return 'done';
  if (boxes.some(box => box.meaning === 'blocked')) return 'blocked';
  return boxes.every(box => box.meaning === 'done' || box.meaning === 'skipped') ? 'skipped' : 'open';
}

/** Ticked boxes stay ticked unless that would say that the whole section is done. */
function editsFor(boxes: readonly SectionBox[], mark: TaskMark): readonly Edit[] {
  const now = meaningOf(boxes);
  const isAsSaid = mark.done ? now === 'done' : mark.skipped ? now === 'skipped' : now === 'open' || now === 'blocked';
  if (isAsSaid) return [];
  const wanted = boxCharacter[mark.done ? 'done' : mark.skipped ? 'skipped' : 'open'];
  const changed = boxes.filter(box => now === 'done' || box.meaning !== 'done');
  return changed.map(({ offset }) => ({ start: offset, end: offset + 1, text: wanted }));
}

function checkSection({ id, boxes, head: { start } }: Section, problems: ProblemList): void {
  if (!isTaskId(id)) {
    problems.add(start, `The section's number makes no valid id: ${shown(id)}.`, idRule);
  }
  if (boxes.length === 0) {
    problems.add(
      start,
      `The section ${shown(id)} has no box: nothing could show that it is done.`,
      'Add a line "- [ ] what is to be done" below its heading.',
    );
  }
}
