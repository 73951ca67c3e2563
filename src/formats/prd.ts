// The PRD.json format of seed 003: user stories with criteria, read strictly and marked without touching another byte.
import type { FormatOptions, Parsed, Problem } from '../ports/source.ts';
import type { IndexedFormat } from './indexed-format.ts';
import { byteOrderMark, type JsonFault, scanJson } from './json-text.ts';
import { indexStories, markWithIndex, type StoryIndex } from './prd-marks.ts';
import { readDocument } from './prd-rules.ts';
import { ProblemList } from './problem-list.ts';
import { shown } from './shown-text.ts';
import { conflictOffset, positionAt } from './text-position.ts';

const textCharsMax = 64 * 1024 * 1024;
const dangerousKeys = new Set(['__proto__', 'constructor', 'prototype']);

export const prd: IndexedFormat<StoryIndex> = {
  name: 'prd',

  /** Also true for a broken document, so that its faults are told instead of "unknown format". */
  recognises(fileName, text) {
    return /\.json$/i.test(fileName) && /"userStories"\s*:\s*\[/.test(text);
  },

  parse: parsePrd,

  mark(text, marks) {
    return markWithIndex(text, indexStories(text), marks).text;
  },

  index: indexStories,
  markWithIndex,
};

function parsePrd(text: string, options: FormatOptions = {}): Parsed {
  if (text.length > textCharsMax) {
    return refused({ message: 'The document is larger than 64 MB.', fix: 'Split the backlog into several files.' });
  }
  const problems = new ProblemList();
  const fault = scanJson(text, keyWatcher(problems));
  if (fault) return refused(jsonProblem(text, fault));
  const value: unknown = JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  const document = readDocument(value, options, problems);
  if (document === undefined || problems.count > 0) return { ok: false, problems: problems.located(text) };
  return { ok: true, document };
}

function refused(problem: Problem): Parsed {
  return { ok: false, problems: [problem] };
}

function jsonProblem(text: string, fault: JsonFault): Problem {
  const conflict = conflictOffset(text);
  if (conflict !== undefined) {
    return {
      message: 'The document holds the markers of an unfinished merge.',
      fix: 'Resolve the conflict, then remove the <<<<<<<, ======= and >>>>>>> lines.',
      ...positionAt(text, conflict),
    };
  }
  return { message: fault.message, fix: fault.fix, ...positionAt(text, fault.offset) };
}

/** JSON.parse keeps the last of two equal keys in silence; a story must not change its meaning that way. */
function keyWatcher(problems: ProblemList) {
  const documentKeys = new Set<string>();
  const storyKeys = new Set<string>();
  let story: string | number | undefined;
  return {
    key(path: readonly (string | number)[], depth: number, offset: number): void {
      const key = path[depth - 1] as string;
      if (dangerousKeys.has(key)) {
        problems.add(offset, `The key ${shown(key)} is not allowed.`, 'Rename or remove it.');
      }
      const isInStory = depth === 3 && path[0] === 'userStories';
      if (depth === 1) story = undefined;
      if (isInStory && path[1] !== story) {
        story = path[1];
        storyKeys.clear();
      }
      const seen = depth === 1 ? documentKeys : isInStory ? storyKeys : undefined;
      if (seen?.has(key)) problems.add(offset, `The key ${shown(key)} stands twice.`, 'Keep one of the two.');
      seen?.add(key);
    },
  };
}
