// Markdown checklists (fix_plan.md, TODO lists): each box that stands in no other is a task, what is indented below belongs to it.
import type { TaskSpec } from '../../core/task.ts';
import type { Format, Parsed } from '../document.ts';
import { boxCharacter, boxMeaning, markMeans } from '../boxes.ts';
import { type ChecklistItem, checklistItems, lineSentence } from './checklist-items.ts';
import { heading, markdownLines, tooLarge, watchHidden, watchMerge } from '../markdown.ts';
import { ProblemList } from '../problems.ts';
import { checkIds } from '../task-checks.ts';
import { type Edit, withEdits } from '../edits.ts';
import { IdGiver } from '../text-id.ts';

export const checklist: Format = {
  name: 'checklist',

  recognises(fileName, text) {
    return /\.(?:md|markdown)$/i.test(fileName) && /^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[[ xX]\][ \t]+\S/m.test(text);
  },

  parse: parseChecklist,

  mark(text, marks) {
    const wanted = new Map(marks.map(mark => [mark.id, mark]));
    const edits: Edit[] = [];
    for (const { item, id } of withIds(checklistItems(markdownLines(text)))) {
      const mark = wanted.get(id);
      if (mark === undefined) continue;
      const now = boxMeaning(item.state)!;
      const next = markMeans(mark, now);
      if (next !== now) edits.push({ start: item.offset, end: item.offset + 1, text: boxCharacter[next] });
    }
    return withEdits(text, edits);
  },
};

function withIds(items: readonly ChecklistItem[]): readonly { readonly item: ChecklistItem; readonly id: string }[] {
  const giver = new IdGiver(items.flatMap(item => item.id ?? []));
  return items.map(item => ({ item, id: item.id ?? giver.idFor(item.title) }));
}

function parseChecklist(text: string): Parsed {
  const refusal = tooLarge(text);
  if (refusal !== undefined) return refusal;
  const problems = new ProblemList();
  const lines = markdownLines(text);
  watchMerge(lines, problems);
  const rows = withIds(checklistItems(lines));
  if (rows.length === 0) {
    problems.add(0, 'The document has no box.', 'Write each task as a line "- [ ] what is to be done".');
  }
  const tasks = rows.map(({ item, id }) => toTask(item, id));
  const place = (row: number) => rows[row]!.item.offset;
  checkIds(tasks, {
    noun: 'item',
    plural: 'items',
    idName: row => `line ${rows[row]!.item.line}`,
    dependenciesName: row => `Line ${rows[row]!.item.line}`,
    idPlace: place,
    dependenciesPlace: place,
    add: (where, message, fix) => problems.add(where, lineSentence(message), fix),
  });
  if (problems.count > 0) return { ok: false, problems: problems.located(text) };
  const title = lines.map(line => heading(line)?.text ?? '').find(each => each !== '') ?? 'Checklist';
  return { ok: true, document: { project: title, goal: title, tasks, notices: watchHidden(lines) } };
}

function toTask(item: ChecklistItem, id: string): TaskSpec {
  const meaning = boxMeaning(item.state);
  return {
    id,
    title: item.title,
    description: item.description,
    criteria: item.criteria,
    dependsOn: [],
    done: meaning === 'done',
    skipped: meaning === 'skipped',
    under: item.id === undefined ? item.under : undefined,
    blocked: meaning === 'blocked' ? true : undefined,
  };
}
