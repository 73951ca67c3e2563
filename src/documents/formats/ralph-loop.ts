// Reads .claude/ralph-loop.local.md: a prompt under the state of the loop that another tool keeps in its front matter.
import { takeCharacters } from '../../text/text.ts';
import type { Format, Parsed, ParsedDocument } from '../document.ts';
import { readFrontMatter, setFrontMatter, valueProblem } from '../frontmatter.ts';
import { markdownLines, watchHidden, watchMerge } from '../markdown.ts';
import { ProblemList, positionAt } from '../problems.ts';
import { isCount, readWishes } from './prompt.ts';

const documentCharsMax = 1024 * 1024;
const titleCharsMax = 120;
const id = 'prompt';

export const ralphLoop: Format = {
  name: 'ralph-loop',

  recognises(fileName, text) {
    if (/(?:^|[\\/])ralph-loop(?:\.[\w-]+)*\.md$/i.test(fileName)) return true;
    if (!/\.md$/i.test(fileName)) return false;
    const matter = readFrontMatter(text);
    return matter.ok && 'completion_promise' in matter.values && 'iteration' in matter.values;
  },

  parse: parseRalphLoop,

  /** The file has no word for a task that was left out; only `active` is written. */
  mark(text, marks) {
    const mark = marks.findLast(each => each.id === id);
    const matter = readFrontMatter(text);
    if (mark === undefined || !matter.ok || !matter.isPresent) return text;
    const isDone = matter.values['active'] === false;
    return isDone === mark.done ? text : setFrontMatter(text, 'active', !mark.done);
  },
};

function parseRalphLoop(text: string): Parsed {
  const problems = new ProblemList();
  if (text.length > documentCharsMax) {
    problems.add(0, 'The document is larger than 1 MB.', 'Shorten it: agents read all of it each time.');
    return { ok: false, problems: problems.located(text.slice(0, 1)) };
  }
  const matter = readFrontMatter(text);
  if (!matter.ok) return matter;
  if (!matter.isPresent) {
    problems.add(
      0,
      'The document has no front matter.',
      'Begin it with a line ---, keys like "active: true", and ---.',
    );
    return { ok: false, problems: problems.located(text) };
  }
  const { active, iteration } = matter.values;
  if (active !== undefined && typeof active !== 'boolean') {
    valueProblem(problems, matter, 'active', 'true or false', 'Write true or false, without quotes.');
  }
  if (iteration !== undefined && iteration !== null && !isCount(iteration)) {
    valueProblem(problems, matter, 'iteration', 'a whole number', 'Write 1.');
  }
  const wishes = readWishes(matter, problems);
  const lines = markdownLines(text, matter.bodyStart);
  watchMerge(lines, problems);
  const description = text.slice(matter.bodyStart).trim();
  if (description === '') {
    problems.add(matter.bodyStart, 'There is no prompt below the front matter.', 'Write what is to be done there.');
  }
  if (problems.count > 0) return { ok: false, problems: problems.located(text) };
  const firstLine = description.split('\n', 1)[0]!.replace(/^#{1,6}[ \t]+/, '');
  const title = takeCharacters(firstLine.trim(), titleCharsMax);
  const task = { id, title, description, criteria: [], dependsOn: [], done: active === false, skipped: false };
  const document: ParsedDocument = {
    project: title,
    goal: title,
    tasks: [task],
    notices: watchHidden(lines, positionAt(text, matter.bodyStart).line),
    wishes,
  };
  return { ok: true, document };
}
