// PRD.json of seed 003, and the prd.json of snarktank's ralph and ralph-tui: stories with criteria, marked without touching another byte.
import type { IndexedFormat } from '../indexed-format.ts';
import { parseJsonDocument } from '../json-document.ts';
import { indexStories, markWithIndex, type StoryIndex } from './prd-marks.ts';
import { readDocument } from './prd-rules.ts';

export const prd: IndexedFormat<StoryIndex> = {
  name: 'prd',

  /** Also true for a broken document, so that its faults are told instead of "unknown format". */
  recognises(fileName, text) {
    return /\.json$/i.test(fileName) && /"userStories"\s*:\s*\[/.test(text);
  },

  parse(text, options = {}) {
    return parseJsonDocument(text, 'userStories', (value, problems) => readDocument(value, options, problems));
  },

  mark(text, marks) {
    return markWithIndex(text, indexStories(text), marks).text;
  },

  index: indexStories,
  markWithIndex,
};
