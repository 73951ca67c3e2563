// What the character in a box means, and which one a mark puts there.
import type { TaskMark } from './document.ts';

export type BoxMeaning = 'open' | 'done' | 'skipped' | 'blocked';

/** Plain Markdown has the first three; the others are what people and note programs use. */
const meanings: Readonly<Record<string, BoxMeaning>> = {
  ' ': 'open',
  x: 'done',
  X: 'done',
  '-': 'skipped',
  '!': 'blocked',
  '~': 'open',
  '/': 'open',
  '>': 'open',
};

/** Undefined: no box at all, but a footnote or a link. */
export function boxMeaning(state: string): BoxMeaning | undefined {
  return Object.hasOwn(meanings, state) ? meanings[state] : undefined;
}

/** A mark that says no more than "not done" leaves alone what already says so: a box in progress, or a blocked one. */
export function markMeans(mark: TaskMark, now: BoxMeaning): BoxMeaning {
  if (mark.done) return 'done';
  if (mark.skipped) return 'skipped';
  if (mark.status === 'blocked' || (mark.status === undefined && now === 'blocked')) return 'blocked';
  return 'open';
}

export const boxCharacter: Readonly<Record<BoxMeaning, string>> = {
  open: ' ',
  done: 'x',
  skipped: '-',
  blocked: '!',
};
