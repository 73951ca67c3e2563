// The .claude/ralph-loop.local.md format: a prompt under the state of the loop that another tool keeps in its front matter.
import { takeCharacters } from '../../text/text.ts';
import type { Format, Parsed } from '../document.ts';
import { readFrontMatter, setFrontMatter, valueProblems } from '../frontmatter.ts';
import { markdownLines, watchHidden, watchMerge } from '../markdown.ts';
import { ProblemList, positionsIn } from '../problems.ts';
import { id, isCount, promptDocument, promptTooLarge, readDefaults } from './prompt.ts';

const titleCharsMax = 120;

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
  const tooLarge = promptTooLarge(text);
  if (tooLarge !== undefined) return tooLarge;
  const matter = readFrontMatter(text);
  if (!matter.ok) return matter;
  const problems = new ProblemList();
  if (!matter.isPresent) {
    const fix = 'Begin it with a line ---, keys like "active: true", and ---.';
    problems.add(0, 'The document has no front matter.', fix);
    return problems.refusal(text);
  }
  const { active, iteration, completion_promise: promise } = matter.values;
  const wrong = valueProblems(problems, matter);
  if (active !== undefined && typeof active !== 'boolean') {
    wrong('active', 'true or false', 'Write true or false, without quotes.');
  }
  if (iteration !== undefined && iteration !== null && !isCount(iteration)) {
    wrong('iteration', 'a whole number', 'Write 1.');
  }
  if (typeof promise === 'string' && promise.trim() === '') {
    wrong('completion_promise', 'a word: every message holds an empty one', 'Write one, or leave the key out.');
  }
  const defaults = readDefaults(matter, problems);
  const lines = markdownLines(text, matter.bodyStart);
  watchMerge(lines, problems);
  const description = text.slice(matter.bodyStart).trim();
  if (description === '') {
    problems.add(matter.bodyStart, 'There is no prompt below the front matter.', 'Write what is to be done there.');
  }
  if (problems.count > 0) return problems.refusal(text);
  const firstLine = description.split('\n', 1)[0]!.replace(/^#{1,6}[ \t]+/, '');
  const title = takeCharacters(firstLine.trim(), titleCharsMax);
  const notices = watchHidden(lines, positionsIn(text)(matter.bodyStart).line);
  return promptDocument({ title, description, done: active === false, skipped: false }, notices, defaults);
}
