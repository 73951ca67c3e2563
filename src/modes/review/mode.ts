// Mode review: reviewers find, fixers mend, and a new round looks again.

import type { Format, Parsed } from '../../documents/document.ts';
import { startOf } from '../../documents/edits.ts';
import { heading, type MarkdownLine, markdownLines, watchHidden } from '../../documents/markdown.ts';
import { takeCharacters, visible } from '../../text/text.ts';
import type { Mode } from '../mode.ts';
import { reviewPrompt } from './prompt.ts';
import { mayFind } from './rules.ts';
import { ReviewStateView } from './state-view.ts';

const textCharsMax = 10_000_000;
/** About a hundred thousand tokens: more than an agent reads with attention. */
const readWellCharsMax = 400_000;
const nameCharsMax = 80;

/**
 * A document under review: any text. Only a person says that it is to be reviewed. It holds no tasks, and no byte of it is ever
 * changed by us: what became of its issues stands in the loop.
 */
export const review: Format = { name: 'review', recognises: () => false, parse: parseReview, mark: text => text };

function refused(message: string, fix: string): Parsed {
  return { ok: false, problems: [{ message, fix }] };
}

function parseReview(text: string): Parsed {
  if (text.length > textCharsMax)
    return refused('The document is larger than 10 million characters.', 'Split it, and review one part at a time.');
  const nul = text.indexOf('\0');
  if (nul !== -1)
    return refused(`The document holds a NUL character at ${nul}, so it is no text.`, 'Name a text file.');
  const body = text.slice(startOf(text));
  if (body.trim() === '') return refused('The document is empty: there is nothing to review.', 'Write it first.');
  const lines = markdownLines(text);
  const name = nameOf(lines);
  const long =
    body.length > readWellCharsMax
      ? [`It has ${body.length} characters, more than an agent reads well at once: --section names a part of it.`]
      : [];
  const goal = name === undefined ? 'Review the document' : `Review "${name}"`;
  const notices = [...long, ...watchHidden(lines)];
  return { ok: true, document: { project: name ?? 'document', goal, tasks: [], notices } };
}

/** The first heading's words, behind a front matter. */
function nameOf(lines: readonly MarkdownLine[]): string | undefined {
  const isRule = (line: MarkdownLine): boolean => line.text.trimEnd() === '---';
  const closing =
    lines[0] !== undefined && isRule(lines[0]) ? lines.findIndex((line, at) => at > 0 && isRule(line)) : -1;
  const headings = lines.slice(closing + 1).map(line => heading(line)?.text ?? '');
  const first = headings.find(text => text !== '');
  return first === undefined ? undefined : takeCharacters(visible(first), nameCharsMax);
}

export const reviewMode: Mode = {
  formats: [review],
  prompt: reviewPrompt,
  view: place => new ReviewStateView(place),
  findsTasks: true,
  mayFind,
  words: { work: ({ path }) => ['review', path] },
};
