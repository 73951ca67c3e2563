// A goal in words: all of the text is what is to be reached, whatever it looks like, and no mark of ours ever stands in it.
import type { Format, Parsed } from '../../documents/document.ts';
import { markdownLines, watchHidden } from '../../documents/markdown.ts';
import { shortened } from '../../documents/formats/prompt.ts';

const titleCharsMax = 120;
const goalCharsMax = 500;

/** It lies in our own folder under a name that we chose. Whether it is reached, the ledger says. */
export const goal: Format = {
  name: 'goal',
  recognises: () => false,
  parse: parseGoal,
  mark: text => text,
};

function parseGoal(text: string): Parsed {
  const description = text.trim();
  if (description === '')
    return { ok: false, problems: [{ message: 'The goal is empty.', fix: 'Say it in words.', line: 1 }] };
  const title = shortened(description.split('\n', 1)[0]!.replace(/^#{1,6}[ \t]+/, ''), titleCharsMax);
  const task = { id: 'goal', title, description, criteria: [], dependsOn: [], done: false, skipped: false };
  const notices = watchHidden(markdownLines(text), 1);
  return {
    ok: true,
    document: { project: title, goal: shortened(description, goalCharsMax), tasks: [task], notices },
  };
}
