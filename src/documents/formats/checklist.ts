// Markdown checklists (fix_plan.md, TODO lists): each box that stands in no other is a task, what is indented below belongs to it.
import { type Format, markEdits, markedStatus, statusFields } from '../document.ts';
import { withEdits } from '../edits.ts';
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
import { IdGiver } from '../task-checks.ts';

export const checklist: Format = {
  name: 'checklist',

  recognises(fileName, text) {
    return /\.(?:md|markdown)$/i.test(fileName) && /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]+\S/m.test(text);
  },

  parse(text) {
    return parseMarkdownTasks(text, 'item', (lines, problems) => {
      const listed = withIds(checklistItems(lines)).map(({ item, id }) => ({
        task: {
          id,
          title: item.title,
          description: item.description,
          criteria: item.criteria,
          dependsOn: [],
          ...statusFields(boxMeaning(item.state)!),
          section: item.id === undefined ? item.under : undefined,
        },
        start: item.offset,
        line: item.line,
      }));
      if (listed.length === 0) {
        problems.add(0, 'The document has no box.', 'Write each task as a line "- [ ] what is to be done".');
      }
      const title = lines.map(line => heading(line)?.text ?? '').find(each => each !== '') ?? 'Checklist';
      return { title, listed, notices: [] };
    });
  },

  mark(text, marks) {
    const edits = markEdits(withIds(checklistItems(markdownLines(text))), marks, ({ item }, mark) => {
      const now = boxMeaning(item.state)!;
      const next = markedStatus(mark, now);
      return next === now ? [] : [{ start: item.offset, end: item.offset + 1, text: boxCharacter[next] }];
    });
    return withEdits(text, edits);
  },
};

function withIds(items: readonly ChecklistItem[]): readonly { readonly item: ChecklistItem; readonly id: string }[] {
  const giver = new IdGiver(items.flatMap(item => item.id ?? []));
  return items.map(item => ({ item, id: item.id ?? giver.idFor(item.title) }));
}

export interface ChecklistItem extends MarkdownPart {
  /** The id that the text begins with, if it does. */
  readonly id?: string;
  readonly title: string;
  /** The heading that it stands under; empty before the first. */
  readonly under: string;
  readonly state: string;
  /** Where the character in the box stands. */
  readonly offset: number;
  /** Of the whole text, from 1. */
  readonly line: number;
  readonly description: string;
  /** The texts of the boxes below it. */
  readonly criteria: readonly string[];
}

const id = '[A-Za-z][A-Za-z0-9]*(?:[-_.][A-Za-z0-9]+)+|[A-Z]{1,8}\\d[\\w.-]*|\\d+(?:\\.\\d+)*';
const idPatterns: readonly RegExp[] = [
  // "US-001: …", "T1.2: …", "**US-001**: …", "**US-001:** …", "`T12`: …", "[T12]: …"
  new RegExp(`^(?:\\*\\*|__|\`|\\[)?(?<id>${id})(?:(?:\\*\\*|__|\`|\\])?:|:(?:\\*\\*|__))(?:\\s+|$)(?<rest>.*)$`),
  // "**US-001** …"
  new RegExp(`^(?:\\*\\*|__)(?<id>${id})(?:\\*\\*|__)\\s+(?<rest>.*)$`),
  // "Task 3: …", "**Step 2:** …"
  /^(?:\*\*|__)?(?<word>Task|Step|Story|Item|Issue|Phase|Iteration)\s+#?(?<number>\d[\w.-]*)(?:(?:\*\*|__)?:|:(?:\*\*|__))(?:\s+|$)(?<rest>.*)$/i,
  // "T012 …", as spec kits number their tasks
  /^(?<id>T\d{2,5})\s+(?<rest>.*)$/,
];

/** What a text begins with, when that is an id: it has a digit, so that "Note: …" is none. */
export function leadingId(text: string): { readonly id: string; readonly rest: string } | undefined {
  for (const pattern of idPatterns) {
    const groups = pattern.exec(text)?.groups;
    if (groups === undefined) continue;
    const found = groups['id'] ?? `${groups['word']!.toLowerCase()}-${groups['number']}`;
    const rest = groups['rest']!.trim();
    const isUsable = found.length <= 64 && /\d/.test(found) && !found.includes('..') && !/[.]$/.test(found);
    if (isUsable && rest !== '') return { id: found, rest };
  }
  return undefined;
}

const indentOf = (text: string): string => /^[ \t]*/.exec(text)![0];

/** A box is an item when no item with a box is above it that it is indented under. */
export function checklistItems(lines: readonly MarkdownLine[]): readonly ChecklistItem[] {
  const found: { readonly item: ItemLine; readonly below: MarkdownLine[] }[] = [];
  let isOpen = false;
  let wasCode = false;
  let under = '';
  for (const [row, line] of lines.entries()) {
    // A code block belongs to the item in which it begins, however its lines are indented.
    const goesOn = line.isCode && wasCode;
    wasCode = line.isCode;
    const open = isOpen ? found.at(-1) : undefined;
    if (goesOn || line.text.trim() === '' || (open !== undefined && line.indent > open.item.head.indent)) {
      open?.below.push(line);
      continue;
    }
    under = heading(line)?.text ?? under;
    const item = itemAt(line, row, under);
    isOpen = item !== undefined;
    if (item !== undefined) found.push({ item, below: [] });
  }
  return found.map(({ item, below }) => ({ ...item, below, ...belowOf(below) }));
}

type ItemLine = Omit<ChecklistItem, 'below' | 'description' | 'criteria'>;

function itemAt(line: MarkdownLine, row: number, under: string): ItemLine | undefined {
  const box = boxLine(line);
  if (box === undefined || box.text === '' || boxMeaning(box.state) === undefined) return undefined;
  const leading = leadingId(box.text);
  const { state, offset } = box;
  return { head: line, id: leading?.id, title: leading?.rest ?? box.text, under, state, offset, line: row + 1 };
}

/** Boxes are criteria, everything else is the description, moved to the left as one. */
export function belowOf(below: readonly MarkdownLine[]): Pick<ChecklistItem, 'description' | 'criteria'> {
  const criteria: string[] = [];
  const rest: string[] = [];
  let least = Number.POSITIVE_INFINITY;
  let wasCode = false;
  for (const line of below) {
    const box = boxLine(line);
    const isInCode = line.isCode && wasCode;
    wasCode = line.isCode;
    if (box !== undefined && boxMeaning(box.state) !== undefined) {
      if (box.text !== '') criteria.push(box.text);
      continue;
    }
    rest.push(line.text);
    if (!isInCode && line.text.trim() !== '') least = Math.min(least, indentOf(line.text).length);
  }
  const description = rest
    .map(text => text.slice(Math.min(least, indentOf(text).length)))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
  return { description, criteria };
}
