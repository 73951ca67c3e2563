// Plans whose tasks are sections ("### Task 1: …", as ralphex writes them): a section is done when all of its boxes are ticked.
import type { TaskSpec } from '../../core/task.ts';
import { shown } from '../../text/text.ts';
import type { Format, Parsed, TaskMark } from '../document.ts';
import { type Edit, withEdits } from '../edits.ts';
import {
  type BoxMeaning,
  boxCharacter,
  boxLine,
  boxMeaning,
  heading,
  type MarkdownLine,
  markdownLines,
  tooLarge,
  watchHidden,
  watchMerge,
} from '../markdown.ts';
import { ProblemList } from '../problems.ts';
import { checkIds, idPattern, idRule } from '../task-checks.ts';
import { belowOf, lineSentence } from './checklist.ts';

const headingCharsMax = 500;
/** "Task 1: title", "Iteration 2.5: title", "US-001: title" */
const sectionHeading = /^(?:(?:Task|Iteration)\s+(?<number>[^:]+)|(?<id>[A-Z]{1,8}-\d+)\s*):(?<title>.*)$/;

interface SectionBox {
  readonly offset: number;
  readonly meaning: BoxMeaning;
}

interface Section {
  readonly id: string;
  readonly title: string;
  readonly start: number;
  /** From 1. */
  readonly line: number;
  readonly boxes: readonly SectionBox[];
  readonly lines: readonly MarkdownLine[];
}

interface Plan {
  readonly sections: readonly Section[];
  /** Boxes that stand in no section. */
  readonly strayBoxes: number;
}

export const sectionedPlan: Format = {
  name: 'sectioned-plan',

  recognises(fileName, text) {
    if (!/\.(?:md|markdown)$/i.test(fileName)) return false;
    if (!/^ {0,3}#{2,4}[ \t]+(?:(?:Task|Iteration)\s|[A-Z]{1,8}-\d)/m.test(text)) return false;
    return planOf(markdownLines(text)).sections.some(section => section.boxes.length > 0);
  },

  parse: parseSectionedPlan,

  mark(text, marks) {
    const wanted = new Map(marks.map(mark => [mark.id, mark]));
    const edits: Edit[] = [];
    for (const { id, boxes } of planOf(markdownLines(text)).sections) {
      const mark = wanted.get(id);
      if (mark !== undefined) edits.push(...editsFor(boxes, mark));
    }
    return withEdits(text, edits);
  },
};

function sectionOf({ depth, text }: { readonly depth: number; readonly text: string }) {
  if (depth < 2 || depth > 4 || text.length > headingCharsMax) return undefined;
  return sectionHeading.exec(text)?.groups;
}

/** A section ends at the next heading that is not below it. */
function planOf(lines: readonly MarkdownLine[]): Plan {
  const sections: Section[] = [];
  let open: { boxes: SectionBox[]; lines: MarkdownLine[]; depth: number } | undefined;
  let strayBoxes = 0;
  for (const [row, line] of lines.entries()) {
    const title = heading(line);
    if (title !== undefined && (open === undefined || title.depth <= open.depth)) {
      const groups = sectionOf(title);
      open = groups === undefined ? undefined : { boxes: [], lines: [], depth: title.depth };
      if (groups === undefined || open === undefined) continue;
      const id = groups['id'] ?? `task-${groups['number']!.trim().replace(/\s+/g, '-').toLowerCase()}`;
      const { boxes, lines: below } = open;
      sections.push({
        id,
        title: groups['title']!.trim() || title.text,
        start: line.start,
        line: row + 1,
        boxes,
        lines: below,
      });
      continue;
    }
    const box = boxLine(line);
    const meaning = box === undefined ? undefined : boxMeaning(box.state);
    if (box !== undefined && meaning !== undefined && box.text !== '') {
      if (open === undefined) strayBoxes += 1;
      else open.boxes.push({ offset: box.offset, meaning });
    }
    open?.lines.push(line);
  }
  return { sections, strayBoxes };
}

function meaningOf(boxes: readonly SectionBox[]): BoxMeaning {
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

function parseSectionedPlan(text: string): Parsed {
  const refusal = tooLarge(text);
  if (refusal !== undefined) return refusal;
  const problems = new ProblemList();
  const lines = markdownLines(text);
  watchMerge(lines, problems);
  const { sections, strayBoxes } = planOf(lines);
  if (sections.length === 0) {
    problems.add(0, 'The document has no task section.', 'Begin each task with a line "### Task 1: title".');
  }
  for (const section of sections) checkSection(section, problems);
  const place = (row: number): number => sections[row]!.start;
  const tasks = sections.map(toTask);
  checkIds(tasks, {
    noun: 'section',
    plural: 'sections',
    idName: row => `line ${sections[row]!.line}`,
    dependenciesName: row => `Line ${sections[row]!.line}`,
    idPlace: place,
    dependenciesPlace: place,
    add: (where, message, fix) => problems.add(where, lineSentence(message), fix),
  });
  if (problems.count > 0) return { ok: false, problems: problems.located(text) };
  const title = lines.map(line => heading(line)).find(each => each?.depth === 1)?.text || 'Plan';
  const stray = strayBoxes === 0 ? [] : [`${strayBoxes} boxes stand in no task section and are no tasks.`];
  const notices = [...stray, ...watchHidden(lines)];
  return { ok: true, document: { project: title, goal: title, tasks, notices } };
}

function checkSection({ id, boxes, start }: Section, problems: ProblemList): void {
  if (!idPattern.test(id) || id.includes('..')) {
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

function toTask({ id, title, boxes, lines }: Section): TaskSpec {
  const meaning = boxes.length === 0 ? 'open' : meaningOf(boxes);
  return {
    id,
    title,
    ...belowOf(lines),
    dependsOn: [],
    done: meaning === 'done',
    skipped: meaning === 'skipped',
    blocked: meaning === 'blocked' ? true : undefined,
  };
}
