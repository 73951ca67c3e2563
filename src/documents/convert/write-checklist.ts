// Writes tasks as a Markdown checklist in which no text can pass for an item, a code block or a comment of its own.
import type { TaskSpec } from '../../core/task.ts';
import type { ParsedDocument } from '../document.ts';
import { leadingId } from './add-markdown.ts';
import { boxCharacter } from '../boxes.ts';
import { checklist } from '../formats/checklist.ts';

const oneLine = (text: string): string => text.trim().replace(/\s+/g, ' ');
const linesOf = (text: string): readonly string[] => text.trimEnd().split(/\r\n|\r|\n/);
const quoted = (text: string): readonly string[] => linesOf(text).map(line => `> ${line}`.trimEnd());
const indented = (lines: readonly string[]): readonly string[] => lines.map(line => (line === '' ? '' : `  ${line}`));

/** Whether it is read as it is meant, and everything behind it too: whatever it opens is closed here. */
function isSafe(description: string): boolean {
  const longest = Math.max(3, ...[...description.matchAll(/`+|~+/g)].map(([marks]) => marks.length));
  const closers = ['`'.repeat(longest), '~'.repeat(longest), '-->'];
  const text = ['- [ ] A', ...indented(linesOf(description)), '- [ ] B', ...closers].join('\n');
  const parsed = checklist.parse(text, { acceptTicked: true });
  if (!parsed.ok || parsed.document.tasks.length !== 2) return false;
  const [task] = parsed.document.tasks;
  return task!.description === description && task!.criteria.length === 0;
}

function itemLines(task: TaskSpec): readonly string[] {
  const box = boxCharacter[task.done ? 'done' : task.skipped ? 'skipped' : task.blocked ? 'blocked' : 'open'];
  const title = oneLine(task.title);
  const leading = leadingId(`${task.id}: ${title}`);
  const isSaid = leading?.id === task.id && leading.rest === title;
  const label = isSaid ? `${task.id}: ${title}` : leadingId(title) === undefined ? title : `"${title}"`;
  const { description } = task;
  const below = description.trim() === '' ? [] : isSafe(description) ? linesOf(description) : quoted(description);
  const criteria = task.criteria.map(oneLine).filter(text => text !== '');
  return [`- [${box}] ${label}`, ...indented(below), ...criteria.map(text => `  - [${task.done ? 'x' : ' '}] ${text}`)];
}

export function checklistText({ project, goal, tasks }: Pick<ParsedDocument, 'project' | 'goal' | 'tasks'>): string {
  const head = goal === project || goal.trim() === '' ? [] : [...quoted(goal), ''];
  return `${[`# ${oneLine(project)}`, '', ...head, ...tasks.flatMap(itemLines)].join('\n')}\n`;
}
