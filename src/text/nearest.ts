// The nearest known word: what a mistyped key, flag or variable was probably meant to be.
import { editDistance } from './similarity.ts';

const wordCharactersMax = 64;

function plain(word: string): string {
  return word
    .slice(0, wordCharactersMax)
    .toLowerCase()
    .replace(/[-_\s]/g, '');
}

/** The closest candidate, when it is close enough to be a slip: two edits, or a third of a longer word. */
export function nearest(
  word: string,
  candidates: readonly string[],
  editsMax = Math.max(2, Math.floor(plain(word).length / 3)),
): string | undefined {
  const meant = plain(word);
  const ranked = candidates
    .map(candidate => ({ candidate, edits: editDistance(meant, plain(candidate)) }))
    .sort((a, b) => a.edits - b.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= editsMax && best.edits < meant.length ? best.candidate : undefined;
}
