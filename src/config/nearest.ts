// Finds what a mistyped key, flag or variable was probably meant to be.

const wordCharactersMax = 64;

function plain(word: string): string {
  return word
    .slice(0, wordCharactersMax)
    .toLowerCase()
    .replace(/[-_\s]/g, '');
}

function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const swap = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min(swap, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[to.length]!;
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
